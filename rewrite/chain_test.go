package rewrite_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// chained joins replies as a client gets them. Every call but the last is one that
// another goes on from.
func chained(calls ...*rewrite.Reply) (*rewrite.Reply, [][]rewrite.Item) {
	var whole rewrite.Fold
	var native [][]rewrite.Item
	n := 0
	chain := rewrite.NewChain(whole.Add, func(*rewrite.Stop, bool) rewrite.Course {
		if n++; n < len(calls) {
			return rewrite.CourseOn
		}
		return rewrite.CourseEnd
	})
	for _, call := range calls {
		call.Tell(chain.Add)
		native = append(native, chain.Next())
	}
	return whole.Reply(), native
}

// text is a reply that says something and stops for a reason.
func text(said string, stop rewrite.StopReason, sources ...rewrite.Attribution) *rewrite.Reply {
	return &rewrite.Reply{
		ID:    "r",
		Items: []rewrite.Item{{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: said, Attributions: sources}}}},
		Usage: rewrite.Usage{InputTotal: rewrite.Tokens(10), OutputTotal: rewrite.Tokens(5)},
		Stop:  rewrite.Stop{Reason: stop},
	}
}

func cites(url string, start, end int) rewrite.Attribution {
	return rewrite.Attribution{URL: url, Start: start, End: end}
}

func TestChainKeepsRanges(t *testing.T) {
	const first = "It rained 🌧 in Zürich, and the "
	length := utf8.RuneCountInString(first)
	for _, tc := range []struct {
		name    string
		calls   []*rewrite.Reply
		text    string
		sources []rewrite.Attribution
	}{
		{"RG-01 span after the overlap", []*rewrite.Reply{
			text(first, rewrite.StopLength), text("and the sun shone.", rewrite.StopEnd, cites("u", 8, 11)),
		}, first + "sun shone.", []rewrite.Attribution{cites("u", length, length+3)}},
		{"RG-02 span inside the overlap", []*rewrite.Reply{
			text(first, rewrite.StopLength), text("and the sun shone.", rewrite.StopEnd, cites("u", 0, 3)),
		}, first + "sun shone.", []rewrite.Attribution{cites("u", length-8, length-5)}},
		{"RG-03 span across it", []*rewrite.Reply{
			text(first, rewrite.StopLength), text("and the sun shone.", rewrite.StopEnd, cites("u", 4, 11)),
		}, first + "sun shone.", []rewrite.Attribution{cites("u", length-4, length+3)}},
		{"RG-04 nothing repeated", []*rewrite.Reply{
			text(first, rewrite.StopLength), text("sun shone.", rewrite.StopEnd, cites("u", 0, 3)),
		}, first + "sun shone.", []rewrite.Attribution{cites("u", length, length+3)}},
		{"RG-04 too little to be sure", []*rewrite.Reply{
			text(first, rewrite.StopLength), text("the sun.", rewrite.StopEnd),
		}, first + "the sun.", nil},
		{"RG-05 the same source in both", []*rewrite.Reply{
			text(first, rewrite.StopLength, cites("u", length-8, length-5)), text("and the sun shone.", rewrite.StopEnd, cites("u", 0, 3), cites("v", 0, 3)),
		}, first + "sun shone.", []rewrite.Attribution{cites("u", length-8, length-5), cites("v", length-8, length-5)}},
		{"RG-06 three pieces", []*rewrite.Reply{
			text(first, rewrite.StopLength), text("and the sun shone on", rewrite.StopLength, cites("u", 8, 11)), text("shone on 🌊 lakes.", rewrite.StopEnd, cites("v", 9, 10)),
		}, first + "sun shone on 🌊 lakes.", []rewrite.Attribution{cites("u", length, length+3), cites("v", length+13, length+14)}},
		{"RG-09 source of a whole piece", []*rewrite.Reply{
			text(first, rewrite.StopLength, cites("u", 0, 0)), text("sun.", rewrite.StopEnd, cites("v", 0, 0)),
		}, first + "sun.", []rewrite.Attribution{cites("u", 0, length), cites("v", length, length+4)}},
		{"source of a text that does not go on", []*rewrite.Reply{text(first, rewrite.StopEnd, cites("u", 0, 0))},
			first, []rewrite.Attribution{cites("u", 0, 0)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reply, _ := chained(tc.calls...)
			if len(reply.Items) != 1 || len(reply.Items[0].Parts) != 1 {
				t.Fatalf("got %+v", reply.Items)
			}
			part := reply.Items[0].Parts[0]
			if diff := cmp.Diff(tc.text, part.Text); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.sources, part.Attributions); diff != "" {
				t.Error(diff)
			}
			if n := int64(len(tc.calls)); reply.Usage.InputTotal.N != 10*n || reply.Usage.OutputTotal.N != 5*n || reply.Stop.Reason != rewrite.StopEnd {
				t.Errorf("usage %+v, stop %+v", reply.Usage, reply.Stop)
			}
		})
	}
}

// RG-08: whatever is repeated, each kept range of the whole text is the text that
// its provider has cited.
func TestChainedRangesAreWhatWasCited(t *testing.T) {
	t.Run("RG-08 random pieces", func(t *testing.T) {
		letters := []rune("ab c.é🌧\u0301")
		for seed := range uint64(3000) {
			chance := rand.New(rand.NewPCG(seed, 8))
			words := func(n int) string {
				var b strings.Builder
				for range n {
					b.WriteRune(letters[chance.IntN(len(letters))])
				}
				return b.String()
			}
			said, cited := "", map[string]string{}
			var calls []*rewrite.Reply
			for i := range 1 + chance.IntN(4) {
				fresh := words(chance.IntN(700))
				runes := []rune(said)
				piece := string(runes[len(runes)-chance.IntN(min(len(runes), 30)+1):]) + fresh
				var sources []rewrite.Attribution
				for j := range chance.IntN(3) {
					n := utf8.RuneCountInString(piece)
					if n == 0 {
						break
					}
					start := chance.IntN(n)
					end := start + 1 + chance.IntN(n-start)
					url := fmt.Sprint(i, ".", j)
					cited[url] = string([]rune(piece)[start:end])
					sources = append(sources, cites(url, start, end))
				}
				calls = append(calls, text(piece, rewrite.StopLength, sources...))
				said += fresh
			}
			reply, _ := chained(calls...)
			part := reply.Items[0].Parts[0]
			runes := []rune(part.Text)
			for _, a := range part.Attributions {
				if got := string(runes[a.Start:a.End]); got != cited[a.URL] {
					t.Fatalf("seed %d: source %s is of %q, was of %q", seed, a.URL, got, cited[a.URL])
				}
			}
			if len(part.Attributions) != len(cited) {
				t.Fatalf("seed %d: %d sources of %d are left", seed, len(part.Attributions), len(cited))
			}
		}
	})
}

// What does not go on from a text stands for itself; reasoning about going on is
// left out, and what the provider gets back is what it has made.
func TestChainJoinsItems(t *testing.T) {
	reasoning := rewrite.Item{Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Text: "Hm."}}, Payload: rewrite.Payload{Format: "messages/thinking", Value: rewrite.JSON(`{}`)}}
	call := rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "c", Name: "n", Arguments: rewrite.JSON(`{"a":1}`)}}
	search := rewrite.Item{Kind: rewrite.ItemHosted, Hosted: rewrite.Hosted{ID: "s", Name: "web_search"}}
	say := func(words ...string) rewrite.Item {
		item := rewrite.Item{Role: rewrite.RoleAssistant}
		for _, w := range words {
			item.Parts = append(item.Parts, rewrite.Part{Text: w})
		}
		return item
	}
	reply := func(stop rewrite.StopReason, items ...rewrite.Item) *rewrite.Reply {
		return &rewrite.Reply{Items: items, Stop: rewrite.Stop{Reason: stop}}
	}
	for _, tc := range []struct {
		name  string
		calls []*rewrite.Reply
		want  []rewrite.Item
	}{
		{"reasoning", []*rewrite.Reply{reply(rewrite.StopLength, reasoning, say("One ")), reply(rewrite.StopEnd, reasoning, say("two."))},
			[]rewrite.Item{reasoning, say("One two.")}},
		{"a call", []*rewrite.Reply{reply(rewrite.StopLength, say("One ")), reply(rewrite.StopTools, say("two."), call)},
			[]rewrite.Item{say("One two."), call}},
		{"a call at once", []*rewrite.Reply{reply(rewrite.StopLength, say("One ")), reply(rewrite.StopTools, call)},
			[]rewrite.Item{say("One "), call}},
		{"several parts", []*rewrite.Reply{reply(rewrite.StopLength, say("A.", "One ")), reply(rewrite.StopEnd, say("two.", "B."))},
			[]rewrite.Item{say("A.", "One two.", "B.")}},
		{"three of several parts", []*rewrite.Reply{reply(rewrite.StopLength, say("A.", "One ")), reply(rewrite.StopLength, say("two.", "B ")), reply(rewrite.StopEnd, say("c."))},
			[]rewrite.Item{say("A.", "One two.", "B c.")}},
		{"a pause", []*rewrite.Reply{reply(rewrite.StopPause, say("I search."), search), reply(rewrite.StopEnd, say("Found."))},
			[]rewrite.Item{say("I search."), search, say("Found.")}},
		{"cut in its reasoning", []*rewrite.Reply{reply(rewrite.StopLength, reasoning), reply(rewrite.StopEnd, say("Two."))},
			[]rewrite.Item{reasoning, say("Two.")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			whole, native := chained(tc.calls...)
			if diff := cmp.Diff(tc.want, whole.Items); diff != "" {
				t.Error(diff)
			}
			for i, call := range tc.calls {
				if diff := cmp.Diff(call.Items, native[i]); diff != "" {
					t.Errorf("call %d: %s", i, diff)
				}
			}
		})
	}
}

// A piece that breaks off has told all that had come of it.
func TestChainTellsWhatHasComeBeforeAnError(t *testing.T) {
	var whole rewrite.Fold
	chain := rewrite.NewChain(whole.Add, func(s *rewrite.Stop, _ bool) rewrite.Course {
		if s.Reason == rewrite.StopLength {
			return rewrite.CourseOn
		}
		return rewrite.CourseEnd
	})
	text("One ", rewrite.StopLength).Tell(chain.Add)
	chain.Next()
	broken := text("two.", rewrite.StopUnknown)
	broken.Items[0].Incomplete = true
	broken.Fault = &rewrite.Fault{Message: "broken"}
	broken.Tell(func(e *rewrite.Event) {
		if e.Kind != rewrite.EventPartDone {
			chain.Add(e)
		}
	})
	reply := whole.Reply()
	if reply.Items[0].Parts[0].Text != "One two." || reply.Fault == nil || !reply.Items[0].Incomplete {
		t.Errorf("got %+v", reply)
	}
}

// Of what only a provider's own dialect says of its replies, the last call's is told;
// of what is said of the usage besides numbers that add up, only words are told.
func TestChainTellsWhatTheLastCallSays(t *testing.T) {
	var fold rewrite.Fold
	calls := 0
	chain := rewrite.NewChain(fold.Add, func(*rewrite.Stop, bool) rewrite.Course {
		if calls++; calls == 1 {
			return rewrite.CourseTools
		}
		return rewrite.CourseEnd
	})
	for _, tier := range []string{`"first"`, `"last"`} {
		chain.Add(&rewrite.Event{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{Extra: []rewrite.Member{
			{Name: "chat/service_tier", Value: rewrite.JSON(tier)}, {Name: "chat/usage", Value: rewrite.JSON(`{"cost":1,"tier":` + tier + `,"details":{"a":"b"},"é\"":"x"}`)},
		}}})
		chain.Add(&rewrite.Event{Kind: rewrite.EventEnd, Reply: &rewrite.Reply{Extra: []rewrite.Member{{Name: "chat/late", Value: rewrite.JSON(tier)}}}})
		chain.Next()
	}
	want := []rewrite.Member{
		{Name: "chat/service_tier", Value: rewrite.JSON(`"last"`)}, {Name: "chat/usage", Value: rewrite.JSON(`{"tier":"last","é\"":"x"}`)}, {Name: "chat/late", Value: rewrite.JSON(`"last"`)},
	}
	if diff := cmp.Diff(want, fold.Reply().Extra); diff != "" {
		t.Error(diff)
	}
}
