package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

func TestCallsAreNamedApart(t *testing.T) {
	call := func(id string) rewrite.Item {
		return rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: id}}
	}
	result := func(id string) rewrite.Item {
		return rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id}}
	}
	native := call("a")
	native.Payload = rewrite.Payload{Provider: "maker", Format: "gemini/functionCall", Value: rewrite.JSON("{}")}
	for _, tc := range []struct {
		name  string
		items []rewrite.Item
		want  []string
	}{
		{"apart already", []rewrite.Item{call("a"), call("b"), result("b"), result("a")}, []string{"a", "b", "b", "a"}},
		{"every turn counts from zero", []rewrite.Item{call("a"), result("a"), call("a"), result("a"), call("a"), result("a")}, []string{"a", "a", "a_2", "a_2", "a_3", "a_3"}},
		{"one turn, one name", []rewrite.Item{call("a"), call("a"), result("a"), result("a")}, []string{"a", "a_2", "a", "a_2"}},
		{"no names", []rewrite.Item{call(""), result(""), call(""), result("")}, []string{"call_2", "call_2", "call_3", "call_3"}},
		{"nobody answered the first", []rewrite.Item{call("a"), {}, call("a"), result("a")}, []string{"a", "", "a_2", "a_2"}},
		{"late results", []rewrite.Item{call("a"), call("a"), result("a"), {}, result("a")}, []string{"a", "a_2", "a", "", "a_2"}},
		{"alike once spelled", []rewrite.Item{call("a:1"), result("a:1"), call("a.1"), result("a.1")}, []string{"a:1", "a:1", "a.1_2", "a.1_2"}},
		{"taken by another", []rewrite.Item{call("a"), result("a"), call("a_2"), result("a_2"), call("a"), result("a")}, []string{"a", "a", "a_2", "a_2", "a_3", "a_3"}},
		{"its provider's own", []rewrite.Item{call("a"), result("a"), native, result("a")}, []string{"a", "a", "a", "a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := rewrite.Conversation{Items: tc.items}
			c.NameCalls()
			var got []string
			for i := range c.Items {
				got = append(got, c.Items[i].Call.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Many calls of one name take no more than their number.
func TestManyCallsAreNamedAtOnce(t *testing.T) {
	c := rewrite.Conversation{Items: make([]rewrite.Item, 200_000)}
	for i := range c.Items {
		c.Items[i].Kind = rewrite.ItemCall
	}
	c.NameCalls() // which took minutes once
	if last := c.Items[len(c.Items)-1].Call.ID; last != "call_200001" {
		t.Errorf("the last is %q", last)
	}
}
