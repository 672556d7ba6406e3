package catalog

import (
	"slices"
	"strings"
)

// Model is what is known of one model name.
type Model struct {
	// ID is the name as the provider writes it.
	ID string `yaml:"id"`
	// MinCacheTokens is the shortest prompt prefix, in tokens, that the
	// provider caches for this model; zero means that it is not known.
	MinCacheTokens int `yaml:"min_cache_tokens"`
}

// family is the set of model names that one provider owns.
type family struct {
	Provider string   `yaml:"provider"`
	Starts   []string `yaml:"starts"`
	Vendors  []string `yaml:"vendors"`
	Models   []Model  `yaml:"models"`
}

// match reports whether a bare model name belongs to the family.
func (f *family) match(name string) bool {
	for _, start := range f.Starts {
		if rest, ok := strings.CutPrefix(name, start); ok {
			// name:tag is how local servers write open weights; only a start
			// that has the colon itself may go on with more of them.
			return strings.HasSuffix(start, ":") || !strings.Contains(rest, ":")
		}
	}
	return false
}

// owner finds the provider that a model name belongs to, and the name it has
// there: without the vendor that other hosts put in front.
func (s *Snapshot) owner(model string) (p *Provider, name string) {
	vendor, rest, prefixed := strings.Cut(model, "/")
	for i := range s.families {
		f := &s.families[i]
		switch {
		case prefixed && f.hasVendor(vendor) && f.match(rest):
			return s.providers[f.Provider], rest
		case !prefixed && f.match(model):
			return s.providers[f.Provider], model
		}
	}
	return nil, model
}

func (f *family) hasVendor(vendor string) bool {
	return slices.Contains(f.Vendors, vendor)
}
