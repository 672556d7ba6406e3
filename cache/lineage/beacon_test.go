package lineage_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/cache/lineage"
	"warmpath/rewrite/continuity"
)

// A store that was emptied, or came back empty, gets all that a state needs with
// the next one, and not only what this process has not written yet.
func TestWhatAStoreHasLostIsWrittenAgain(t *testing.T) {
	keep := map[continuity.Hash][]byte{hash("x "): []byte("the tool"), hash("s "): []byte("the section")}
	large := func(sent int) *continuity.State {
		s := state("c", sent)
		s.Edits = []continuity.Edit{{After: 1, Bytes: bytes.Repeat([]byte("x"), 1000)}}
		return s
	}
	for name, test := range map[string]struct {
		// again is what is saved by the process that has saved the same before.
		again    func(t *testing.T, l *lineage.Lineage, store *counting)
		messages []continuity.Message
	}{
		"the conversation goes on": {func(t *testing.T, l *lineage.Lineage, store *counting) {
			store.Store = cache.NewMemory(1 << 20)
			save(t, l, "scope", long(3), large(3), nil)
		}, long(3)},
		"a new one begins": {func(t *testing.T, l *lineage.Lineage, store *counting) {
			store.Store = cache.NewMemory(1 << 20)
			if err := l.Keep(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
			heads := lineage.Heads("scope", history("another"))
			if err := l.Save(t.Context(), heads[1], new(lineage.Known), large(3), nil); err != nil {
				t.Fatal(err)
			}
		}, history("another")},
		"others were there first": {func(t *testing.T, l *lineage.Lineage, store *counting) {
			store.Store = cache.NewMemory(1 << 20)
			other := lineage.New(store, time.Hour)
			save(t, other, "scope", history("others"), state("other", 1), nil)
			save(t, l, "scope", long(3), large(3), nil)
		}, long(3)},
		"all but the beacon is gone": {func(t *testing.T, l *lineage.Lineage, store *counting) {
			values, err := store.GetMany(t.Context(), "b1:")
			if err != nil || len(values[0]) == 0 {
				t.Fatalf("no beacon: %v", err)
			}
			store.Store = cache.NewMemory(1 << 20)
			if err := store.Set(t.Context(), cache.Entry{Key: "b1:", Value: values[0], TTL: time.Hour}); err != nil {
				t.Fatal(err)
			}
			save(t, l, "scope", long(3), large(3), nil)
		}, long(3)},
	} {
		t.Run(name, func(t *testing.T) {
			store := newCounting()
			l := lineage.New(store, time.Hour)
			save(t, l, "scope", long(1), large(1), keep)
			test.again(t, l, store)
			elsewhere := lineage.New(store, time.Hour)
			if diff := cmp.Diff([]*continuity.State{large(3)}, states(t, find(t, elsewhere, "scope", test.messages))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if kept, err := elsewhere.Kept(t.Context(), hash("x "), hash("s ")); err != nil || cmp.Diff(keep, kept) != "" {
				t.Errorf("%v, %v", kept, err)
			}
		})
	}
}

// A store that is full loses something all the time: that is no reason to write
// all the time.
func TestLossesAreNotCountedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newCounting()
		l := lineage.New(store, time.Hour)
		large := state("c", 1)
		large.Edits = []continuity.Edit{{After: 1, Bytes: bytes.Repeat([]byte("x"), 1000)}}
		for i := range 10 {
			messages := history(fmt.Sprint("u", i))
			save(t, l, "scope", messages, large, nil)
			heads := lineage.Heads("scope", messages)
			if err := store.Store.Set(t.Context(), cache.Entry{Key: "h3:" + string(heads[1][:])}); err != nil {
				t.Fatal(err)
			}
			save(t, l, "scope", append(messages, history("a", "u")...), large, nil)
		}
		if store.sets != 2 {
			t.Errorf("written %d times, want 2", store.sets)
		}
	})
}

// A store that is full drops first what nobody reads there, like the parts that
// all processes have at hand. One that misses a part writes again what its own
// conversations need.
func TestALostPartMakesOthersDoubtful(t *testing.T) {
	noted := &noting{Store: cache.NewMemory(1 << 20), parts: map[string]bool{}}
	withEdit := func(name string, sent int) *continuity.State {
		s := state(name, sent)
		s.Edits = []continuity.Edit{{After: 1, Bytes: bytes.Repeat([]byte(name), 1000)}}
		return s
	}
	l, other := lineage.New(noted, time.Hour), lineage.New(noted, time.Hour)
	save(t, l, "scope", history("mine"), withEdit("m", 1), nil)
	save(t, other, "scope", history("another's"), withEdit("a", 1), nil)
	noted.forget(t)
	if got := states(t, find(t, l, "scope", history("another's"))); len(got) > 0 {
		t.Fatalf("%d states without their parts", len(got))
	}
	save(t, l, "scope", history("mine", "a", "u"), withEdit("m", 3), nil)
	got := states(t, find(t, lineage.New(noted, time.Hour), "scope", history("mine", "a", "u")))
	if diff := cmp.Diff([]*continuity.State{withEdit("m", 3)}, got); diff != "" {
		t.Errorf("what others find (-want +got):\n%s", diff)
	}
}

// noting is a store that notes the keys of parts.
type noting struct {
	cache.Store
	parts map[string]bool
}

func (n *noting) Set(ctx context.Context, entries ...cache.Entry) error {
	for _, e := range entries {
		if strings.HasPrefix(e.Key, "p1:") {
			n.parts[e.Key] = true
		}
	}
	return n.Store.Set(ctx, entries...)
}

// forget drops all parts.
func (n *noting) forget(t *testing.T) {
	t.Helper()
	for key := range n.parts {
		if err := n.Store.Set(t.Context(), cache.Entry{Key: key}); err != nil {
			t.Fatal(err)
		}
	}
}
