package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"warmpath/rewrite/continuity"
)

//go:embed abilities.yaml
var abilitiesYAML []byte

// ability is one model's row.
type ability struct {
	Text    bool   `yaml:"text"`
	Tools   string `yaml:"tools"`
	Binding bool   `yaml:"binding"`
	Marks   string `yaml:"marks"`

	Diagnostics bool `yaml:"diagnostics"`
	Minimum     int  `yaml:"minimum"`
	Effort      bool `yaml:"effort"`
}

// abilities are the rows by kind of endpoint and model.
var abilities = sync.OnceValue(func() map[string]map[string]continuity.Abilities {
	var rows map[string]map[string]ability
	if err := yaml.UnmarshalWithOptions(abilitiesYAML, &rows, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("BUG: abilities.yaml: %v", err))
	}
	table := make(map[string]map[string]continuity.Abilities, len(rows))
	for endpoint, models := range rows {
		table[endpoint] = make(map[string]continuity.Abilities, len(models))
		for model, row := range models {
			table[endpoint][model] = row.compiled()
		}
	}
	return table
})

func (a ability) compiled() continuity.Abilities {
	return continuity.Abilities{
		Text: a.Text, Binding: a.Binding, Automatic: a.Marks == "automatic",
		Reference: a.Tools == "reference" || a.Tools == "definition",
		Define:    a.Tools == "definition",

		Diagnostics: a.Diagnostics, Minimum: a.Minimum, Effort: a.Effort,
	}
}

// columns are what may stand in a row of abilities, by its column.
var columns = map[string][]string{
	"text":    {"true", "false"},
	"tools":   {"none", "reference", "definition"},
	"binding": {"true", "false"},
	"marks":   {"none", "automatic"},

	"diagnostics": {"true", "false"},
	"effort":      {"true", "false"},
}

// abilities checks and compiles those that configuration gives.
func (r Row) abilities(report func(message string, path ...string)) map[string]continuity.Abilities {
	own := make(map[string]continuity.Abilities, len(r.Abilities))
	for model, row := range sorted(r.Abilities) {
		for column, value := range sorted(row) {
			if may := columns[column]; !slices.Contains(may, value) {
				report("is "+quote(value)+"; write "+strings.Join(may, " or "), "abilities", model, column)
			}
		}
		own[model] = ability{
			Text: row["text"] == "true", Tools: row["tools"], Binding: row["binding"] == "true", Marks: row["marks"],
			Diagnostics: row["diagnostics"] == "true",
			Effort:      row["effort"] == "true",
		}.compiled()
	}
	return own
}

// Abilities is what a model accepts at this provider's endpoint, by the name it
// has there. What configuration says of it goes before the table.
func (p *Provider) Abilities(model string) continuity.Abilities {
	if able, ok := p.Own[model]; ok {
		return able
	}
	models := abilities()[p.Endpoint]
	for _, name := range []string{model, undated(model), plain(model)} {
		if able, ok := models[name]; ok {
			return able
		}
	}
	return continuity.Abilities{}
}

// plain is a model's own name among what clouds put around it: a region and the
// vendor in front, a date and a version behind.
func plain(model string) string {
	if _, rest, ok := strings.Cut(model, "anthropic."); ok {
		model = rest
	}
	model, _, _ = strings.Cut(model, "@")
	model, _, _ = strings.Cut(model, ":")
	if at := strings.LastIndex(model, "-v"); at > 0 && strings.Trim(model[at+2:], "0123456789") == "" {
		model = model[:at]
	}
	return undated(model)
}

// undated is a model name without the date at its end.
func undated(model string) string {
	const date = "-20060102"
	cut := len(model) - len(date)
	if cut <= 0 || model[cut] != '-' {
		return model
	}
	for _, c := range []byte(model[cut+1:]) {
		if c < '0' || c > '9' {
			return model
		}
	}
	return model[:cut]
}
