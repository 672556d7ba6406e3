package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// What is told to the user's side stays in its place, and says what it is.
func TestTellInstructions(t *testing.T) {
	text := func(role rewrite.Role, texts ...string) rewrite.Item {
		item := rewrite.Item{Kind: rewrite.ItemMessage, Role: role}
		for _, text := range texts {
			item.Parts = append(item.Parts, rewrite.Part{Text: text})
		}
		return item
	}
	cleared := rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleSystem, Payload: rewrite.Payload{Format: "messages/system_turn", Value: rewrite.JSON("{}")}}
	marked := text(rewrite.RoleSystem, "s", "t")
	marked.Parts[1].Mark.Set = true
	c := &rewrite.Conversation{Items: []rewrite.Item{text(rewrite.RoleSystem, "r"), text(rewrite.RoleUser, "1"), marked, cleared}}
	var losses rewrite.Losses
	c.TellInstructions(&losses)
	told := text(rewrite.RoleUser, "<system-reminder>\ns\nt\n</system-reminder>")
	told.Parts[0].Mark.Set = true
	if diff := cmp.Diff([]rewrite.Item{text(rewrite.RoleSystem, "r"), text(rewrite.RoleUser, "1"), told, cleared}, c.Items); diff != "" {
		t.Error(diff)
	}
	if len(losses.All) != 1 || losses.All[0].Path != "items.2" {
		t.Errorf("lost %v", losses.All)
	}
}

// Results are found by their call, each once, and what is not answered is said.
func TestLayOut(t *testing.T) {
	call := func(id string) rewrite.Item { return rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: id}} }
	result := func(id string) rewrite.Item {
		return rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id}}
	}
	c := &rewrite.Conversation{Items: []rewrite.Item{call("a"), call("b"), result("b"), result("b"), {Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}, result("a")}}
	_, turns := c.LayOut()
	var got []string
	for _, turn := range turns {
		line := turn.Role.String() + ":"
		for _, e := range turn.Entries {
			line += " " + e.Path
			if e.Missing {
				line += " missing"
			}
			if e.Orphan {
				line += " orphan"
			}
		}
		got = append(got, line)
	}
	want := []string{"user: ", "assistant: items.0 items.1", "user: items.5 items.2 items.3 orphan", "assistant: items.4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A result that stands before its call is said once.
func TestLayOutSaysResultsOnce(t *testing.T) {
	result := rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: "a"}}
	c := &rewrite.Conversation{Items: []rewrite.Item{result, {Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "a"}}}}
	_, turns := c.LayOut()
	said, missing := 0, 0
	for _, turn := range turns {
		for _, e := range turn.Entries {
			if e.Item.Kind == rewrite.ItemResult {
				said++
			}
			if e.Missing {
				missing++
			}
		}
	}
	if said != 1 || missing != 1 {
		t.Errorf("said %d times, and %d missing", said, missing)
	}
}
