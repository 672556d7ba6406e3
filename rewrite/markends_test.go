package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"warmpath/rewrite"
)

func TestMarkEnds(t *testing.T) {
	user, model, system := rewrite.Item{}, rewrite.Item{Role: rewrite.RoleAssistant}, rewrite.Item{Role: rewrite.RoleSystem}
	call, result := rewrite.Item{Kind: rewrite.ItemCall}, rewrite.Item{Kind: rewrite.ItemResult}
	for name, c := range map[string]struct {
		c    rewrite.Conversation
		want string
	}{
		"the first request":    {rewrite.Conversation{System: make([]rewrite.Part, 2), Items: []rewrite.Item{user}}, "system.1 items.0"},
		"without instruction":  {rewrite.Conversation{Tools: make([]rewrite.Tool, 2), Items: []rewrite.Item{user}}, "tools.1 items.0"},
		"a loop of tools":      {rewrite.Conversation{Items: []rewrite.Item{user, call, call, result, result, call, result, result}}, "items.4 items.7"},
		"an instruction comes": {rewrite.Conversation{Items: []rewrite.Item{user, user, model, user, system}}, "items.1 items.3"},
		"nothing was said":     {rewrite.Conversation{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.c.Marked() {
				t.Error("it is marked")
			}
			c.c.MarkEnds()
			var got []string
			note := func(list string, i int, m rewrite.Mark) {
				if m.Set {
					got = append(got, fmt.Sprintf("%s.%d", list, i))
				}
			}
			for i, tool := range c.c.Tools {
				note("tools", i, tool.Mark)
			}
			for i, part := range c.c.System {
				note("system", i, part.Mark)
			}
			for i, item := range c.c.Items {
				note("items", i, item.Mark)
			}
			if text := strings.Join(got, " "); text != c.want || c.c.Marked() != (c.want != "") {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestMarkedAndHeard(t *testing.T) {
	mark := rewrite.Mark{Set: true}
	for name, c := range map[string]rewrite.Conversation{
		"a part":    {Items: []rewrite.Item{{Parts: []rewrite.Part{{Mark: mark}}}}},
		"a tool":    {Tools: []rewrite.Tool{{Mark: mark}}},
		"an item":   {Items: []rewrite.Item{{Mark: mark}}},
		"a section": {System: []rewrite.Part{{Mark: mark}}},
		"the end":   {Dialect: rewrite.Messages, Extra: []rewrite.Member{{Name: "cache_control"}}},
	} {
		if !c.Marked() {
			t.Errorf("%s is not seen", name)
		}
	}
	c := rewrite.Conversation{Items: []rewrite.Item{{}, {Kind: rewrite.ItemReasoning}, {Kind: rewrite.ItemCall}, {Kind: rewrite.ItemResult}, {Role: rewrite.RoleAssistant}}}
	if n := c.Heard(); n != 2 {
		t.Errorf("heard %d times", n)
	}
}
