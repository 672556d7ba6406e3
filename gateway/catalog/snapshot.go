package catalog

import (
	"maps"
	"slices"
	"strings"

	"warmpath/rewrite"
)

// Snapshot is one state of the catalog. It is immutable and safe for any
// number of readers.
type Snapshot struct {
	providers map[string]*Provider
	families  []family
	// aliases are flat: every target is a name to resolve, no longer an alias.
	aliases map[string]string
	// fallbacks are the further targets of aliases, in order.
	fallbacks map[string][]string
	defaults  map[rewrite.Dialect]*Provider
	routes    []*Route
	names     []string
	models    []string
	known     map[string]Model
	// prices are those of the configuration, by provider and model; the provider is
	// empty for all of them.
	prices    map[string]map[string]*Price
	priceRows map[string]PriceRow
}

// Default is the snapshot of the embedded data alone.
func Default() *Snapshot {
	s, problems := Build(Settings{})
	if len(problems) > 0 {
		panic("BUG: the embedded catalog is unsound: " + problems[0].String())
	}
	return s
}

// Provider finds a provider by name; ok is false for an unknown one.
func (s *Snapshot) Provider(name string) (p *Provider, ok bool) {
	p, ok = s.providers[name]
	return p, ok
}

// Providers lists the names of all providers in order, as the closed set of a
// metric label. The slice is shared and must not be changed.
func (s *Snapshot) Providers() []string { return s.names }

// Models lists the model names known apart in metrics, in order: the embedded
// ones, those that the configuration lists, its aliases and their targets. The
// slice is shared and must not be changed.
func (s *Snapshot) Models() []string { return s.models }

// Aliases lists the aliases with what each stands for in the end.
func (s *Snapshot) Aliases() map[string]string { return maps.Clone(s.aliases) }

// Strays lists, in order, what aliases stand for that has a slash in it, but neither
// a provider's name in front of it nor a family that it belongs to: only the client's
// dialect decides where that goes.
func (s *Snapshot) Strays() (names []string) {
	targets := slices.Collect(maps.Values(s.aliases))
	for _, further := range s.fallbacks {
		targets = append(targets, further...)
	}
	slices.Sort(targets)
	for _, name := range slices.Compact(targets) {
		prefix, rest, slash := strings.Cut(name, "/")
		if p, _ := s.owner(name); slash && rest != "" && p == nil && s.providers[prefix] == nil {
			names = append(names, name)
		}
	}
	return names
}

// Keyless lists, in order, the further targets of aliases that are never asked: the
// client's key is meant for the provider of the first, and theirs has none.
func (s *Snapshot) Keyless() (names []string) {
	for alias, further := range s.fallbacks {
		first := s.provider(s.aliases[alias])
		for _, name := range further {
			if p := s.provider(name); p != nil && p != first && !p.Open() {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// provider is the one that a name leads to whatever the client speaks; nil for none.
func (s *Snapshot) provider(name string) *Provider {
	prefix, rest, slash := strings.Cut(name, "/")
	if p := s.providers[prefix]; slash && rest != "" && p != nil {
		return p
	}
	p, _ := s.owner(name)
	return p
}

// Fallbacks lists the aliases that have more than one target, with those behind
// the first.
func (s *Snapshot) Fallbacks() map[string][]string { return maps.Clone(s.fallbacks) }

// Model is what is known of a model name as the provider writes it.
func (s *Snapshot) Model(id string) (m Model, ok bool) {
	m, ok = s.known[id]
	return m, ok
}

// For is the provider that gets a dialect's requests when their model says
// nothing else.
func (s *Snapshot) For(d rewrite.Dialect) *Provider { return s.defaults[d] }

// Problem is a fault in the settings: where, and what to do about it. It never
// holds a secret.
type Problem struct {
	// Path leads to the setting, from the top of the configuration.
	Path []string
	// Message goes on from the path: "must begin with https:// or http://".
	Message string
}

// String is the problem as one line.
func (p Problem) String() string { return strings.Join(p.Path, ".") + " " + p.Message }

// Target is where a request goes.
type Target struct {
	Provider *Provider
	Base     *Base
	// Dialect is the one that the provider is spoken to in: the client's, or
	// another that the request has to be translated to.
	Dialect rewrite.Dialect
	// Model is the name to send, and Renamed says that it is not the name the
	// client sent.
	Model   string
	Renamed bool
	// Withheld is the provider that the model's family belongs to, where the
	// request could be translated for it but it has no key in the configuration;
	// empty otherwise.
	Withheld string
}

// Resolve finds the target of a request in a dialect for the model as the
// client named it, which may be empty. The error is a *rewrite.Failure.
//
// An alias comes first, then a provider's name in front of the model
// (openrouter/anthropic/claude-opus-5), then the family that the name belongs
// to, then the dialect's default. A provider that does not speak the dialect is a
// target for requests that can be translated. The family alone does not lead the
// client's own credential to another vendor: that takes an alias, a provider's
// name, or a key in the configuration.
func (s *Snapshot) Resolve(d rewrite.Dialect, model string, translatable bool) (Target, error) {
	name, aliased := s.aliases[model]
	if !aliased {
		name = model
	}
	return s.lead(d, model, name, aliased, translatable)
}

// Further are the targets of an alias behind its first, for a request whose first
// target has failed. Those that a request in the dialect cannot be sent to are
// left out, and so are those of another provider than the first that has no key of
// its own: the client's is not for it.
func (s *Snapshot) Further(d rewrite.Dialect, model string, translatable bool) (targets []Target) {
	first, err := s.Resolve(d, model, translatable)
	for _, name := range s.fallbacks[model] {
		t, missed := s.lead(d, model, name, true, translatable)
		// A client's own key is meant for the first.
		if missed == nil && (t.Provider.Open() || err == nil && t.Provider == first.Provider) {
			targets = append(targets, t)
		}
	}
	return targets
}

// lead finds the target of a name that stands for the model that was asked for.
func (s *Snapshot) lead(d rewrite.Dialect, model, name string, aliased, translatable bool) (Target, error) {
	if prefix, rest, ok := strings.Cut(name, "/"); ok && rest != "" {
		if p := s.providers[prefix]; p != nil {
			if !p.Speaks(d) && !translatable {
				return Target{}, s.unspoken(p, d, model, name)
			}
			return target(p, d, model, rest), nil
		}
	}
	p, bare := s.owner(name)
	if p != nil && (p.Speaks(d) || translatable && (aliased || p.Open())) {
		return target(p, d, model, bare), nil
	}
	t := target(s.defaults[d], d, model, name)
	if p != nil && translatable {
		t.Withheld = p.Name
	}
	return t, nil
}

func target(p *Provider, d rewrite.Dialect, asked, model string) Target {
	if !p.Speaks(d) {
		d = p.Native
	}
	return Target{Provider: p, Base: p.Bases[d], Dialect: d, Model: model, Renamed: model != asked}
}

// unspoken says that the named provider does not speak the dialect, and what
// would work instead.
func (s *Snapshot) unspoken(p *Provider, d rewrite.Dialect, asked, name string) *rewrite.Failure {
	var b strings.Builder
	b.WriteString("model " + quote(asked))
	if name != asked {
		b.WriteString(" (an alias of " + quote(name) + ")")
	}
	b.WriteString(" names provider " + p.Name + ", which does not speak " + d.String() +
		" but " + p.spoken() + ", and this kind of request is not translated; send it in one of these dialects")
	var others []string
	for _, other := range s.names {
		if s.providers[other].Speaks(d) {
			others = append(others, other)
		}
	}
	slices.Sort(others)
	b.WriteString(", or name a provider that speaks " + d.String() + " (" + strings.Join(others, ", ") + ")")
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: b.String()}
}

// HasKeys reports whether some provider has a key from configuration.
func (s *Snapshot) HasKeys() bool {
	return slices.ContainsFunc(s.Providers(), func(name string) bool {
		p, _ := s.Provider(name)
		return p.HasKey()
	})
}
