package catalog

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"warmpath/rewrite"
)

// Settings is what the configuration says about providers and models, to lay
// over the embedded data.
type Settings struct {
	// Providers are rows by name; those of new names are added.
	Providers map[string]Row
	// Addresses replace the address of a provider for all its dialects.
	Addresses map[string]string
	// Aliases are names that clients may use for a model or provider/model.
	Aliases map[string]string
	// Fallbacks are what an alias stands for when what it stands for first fails,
	// in the order in which they are tried.
	Fallbacks map[string][]string
	// Defaults name the provider of each dialect for models that say nothing.
	Defaults map[string]string
	// Routes are what is done for models besides, by patterns of their names.
	Routes map[string]RouteRow
	// Models are further names to tell apart in metrics.
	Models []string
	// Prices are those of models, by model or provider/model.
	Prices map[string]PriceRow
}

// defaults are the providers that a dialect's clients expect behind its paths.
var defaults = map[rewrite.Dialect]string{
	rewrite.Opaque:      "openai",
	rewrite.Messages:    "anthropic",
	rewrite.Completions: "openai",
	rewrite.Responses:   "openai",
	rewrite.Gemini:      "gemini",
}

// Build makes a snapshot. With any problem the snapshot is nil; all problems
// are found in one go, in a steady order.
func Build(settings Settings) (*Snapshot, []Problem) {
	given, families := embedded()
	rows := maps.Clone(given)
	s := &Snapshot{
		providers: map[string]*Provider{},
		families:  families,
		aliases:   map[string]string{},
		fallbacks: map[string][]string{},
		defaults:  map[rewrite.Dialect]*Provider{},
		known:     map[string]Model{},
	}
	var problems []Problem
	report := func(message string, path ...string) {
		problems = append(problems, Problem{Path: path, Message: message})
	}
	s.addProviders(rows, settings, report)
	s.addAliases(settings.Aliases, report)
	s.addFallbacks(settings, report)
	s.addDefaults(settings.Defaults, report)
	s.addRoutes(settings.Routes, report)
	s.addPrices(settings.Prices, report)
	if len(problems) > 0 {
		return nil, problems
	}
	s.names = slices.Sorted(maps.Keys(s.providers))
	s.addModels(settings)
	return s, nil
}

func (s *Snapshot) addProviders(rows map[string]Row, settings Settings, report func(string, ...string)) {
	for name, row := range sorted(settings.Providers) {
		if !validName(name) {
			report("is not a name for a provider; use lower-case letters, digits, - and _", "providers", name)
			continue
		}
		rows[name] = row.over(rows[name])
	}
	for name, base := range sorted(settings.Addresses) {
		row, ok := rows[name]
		if !ok {
			report("is not a provider; name one of "+strings.Join(slices.Sorted(maps.Keys(rows)), ", "), "upstream", name)
			continue
		}
		if _, err := ParseBase(base); err != nil {
			report(err.Error(), "upstream", name)
			continue
		}
		rows[name] = row.moved(base)
	}
	for name, row := range sorted(rows) {
		s.providers[name] = row.provider(name, func(message string, path ...string) {
			report(message, append([]string{"providers", name}, path...)...)
		})
	}
}

// addAliases flattens aliases. One may name another, which must then name a
// model: longer chains are most often a mistake, and loops always are.
func (s *Snapshot) addAliases(aliases map[string]string, report func(string, ...string)) {
	for name, to := range sorted(aliases) {
		switch {
		case name == "":
			report("has an empty name; give the alias a name", "aliases")
			continue
		case strings.Trim(to, "/") == "" || strings.HasSuffix(to, "/"):
			report("names no model; write model or provider/model", "aliases", name)
			continue
		}
		end, steps := follow(aliases, name)
		switch {
		case end == "":
			report("leads back to an alias that it came from; name a model", "aliases", name)
			continue
		case steps > 2:
			report("is an alias of an alias of an alias; name "+quote(end)+" at once", "aliases", name)
			continue
		}
		s.aliases[name] = end
	}
}

// addFallbacks resolves what stands behind an alias's first name. They are models,
// or aliases of one, and each is named once.
func (s *Snapshot) addFallbacks(settings Settings, report func(string, ...string)) {
	for name, list := range sorted(settings.Fallbacks) {
		all := []string{s.aliases[name]}
		for _, to := range list {
			end, steps := follow(settings.Aliases, to)
			switch {
			case strings.Trim(to, "/") == "" || strings.HasSuffix(to, "/"):
				report("lists "+quote(to)+", which names no model; write model or provider/model", "aliases", name)
			case end == "" || steps > 1 || len(settings.Fallbacks[to]) > 0:
				report("lists "+quote(to)+", which is an alias of more than a model; name models", "aliases", name)
			case slices.Contains(all, end):
				report("lists "+quote(to)+" twice; name each model once", "aliases", name)
			}
			all = append(all, end)
		}
		s.fallbacks[name] = all[1:]
	}
}

// follow walks from an alias to the name at the end of its chain, which is
// empty if the chain is a loop.
func follow(aliases map[string]string, name string) (end string, steps int) {
	for steps <= len(aliases) {
		to, ok := aliases[name]
		if !ok {
			return name, steps
		}
		name, steps = to, steps+1
	}
	return "", steps
}

func (s *Snapshot) addDefaults(chosen map[string]string, report func(string, ...string)) {
	for d, name := range defaults {
		s.defaults[d] = s.providers[name]
	}
	for name, provider := range sorted(chosen) {
		d, ok := rewrite.ParseDialect(name)
		if !ok || d == rewrite.Converse {
			report("is not a dialect of clients; write "+alternatives(rewrite.Dialects), "defaults", name)
			continue
		}
		p := s.providers[provider]
		switch {
		case p == nil:
			report("names an unknown provider "+quote(provider)+"; name one of "+
				strings.Join(slices.Sorted(maps.Keys(s.providers)), ", "), "defaults", name)
		case !p.Speaks(d) && len(p.Bases) > 0:
			report("names "+provider+", which does not speak "+name+" but "+p.spoken(), "defaults", name)
		}
		s.defaults[d] = p
	}
	// A row may have lost the dialect that it is the default of.
	for _, d := range rewrite.Dialects {
		if p := s.defaults[d]; p != nil && chosen[d.String()] == "" && len(p.Bases) > 0 && !p.Speaks(d) {
			report("is needed: "+p.Name+" no longer speaks "+d.String(), "defaults", d.String())
		}
	}
}

func (s *Snapshot) addModels(settings Settings) {
	names := map[string]bool{}
	for _, f := range s.families {
		for _, m := range f.Models {
			s.known[m.ID] = m
			names[m.ID] = true
		}
	}
	for _, name := range settings.Models {
		names[name] = true
	}
	for name, to := range s.aliases {
		names[name] = true
		for _, to := range append([]string{to}, s.fallbacks[name]...) {
			if prefix, rest, ok := strings.Cut(to, "/"); ok && s.providers[prefix] != nil {
				to = rest
			} else if _, bare := s.owner(to); bare != "" {
				to = bare
			}
			names[to] = true
		}
	}
	s.models = slices.Sorted(maps.Keys(names))
}

// validName keeps names fit for model prefixes and metric labels. Metrics keep
// "other" for names outside the closed set.
func validName(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return name != "" && len(name) <= 64 && name != "other"
}

// sorted walks a map in the order of its keys, so that problems come in a
// steady order.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// quote bounds what a message repeats: names come from clients too.
func quote(s string) string {
	const longest = 100
	if len(s) > longest {
		s = s[:longest] + "..."
	}
	return strconv.Quote(s)
}
