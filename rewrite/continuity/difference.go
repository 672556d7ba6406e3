package continuity

import (
	"fmt"
	"maps"
	"slices"

	"warmpath/rewrite"
)

// Tier is a part of the prefix, in the order in which the provider renders it:
// what changes in one is lost there and in all behind it.
type Tier string

// The tiers. TierModel has a cache of its own for each model; parameters and
// betas stand in none of the prompt's parts, and can change how all are read.
const (
	TierModel    Tier = "model"
	TierParams   Tier = "params"
	TierBetas    Tier = "betas"
	TierTools    Tier = "tools"
	TierSystem   Tier = "system"
	TierMessages Tier = "messages"
)

// Difference is one thing that a request does not share with the one before it.
type Difference struct {
	Tier Tier
	// Path is the JSON path in the newer request, or in the older one for what
	// is gone.
	Path string
	// Kind is added, removed, changed, moved or respelled: written differently
	// with the same meaning.
	Kind string
	// Name is the tool's name, if it is a tool.
	Name string
	// Before and After are the places in the two requests, empty where it is in
	// only one of them.
	Before, After rewrite.Span
	// Index is that of the element in its list, where Since has found it, and Exact
	// its hash.
	Index int
	Exact Hash
	// Kept is the hash under which the older element is kept, where there is no
	// older body.
	Kept Hash
	// Old and New are the lines of a text that differ.
	Old, New string
}

// Comparison is what two successive requests of a conversation have in common.
type Comparison struct {
	Differences []Difference
	// Common is the number of messages at the beginning that are the same, and
	// Newer how many the newer request has behind them.
	Common, Newer int
	// Breaks is the first difference in the tier where the prefix breaks, nil if
	// it does not, and At the path from which on it is lost. Kept and Lost are the bytes of the older request before
	// and behind it; a provider's token has about four of them.
	Breaks     *Difference
	At         string
	Kept, Lost int
	// Tiers are the same for each part of the older prompt, in its order.
	Tiers []Weight
}

// Weight is what becomes of one part of a prompt, in bytes.
type Weight struct {
	Tier       Tier
	Kept, Lost int
}

// Compare finds what a newer request changed of an older one. Text reads a
// section's text in the older and in the newer body.
func Compare(older, newer *Facts, text func(old bool, span rewrite.Span) string) *Comparison {
	c := &Comparison{}
	if older.Model != newer.Model {
		c.add(Difference{Tier: TierModel, Path: "model", Kind: "changed", Old: older.Model, New: newer.Model})
	}
	c.tools(older.Tools, newer.Tools)
	c.sections(older.Sections, newer.Sections, text)
	c.params(older.Params, newer.Params)
	c.messages(older.Messages, newer.Messages)
	c.weigh(older, newer)
	return c
}

func (c *Comparison) add(d Difference) { c.Differences = append(c.Differences, d) }

func (c *Comparison) tools(older, newer []Tool) {
	at := make(map[string]int, len(older))
	for i := range older {
		at[older[i].Name] = i
	}
	gone := maps.Clone(at)
	for i := range newer {
		delete(gone, newer[i].Name)
	}
	// What is gone is told before what stands at its place now, or behind it.
	removed := func(from, to int) {
		for i := from; i < min(to, len(older)); i++ {
			if _, is := gone[older[i].Name]; is {
				c.add(Difference{Tier: TierTools, Path: fmt.Sprintf("tools[%d]", i), Kind: "removed", Name: older[i].Name, Before: older[i].Span})
			}
		}
	}
	last := -1
	for i := range newer {
		removed(i, i+1)
		tool, path := &newer[i], fmt.Sprintf("tools[%d]", i)
		j, ok := at[tool.Name]
		if !ok {
			c.add(Difference{Tier: TierTools, Path: path, Kind: "added", Name: tool.Name, After: tool.Span})
			continue
		}
		d := Difference{Tier: TierTools, Path: path, Name: tool.Name, Before: older[j].Span, After: tool.Span}
		switch {
		case older[j].Meaning != tool.Meaning:
			d.Kind = "changed"
		case j < last:
			d.Kind = "moved"
		case older[j].Exact != tool.Exact:
			d.Kind = "respelled"
		}
		if d.Kind != "" {
			c.add(d)
		}
		last = max(last, j)
		delete(at, tool.Name)
	}
	removed(len(newer), len(older))
}

func (c *Comparison) sections(older, newer []Section, text func(bool, rewrite.Span) string) {
	for i := range max(len(older), len(newer)) {
		list := newer
		if i >= len(newer) {
			list = older
		}
		d := Difference{Tier: TierSystem, Path: sectionPath(list, i)}
		switch {
		case i >= len(older):
			d.Kind, d.After, d.New = "added", newer[i].Span, text(false, newer[i].Text)
		case i >= len(newer):
			d.Kind, d.Before, d.Old = "removed", older[i].Span, text(true, older[i].Text)
		case older[i].Volatile && newer[i].Volatile, older[i].Exact == newer[i].Exact:
			continue
		default:
			d.Kind, d.Before, d.After = "changed", older[i].Span, newer[i].Span
			if older[i].Meaning == newer[i].Meaning {
				d.Kind = "respelled"
				c.add(d)
				continue
			}
			for _, h := range compare(text(true, older[i].Text), text(false, newer[i].Text)) {
				d.Old, d.New = joinLines(d.Old, h.old), joinLines(d.New, h.new)
			}
		}
		c.add(d)
	}
}

func (c *Comparison) params(older, newer Params) {
	var d differences
	d.params(older, newer)
	c.Differences = append(c.Differences, d...)
}

func joinLines(before, more string) string {
	if before == "" || more == "" {
		return before + more
	}
	return before + "\n" + more
}

func (c *Comparison) messages(older, newer []Message) {
	for c.Common < len(older) && c.Common < len(newer) && older[c.Common].Meaning == newer[c.Common].Meaning {
		i := c.Common
		if older[i].Exact != newer[i].Exact {
			c.add(Difference{Tier: TierMessages, Path: fmt.Sprintf("messages[%d]", i), Kind: "respelled", Before: older[i].Span, After: newer[i].Span})
		}
		c.Common++
	}
	c.Newer = len(newer) - c.Common
	if c.Common == len(older) {
		return
	}
	d := Difference{Tier: TierMessages, Path: fmt.Sprintf("messages[%d]", c.Common), Kind: "changed", Before: older[c.Common].Span}
	if c.Common < len(newer) {
		d.After = newer[c.Common].Span
	} else {
		d.Kind = "removed"
	}
	c.add(d)
}

// weigh finds where the prefix breaks, and what that costs. Another spelling may
// or may not be a break to a provider; it is taken for none. Deferred tools are
// no part of the prefix. A parameter changes how the messages are read, and with
// some models more than that.
func (c *Comparison) weigh(older, newer *Facts) {
	deferred := func(t Tool) bool { return t.Deferred }
	before, after := slices.DeleteFunc(slices.Clone(older.Tools), deferred), slices.DeleteFunc(slices.Clone(newer.Tools), deferred)
	tools := leading(len(before), len(after), func(i int) bool {
		return before[i].Name == after[i].Name && before[i].Meaning == after[i].Meaning
	})
	sections := leading(len(older.Sections), len(newer.Sections), func(i int) bool {
		return older.Sections[i].Meaning == newer.Sections[i].Meaning || older.Sections[i].Volatile && newer.Sections[i].Volatile
	})
	messages := c.Common
	tier := Tier("")
	switch {
	case older.Model != newer.Model:
		tier, c.At = TierModel, "model"
		tools, sections, messages = 0, 0, 0
	case tools < max(len(before), len(after)):
		tier, c.At = TierTools, fmt.Sprintf("tools[%d]", tools)
		sections, messages = 0, 0
	case sections < max(len(older.Sections), len(newer.Sections)):
		list := newer.Sections
		if sections >= len(list) {
			list = older.Sections
		}
		tier, c.At = TierSystem, sectionPath(list, sections)
		messages = 0
	case older.Params != newer.Params:
		tier, c.At = TierParams, c.firstOf(TierParams)
		messages = 0
	case messages < len(older.Messages):
		tier, c.At = TierMessages, fmt.Sprintf("messages[%d]", messages)
	}
	for i := range c.Differences {
		if d := &c.Differences[i]; d.Tier == tier && d.Kind != "respelled" {
			c.Breaks = d
			break
		}
	}
	weigh(c, TierTools, before, tools, func(t Tool) rewrite.Span { return t.Span })
	weigh(c, TierSystem, older.Sections, sections, func(s Section) rewrite.Span { return s.Span })
	weigh(c, TierMessages, older.Messages, messages, func(m Message) rewrite.Span { return m.Span })
}

// leading counts the elements at the beginning that are the same.
func leading(older, newer int, same func(int) bool) int {
	n := 0
	for n < older && n < newer && same(n) {
		n++
	}
	return n
}

// weigh adds the bytes of elements to what is kept, and to what is lost.
func weigh[E any](c *Comparison, tier Tier, elements []E, kept int, span func(E) rewrite.Span) {
	w := Weight{Tier: tier}
	for i, e := range elements {
		if i < kept {
			w.Kept += span(e).Len()
		} else {
			w.Lost += span(e).Len()
		}
	}
	c.Kept, c.Lost = c.Kept+w.Kept, c.Lost+w.Lost
	c.Tiers = append(c.Tiers, w)
}

// firstOf is the path of the first difference in a tier.
func (c *Comparison) firstOf(tier Tier) string {
	for _, d := range c.Differences {
		if d.Tier == tier {
			return d.Path
		}
	}
	return ""
}
