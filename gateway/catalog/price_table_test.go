package catalog

import (
	"regexp"
	"testing"

	"github.com/goccy/go-yaml"
)

// Every row says where its price was read, and when.
func TestEmbeddedPricesAreDated(t *testing.T) {
	var lists map[string]priceList
	if err := yaml.UnmarshalWithOptions(pricesYAML, &lists, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	date := regexp.MustCompile(`^202\d-[01]\d-[0-3]\d$`)
	rows := 0
	for endpoint, list := range lists {
		for model, row := range list.Models {
			rows++
			if !date.MatchString(row.Date) {
				t.Errorf("%s.%s: date is %q", endpoint, model, row.Date)
			}
			if row.Source == "" && list.Source == "" {
				t.Errorf("%s.%s: no source", endpoint, model)
			}
		}
	}
	if compiled := len(embeddedPrices()["anthropic"].models); rows < 50 || compiled != len(lists["anthropic"].Models) {
		t.Errorf("%d rows, %d of Anthropic's compiled", rows, compiled)
	}
}
