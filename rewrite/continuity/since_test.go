package continuity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestSince(t *testing.T) {
	tool := func(path, kind, name string) Difference {
		return Difference{Tier: TierTools, Path: path, Kind: kind, Name: name}
	}
	system := func(path, kind string) Difference {
		return Difference{Tier: TierSystem, Path: path, Kind: kind}
	}
	tests := map[string]struct {
		before, now world
		want        []Difference
	}{
		"goes on": {
			world{tools: []string{"x=1"}, sections: []string{"s"}, messages: "u"},
			world{tools: []string{"x=1"}, sections: []string{"s"}, messages: "uau"}, nil,
		},
		"tools come, go and change": {
			world{tools: []string{"x=1", "y=1", "z=1"}, messages: "u"},
			world{tools: []string{"w=1", "x=2", "z=1"}, messages: "u"},
			[]Difference{tool("tools[0]", "added", "w"), tool("tools[1]", "removed", "y"), tool("tools[1]", "changed", "x")},
		},
		"tools in another order": {
			world{tools: []string{"x=1", "y=1"}, messages: "u"}, world{tools: []string{"y=1", "x=1"}, messages: "u"},
			[]Difference{tool("tools[1]", "moved", "x")},
		},
		"tools written differently": {
			world{tools: []string{"x=1", "y=1"}, messages: "u"}, world{tools: []string{"x= 1", "y=1"}, messages: "u"},
			[]Difference{tool("tools[0]", "respelled", "x")},
		},
		"a changed section": {
			world{sections: []string{"a", "b"}, messages: "u"}, world{sections: []string{"a", "c"}, messages: "u"},
			[]Difference{system("system[1]", "changed")},
		},
		"a section more": {
			world{sections: []string{"a", "b"}, messages: "u"}, world{sections: []string{"a", "n", "b"}, messages: "u"},
			[]Difference{system("system[1]", "added")},
		},
		"sections less": {
			world{sections: []string{"a", "b", "c"}, messages: "u"}, world{sections: []string{"b"}, messages: "u"},
			[]Difference{system("system[0]", "removed"), system("system[2]", "removed")},
		},
		"sections in another order": {
			world{sections: []string{"a", "b"}, messages: "u"}, world{sections: []string{"b", "a"}, messages: "u"},
			[]Difference{system("system[0]", "moved"), system("system[1]", "moved")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before, now := test.before.facts(), test.now.facts()
			for i := range now.Sections {
				now.Sections[i].Text.Start++ // in a block
			}
			state := Begin("", nil, Fresh, before, full).Next
			state.Last = NewTurn(before)
			got := state.Since(now, len(before.Messages))
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(Difference{}, "Before", "After", "Kept", "Index", "Exact")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, d := range got {
				if (d.Kind == "changed" || d.Kind == "respelled") != (d.Kept != Hash{}) {
					t.Errorf("%s %s is kept under %x", d.Path, d.Kind, d.Kept)
				}
				if (d.Kind == "removed") != (d.After.Len() == 0) {
					t.Errorf("%s %s stands at %v", d.Path, d.Kind, d.After)
				}
			}
		})
	}
}

// What a tool is now is compared with what is in effect, which a directive may
// have changed since the tools were frozen.
func TestSinceTheEffect(t *testing.T) {
	first, second := world{tools: []string{"x=1", "y=1"}, messages: "u"}, world{tools: []string{"x=1"}, messages: "uau"}
	before, without := first.facts(), second.facts()
	state := Begin("", nil, Fresh, before, full).Next
	state.Last = NewTurn(before)
	state = Continue(state, without, full, Reader{Render: func(*Directive) []byte { return []byte("{}") }}).Next
	state.Last = NewTurn(without)
	if got := state.Since(without, 3); got != nil {
		t.Errorf("the same again: %+v", got)
	}
	got := state.Since(before, 1)
	if len(got) != 1 || got[0].Kind != "added" || got[0].Name != "y" {
		t.Errorf("a tool that comes back: %+v", got)
	}
}

func TestSinceBesideThePrompt(t *testing.T) {
	facts := func(params ...string) *Facts {
		f := &Facts{Messages: []Message{{Exact: hash("m")}, {Exact: hash("n")}}}
		for i := 0; i < len(params); i += 2 {
			f.Params.Set([]byte(params[i]), []byte(params[i+1]))
		}
		return f
	}
	before := facts("thinking", `{"type":"adaptive"}`, "speed", `"fast"`)
	state := Begin("", nil, Fresh, before, full).Next
	state.Last = NewTurn(before)
	now := facts("tool_choice", `{"type":"none"}`, "thinking", `{"type":"enabled"}`)
	now.Messages[1].Exact = hash("N")
	want := []Difference{
		{Tier: TierParams, Path: "tool_choice", Kind: "added"},
		{Tier: TierParams, Path: "thinking", Kind: "changed"},
		{Tier: TierParams, Path: "speed", Kind: "removed"},
		{Tier: TierMessages, Path: "messages[1]", Kind: "respelled"},
	}
	if diff := cmp.Diff(want, state.Since(now, 2), cmpopts.IgnoreFields(Difference{}, "Index", "Exact")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
