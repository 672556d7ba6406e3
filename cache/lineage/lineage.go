package lineage

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
	// maxLookup bounds how many histories are looked up in one round trip.
	maxLookup = 2048
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

// Known is what the store has under the longest known history of a request.
type Known struct {
	// Sent is the number of messages of that history; without States it is 0.
	Sent   int
	States []*continuity.State
	// own is what stands under the request's own history.
	own []byte
}

// Find looks for the states that a request with these heads may go on from.
func (l *Lineage) Find(ctx context.Context, heads []Head) (*Known, error) {
	first := max(1, len(heads)-maxLookup) // the empty history belongs to everybody
	keys := make([]string, 0, len(heads)-first)
	for i := len(heads) - 1; i >= first; i-- {
		keys = append(keys, headKey(heads[i]))
	}
	if len(keys) == 0 {
		return &Known{}, nil
	}
	values, err := l.store.GetMany(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("looking a conversation up: %w", err)
	}
	known := &Known{own: values[0]}
	for i, value := range values {
		// A state that cannot be read was written by another version: as if lost.
		if states, err := decode(value); err == nil && len(states) > 0 {
			known.Sent, known.States = len(heads)-1-i, states
			return known, nil
		}
	}
	return known, nil
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
		value, err := encode(lanes(old, next))
		if err != nil {
			return err
		}
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

// lanes puts the next state last among those that were there, of which an equal
// one gives way: a request that was sent again is no other branch.
func lanes(old []byte, next *continuity.State) []*continuity.State {
	states, err := decode(old)
	if err != nil {
		states = nil
	}
	states = slices.DeleteFunc(states, func(s *continuity.State) bool { return reflect.DeepEqual(s, next) })
	states = append(states, next)
	return states[max(0, len(states)-maxLanes):]
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

// The version in the keys changes with whatever is written under them.
func headKey(head Head) string               { return "h1:" + string(head[:]) }
func elementKey(hash continuity.Hash) string { return "e1:" + string(hash[:]) }

func encode(states []*continuity.State) ([]byte, error) {
	value, err := json.Marshal(states)
	if err != nil {
		return nil, fmt.Errorf("writing a state: %w", err)
	}
	return value, nil
}

func decode(value []byte) ([]*continuity.State, error) {
	if len(value) == 0 {
		return nil, nil
	}
	var states []*continuity.State
	if err := json.Unmarshal(value, &states); err != nil {
		return nil, fmt.Errorf("reading a state: %w", err)
	}
	return states, nil
}
