package prompt

import (
	"slices"
	"strings"
	"sync"
)

// families are the agents that were called by others: by tenant and conversation of
// each, whose child it is. Only so many are remembered, the newest.
type families struct {
	mu    sync.Mutex
	of    map[string]family
	order []string
}

// family is where an agent belongs.
type family struct {
	root string
	path []string
}

const familiesMost = 4096

// Adopt places a session below the conversation that its request names as its
// parent's, with the names of its agent: prompts are then those of the root, which
// alone may answer them, and their path tells who asks. A parent is known by its
// tenant: somebody else's conversation is nobody's parent. A session without a
// parent stays as it is.
func (b *Book) Adopt(s *Session, parent, agent []byte) {
	f := &b.families
	name := label(string(parent), 256)
	if name == "" {
		return
	}
	names := agents(agent)
	f.mu.Lock()
	defer f.mu.Unlock()
	above, known := f.of[s.Tenant+"\x00"+name]
	if !known {
		above = family{root: name}
	}
	path := append(slices.Clone(above.path), names...)
	path = path[:min(len(path), maxNames)]
	if own := s.Conversation; own != "" && own != above.root {
		f.remember(s.Tenant+"\x00"+own, family{root: above.root, path: path})
	}
	if s.Turn != "" {
		s.Turn = strings.Join([]string{s.Conversation, s.Turn}, "\x00")
	}
	s.Conversation, s.Path = above.root, path
}

func (f *families) remember(key string, of family) {
	if f.of == nil {
		f.of = map[string]family{}
	}
	if _, known := f.of[key]; !known {
		if len(f.order) >= familiesMost {
			delete(f.of, f.order[0])
			f.order = f.order[1:]
		}
		f.order = append(f.order, key)
	}
	f.of[key] = of
}
