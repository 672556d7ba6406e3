package lineage_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/cache/lineage"
	"warmpath/rewrite/continuity"
)

// counting is a store that counts what it is asked for, and the bytes that it
// gets by the kind of their keys.
type counting struct {
	cache.Store
	keys, reads, sets int
	written           map[string]int
	largest           int
}

func (c *counting) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	c.keys, c.reads = c.keys+len(keys), c.reads+1
	return c.Store.GetMany(ctx, keys...)
}

func (c *counting) Set(ctx context.Context, entries ...cache.Entry) error {
	c.sets++
	c.note(entries...)
	return c.Store.Set(ctx, entries...)
}

func (c *counting) CompareAndSwap(ctx context.Context, old []byte, entry cache.Entry) (bool, error) {
	c.note(entry)
	return c.Store.CompareAndSwap(ctx, old, entry)
}

func (c *counting) note(entries ...cache.Entry) {
	for _, e := range entries {
		kind, _, _ := strings.Cut(e.Key, ":")
		c.written[kind] += len(e.Key) + len(e.Value)
		c.largest = max(c.largest, len(e.Value))
	}
}

func (c *counting) reset() { c.keys, c.reads, c.sets = 0, 0, 0 }

func newCounting() *counting {
	return &counting{Store: cache.NewMemory(256 << 20), written: map[string]int{}}
}

// long is a history of n messages.
func long(n int) []continuity.Message {
	meanings := make([]string, n)
	for i := range meanings {
		meanings[i] = fmt.Sprint("m", i)
	}
	return history(meanings...)
}

// played is a conversation of the size that the gateway is made for: 500
// messages, 100 tools and 60 edits of a few hundred bytes, saved at each turn.
func played(t *testing.T, l *lineage.Lineage) *continuity.State {
	t.Helper()
	s := &continuity.State{Conversation: "conv_0123456789abcdef", Model: "claude-opus-5-5", Session: "0b5b5e0e-6f0a-4a51-9a5c-1c1d5b1f8b6f"}
	for i := range 100 {
		name := fmt.Sprint("mcp__server__tool_", i)
		s.Tools = append(s.Tools, continuity.FrozenTool{Name: name, Meaning: hash(name), Exact: hash(name + " "), Offered: true})
	}
	for i := range 3 {
		meaning, exact := hash(fmt.Sprint("section", i)), hash(fmt.Sprint("exactly", i))
		s.Sections = append(s.Sections, continuity.FrozenSection{Meaning: meaning, Exact: exact})
		s.Text = append(s.Text, continuity.Effective{Meaning: meaning, Text: exact})
	}
	all := long(500)
	for n := 1; n < 500; n += 2 {
		next := *s
		next.Last = &continuity.Turn{
			Started: 1796000000 + n, Lifetime: 300, Cached: 1000 * n, Reported: true, Asked: true, Reply: fmt.Sprintf("msg_01A09q90qw90lq90qw%06d", n),
			Params: continuity.Params{1 << 60, 2 << 60, 3 << 60}, Betas: 4 << 60, Own: 5 << 60, Tools: 6 << 60, System: 7 << 60,
		}
		for i := range n {
			next.Last.Spelled = append(next.Last.Spelled, all[i].Meaning[:4]...)
		}
		if next.Sent = n; len(s.Edits) < n*60/500 {
			text := fmt.Sprintf(`{"role":"system","content":[{"type":"text","text":"%d%s"}]}`, n, strings.Repeat("x", 500))
			next.Edits = append(append([]continuity.Edit(nil), s.Edits...), continuity.Edit{After: n, Bytes: []byte(text)})
			next.Prior = &continuity.Prior{Edits: len(s.Edits), Tools: s.Tools, Text: s.Text}
		} else {
			next.Prior = nil
		}
		save(t, l, "scope", all[:n], &next, nil)
		s = &next
	}
	return s
}

func TestAConversationTakesLittle(t *testing.T) {
	const bound = 64 << 10
	store := newCounting()
	s := played(t, lineage.New(store, time.Hour))
	if len(s.Edits) < 59 || s.Sent != 499 {
		t.Fatalf("%d edits in %d messages", len(s.Edits), s.Sent)
	}
	t.Logf("states %d bytes in 250 turns, what they share %d", store.written["h3"], store.written["p1"])
	if states := store.written["h3"]; states > bound {
		t.Errorf("the states of all turns take %d bytes, want at most %d", states, bound)
	}
	// The list of edits is written with each of them, everything else once.
	if shared := store.written["p1"]; shared > 2*bound {
		t.Errorf("what they share takes %d bytes, want at most %d", shared, 2*bound)
	}
}

func TestALookupIsOneRoundTrip(t *testing.T) {
	store := newCounting()
	l := lineage.New(store, time.Hour)
	want := played(t, l)
	edited := long(501)
	edited[300].Meaning = hash("edited")
	tests := map[string]struct {
		messages []continuity.Message
		lineage  *lineage.Lineage
		sent     int
		keys     int // at most, beside those of parts
		parts    int // round trips for what states share
	}{
		"goes on":                  {long(501), l, 499, 8, 0},
		"is sent again":            {long(499), l, 499, 8, 0},
		"edits its past":           {edited, l, 299, 202, 0},
		"goes on elsewhere":        {long(501), lineage.New(store, time.Hour), 499, 501, 2},
		"edits its past elsewhere": {edited, lineage.New(store, time.Hour), 299, 501, 2},
		"is not known":             {history(strings.Split(strings.Repeat("x", 500), "")...), l, 0, 500, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store.reset()
			sent, states := longest(t, find(t, test.lineage, "scope", test.messages))
			if sent != test.sent || store.keys-128 > test.keys {
				t.Errorf("found after %d messages, want %d, with %d keys", sent, test.sent, store.keys)
			}
			if store.reads != 1+test.parts {
				t.Errorf("%d round trips, want 1 and %d for what states share", store.reads, test.parts)
			}
			if sent == want.Sent {
				if !reflect.DeepEqual([]*continuity.State{want}, states) {
					t.Errorf("(-want +got):\n%s", cmp.Diff([]*continuity.State{want}, states))
				}
			}
		})
	}
}

// What a process remembers of the store is a hint only: a history that is gone
// from there must not hide those before it.
func TestALostStateIsFoundEarlier(t *testing.T) {
	store := newCounting()
	l := lineage.New(store, time.Hour)
	save(t, l, "scope", long(1), state("early", 1), nil)
	save(t, l, "scope", long(41), state("late", 41), nil)
	heads := lineage.Heads("scope", long(41))
	if err := store.Set(t.Context(), cache.Entry{Key: "h3:" + string(heads[41][:])}); err != nil {
		t.Fatal(err)
	}
	store.reset()
	if sent, _ := longest(t, find(t, l, "scope", long(43))); sent != 1 || store.reads != 2 {
		t.Errorf("found after %d messages in %d round trips", sent, store.reads)
	}
}

// Without its parts a state is as if lost, and those beside it are not.
func TestAStateWithoutItsPartsIsAsIfLost(t *testing.T) {
	parts := &losing{Store: cache.NewMemory(1 << 20)}
	l := lineage.New(parts, time.Hour)
	large := state("large", 1)
	large.Edits = []continuity.Edit{{After: 1, Bytes: bytes.Repeat([]byte("x"), 1000)}}
	save(t, l, "scope", history("u1"), state("small", 1), nil)
	parts.lose = true
	save(t, l, "scope", history("u1"), large, nil)
	for name, test := range map[string]struct {
		l    *lineage.Lineage
		want int
	}{"here": {l, 2}, "elsewhere": {lineage.New(parts, time.Hour), 1}} {
		if got := states(t, find(t, test.l, "scope", history("u1"))); len(got) != test.want || got[0].Conversation != "small" {
			t.Errorf("%s: %d states, want %d", name, len(got), test.want)
		}
	}
}

// losing is a store that forgets parts at once.
type losing struct {
	cache.Store
	lose bool
}

func (l *losing) Set(ctx context.Context, entries ...cache.Entry) error {
	for i := range entries {
		if l.lose && strings.HasPrefix(entries[i].Key, "p1:") {
			entries[i].TTL = 0
		}
	}
	return l.Store.Set(ctx, entries...)
}

// A store that is full drops what it has had for long, so what is in use is
// written again now and then, though not each time.
func TestWhatIsInUseIsWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newCounting()
		l := lineage.New(store, 24*time.Hour)
		large := state("large", 1)
		large.Edits = []continuity.Edit{{After: 1, Bytes: bytes.Repeat([]byte("x"), 1000)}}
		for _, want := range []int{1, 1, 1, 2} {
			save(t, l, "scope", history("u1"), large, map[continuity.Hash][]byte{hash("e"): []byte("element")})
			if store.sets != want {
				t.Errorf("written %d times after %s, want %d", store.sets, time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), want)
			}
			time.Sleep(4 * time.Minute)
		}
	})
}

// The elements that are kept belong to the caller, who writes over them.
func TestElementsAreCopied(t *testing.T) {
	l := lineage.New(newCounting(), time.Hour)
	element := []byte("bytes of a")
	save(t, l, "scope", history("u1"), state("c", 1), map[continuity.Hash][]byte{hash("a"): element})
	copy(element, "something")
	kept, err := l.Kept(t.Context(), hash("a"))
	if err != nil || string(kept[hash("a")]) != "bytes of a" {
		t.Errorf("%q, %v", kept[hash("a")], err)
	}
}
