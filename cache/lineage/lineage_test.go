package lineage_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/cache/lineage"
	"warmpath/rewrite/continuity"
)

func hash(text string) continuity.Hash {
	sum := sha256.Sum256([]byte(text))
	return continuity.Hash(sum[:16])
}

// history makes messages of the given meanings.
func history(meanings ...string) []continuity.Message {
	var messages []continuity.Message
	for _, meaning := range meanings {
		messages = append(messages, continuity.Message{Meaning: hash(meaning)})
	}
	return messages
}

func state(name string, sent int) *continuity.State {
	return &continuity.State{
		Conversation: name, Model: "m", Sent: sent,
		Tools:    []continuity.FrozenTool{{Name: "x", Meaning: hash("x"), Exact: hash("x "), Offered: true}},
		Sections: []continuity.FrozenSection{{Meaning: hash("s"), Exact: hash("s ")}},
		Text:     []continuity.Effective{{Meaning: hash("s"), Text: hash("s ")}},
		Edits:    []continuity.Edit{{After: 1, Bytes: []byte(`{"role":"system"}`)}},
		Prior:    &continuity.Prior{Tools: []continuity.FrozenTool{{Name: "x"}}},
	}
}

func save(t *testing.T, l *lineage.Lineage, scope string, messages []continuity.Message, next *continuity.State, keep map[continuity.Hash][]byte) {
	t.Helper()
	heads := lineage.Heads(scope, messages)
	known := find(t, l, scope, messages)
	longest(t, known)
	if err := l.Save(context.Background(), heads[len(heads)-1], known, next, keep); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, l *lineage.Lineage, scope string, messages []continuity.Message) *lineage.Known {
	t.Helper()
	return l.Find(lineage.Heads(scope, messages))
}

// longest is what stands under the longest known history.
func longest(t *testing.T, known *lineage.Known) (sent int, states []*continuity.State) {
	t.Helper()
	level, ok, err := known.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return 0, nil
	}
	return level.Sent, level.States
}

func states(t *testing.T, known *lineage.Known) []*continuity.State {
	t.Helper()
	_, states := longest(t, known)
	return states
}

func TestLongestKnownHistoryWins(t *testing.T) {
	l := lineage.New(cache.NewMemory(1<<20), time.Hour)
	one, two := state("c", 1), state("c", 3)
	save(t, l, "scope", history("u1"), one, nil)
	save(t, l, "scope", history("u1", "a1", "u2"), two, nil)
	tests := map[string]struct {
		scope    string
		messages []continuity.Message
		want     []*continuity.State
		sent     int
	}{
		"goes on":               {"scope", history("u1", "a1", "u2", "a2", "u3"), []*continuity.State{two}, 3},
		"is sent again":         {"scope", history("u1", "a1", "u2"), []*continuity.State{two}, 3},
		"edits its last turn":   {"scope", history("u1", "a1", "other", "a2", "u3"), []*continuity.State{one}, 1},
		"rewinds":               {"scope", history("u1"), []*continuity.State{one}, 1},
		"begins otherwise":      {"scope", history("other", "a1", "u2"), nil, 0},
		"belongs to another":    {"other", history("u1", "a1", "u2"), nil, 0},
		"has no message at all": {"scope", nil, nil, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sent, states := longest(t, find(t, l, test.scope, test.messages))
			if diff := cmp.Diff(test.want, states); diff != "" || sent != test.sent {
				t.Errorf("sent %d, want %d; states (-want +got):\n%s", sent, test.sent, diff)
			}
		})
	}
}

func TestBranchesThatBeganTogetherAreKeptApart(t *testing.T) {
	l := lineage.New(cache.NewMemory(1<<20), time.Hour)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			branch := state(fmt.Sprint("branch ", i), 3)
			branch.Edits = []continuity.Edit{{After: 3, Bytes: []byte(branch.Conversation)}}
			save(t, l, "scope", history("u1", "a1", "u2"), branch, nil)
			save(t, l, "scope", history("u1", "a1", "u2"), branch, nil)
		})
	}
	wait.Wait()
	names := map[string]int{}
	for _, s := range states(t, find(t, l, "scope", history("u1", "a1", "u2"))) {
		names[s.Conversation]++
	}
	if diff := cmp.Diff(map[string]int{"branch 0": 1, "branch 1": 1, "branch 2": 1, "branch 3": 1}, names); diff != "" {
		t.Error(diff)
	}
}

// An agent that tries many ways from one history goes on with each of them; who
// does that without end pushes out the oldest.
func TestManyBranchesOfOneHistoryAreKept(t *testing.T) {
	l := lineage.New(cache.NewMemory(1<<20), time.Hour)
	const all, kept = 40, 32
	for i := range all {
		branch := state(fmt.Sprint("branch ", i), 3)
		branch.Edits = []continuity.Edit{{After: 3, Bytes: []byte(branch.Conversation + strings.Repeat(" says something", 100))}}
		branch.Last = &continuity.Turn{Reply: "msg_01A09q90qw90lq90qw1", Spelled: bytes.Repeat([]byte("x"), 4*200)}
		save(t, l, "scope", history("u1", "a1", "u2"), branch, nil)
	}
	got := states(t, find(t, l, "scope", history("u1", "a1", "u2", "a2", "u3")))
	if len(got) != kept || got[0].Conversation != fmt.Sprint("branch ", all-kept) {
		t.Errorf("%d branches, the oldest %s", len(got), got[0].Conversation)
	}
}

func TestElementsAreKept(t *testing.T) {
	l := lineage.New(cache.NewMemory(1<<20), time.Hour)
	save(t, l, "scope", history("u1"), state("c", 1), map[continuity.Hash][]byte{hash("a"): []byte("bytes of a")})
	kept, err := l.Kept(context.Background(), hash("a"), hash("b"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[continuity.Hash][]byte{hash("a"): []byte("bytes of a")}, kept); diff != "" {
		t.Error(diff)
	}
}

// broken is a store that answers nothing.
type broken struct{ cache.Store }

var errBroken = errors.New("broken")

func (broken) GetMany(context.Context, ...string) ([][]byte, error) { return nil, errBroken }

func TestABrokenStoreSaysSo(t *testing.T) {
	l := lineage.New(broken{}, time.Hour)
	if _, _, err := l.Find(lineage.Heads("s", history("u1"))).Next(context.Background()); !errors.Is(err, errBroken) {
		t.Errorf("Find: %v", err)
	}
	if _, err := l.Kept(context.Background(), hash("a")); !errors.Is(err, errBroken) {
		t.Errorf("Kept: %v", err)
	}
}

func TestUnreadableStateIsAsIfLost(t *testing.T) {
	store := cache.NewMemory(1 << 20)
	l := lineage.New(store, time.Hour)
	heads := lineage.Heads("scope", history("u1"))
	key := "h3:" + string(heads[1][:])
	if err := store.Set(context.Background(), cache.Entry{Key: key, Value: []byte("from the future"), TTL: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if got := states(t, find(t, l, "scope", history("u1"))); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	save(t, l, "scope", history("u1"), state("c", 1), nil)
	if got := states(t, find(t, l, "scope", history("u1"))); len(got) != 1 {
		t.Errorf("found %d states after the save, want 1", len(got))
	}
}

func TestManyThatAreAlikeAreOneState(t *testing.T) {
	l := lineage.New(cache.NewMemory(1<<20), time.Hour)
	for i := range 20 {
		save(t, l, "scope", history("u1"), state(fmt.Sprint("retry ", i), 1), nil)
	}
	if got := states(t, find(t, l, "scope", history("u1"))); len(got) != 1 || got[0].Conversation != "retry 19" {
		t.Errorf("%d states, the last of %v", len(got), got[len(got)-1].Conversation)
	}
}

func TestTheOldestLanesGiveWayToLargeOnes(t *testing.T) {
	l := lineage.New(cache.NewMemory(64<<20), time.Hour)
	for i := range 4 {
		large := state(fmt.Sprint("lane ", i), 1)
		large.Wrote, large.Last = i, &continuity.Turn{Reply: strings.Repeat("x", 24<<10)}
		save(t, l, "scope", history("u1"), large, nil)
	}
	if got := states(t, find(t, l, "scope", history("u1"))); len(got) != 2 || got[1].Conversation != "lane 3" {
		t.Errorf("%d states", len(got))
	}
}

func TestAStateThatIsTooLargeIsNotSaved(t *testing.T) {
	l := lineage.New(cache.NewMemory(64<<20), time.Hour)
	heads := lineage.Heads("scope", history("u1"))
	large := state("c", 1)
	large.Last = &continuity.Turn{Reply: strings.Repeat("x", 64<<10)}
	if err := l.Save(context.Background(), heads[1], new(lineage.Known), large, nil); !errors.Is(err, cache.ErrTooLarge) {
		t.Errorf("%v, want cache.ErrTooLarge", err)
	}
	if got := states(t, find(t, l, "scope", history("u1"))); len(got) > 0 {
		t.Errorf("found %d states", len(got))
	}
}

func TestAnElementThatIsTooLargeIsMissingLater(t *testing.T) {
	l := lineage.New(cache.NewMemory(64<<20), time.Hour)
	save(t, l, "scope", history("u1"), state("c", 1), map[continuity.Hash][]byte{
		hash("large"): make([]byte, cache.MaxValue+1), hash("small"): []byte("small"),
	})
	if got := states(t, find(t, l, "scope", history("u1"))); len(got) != 1 {
		t.Errorf("found %d states", len(got))
	}
	kept, err := l.Kept(context.Background(), hash("large"), hash("small"))
	if diff := cmp.Diff(map[continuity.Hash][]byte{hash("small"): []byte("small")}, kept); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestASealFindsItsOwn(t *testing.T) {
	l := lineage.New(cache.NewMemory(1<<20), time.Hour)
	heads := lineage.Heads("scope", history("u1", "a1", "u2"))
	save(t, l, "scope", history("u1"), state("somebody's", 1), nil)
	mine := state("mine", 1)
	if err := l.SaveSealed(context.Background(), mine, lineage.Seal(heads[1], 1, "toolu_1"), lineage.Seal(heads[1], 1, "toolu_2")); err != nil {
		t.Fatal(err)
	}
	own := state("mine", 1)
	own.Sealed = true
	for seal, want := range map[string][]*continuity.State{
		"toolu_1": {own, state("somebody's", 1)},
		"toolu_2": {own, state("somebody's", 1)},
		"toolu_3": {state("somebody's", 1)},
	} {
		known := l.Find(heads, lineage.Seal(heads[1], 1, seal))
		var got []*continuity.State
		for {
			level, ok, err := known.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if level.Sealed != (len(got) == 0 && len(want) == 2) {
				t.Errorf("%s: level %d is sealed: %t", seal, len(got), level.Sealed)
			}
			got = append(got, level.States...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", seal, diff)
		}
	}
}

func TestAnEditThatIsTooLargeIsNotSaved(t *testing.T) {
	l := lineage.New(cache.NewMemory(64<<20), time.Hour)
	heads := lineage.Heads("scope", history("u1"))
	large := state("c", 1)
	large.Edits = []continuity.Edit{{After: 1, Bytes: make([]byte, cache.MaxValue)}}
	if err := l.Save(context.Background(), heads[1], new(lineage.Known), large, nil); !errors.Is(err, cache.ErrTooLarge) {
		t.Errorf("%v, want cache.ErrTooLarge", err)
	}
	if got := states(t, find(t, l, "scope", history("u1"))); len(got) > 0 {
		t.Errorf("found %d states", len(got))
	}
}
