package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// What a client has marked is marked where it stands for more than the client knows.
func TestRestoredRunsKeepTheirMark(t *testing.T) {
	hour, plain := rewrite.Mark{Set: true, TTL: "1h"}, rewrite.Mark{Set: true}
	marked := func(i rewrite.Item, m rewrite.Mark) rewrite.Item {
		if i.Kind == rewrite.ItemCall {
			i.Mark = m
		} else {
			i.Parts = []rewrite.Part{{Text: i.Parts[0].Text, Mark: m}}
		}
		return i
	}
	made := message("as made")
	made.Payload = rewrite.Payload{Provider: "p", Format: "f", Value: rewrite.JSON("{}")}
	for name, tc := range map[string]struct {
		said, kept, want []rewrite.Item
	}{
		"nothing marked": {
			[]rewrite.Item{message("a")}, []rewrite.Item{message("a")}, []rewrite.Item{message("a")},
		},
		"the last of two": {
			[]rewrite.Item{marked(message("a"), hour), marked(message("b"), plain)},
			[]rewrite.Item{message("a"), calling("hidden", "h"), message("b")},
			[]rewrite.Item{message("a"), calling("hidden", "h"), marked(message("b"), plain)},
		},
		"a call": {
			[]rewrite.Item{message("a"), marked(calling("clock", "c"), hour)},
			[]rewrite.Item{message("a"), calling("clock", "c"), calling("hidden", "h")},
			[]rewrite.Item{message("a"), calling("clock", "c"), marked(calling("hidden", "h"), hour)},
		},
		"what cannot carry one": {
			[]rewrite.Item{marked(message("a"), hour)},
			[]rewrite.Item{message("a"), made, message(" "), thinking("b"), {Kind: rewrite.ItemResult}},
			[]rewrite.Item{marked(message("a"), hour), made, message(" "), thinking("b"), {Kind: rewrite.ItemResult}},
		},
		"nothing can carry one": {
			[]rewrite.Item{marked(message("a"), hour)}, []rewrite.Item{thinking("b")}, []rewrite.Item{thinking("b")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &rewrite.Conversation{Items: tc.said}
			kept := append([]rewrite.Item(nil), tc.kept...)
			c.Restore([]rewrite.Restored{{Run: rewrite.Run{To: len(tc.said)}, Items: tc.kept}}, nil, false)
			if diff := cmp.Diff(tc.want, c.Items); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(kept, tc.kept); diff != "" {
				t.Errorf("what was kept has changed: %s", diff)
			}
		})
	}
}

// A reply that goes on from what a client has of it is known again as one.
func TestGlimpsesGoOnward(t *testing.T) {
	said := []rewrite.Item{message("One "), calling("clock", "c")}
	whole := append(append([]rewrite.Item(nil), said...), message("Two"), calling("clock", "d"))
	runs := (&rewrite.Conversation{Items: said}).Runs(false)
	begun := runs[len(runs)-1].Reply
	onward := begun.Onward()
	for i, item := range whole[len(said):] {
		onward.Add(&rewrite.Event{Kind: rewrite.EventItem, Index: i, Item: &item})
		for _, part := range item.Parts {
			onward.Add(&rewrite.Event{Kind: rewrite.EventText, Index: i, Text: []byte(part.Text)})
		}
	}
	runs = (&rewrite.Conversation{Items: whole}).Runs(false)
	if want := runs[len(runs)-1].Reply; onward.Print() != want.Print() || onward.Empty() || !onward.Calls() {
		t.Errorf("it is known as %x, want %x", onward.Print(), want.Print())
	}
	if again := begun.Onward(); again.Print() != begun.Print() {
		t.Error("what there was has changed")
	}
}
