package gemini_test

import (
	"testing"

	"warmpath/rewrite"
)

// inOrder asks of every event that it may come now.
func inOrder(t testing.TB) func(e *rewrite.Event) {
	items, parts, done, begun, ended := 0, map[int]int{}, map[int]bool{}, false, false
	return func(e *rewrite.Event) {
		if ended {
			t.Fatalf("%s after the end", e.Kind)
		}
		if begun == (e.Kind == rewrite.EventBegin) && e.Kind != rewrite.EventError {
			t.Fatalf("%s, and begun is %v", e.Kind, begun)
		}
		begun = true
		switch e.Kind {
		case rewrite.EventItem:
			if e.Index != items {
				t.Fatalf("item %d is opened, %d is due", e.Index, items)
			}
			items++
			return
		case rewrite.EventEnd, rewrite.EventError:
			ended = true
			return
		case rewrite.EventBegin, rewrite.EventUsage:
			return
		case rewrite.EventPart:
			if e.PartIndex != parts[e.Index] {
				t.Fatalf("part %d of item %d is opened", e.PartIndex, e.Index)
			}
			parts[e.Index]++
		case rewrite.EventDone:
			defer func() { done[e.Index] = true }()
		}
		if e.Index >= items || done[e.Index] {
			t.Fatalf("%s of item %d, which is not open", e.Kind, e.Index)
		}
		if e.Kind != rewrite.EventDone && e.Kind != rewrite.EventArguments && e.PartIndex >= parts[e.Index] {
			t.Fatalf("%s of part %d of item %d, which is not open", e.Kind, e.PartIndex, e.Index)
		}
	}
}
