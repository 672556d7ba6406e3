package console

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/metrics"
	"warmpath/rewrite/continuity"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", 100000: "100\u202f000"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShortSeconds(t *testing.T) {
	for s, want := range map[float64]string{0: "–", 25e-6: "25 µs", 250e-6: "250 µs", 2.5e-3: "2.5 ms", 0.25: "250 ms", 1: "1 s"} {
		if got := shortSeconds(s); got != want {
			t.Errorf("shortSeconds(%v) = %q, want %q", s, got, want)
		}
	}
}

func TestDollars(t *testing.T) {
	for amount, want := range map[float64]string{0: "$0", 0.00012: "$0.0001", 0.5: "$0.50", 1234.567: "$1234.57"} {
		if got := dollars(amount); got != want {
			t.Errorf("dollars(%v) = %q, want %q", amount, got, want)
		}
	}
}

// A cost that is not known is not shown as none, and one that has more to it is
// shown as the least.
func TestPrice(t *testing.T) {
	for want, m := range map[string]modelNumbers{"$1.50": {Cost: 1.5}, "≥ $1.50": {Cost: 1.5, Unpriced: 1}, "no price": {Unpriced: 1}} {
		if got := m.Price(); got != want {
			t.Errorf("%v: got %q, want %q", m, got, want)
		}
	}
}

func TestCompact(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 18_449: "18.4k", 999_949: "999.9k", 999_950: "1.0M", 2_500_000_000: "2.5G"} {
		if got := compact(n); got != want {
			t.Errorf("compact(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestUptime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		59 * time.Second: "for less than a minute", 90 * time.Second: "for 1 min", 61 * time.Minute: "for 1 h 1 min", 49 * time.Hour: "for 2 d 1 h",
	} {
		if got := uptime(d); got != want {
			t.Errorf("uptime(%s) = %q, want %q", d, got, want)
		}
	}
}

// Whatever the numbers, the parts of a bar touch, and fill it where it is as long as
// the longest.
func TestBarIsFull(t *testing.T) {
	for _, c := range []cacheTokens{{1, 1, 1}, {0, 0, 7}, {7, 0, 0}, {1, 1000000, 1}, {3, 3, 1}} {
		for most, want := range map[int64]int64{0: 1000, 2 * c.total(): 500} {
			end := int64(0)
			for _, part := range barOf(c, most).Parts {
				if part.X != end {
					t.Errorf("%v: a part begins at %d, the one before ends at %d", c, part.X, end)
				}
				end = part.X + part.Size
			}
			if end != want {
				t.Errorf("%v of %d: the bar ends at %d, want %d", c, most, end, want)
			}
		}
	}
}

// Every reason that there can be is told in plain words, and so is every culprit.
func TestMeaningsAreWhole(t *testing.T) {
	for _, miss := range continuity.Misses {
		if m := meaningOf(string(miss)); m.Title == string(miss) || m.Means == "" || m.Advice == "" {
			t.Errorf("%s has no words: %+v", miss, m)
		}
	}
	for _, by := range continuity.MissCausers {
		if culprits[by].Title == "" {
			t.Errorf("%s has no words", by)
		}
	}
	if len(meanings) != len(continuity.Misses) {
		t.Errorf("there are words for %d reasons, and %d reasons", len(meanings), len(continuity.Misses))
	}
	for _, kind := range metrics.CostKinds {
		if !slices.ContainsFunc(kinds, func(k struct{ name, words string }) bool { return k.name == kind }) {
			t.Errorf("money that goes to %s is in no bar", kind)
		}
	}
}

// Names come from configuration, requests and replies; none of them is markup.
func TestPageEscapes(t *testing.T) {
	const evil = `<i>"{{.N}}'</i>`
	one := int64(1)
	snap := &snapshot{
		at: time.Unix(1_800_000_000, 0),
		numbers: &numbers{
			Models:  []modelNumbers{{Provider: evil, Model: evil, Cost: 1, Spent: spent{"read": 1}}},
			Reasons: []reasonCount{{evil, 1}},
			Misses:  []missCount{{Reason: evil, By: evil, Count: 1}},
			Hosted:  []hostedCount{{Name: evil, States: map[string]int64{"started": 1}}},
		},
		status: Status{Version: evil, Mode: evil, Providers: []string{evil}, ToolServers: []ToolServer{{Name: evil, State: evil, Reason: evil}}},
	}
	requests := []Request{{
		ID: 1, Model: evil, Provider: evil, Dialect: evil, Spoken: evil, Stop: evil, Reason: evil, Status: 500, Input: &one, Read: &one, Conversation: evil, Cache: evil,
		Miss: &Miss{Reason: evil, By: evil, Source: "provider", Expected: 2, Missed: 1}, Diagnosis: evil, Losses: []string{evil},
		Earlier: []Attempt{{Provider: evil, Model: evil, Reason: evil}}, Hosted: []Hosted{{Name: evil, State: evil}},
		Continuity: &Continuity{
			Changes: []Change{{Kind: "changed", Path: evil, Tool: evil, Old: evil, New: evil}}, Decided: []string{evil}, Effort: evil, Began: evil,
			Added: []string{evil}, Removed: []string{evil}, Betas: []string{evil}, Retreats: []string{evil},
		},
	}}
	list := threadsOf(requests, maxThreads, maxColumns)
	questions := []question.Question{
		{Key: evil, Kind: question.Choice, Text: evil, Context: evil, Options: []question.Option{{Value: evil, Label: evil}}},
		{Key: "b", Kind: question.Text, Text: evil, Default: []byte(`"<i>"`), Schema: []byte(`{"type":"string","pattern":"<i>"}`)},
	}
	view := prompt.View{
		ID: "p_1", Kind: evil, Conversation: evil, Path: []string{evil}, Tool: prompt.Tool{Name: evil, Source: evil}, Message: evil, Result: evil,
		Arguments: json.RawMessage(`"<i>"`), Questions: json.RawMessage(question.Encode(questions)),
	}
	for name, p := range map[string]*page{
		"overview": {Title: evil, Kind: "overview", snapshot: snap, Parts: overviewParts, Content: &overview{snap, list}, Cards: cards([]prompt.View{view})},
		"conversation": {Title: evil, Kind: "conversation", Query: liveQuery(evil), snapshot: snap, Parts: conversationParts, Content: &conversationView{snap, evil, list[0],
			&talk{Says: []says{{Who: evil, Label: evil, Blocks: []saidBlock{{Text: evil, Note: evil}}}}}}},
		"lost": {Title: evil, Kind: "lost", snapshot: snap, Parts: []string{"lost"}, Content: evil},
	} {
		text, err := draw("page", p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Contains(string(text), "<i>") {
			t.Errorf("%s: a name became markup", name)
		}
		if got := strings.Count(string(text), "&lt;i&gt;"); got < 5 && name != "lost" || got == 0 {
			t.Errorf("%s: the name stands %d times on the page", name, got)
		}
	}
}
