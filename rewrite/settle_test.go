package rewrite_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/rewrite"
)

func TestSettleTools(t *testing.T) {
	tool := func(name string, deferred bool) rewrite.Tool { return rewrite.Tool{Name: name, Deferred: deferred} }
	change := func(add, remove string) rewrite.Item {
		d := rewrite.Item{Kind: rewrite.ItemDirective}
		for _, name := range []string{add} {
			if name != "" {
				d.Directive.Add = append(d.Directive.Add, name)
			}
		}
		if remove != "" {
			d.Directive.Remove = append(d.Directive.Remove, remove)
		}
		return d
	}
	search := rewrite.Tool{Kind: rewrite.ToolHosted, Name: "find", Capability: "tool_search"}
	for name, c := range map[string]struct {
		tools         []rewrite.Tool
		changes       []rewrite.Item
		offered, left []string
	}{
		"nothing declared":              {[]rewrite.Tool{tool("a", false), tool("b", false)}, nil, []string{"a", "b"}, []string{"a", "b"}},
		"one waits for good":            {[]rewrite.Tool{tool("a", false), tool("b", true)}, nil, []string{"a"}, []string{"a"}},
		"one waits to be found":         {[]rewrite.Tool{search, tool("a", true)}, nil, []string{"find"}, []string{"find", "a"}},
		"added and taken away":          {[]rewrite.Tool{tool("a", false), tool("b", true)}, []rewrite.Item{change("b", "a")}, []string{"b"}, []string{"b"}},
		"taken away and back":           {[]rewrite.Tool{tool("a", false)}, []rewrite.Item{change("", "a"), change("a", "")}, []string{"a"}, []string{"a"}},
		"found, and another taken away": {[]rewrite.Tool{search, tool("a", true), tool("b", false)}, []rewrite.Item{change("a", "b")}, []string{"a", "find"}, []string{"find", "a"}},
		"one that nobody knows":         {[]rewrite.Tool{tool("a", false)}, []rewrite.Item{change("x", "y")}, []string{"a", "x"}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			hi := rewrite.Item{Parts: []rewrite.Part{{Text: "hi"}}}
			conversation := &rewrite.Conversation{Tools: slices.Clone(c.tools), Items: append([]rewrite.Item{hi}, c.changes...)}
			if diff := cmp.Diff(c.offered, slices.Sorted(maps.Keys(conversation.Offered()))); diff != "" {
				t.Errorf("offered: %s", diff)
			}
			conversation.SettleTools()
			var left []string
			for _, tool := range conversation.Tools {
				left = append(left, tool.Name)
			}
			if diff := cmp.Diff(c.left, left); diff != "" {
				t.Errorf("left: %s", diff)
			}
			if c.changes != nil && len(conversation.Items) != 1 {
				t.Errorf("directives are left: %+v", conversation.Items)
			}
			for _, tool := range conversation.Tools {
				if tool.Deferred && tool.Name == "a" && name != "one waits to be found" {
					t.Errorf("%s still waits", tool.Name)
				}
			}
		})
	}
}

func TestAnchorTools(t *testing.T) {
	deferred := func(names ...string) (tools []rewrite.Tool) {
		for _, name := range names {
			tools = append(tools, rewrite.Tool{Name: name, Deferred: true, Payload: rewrite.Payload{Format: "responses/function", Value: rewrite.JSON(`{}`)}})
		}
		return tools
	}
	user := rewrite.Item{Parts: []rewrite.Part{{Text: "hi"}}}
	directive := func(add, remove []string) rewrite.Item {
		return rewrite.Item{Kind: rewrite.ItemDirective, Directive: rewrite.Directive{Add: add, Remove: remove}}
	}
	for name, c := range map[string]struct {
		conversation rewrite.Conversation
		waits        []string
		changes      []rewrite.Directive
		losses       int
	}{
		"all wait": {
			rewrite.Conversation{Tools: deferred("a", "b"), Items: []rewrite.Item{user, user, directive([]string{"a"}, nil)}},
			[]string{"b"}, []rewrite.Directive{{Remove: []string{"a"}}, {Add: []string{"a"}}}, 0,
		},
		"one does not": {
			rewrite.Conversation{Tools: append(deferred("a"), rewrite.Tool{Name: "b"}), Items: []rewrite.Item{user, directive([]string{"a"}, []string{"b"})}},
			[]string{"a"}, []rewrite.Directive{{Add: []string{"a"}, Remove: []string{"b"}}}, 0,
		},
		"nobody's names": {
			rewrite.Conversation{Tools: append(deferred("a"), rewrite.Tool{Name: "b"}), Items: []rewrite.Item{user, directive([]string{"x"}, nil), directive([]string{"a", "y"}, nil)}},
			[]string{"a"}, []rewrite.Directive{{Add: []string{"a"}}}, 2,
		},
		"nothing declared": {rewrite.Conversation{Tools: []rewrite.Tool{{Name: "a"}}, Items: []rewrite.Item{user}}, nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var losses rewrite.Losses
			before := slices.Clone(c.conversation.Tools)
			given := c.conversation.Tools
			c.conversation.AnchorTools(&losses)
			var waits []string
			var changes []rewrite.Directive
			for _, tool := range c.conversation.Tools {
				if tool.Deferred {
					waits = append(waits, tool.Name)
				} else if len(tool.Payload.Value) > 0 {
					t.Errorf("%s says itself that it waits", tool.Name)
				}
			}
			for _, item := range c.conversation.Items {
				if item.Kind == rewrite.ItemDirective {
					changes = append(changes, rewrite.Directive{Add: slices.Clip(item.Directive.Add), Remove: slices.Clip(item.Directive.Remove)})
				}
			}
			if diff := cmp.Diff(c.waits, waits) + cmp.Diff(c.changes, changes, cmpopts.EquateEmpty()); diff != "" || len(losses.All) != c.losses {
				t.Errorf("%s, losses %v", diff, losses.All)
			}
			if diff := cmp.Diff(before, given); diff != "" {
				t.Errorf("the caller's tools have changed: %s", diff)
			}
		})
	}
}
