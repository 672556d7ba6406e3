package lineage

import (
	"crypto/sha256"
	"sync"

	"warmpath/rewrite/continuity"
)

// chains remember the histories of conversations that this process has seen
// lately: with each turn most of them are the same again. Nothing depends on it.
type chains struct {
	max int // bytes

	mu         sync.Mutex
	young, old map[chainKey]*chain
	size       int // of the young
}

// chainKey is how a conversation begins.
type chainKey struct{ scope, first continuity.Hash }

// chain has a head for each line, and the empty history's before them. It is
// never changed.
type chain struct{ lines, heads []continuity.Hash }

// chainCost is about what a chain takes beside its hashes, in bytes.
const chainCost = 256

func (c *chain) cost() int { return chainCost + 2*len(continuity.Hash{})*len(c.lines) }

// find gives the chain that begins so, nil for none.
func (c *chains) find(key chainKey) *chain {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.young[key]; known != nil {
		return known
	}
	known := c.old[key]
	if known != nil {
		delete(c.old, key)
		c.put(key, known)
	}
	return known
}

func (c *chains) keep(key chainKey, known *chain) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.young[key]; before != nil {
		c.size -= before.cost()
	}
	c.put(key, known)
}

func (c *chains) put(key chainKey, known *chain) {
	if c.size += known.cost(); c.young == nil || c.size > c.max/2 {
		c.old, c.young, c.size = c.young, map[chainKey]*chain{}, known.cost()
	}
	c.young[key] = known
}

// Heads is the function of that name. The caller must not change what it gets.
func (l *Lineage) Heads(scope string, messages []continuity.Message) []Head {
	digest := sha256.Sum256([]byte(scope))
	empty := Head(digest[:16])
	if len(messages) == 0 {
		return []Head{empty}
	}
	key := chainKey{empty, messages[0].Line()}
	known := l.chains.find(key)
	same := 0
	if known != nil {
		for same < len(messages) && same < len(known.lines) && messages[same].Line() == known.lines[same] {
			same++
		}
	}
	if same == len(messages) {
		return known.heads[: same+1 : same+1]
	}
	next := &chain{lines: make([]continuity.Hash, len(messages)), heads: make([]continuity.Hash, len(messages)+1)}
	if next.heads[0] = empty; known != nil {
		copy(next.heads, known.heads[:same+1])
	}
	for i := range messages {
		if next.lines[i] = messages[i].Line(); i >= same {
			next.heads[i+1] = link(next.heads[i], next.lines[i])
		}
	}
	l.chains.keep(key, next)
	return next.heads
}
