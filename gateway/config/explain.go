package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"warmpath/gateway/catalog"
	"warmpath/gateway/secret"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// Explain writes the effective configuration as YAML, every setting with its
// value and every secret masked. Loaded again it means the same, but for the
// secrets.
func (c *Config) Explain() ([]byte, error) { return encode(c.document(secret.String.String)) }

func encode(top yaml.MapSlice) ([]byte, error) {
	out, err := yaml.Marshal(top)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return out, nil
}

// writeSecret is how secrets are written.
type writeSecret func(secret.String) string

// document is all of the configuration.
func (c *Config) document(show writeSecret) (top yaml.MapSlice) {
	for _, s := range settings {
		section, name, nested := strings.Cut(s.key, ".")
		if !nested {
			top = append(top, item(s.key, written(s.field(c).text())))
			continue
		}
		// The settings of a section follow each other.
		if len(top) == 0 || top[len(top)-1].Key != section {
			top = append(top, item(section, yaml.MapSlice{}))
		}
		last := &top[len(top)-1]
		fields, _ := last.Value.(yaml.MapSlice)
		fields = append(fields, item(name, written(s.field(c).text())))
		last.Value = fields
	}
	for i := range top {
		if fields, ok := top[i].Value.(yaml.MapSlice); ok && top[i].Key == "prompts" {
			top[i].Value = append(fields, explainPrompts(&c.Prompts.Policies)...)
		}
	}
	keys := make([]string, len(c.AccessKeys))
	for i, key := range c.AccessKeys {
		keys[i] = show(key)
	}
	return append(top,
		item("access_keys", keys),
		item("providers", explainProviders(c.Catalog, show)),
		item("aliases", explainAliases(c.Catalog)),
		item("defaults", explainDefaults(c.Catalog)),
		item("mcp", explainServers(c.MCP, show)),
		item("routes", explainRoutes(c.Catalog)),
		item("models", unlisted(c.Catalog)),
		item("prices", explainPrices(c.Catalog.Prices())),
		item("display", explainDisplay(&c.Display)),
	)
}

func item(key string, value any) yaml.MapItem { return yaml.MapItem{Key: key, Value: value} }

// written gives truth values and numbers a type, so that they are not quoted.
func written(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}

func explainProviders(s *catalog.Snapshot, show writeSecret) yaml.MapSlice {
	var rows yaml.MapSlice
	for _, name := range s.Providers() {
		p, _ := s.Provider(name)
		main := p.Bases[rewrite.Opaque]
		dialects := []string{p.Native.String()} // the order says which that is
		var bases yaml.MapSlice
		for _, d := range p.Dialects {
			if d != p.Native {
				dialects = append(dialects, d.String())
			}
			if base := p.Bases[d]; base.String() != main.String() {
				bases = append(bases, item(d.String(), base.String()))
			}
		}
		row := yaml.MapSlice{
			item("label", p.Label),
			item("base_url", main.String()),
			item("dialects", dialects),
		}
		if len(bases) > 0 {
			row = append(row, item("bases", bases))
		}
		row = append(row, item("key_style", p.KeyStyle.String()))
		if p.Endpoint != "" {
			row = append(row, item("endpoint", p.Endpoint))
		}
		if habits := catalog.HabitNames(p.Habits); len(habits) > 0 {
			row = append(row, item("habits", habits))
		}
		if len(p.Own) > 0 {
			row = append(row, item("abilities", explainAbilities(p.Own)))
		}
		if p.LeavesOut {
			row = append(row, item("missing_tools", "leave_out"))
		}
		if p.Continue {
			row = append(row, item("continue", "on"))
		}
		if p.Mode != rewrite.ModeOn {
			row = append(row, item("mode", p.Mode.String()))
		}
		if p.Region != "" {
			row = append(row, item("region", p.Region))
		}
		for _, s := range []struct {
			name  string
			value secret.String
		}{{"key", p.Key}, {"access_key", p.Signing.AccessKey}, {"secret_key", p.Signing.SecretKey}, {"session_token", p.Signing.SessionToken}} {
			if !s.value.IsZero() {
				row = append(row, item(s.name, show(s.value)))
			}
		}
		rows = append(rows, item(name, row))
	}
	return rows
}

// explainAliases writes an alias as what it stands for, or as a list of all that
// it may stand for.
func explainAliases(s *catalog.Snapshot) yaml.MapSlice {
	rows := yaml.MapSlice{}
	further := s.Fallbacks()
	for name, to := range s.Aliases() {
		if more := further[name]; len(more) > 0 {
			rows = append(rows, item(name, append([]string{to}, more...)))
			continue
		}
		rows = append(rows, item(name, to))
	}
	slices.SortFunc(rows, func(a, b yaml.MapItem) int { return cmp.Compare(a.Key.(string), b.Key.(string)) })
	return rows
}

// explainRoutes writes routes as they are written in the file.
func explainRoutes(s *catalog.Snapshot) yaml.MapSlice {
	rows := yaml.MapSlice{}
	for _, r := range s.Routes() {
		var row, tools yaml.MapSlice
		if len(r.Builtin) > 0 {
			tools = append(tools, item("builtin", r.Builtin))
		}
		if len(r.MCP) > 0 {
			tools = append(tools, item("mcp", r.MCP))
		}
		if len(tools) > 0 {
			row = append(row, item("tools", tools))
		}
		row = append(row, item("audience", onOrOff(r.Audience)), item("events", onOrOff(r.Events)))
		rows = append(rows, item(r.Pattern, row))
	}
	return rows
}

func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// explainAbilities writes abilities as they are written in the file.
func explainAbilities(own map[string]continuity.Abilities) yaml.MapSlice {
	var rows yaml.MapSlice
	for _, model := range slices.Sorted(maps.Keys(own)) {
		able, tools, marks := own[model], "none", "none"
		switch {
		case able.Define:
			tools = "definition"
		case able.Reference:
			tools = "reference"
		}
		if able.Automatic {
			marks = "automatic"
		}
		rows = append(rows, item(model, yaml.MapSlice{
			item("text", able.Text), item("tools", tools), item("binding", able.Binding), item("marks", marks),
			item("diagnostics", able.Diagnostics), item("effort", able.Effort),
		}))
	}
	return rows
}

// explainPrices writes prices as they are written in the file.
func explainPrices(rows map[string]catalog.PriceRow) yaml.MapSlice {
	prices := yaml.MapSlice{}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		row := rows[name]
		columns := inOrder(row.Tokens)
		for _, section := range []struct {
			name string
			of   map[string]string
		}{{"above", row.Above}, {"hosted", row.Hosted}, {"terms", row.Terms}} {
			if len(section.of) > 0 {
				columns = append(columns, item(section.name, inOrder(section.of)))
			}
		}
		prices = append(prices, item(name, columns))
	}
	return prices
}

// inOrder writes numbers by name, those of prices in the order of their columns.
func inOrder(numbers map[string]string) (all yaml.MapSlice) {
	names := slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(catalog.PriceColumns, a), slices.Index(catalog.PriceColumns, b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		all = append(all, item(name, decimal(numbers[name])))
	}
	return all
}

// decimal gives a number a type, so that it is not quoted.
func decimal(text string) any {
	if f, err := strconv.ParseFloat(text, 64); err == nil && f != math.Trunc(f) {
		return f
	}
	return written(text)
}

func explainDefaults(s *catalog.Snapshot) yaml.MapSlice {
	var defaults yaml.MapSlice
	for _, d := range rewrite.Dialects {
		defaults = append(defaults, item(d.String(), s.For(d).Name))
	}
	return defaults
}

// unlisted are the model names that the embedded catalog does not have.
func unlisted(s *catalog.Snapshot) []string {
	names := []string{}
	for _, name := range s.Models() {
		if _, ok := s.Model(name); !ok {
			names = append(names, name)
		}
	}
	return names
}
