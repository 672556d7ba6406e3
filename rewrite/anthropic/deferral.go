package anthropic

import "warmpath/rewrite/splice"

// load says when the tools of an entry that stands for many are read.
type load uint8

const (
	unsaid load = iota // it does not say
	now                // at least one with the request
	later              // none before it is asked for
)

// and joins what two members say.
func (l load) and(other load) load {
	if l == unsaid || other == now {
		return other
	}
	return l
}

// config writes the configuration of a set of tools and reads when they load.
func (f *form) config(each bool, all *load) verdict {
	start := f.at
	what := f.optional()
	if f.msg == "" {
		*all = deferral(each, f.text[start:f.at])
	}
	return what
}

// deferral reads the default of a set of tools or what is said of each.
func deferral(each bool, config []byte) (all load) {
	splice.Fields(config, func(name, value []byte) bool {
		switch {
		case each:
			if said := deferral(false, value); said != unsaid {
				all = all.and(said)
			}
		case string(name) == "defer_loading":
			if all = now; string(value) == "true" {
				all = later
			}
		}
		return true
	})
	return all
}
