package catalog

import (
	_ "embed"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed prices.yaml
var pricesYAML []byte

// priceList is what one endpoint's models cost, as it stands in the file.
type priceList struct {
	Source   string             `yaml:"source"`
	Like     string             `yaml:"like"`
	Regional string             `yaml:"regional"`
	Charged  bool               `yaml:"charged"`
	Hosted   map[string]string  `yaml:"hosted"`
	Terms    map[string]string  `yaml:"terms"`
	Models   map[string]listRow `yaml:"models"`
}

// listRow is one model's row in the file.
type listRow struct {
	Date     string            `yaml:"date"`
	Source   string            `yaml:"source"`
	Input    string            `yaml:"input"`
	Read     string            `yaml:"read"`
	Write    string            `yaml:"write"`
	Write5m  string            `yaml:"write_5m"`
	Write30m string            `yaml:"write_30m"`
	Write1h  string            `yaml:"write_1h"`
	Write12h string            `yaml:"write_12h"`
	Output   string            `yaml:"output"`
	Above    map[string]string `yaml:"above"`
	Hosted   map[string]string `yaml:"hosted"`
	Terms    map[string]string `yaml:"terms"`
}

// priced are the prices of one endpoint.
type priced struct {
	models map[string]*Price
	// regional are the prices of names that begin with a region; nil for none.
	regional map[string]*Price
	// any is for models without a price of their own; nil for none.
	any *Price
}

// embeddedPrices are those of this build, by endpoint. That they are sound is a
// property of the build, which the tests hold it to.
var embeddedPrices = sync.OnceValue(func() map[string]priced {
	var lists map[string]priceList
	if err := yaml.UnmarshalWithOptions(pricesYAML, &lists, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("BUG: prices.yaml: %v", err))
	}
	table := make(map[string]priced, len(lists))
	for endpoint, list := range lists {
		rows := list
		if list.Like != "" {
			rows = lists[list.Like]
		}
		p := priced{models: rows.compile(endpoint)}
		if list.Regional != "" {
			rows.Terms = maps.Clone(rows.Terms)
			rows.Terms["regional"] = list.Regional
			p.models, p.regional = rows.compile(endpoint), map[string]*Price{}
			for model, price := range p.models {
				p.regional[model] = price.inRegion()
			}
		}
		if list.Charged {
			p.any = &Price{charged: true}
		}
		table[endpoint] = p
	}
	return table
})

// compile makes prices of the rows of a list.
func (l *priceList) compile(endpoint string) map[string]*Price {
	models := make(map[string]*Price, len(l.Models))
	for model, row := range l.Models {
		models[model] = row.priceRow(l).compile(func(message string, path ...string) {
			panic("BUG: prices.yaml: " + endpoint + "." + model + "." + strings.Join(path, ".") + " " + message)
		})
	}
	return models
}

// priceRow is the row with what its list says of all of them.
func (r *listRow) priceRow(l *priceList) PriceRow {
	row := PriceRow{Tokens: map[string]string{}, Above: r.Above, Hosted: maps.Clone(l.Hosted), Terms: maps.Clone(l.Terms)}
	for i, text := range []string{r.Input, r.Read, r.Write, r.Write5m, r.Write30m, r.Write1h, r.Write12h, r.Output} {
		if text != "" {
			row.Tokens[PriceColumns[i]] = text
		}
	}
	for to, from := range map[*map[string]string]map[string]string{&row.Hosted: r.Hosted, &row.Terms: r.Terms} {
		if *to == nil {
			*to = map[string]string{}
		}
		maps.Copy(*to, from)
	}
	return row
}

// Price is what a provider asks for a model, by the name it was asked for and by
// the one that answered, which is empty where the reply did not say; nil where no
// price is known. What the configuration says goes before the table, first for
// the provider's model, then for the model wherever it is served.
func (s *Snapshot) Price(p *Provider, asked, answered string) *Price {
	if p == nil {
		return nil
	}
	for _, own := range []map[string]*Price{s.prices[p.Name], s.prices[""]} {
		for _, model := range [...]string{asked, answered} {
			if price := named(own, model); price != nil {
				return price
			}
		}
	}
	list, ok := embeddedPrices()[p.Name]
	if !ok {
		list = embeddedPrices()[p.Endpoint]
	}
	models := list.models
	if region, _, found := strings.Cut(asked, "."); found && list.regional != nil && region != "global" && region != "anthropic" {
		models = list.regional
	}
	for _, model := range [...]string{answered, asked} {
		if price := named(models, model); price != nil {
			return price
		}
	}
	return list.any
}

// named finds a model by its name, or by what is left of it without a date or what
// clouds put around it.
func named(prices map[string]*Price, model string) *Price {
	if len(prices) == 0 || model == "" {
		return nil
	}
	if price, ok := prices[model]; ok {
		return price
	}
	if price, ok := prices[plain(model)]; ok {
		return price
	}
	const date = "-2006-01-02"
	if cut := len(model) - len(date); cut > 0 && undated(model[:cut]+"-"+strings.ReplaceAll(model[cut+1:], "-", "")) == model[:cut] {
		return prices[model[:cut]]
	}
	return nil
}

// addPrices compiles those that the configuration gives, by model or by provider
// and model.
func (s *Snapshot) addPrices(rows map[string]PriceRow, report func(string, ...string)) {
	s.prices, s.priceRows = map[string]map[string]*Price{}, rows
	for name, row := range sorted(rows) {
		provider, model := "", name
		if prefix, rest, ok := strings.Cut(name, "/"); ok && rest != "" && s.providers[prefix] != nil {
			provider, model = prefix, rest
		}
		if s.prices[provider] == nil {
			s.prices[provider] = map[string]*Price{}
		}
		s.prices[provider][model] = row.compile(func(message string, path ...string) {
			report(message, append([]string{"prices", name}, path...)...)
		})
	}
}

// Prices lists the prices that the configuration gives, as it gives them.
func (s *Snapshot) Prices() map[string]PriceRow { return maps.Clone(s.priceRows) }
