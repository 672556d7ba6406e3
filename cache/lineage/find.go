package lineage

import (
	"context"
	"fmt"

	"warmpath/rewrite/continuity"
)

const (
	// maxLookup bounds how many histories are looked up, and firstLookup is how
	// many of them in the first round trip, if that reaches one that is known to
	// this process.
	maxLookup   = 2048
	firstLookup = 8
)

// Known is what the store has under the histories of a request, read as far as
// it is asked for: a conversation that goes on is found at once.
type Known struct {
	// Sent is for whoever chooses a level: its number of messages.
	Sent int

	lineage *Lineage
	keys    []string
	places  []Level // of the keys
	values  [][]byte
	first   int // how many keys to look up first
	next    int
	own     []byte // what stands under the request's own history
}

// Level is one known history.
type Level struct {
	// Sent is the number of its messages, and Sealed says that it was found by
	// its seal.
	Sent   int
	Sealed bool
	// States are those that stand under the history, oldest first.
	States []*continuity.State

	head Head
}

// Find looks for the states that a request with these heads may go on from.
// Sealed histories, in ascending order, are longer than those that they seal.
//
// The store is asked for all of them in one round trip. Where this process has
// seen one of them, those behind it are enough, and a few before it, in case
// that none of its states is the request's own.
func (l *Lineage) Find(heads []Head, sealed ...Sealed) *Known {
	first := max(1, len(heads)-maxLookup) // the empty history belongs to everybody
	known := &Known{lineage: l}
	seen := l.heads.last(heads[first:])
	if seen >= 0 {
		seen += first
	}
	add := func(head Head, level Level) {
		level.head = head
		known.keys, known.places = append(known.keys, headKey(head)), append(known.places, level)
	}
	for i := len(heads) - 1; i >= first; i-- {
		for ; len(sealed) > 0 && sealed[len(sealed)-1].Sent >= i; sealed = sealed[:len(sealed)-1] {
			add(sealed[len(sealed)-1].Head, Level{Sent: sealed[len(sealed)-1].Sent, Sealed: true})
		}
		if add(heads[i], Level{Sent: i}); i == seen {
			known.first = max(firstLookup, len(known.keys))
		}
	}
	if seen < 0 {
		known.first = len(known.keys)
	}
	return known
}

// Next gives the known histories one after the other, the longest first. It is
// false behind the last.
func (k *Known) Next(ctx context.Context) (level Level, ok bool, err error) {
	for k.next < len(k.keys) {
		if k.next == len(k.values) {
			if err := k.look(ctx); err != nil {
				return Level{}, false, err
			}
		}
		at := k.next
		k.next++
		value := k.values[at]
		if len(value) == 0 {
			continue
		}
		k.values[at] = nil
		level = k.places[at]
		if level.States, err = k.lineage.states(ctx, value); err != nil {
			return Level{}, false, err
		}
		if !level.Sealed {
			k.lineage.heads.add(level.head)
		}
		return level, true, nil
	}
	return Level{}, false, nil
}

// look asks the store for the first keys, or for all that are left.
func (k *Known) look(ctx context.Context) error {
	keys := k.keys[len(k.values):]
	if len(k.values) == 0 {
		keys = keys[:min(k.first, len(keys))]
	}
	values, err := k.lineage.store.GetMany(ctx, keys...)
	if err != nil {
		return fmt.Errorf("looking a conversation up: %w", err)
	}
	if len(k.values) == 0 {
		for i := range values {
			if !k.places[i].Sealed {
				k.own = values[i]
				break
			}
		}
	}
	k.values = append(k.values, values...)
	return nil
}
