package lineage

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	heads   []Head
	sealed  []Sealed
	// left is the number of messages of the longest history that has not been
	// looked up, 0 for none, and first how long those are that come first.
	left, first int
	found       []level // that were not given yet, the shortest first
	own         []byte  // what stands under the request's own history
}

// level is a history with what stands under it.
type level struct {
	Level
	head  Head
	value []byte
}

// Level is one known history.
type Level struct {
	// Sent is the number of its messages, and Sealed says that it was found by
	// its seal.
	Sent   int
	Sealed bool
	// States are those that stand under the history, oldest first.
	States []*continuity.State
}

// Find looks for the states that a request with these heads may go on from.
// Sealed histories, in ascending order, are longer than those that they seal.
//
// The store is asked for all of them in one round trip. Where this process has
// seen one of them, those behind it are enough, and a few before it, in case
// that none of its states is the request's own.
func (l *Lineage) Find(heads []Head, sealed ...Sealed) *Known {
	k := &Known{lineage: l, heads: heads, sealed: sealed, left: len(heads) - 1}
	if seen := l.heads.last(heads[k.lowest():]); seen >= 0 {
		k.first = min(k.lowest()+seen, len(heads)-firstLookup)
	}
	return k
}

// lowest is the shortest history to look up: the empty one belongs to everybody.
func (k *Known) lowest() int { return max(1, len(k.heads)-maxLookup) }

// Next gives the known histories one after the other, the longest first. It is
// false behind the last.
func (k *Known) Next(ctx context.Context) (Level, bool, error) {
	for k.left >= k.lowest() && len(k.found) == 0 {
		if err := k.look(ctx, max(k.first, k.lowest())); err != nil {
			return Level{}, false, fmt.Errorf("looking a conversation up: %w", err)
		}
		k.first = 0
	}
	last := len(k.found) - 1
	if last < 0 {
		return Level{}, false, nil
	}
	next := k.found[last]
	k.found = k.found[:last]
	states, err := k.lineage.states(ctx, next.value)
	if err != nil {
		return Level{}, false, err
	}
	if !next.Sealed {
		k.lineage.heads.add(next.head)
	}
	next.States = states
	return next.Level, true, nil
}

// look asks the store for the histories that are left, down to one of a number
// of messages.
func (k *Known) look(ctx context.Context, down int) error {
	var places []level
	for i := k.left; i >= down; i-- {
		for n := len(k.sealed) - 1; n >= 0 && k.sealed[n].Sent >= i; n-- {
			places = append(places, level{Level: Level{Sent: k.sealed[n].Sent, Sealed: true}, head: k.sealed[n].Head})
			k.sealed = k.sealed[:n]
		}
		places = append(places, level{Level: Level{Sent: i}, head: k.heads[i]})
	}
	keys := make([]string, len(places), len(places)+1)
	for i := range places {
		keys[i] = headKey(places[i].head)
	}
	values, err := k.lineage.store.GetMany(ctx, append(keys, beaconKey)...)
	if err != nil {
		return err
	}
	k.lineage.watch(ctx, values[len(places)])
	values = values[:len(places)]
	for i, value := range slices.Backward(values) {
		if len(value) > 0 {
			places[i].value = value
			k.found = append(k.found, places[i])
		} else if k.lineage.heads.remove(places[i].head) {
			// What it needs may be gone as well.
			k.lineage.recent.lost(time.Now(), lossPause)
		}
		if !places[i].Sealed && places[i].Sent == len(k.heads)-1 {
			k.own = value
		}
	}
	k.left = down - 1
	return nil
}
