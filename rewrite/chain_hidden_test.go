package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

func message(text string) rewrite.Item {
	return rewrite.Item{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: text}}}
}

func calling(name, id string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: id, Name: name, Arguments: rewrite.JSON(`{"a":1}`)}}
}

func thinking(text string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Text: text}}}
}

// wordsOf are the items of a reply as words.
func wordsOf(r *rewrite.Reply) (words []string) {
	for i := range r.Items {
		item := &r.Items[i]
		word := item.Kind.String()
		if item.Kind == rewrite.ItemCall {
			word += " " + item.Call.ID
		}
		for _, part := range item.Parts {
			word += " " + part.Text
		}
		if item.Phase != "" {
			word += " (" + item.Phase + ")"
		}
		words = append(words, word)
	}
	return words
}

// The calls of a chain that are hidden have no place in the reply, and what is said in
// their stead stands apart from the texts around it.
func TestChainHidesCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		calls [][]rewrite.Item
		blank bool
		want  []string
	}{
		"between texts": {
			[][]rewrite.Item{{message("One."), calling("hidden", "h1")}, {message("Three.")}}, true,
			[]string{"message One.", "message \n\nh1\n\n (commentary)", "message Three."},
		},
		"where texts stand apart anyway": {
			[][]rewrite.Item{{message("One."), calling("hidden", "h1")}, {message("Three.")}}, false,
			[]string{"message One.", "message h1 (commentary)", "message Three."},
		},
		"at the beginning and at the end": {
			[][]rewrite.Item{{calling("hidden", "h1"), calling("hidden", "h2")}}, true,
			[]string{"message h1\n\n (commentary)", "message h2 (commentary)"},
		},
		"after a text that ends with a line": {
			[][]rewrite.Item{{message("One.\n"), calling("hidden", "h1")}, {thinking("Hm."), message("Three.")}}, true,
			[]string{"message One.\n", "message \nh1\n\n (commentary)", "reasoning Hm.", "message Three."},
		},
		"beside a call of the client's": {
			[][]rewrite.Item{{calling("clock", "c1"), calling("hidden", "h1"), calling("clock", "c2")}}, true,
			[]string{"call c1", "message h1\n\n (commentary)", "call c2"},
		},
		"reasoning of every call": {
			[][]rewrite.Item{{thinking("A."), calling("hidden", "h1")}, {thinking("B."), message("Three.")}}, true,
			[]string{"reasoning A.", "message h1\n\n (commentary)", "reasoning B.", "message Three."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var whole rewrite.Fold
			var chain *rewrite.Chain
			n := 0
			chain = rewrite.NewChain(whole.Add, func(*rewrite.Stop, bool) rewrite.Course {
				if n++; n < len(tc.calls) {
					return rewrite.CourseTools
				}
				return rewrite.CourseEnd
			})
			chain.Hide(func(c *rewrite.Call) bool { return c.Name == "hidden" }, func(i *rewrite.Item) { chain.Say(i.Call.ID) }, tc.blank)
			for i, items := range tc.calls {
				(&rewrite.Reply{Items: items, Stop: rewrite.Stop{Reason: rewrite.StopTools},
					Usage: rewrite.Usage{InputTotal: rewrite.Tokens(int64(10 * (i + 1))), OutputTotal: rewrite.Tokens(5)}}).Tell(chain.Add)
				if diff := cmp.Diff(items, chain.Next(), cmp.Comparer(func(a, b rewrite.JSON) bool { return string(a) == string(b) })); diff != "" {
					t.Errorf("call %d is kept otherwise: %s", i, diff)
				}
			}
			reply := whole.Reply()
			if diff := cmp.Diff(tc.want, wordsOf(reply)); diff != "" {
				t.Error(diff)
			}
			if u, n := reply.Usage, int64(len(tc.calls)); u.InputTotal.N != 10*n || u.OutputTotal.N != 5*n {
				t.Errorf("the usage is %+v", u)
			}
		})
	}
}

// A reply that is left open ends when that is decided.
func TestChainWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		course rewrite.Course
		want   []string
	}{
		"and ends":    {rewrite.CourseEnd, []string{"call c1", "message late (commentary)"}},
		"and goes on": {rewrite.CourseTools, []string{"call c1", "message late\n\n (commentary)", "message More."}},
	} {
		t.Run(name, func(t *testing.T) {
			var whole rewrite.Fold
			waits := true
			chain := rewrite.NewChain(whole.Add, func(*rewrite.Stop, bool) rewrite.Course {
				if waits {
					waits = false
					return rewrite.CourseWait
				}
				return rewrite.CourseEnd
			})
			chain.Hide(func(c *rewrite.Call) bool { return c.Name == "hidden" }, func(*rewrite.Item) {}, true)
			(&rewrite.Reply{Items: []rewrite.Item{calling("clock", "c1"), calling("hidden", "h1")}, Stop: rewrite.Stop{Reason: rewrite.StopTools}}).Tell(chain.Add)
			chain.Say("late")
			chain.Resume(tc.course)
			chain.Resume(rewrite.CourseEnd) // once is enough
			if tc.course == rewrite.CourseTools {
				(&rewrite.Reply{Items: []rewrite.Item{message("More.")}, Stop: rewrite.Stop{Reason: rewrite.StopEnd}}).Tell(chain.Add)
			}
			reply := whole.Reply()
			if diff := cmp.Diff(tc.want, wordsOf(reply)); diff != "" || reply.Stop.Reason == rewrite.StopUnknown {
				t.Error(reply.Stop.Reason, diff)
			}
		})
	}
}

// What was hidden comes back in its place: results of the gateway's among the client's,
// in the order of their calls.
func TestRestore(t *testing.T) {
	result := func(id string) rewrite.Item {
		return rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id}}
	}
	user := rewrite.Item{Parts: []rewrite.Part{{Text: "hi"}}}
	ids := func(items []rewrite.Item) (out []string) {
		for i := range items {
			out = append(out, items[i].Kind.String()+" "+items[i].Call.ID)
		}
		return out
	}
	c := &rewrite.Conversation{Items: []rewrite.Item{user, message("merged"), calling("clock", "c1"), calling("clock", "c2"), result("c1"), result("c2"), user, thinking("a"), message("b"), thinking("c"), user}}
	runs := c.Runs(false)
	if len(runs) != 3 || runs[2].From != runs[2].To || runs[0].To != 4 {
		t.Fatalf("the runs are %+v", runs)
	}
	left := c.Restore([]rewrite.Restored{{Run: runs[0],
		Items:   []rewrite.Item{calling("hidden", "h1"), calling("clock", "c1"), calling("hidden", "h2"), calling("clock", "c2"), calling("hidden", "h3")},
		Results: []rewrite.Item{result("h1"), result("h2"), result("h3")},
	}}, runs[1:2], false)
	want := []string{"message ", "call h1", "call c1", "call h2", "call c2", "call h3",
		"result h1", "result c1", "result h2", "result c2", "result h3", "message ", "reasoning ", "message ", "message "}
	if diff := cmp.Diff(want, ids(c.Items)); diff != "" || left != 1 {
		t.Error(left, diff)
	}
}

// A reply is known again by the events that made it, however its client spells it.
func TestGlimpseOfEventsAndItems(t *testing.T) {
	reply := &rewrite.Reply{Items: []rewrite.Item{thinking("x"), message("One. \n"), calling("clock", "c:1"), message("\tTwo.")}, Stop: rewrite.Stop{Reason: rewrite.StopEnd}}
	var seen rewrite.Glimpse
	reply.Tell(seen.Add)
	c := &rewrite.Conversation{Items: []rewrite.Item{message("One.Two."), calling("clock", "c_1"), {Kind: rewrite.ItemResult}}}
	runs := c.Runs(false)
	if seen.Print() != runs[0].Reply.Print() || seen.Empty() || !seen.Calls() {
		t.Error("the reply is not known again")
	}
	c.Items[1].Call.ID = "c2"
	if seen.Print() == c.Runs(false)[0].Reply.Print() {
		t.Error("another reply is taken for it")
	}
	if runs := (&rewrite.Conversation{Items: []rewrite.Item{{}, message("begun")}}).Runs(false); len(runs) != 1 || runs[0].From != 1 || runs[0].To != 2 {
		t.Errorf("a reply that is begun: %+v", runs)
	}
}

// What was said before a hidden call is over when the call is told of.
func TestWhatWasSaidIsOverBeforeACall(t *testing.T) {
	var order []string
	chain := rewrite.NewChain(func(e *rewrite.Event) {
		if e.Kind == rewrite.EventDone {
			order = append(order, "said")
		}
	}, func(*rewrite.Stop, bool) rewrite.Course { return rewrite.CourseEnd })
	chain.Hide(func(c *rewrite.Call) bool { return c.Name == "hidden" }, func(*rewrite.Item) { order = append(order, "called") }, true)
	for _, e := range []rewrite.Event{
		{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{}},
		{Kind: rewrite.EventItem, Item: &rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}},
		{Kind: rewrite.EventPart, Part: &rewrite.Part{}},
		{Kind: rewrite.EventText, Text: []byte("Words.")},
		{Kind: rewrite.EventPartDone, Part: &rewrite.Part{}},
		{Kind: rewrite.EventDone, Item: &rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}},
		{Kind: rewrite.EventItem, Index: 1, Item: &rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{Name: "hidden"}}},
		{Kind: rewrite.EventDone, Index: 1, Item: &rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{Name: "hidden"}}},
	} {
		chain.Add(&e)
	}
	if diff := cmp.Diff([]string{"said", "called"}, order); diff != "" {
		t.Error(diff)
	}
}
