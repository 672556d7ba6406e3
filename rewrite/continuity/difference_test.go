package continuity

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/rewrite"
)

func TestCompare(t *testing.T) {
	type want struct {
		differences []Difference
		breaks      string // the path
		newer       int
		kept        string // kinds of elements by letter
	}
	tests := map[string]struct {
		older, newer world
		want         want
	}{
		"goes on": {
			world{tools: []string{"x=1"}, sections: []string{"s"}, messages: "ua"}, world{tools: []string{"x=1"}, sections: []string{"s"}, messages: "uau"},
			want{newer: 1},
		},
		"tool at the end": {
			world{tools: []string{"x=1"}, sections: []string{"s"}, messages: "u"}, world{tools: []string{"x=1", "y=1"}, sections: []string{"s"}, messages: "u"},
			want{[]Difference{{Tier: TierTools, Path: "tools[1]", Kind: "added", Name: "y"}}, "tools[1]", 0, "x=1"},
		},
		"tools in another order": {
			world{tools: []string{"x=1", "y=1"}, messages: "u"}, world{tools: []string{"y=1", "x=1"}, messages: "u"},
			want{[]Difference{{Tier: TierTools, Path: "tools[1]", Kind: "moved", Name: "x"}}, "tools[0]", 0, ""},
		},
		"tool gone, tool changed": {
			world{tools: []string{"x=1", "y=1", "z=1"}, messages: "u"}, world{tools: []string{"x=1", "z=2"}, messages: "u"},
			want{[]Difference{
				{Tier: TierTools, Path: "tools[1]", Kind: "removed", Name: "y"},
				{Tier: TierTools, Path: "tools[1]", Kind: "changed", Name: "z"},
			}, "tools[1]", 0, "x=1"},
		},
		"deferred tool": {
			world{tools: []string{"x=1"}, messages: "u"}, world{tools: []string{"~p=1", "x=1"}, messages: "ua"},
			want{[]Difference{{Tier: TierTools, Path: "tools[0]", Kind: "added", Name: "p"}}, "", 1, ""},
		},
		"date in the system prompt": {
			world{tools: []string{"x=1"}, sections: []string{"a\nday 1\nb"}, messages: "ua"}, world{tools: []string{"x=1"}, sections: []string{"a\nday 2\nb"}, messages: "uau"},
			want{[]Difference{{Tier: TierSystem, Path: "system", Kind: "changed", Old: "day 1", New: "day 2"}}, "system", 1, "x=1"},
		},
		"history edited": {
			world{sections: []string{"s"}, messages: "uaua"}, world{sections: []string{"s"}, messages: "uasau"},
			want{[]Difference{{Tier: TierMessages, Path: "messages[2]", Kind: "changed"}}, "messages[2]", 3, ""},
		},
		"history shortened": {
			world{messages: "uau"}, world{messages: "u"},
			want{[]Difference{{Tier: TierMessages, Path: "messages[1]", Kind: "removed"}}, "messages[1]", 0, ""},
		},
		"spelling alone": {
			world{tools: []string{"x= 1"}, messages: "u"}, world{tools: []string{"x=1"}, messages: "u"},
			want{[]Difference{{Tier: TierTools, Path: "tools[0]", Kind: "respelled", Name: "x"}}, "", 0, ""},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			older, newer := test.older.facts(), test.newer.facts()
			c := Compare(older, newer, func(old bool, span rewrite.Span) string {
				if old {
					return test.older.at(span)
				}
				return test.newer.at(span)
			})
			if diff := cmp.Diff(test.want.differences, c.Differences, cmpopts.IgnoreFields(Difference{}, "Before", "After")); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			breaks := c.At
			if (breaks == "") != (c.Breaks == nil) {
				t.Errorf("breaks at %q by %v", breaks, c.Breaks)
			}
			if breaks != test.want.breaks || c.Newer != test.want.newer {
				t.Errorf("breaks at %q with %d newer messages, want %q with %d", breaks, c.Newer, test.want.breaks, test.want.newer)
			}
			if (c.Lost > 0) != (breaks != "") {
				t.Errorf("%d bytes are lost although the prefix breaks at %q", c.Lost, breaks)
			}
			if test.want.kept != "" && c.Kept < len(test.want.kept) {
				t.Errorf("%d bytes are kept, want at least %q", c.Kept, test.want.kept)
			}
		})
	}
}

func TestCompareModels(t *testing.T) {
	w := world{tools: []string{"x=1"}, sections: []string{"s"}, messages: "u"}
	older, newer := w.facts(), w.facts()
	newer.Model = "other"
	c := Compare(older, newer, func(bool, rewrite.Span) string { return "" })
	if c.Breaks == nil || c.Breaks.Tier != TierModel || c.Kept != 0 || c.Lost < 200 || !strings.Contains(c.Breaks.New, "other") {
		t.Errorf("%+v", c)
	}
}
