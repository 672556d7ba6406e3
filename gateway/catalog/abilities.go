package catalog

import (
	_ "embed"
	"fmt"
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
			table[endpoint][model] = continuity.Abilities{
				Text: row.Text, Binding: row.Binding, Automatic: row.Marks == "automatic",
				Reference: row.Tools == "reference" || row.Tools == "definition",
				Define:    row.Tools == "definition",
			}
		}
	}
	return table
})

// Abilities is what a model accepts at this provider's endpoint, by the name it
// has there.
func (p *Provider) Abilities(model string) continuity.Abilities {
	models := abilities()[p.Endpoint]
	if able, ok := models[model]; ok {
		return able
	}
	return models[undated(model)]
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
