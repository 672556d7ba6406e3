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
	maxLanes = 32
	// maxTries bounds how often a save is tried again when others save at the
	// same place at the same time.
	maxTries = 4
	// maxState bounds, in bytes, what stands under one history. What is long of a
	// state is kept apart, and shared by all states that have it in common.
	maxState = 64 << 10
	// maxRecent bounds what is kept at hand in this process, in bytes.
	maxRecent = 16 << 20
	// maxChains bounds what is remembered of histories in this process, in bytes.
	maxChains = 8 << 20
)

// Lineage keeps the states of conversations in a store.
type Lineage struct {
	store  cache.Store
	ttl    time.Duration
	recent *recent
	heads  heads
	chains chains
	beacon beacon
}

// New makes a lineage that forgets a conversation when nothing was heard of it
// for the given time.
func New(store cache.Store, ttl time.Duration) *Lineage {
	return &Lineage{store: store, ttl: ttl, recent: newRecent(maxRecent), chains: chains{max: maxChains}}
}

// Head identifies a history: who asks whom, and all messages so far.
type Head = continuity.Hash

// Heads are the histories that a request goes through, from the empty one to
// its own. Scope tells apart what must never meet: tenants, endpoints, models.
func Heads(scope string, messages []continuity.Message) []Head {
	heads := make([]Head, 0, len(messages)+1)
	digest := sha256.Sum256([]byte(scope))
	heads = append(heads, Head(digest[:16]))
	for i := range messages {
		heads = append(heads, link(heads[i], messages[i].Line()))
	}
	return heads
}

// link is the history that a message makes of the one before it.
func link(before Head, line continuity.Hash) Head {
	var pair [2 * len(before)]byte
	copy(pair[:], before[:])
	copy(pair[len(before):], line[:])
	digest := sha256.Sum256(pair[:])
	return Head(digest[:len(before)])
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

// Save puts the next state under the request's own history, beside those of
// other conversations and lanes, and keeps elements by their hashes. The error
// wraps cache.ErrTooLarge if the state is more than can be kept.
func (l *Lineage) Save(ctx context.Context, head Head, known *Known, next *continuity.State, keep map[continuity.Hash][]byte) error {
	w := l.writing()
	w.elements(keep)
	record, err := w.record(next)
	if err != nil {
		return err
	}
	if err := w.write(ctx); err != nil {
		return fmt.Errorf("keeping elements: %w", err)
	}
	old := known.own
	for range maxTries {
		value := lanes(old, record)
		swapped, err := l.store.CompareAndSwap(ctx, old, cache.Entry{Key: headKey(head), Value: value, TTL: l.ttl})
		if err != nil {
			return fmt.Errorf("saving a conversation: %w", err)
		}
		if swapped {
			l.heads.add(head)
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

// Keep keeps elements by their hashes, for a state that is yet to be saved.
func (l *Lineage) Keep(ctx context.Context, keep map[continuity.Hash][]byte) error {
	l.ask(ctx)
	w := l.writing()
	w.elements(keep)
	if err := w.write(ctx); err != nil {
		return fmt.Errorf("keeping elements: %w", err)
	}
	return nil
}

// lanes puts the record of the next state last among those that were there, of
// which one that sends the same gives way: a request that was sent again is no
// other branch. When there are too many, or too much of them, the oldest go.
func lanes(old, next []byte) []byte {
	same := unnamed(next)
	records := slices.DeleteFunc(split(old), func(record []byte) bool { return bytes.Equal(unnamed(record), same) })
	records = append(records, next)
	size := 0
	for i, record := range slices.Backward(records) {
		if size += len(record); size > maxState || len(records)-i > maxLanes {
			records = records[i+1:]
			break
		}
	}
	return join(records)
}

// SaveSealed puts a state where only the conversation that got the reply will
// look for it, and says so in it.
func (l *Lineage) SaveSealed(ctx context.Context, state *continuity.State, sealed ...Sealed) error {
	own := *state
	own.Sealed = true
	w := l.writing()
	record, err := w.record(&own)
	if err != nil {
		return err
	}
	value := join([][]byte{record})
	for i := range sealed {
		w.entries = append(w.entries, cache.Entry{Key: headKey(sealed[i].Head), Value: value, TTL: l.ttl})
	}
	if err := w.write(ctx); err != nil {
		return fmt.Errorf("saving a conversation by its seal: %w", err)
	}
	return nil
}

// The letters keep apart what is written under equal hashes.
func headKey(head Head) string               { return "h3:" + string(head[:]) }
func noteKey(head Head) string               { return "n1:" + string(head[:]) }
func elementKey(hash continuity.Hash) string { return "e1:" + string(hash[:]) }
func partKey(hash continuity.Hash) string    { return "p1:" + string(hash[:]) }
