package continuity

import (
	"fmt"
	"slices"
)

// Since lists what a request changes of the turn before it, as the client sent
// both, in the order of the prefix. Known is the number of its messages that the
// state has sent. It is nil for a request that only goes on.
func (s *State) Since(facts *Facts, known int) []Difference {
	last := s.Last
	if last == nil {
		last = &Turn{}
	}
	var d differences
	d.params(last.Params, facts.Params)
	if last.Tools != printTools(facts.Tools) {
		d.tools(s.Tools, facts.Tools)
	}
	if last.System != printSections(facts.Sections) {
		d.sections(s.Text, steady(facts.Sections))
	}
	if i := last.Respelled(facts.Messages, 0, known); i >= 0 {
		d.add(Difference{Tier: TierMessages, Path: fmt.Sprintf("messages[%d]", i), Kind: "respelled",
			After: facts.Messages[i].Span, Index: i, Exact: facts.Messages[i].Exact})
	}
	return d
}

type differences []Difference

func (d *differences) add(one Difference) { *d = append(*d, one) }

func (d *differences) params(before, now Params) {
	for i, name := range paramNames {
		kind := "changed"
		switch {
		case before[i] == now[i]:
			continue
		case before[i] == 0:
			kind = "added"
		case now[i] == 0:
			kind = "removed"
		}
		d.add(Difference{Tier: TierParams, Path: name, Kind: kind})
	}
}

// tools compares with the tools in effect. What was not offered was not there
// for the client; how an entry was written is known as it was first sent.
func (d *differences) tools(before []FrozenTool, now []Tool) {
	at := make(map[string]int, len(before))
	for i := range before {
		at[before[i].Name] = i
	}
	last, first := -1, len(*d)
	for i := range now {
		tool := &now[i]
		one := Difference{Tier: TierTools, Path: fmt.Sprintf("tools[%d]", i), Name: tool.Name, After: tool.Span, Index: i, Exact: tool.Exact}
		j, ok := at[tool.Name]
		delete(at, tool.Name)
		switch {
		case !ok, !before[j].Offered && !tool.Deferred:
			one.Kind = "added"
		case before[j].Meaning != tool.Meaning:
			one.Kind, one.Kept = "changed", before[j].Exact
		case j < last:
			one.Kind = "moved"
		case before[j].Exact != tool.Exact:
			one.Kind, one.Kept = "respelled", before[j].Exact
		}
		if ok {
			last = max(last, j)
		}
		if one.Kind != "" {
			d.add(one)
		}
	}
	for i := range before {
		if _, gone := at[before[i].Name]; gone && before[i].Offered {
			d.add(Difference{Tier: TierTools, Path: fmt.Sprintf("tools[%d]", i), Kind: "removed", Name: before[i].Name, Index: i})
		}
	}
	// What is gone stands before what stands at its place now, or behind it.
	slices.SortStableFunc((*d)[first:], func(a, b Difference) int {
		switch gone := "removed"; {
		case a.Index != b.Index, a.Kind == b.Kind:
		case a.Kind == gone:
			return -1
		case b.Kind == gone:
			return 1
		}
		return a.Index - b.Index
	})
}

// sections compares with the sections in effect. Those that are left on both
// sides are taken for changed in their order.
func (d *differences) sections(before []Effective, now []Section) {
	gone, came := unmatched(before, now)
	took := 0
	for i := range now {
		section := &now[i]
		one := Difference{Tier: TierSystem, Path: sectionPath(now, i), After: section.Span, Index: i, Exact: section.Exact}
		switch {
		case len(came) > 0 && came[0].Span == section.Span:
			came = came[1:]
			if one.Kind = "added"; took < len(gone) {
				one.Kind, one.Kept = "changed", gone[took].Text
				took++
			}
		case i < len(before) && before[i].Meaning == section.Meaning && before[i].Text != section.Exact:
			one.Kind, one.Kept = "respelled", before[i].Text
		case len(gone) == 0 && i < len(before) && before[i].Meaning != section.Meaning:
			one.Kind = "moved"
		}
		if one.Kind != "" {
			d.add(one)
		}
	}
	for i := range before {
		for _, e := range gone[min(took, len(gone)):] {
			if before[i] == e {
				d.add(Difference{Tier: TierSystem, Path: fmt.Sprintf("system[%d]", i), Kind: "removed", Index: i})
				took++
				break
			}
		}
	}
}

// sectionPath is the path of a section: a system prompt that is a plain string
// has but one.
func sectionPath(sections []Section, i int) string {
	if sections[i].Span == sections[i].Text {
		return "system"
	}
	return fmt.Sprintf("system[%d]", i)
}
