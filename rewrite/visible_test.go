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
