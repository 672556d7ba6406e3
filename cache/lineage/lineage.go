package lineage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"warmpath/cache"
	"warmpath/rewrite/continuity"
)

const (
	// maxLanes bounds the states that stand under one history: the roles that an
	// agent plays over it, and the branches that began there together.
	maxLanes = 8
	// maxTries bounds how often a save is tried again when others save at the
	// same place at the same time.
	maxTries = 4
	// maxLookup bounds how many histories are looked up, and firstLookup is how
	// many of them in the first round trip, which is nearly always the last.
	maxLookup   = 2048
	firstLookup = 12
	// keptLonger is how much longer elements are kept than the states that need
	// them, which are written anew with every request.
	keptLonger = 7
)

// Lineage keeps the states of conversations in a store.
type Lineage struct {
	store cache.Store
	ttl   time.Duration
}

// New makes a lineage that forgets a conversation when nothing was heard of it
// for the given time.
func New(store cache.Store, ttl time.Duration) *Lineage { return &Lineage{store, ttl} }

// Head identifies a history: who asks whom, and all messages so far.
type Head = continuity.Hash

// Heads are the histories that a request goes through, from the empty one to
// its own. Scope tells apart what must never meet: tenants, endpoints, models.
func Heads(scope string, messages []continuity.Message) []Head {
	heads := make([]Head, 0, len(messages)+1)
	digest := sha256.Sum256([]byte(scope))
	heads = append(heads, Head(digest[:16]))
	var pair [32]byte
	for i := range messages {
		last := heads[len(heads)-1]
		copy(pair[:16], last[:])
		copy(pair[16:], messages[i].Meaning[:])
		digest = sha256.Sum256(pair[:])
		heads = append(heads, Head(digest[:16]))
	}
	return heads
}

// Sealed is a history together with something that the provider made in its
// reply to it, which no other conversation can have.
type Sealed struct {
	Head Head
	// Sent is the number of messages of the history.
	Sent int
}

// Seal gives a history of a number of messages, sealed by what stands in the
// reply.
func Seal(head Head, sent int, seal string) Sealed {
	digest := sha256.New()
	digest.Write(head[:])
	digest.Write([]byte("sealed by " + seal))
	return Sealed{Head: Head(digest.Sum(nil)[:16]), Sent: sent}
}

// Known is what the store has under the histories of a request, read as far as
// it is asked for: a conversation that goes on is found at once, and each state
// is as long as its tools and edits.
type Known struct {
	// Sent is for whoever chooses a level: its number of messages.
	Sent int

	store  cache.Store
	keys   []string
	places []Level // of the keys
	values [][]byte
	chunk  int
	next   int
	// last is the key of the request's own history, and own what stands there.
	last string
	own  []byte
}

// Level is one known history.
type Level struct {
	// Sent is the number of its messages, and Sealed says that it was found by
	// its seal.
	Sent   int
	Sealed bool
	value  []byte
}

// States are those that stand under the history, oldest first. A state that
// cannot be read was written by another version: as if lost.
func (l Level) States() []*continuity.State {
	states, _ := decode(l.value)
	return states
}

// Find looks for the states that a request with these heads may go on from.
// Sealed histories, in ascending order, are longer than those that they seal.
func (l *Lineage) Find(heads []Head, sealed ...Sealed) *Known {
	first := max(1, len(heads)-maxLookup) // the empty history belongs to everybody
	known := &Known{store: l.store, chunk: firstLookup, last: headKey(heads[len(heads)-1])}
	add := func(head Head, level Level) {
		known.keys, known.places = append(known.keys, headKey(head)), append(known.places, level)
	}
	for i := len(heads) - 1; i >= first; i-- {
		for ; len(sealed) > 0 && sealed[len(sealed)-1].Sent >= i; sealed = sealed[:len(sealed)-1] {
			add(sealed[len(sealed)-1].Head, Level{Sent: sealed[len(sealed)-1].Sent, Sealed: true})
		}
		add(heads[i], Level{Sent: i})
	}
	return known
}

// Next gives the known histories one after the other, the longest first. It is
// false behind the last.
func (k *Known) Next(ctx context.Context) (level Level, ok bool, err error) {
	for k.next < len(k.keys) {
		if k.next == len(k.values) {
			chunk := k.keys[k.next:min(k.next+k.chunk, len(k.keys))]
			values, err := k.store.GetMany(ctx, chunk...)
			if err != nil {
				return Level{}, false, fmt.Errorf("looking a conversation up: %w", err)
			}
			k.values, k.chunk = append(k.values, values...), k.chunk*8
			if at := slices.Index(chunk, k.last); at >= 0 {
				k.own = values[at]
			}
		}
		at := k.next
		k.next++
		if value := k.values[at]; len(value) > 0 {
			k.values[at] = nil
			level = k.places[at]
			level.value = value
			return level, true, nil
		}
	}
	return Level{}, false, nil
}

// SaveSealed puts a state where only the conversation that got the reply will
// look for it, and says so in it.
func (l *Lineage) SaveSealed(ctx context.Context, state *continuity.State, sealed ...Sealed) error {
	own := *state
	own.Sealed = true
	value := encode([]*continuity.State{&own})
	entries := make([]cache.Entry, len(sealed))
	for i := range sealed {
		entries[i] = cache.Entry{Key: headKey(sealed[i].Head), Value: value, TTL: l.ttl}
	}
	if err := l.store.Set(ctx, entries...); err != nil {
		return fmt.Errorf("saving a conversation by its seal: %w", err)
	}
	return nil
}

// Save puts the next state under the request's own history, beside those of
// other conversations and lanes, and keeps elements by their hashes.
func (l *Lineage) Save(ctx context.Context, head Head, known *Known, next *continuity.State, keep map[continuity.Hash][]byte) error {
	entries := make([]cache.Entry, 0, len(keep))
	for hash, element := range keep {
		entries = append(entries, cache.Entry{Key: elementKey(hash), Value: element, TTL: keptLonger * l.ttl})
	}
	if len(entries) > 0 {
		if err := l.store.Set(ctx, entries...); err != nil {
			return fmt.Errorf("keeping elements: %w", err)
		}
	}
	old := known.own
	for range maxTries {
		value := lanes(old, next)
		swapped, err := l.store.CompareAndSwap(ctx, old, cache.Entry{Key: headKey(head), Value: value, TTL: l.ttl})
		if err != nil {
			return fmt.Errorf("saving a conversation: %w", err)
		}
		if swapped {
			return nil
		}
		values, err := l.store.GetMany(ctx, headKey(head))
		if err != nil {
			return fmt.Errorf("saving a conversation: %w", err)
		}
		old = values[0]
	}
	return errors.New("saving a conversation: others were faster each time")
}

// lanes puts the next state last among those that were there, of which one that
// sends the same gives way: a request that was sent again is no other branch.
// When there are too many, or too much of them, the oldest go.
func lanes(old []byte, next *continuity.State) []byte {
	states, _ := decode(old)
	states = slices.DeleteFunc(states, func(s *continuity.State) bool { return same(s, next) })
	states = append(states, next)
	states = states[max(0, len(states)-maxLanes):]
	for {
		value := encode(states)
		if len(value) <= cache.MaxValue || len(states) == 1 {
			return value
		}
		states = states[1:]
	}
}

// same reports that two states differ in nothing but their names.
func same(a, b *continuity.State) bool {
	x, y := *a, *b
	x.Conversation, y.Conversation = "", ""
	x.Epoch, y.Epoch = 0, 0
	return bytes.Equal(encode([]*continuity.State{&x}), encode([]*continuity.State{&y}))
}

// Kept reads elements by their hashes; what is lost is missing.
func (l *Lineage) Kept(ctx context.Context, hashes ...continuity.Hash) (map[continuity.Hash][]byte, error) {
	keys := make([]string, len(hashes))
	for i, hash := range hashes {
		keys[i] = elementKey(hash)
	}
	values, err := l.store.GetMany(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("reading kept elements: %w", err)
	}
	kept := make(map[continuity.Hash][]byte, len(hashes))
	for i, value := range values {
		if value != nil {
			kept[hashes[i]] = value
		}
	}
	return kept, nil
}

// The letters keep apart what is written under equal hashes.
func headKey(head Head) string               { return "h3:" + string(head[:]) }
func elementKey(hash continuity.Hash) string { return "e1:" + string(hash[:]) }
