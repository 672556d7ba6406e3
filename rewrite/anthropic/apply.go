package anthropic

import (
	"errors"
	"fmt"
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// Edits is what to change in a request. The zero Edits changes nothing.
type Edits struct {
	// Tools, unless nil, are the elements that tools consists of, marks and all.
	Tools [][]byte
	// System, unless nil, are the blocks that system consists of. Text is a JSON
	// string that is the whole of it instead.
	System [][]byte
	Text   []byte
	// Inserts are messages of the gateway's, in ascending order of their places;
	// those of one place stand in the order given.
	Inserts []continuity.Edit
	// Replace are other bytes for messages of the client's.
	Replace []Replacement
	Marks   []Mark
	// Automatic asks the provider to mark the last block itself, unless the
	// client has said something about that.
	Automatic bool
	// Drop asks the provider to drop thinking that is bound to another prefix,
	// instead of refusing the request.
	Drop bool
	// Effort, unless nil, is the effort at the top level, empty for none.
	Effort *string
	// Diagnostics, unless nil, is a JSON value that asks the provider why the
	// cache missed, unless the client asks itself.
	Diagnostics []byte
}

// Replacement is other bytes for the client's message of an index.
type Replacement struct {
	Index int
	Bytes []byte
}

// Element says which of a request's lists an index is of.
type Element uint8

// The lists of a request.
const (
	OfTools Element = iota
	OfSystem
	OfMessages
)

// Mark sets the cache mark of one of the client's elements to a JSON object, as
// WithMark does, or takes its marks away if that is nil. An element that cannot
// carry a mark stays as it is.
type Mark struct {
	Of    Element
	Index int
	Text  []byte
}

// ErrBinding says that a request configures thinking in a way that leaves no
// room for what to do with blocks of another prefix.
var ErrBinding = errors.New("thinking of this type takes no block_binding")

const (
	dropBlock = `{"prefix_mismatch_behavior":"drop_block"}`
	ephemeral = `{"type":"ephemeral"}`
)

// Apply appends the body with the edits to dst and returns it. The facts are
// those of the body. Every byte that no edit asks for stays as it is. An error
// means that an edit names what the body does not have.
func Apply(dst, body []byte, facts *continuity.Facts, edits *Edits) ([]byte, error) {
	places, err := outline(body, facts)
	if err != nil {
		return dst, err
	}
	p := patch{body: body, facts: facts, places: places}
	p.lists(edits)
	if err := p.messages(edits); err != nil {
		return dst, err
	}
	if err := p.marks(edits); err != nil {
		return dst, err
	}
	if edits.Automatic {
		p.member("cache_control", places.automatic, []byte(ephemeral), false)
	}
	if edits.Drop {
		if err := p.drop(); err != nil {
			return dst, err
		}
	}
	if edits.Effort != nil {
		if err := p.effort(*edits.Effort); err != nil {
			return dst, err
		}
	}
	if edits.Diagnostics != nil {
		p.member("diagnostics", places.diagnostics, edits.Diagnostics, false)
	}
	slices.SortStableFunc(p.edits, func(a, b splice.Edit) int { return a.Start - b.Start })
	at := 0
	for _, e := range p.edits {
		if e.Start < at {
			return dst, errors.New("two edits of one element")
		}
		at = e.End
	}
	return splice.Apply(dst, body, append(p.edits, p.added...)), nil
}

// places are the spans of the values that edits can touch, empty for what is
// absent; first is where the first message would stand, end the bracket that
// closes the body.
type places struct {
	tools, system, thinking, config, automatic, diagnostics rewrite.Span
	first, end                                              int
}

// outline finds the places again, stepping over what the facts have the spans
// of.
func outline(body []byte, facts *continuity.Facts) (p places, err error) {
	f := borrow(body)
	defer f.release()
	f.object(func(name []byte) verdict {
		start, span := f.at, p.of(name)
		switch {
		case string(name) == "messages":
			if p.first = f.at + 1; len(facts.Messages) > 0 {
				p.first = facts.Messages[0].Span.Start
			}
			stepOver(f, facts.Messages, func(m continuity.Message) int { return m.Span.End })
		case string(name) == "tools":
			stepOver(f, facts.Tools, func(t continuity.Tool) int { return t.Span.End })
		case string(name) == "system" && f.space() == '[':
			stepOver(f, facts.Sections, func(s continuity.Section) int { return s.Span.End })
		default:
			f.value()
		}
		if span != nil {
			*span = rewrite.Span{Start: start, End: f.at}
		}
		return drop
	})
	p.end = f.at - 1
	if f.msg == "" && p.first == 0 {
		f.fail("there are no messages")
	}
	return p, f.err()
}

// of gives the place of a member, nil if no edit touches it.
func (p *places) of(name []byte) *rewrite.Span {
	switch string(name) {
	case "tools":
		return &p.tools
	case "system":
		return &p.system
	case "thinking":
		return &p.thinking
	case "output_config":
		return &p.config
	case "cache_control":
		return &p.automatic
	case "diagnostics":
		return &p.diagnostics
	}
	return nil
}

// stepOver takes an array of which the elements are known.
func stepOver[E any](f *form, elements []E, end func(E) int) {
	if len(elements) == 0 {
		f.value()
		return
	}
	at := end(elements[len(elements)-1])
	if at < f.at || at > len(f.text) {
		f.fail("the facts are of another request")
		return
	}
	f.at = at
	if f.space() != ']' {
		f.fail("the facts are of another request")
		return
	}
	f.at++
}

// patch gathers edits.
type patch struct {
	body  []byte
	facts *continuity.Facts
	places
	edits []splice.Edit
	added []splice.Edit // members at the end of the body
}

// insert adds text at a place.
func (p *patch) insert(at int, text []byte) {
	p.edits = append(p.edits, splice.Edit{Span: rewrite.Span{Start: at, End: at}, Text: text})
}

// member sets a member of the body, and adds it if it is absent. A value of the
// client's own stays unless it is to be replaced; null is none.
func (p *patch) member(name string, at rewrite.Span, value []byte, replace bool) {
	if at.Len() == 0 {
		text := append([]byte(`,"`+name+`":`), value...)
		p.added = append(p.added, splice.Edit{Span: rewrite.Span{Start: p.end, End: p.end}, Text: text})
		return
	}
	if replace || splice.Null(p.body[at.Start:at.End]) {
		p.edits = append(p.edits, splice.Edit{Span: at, Text: value})
	}
}

// lists replaces tools and system.
func (p *patch) lists(edits *Edits) {
	if edits.Tools != nil && (len(edits.Tools) > 0 || p.tools.Len() > 0) {
		p.member("tools", p.tools, list(edits.Tools), true)
	}
	switch {
	case edits.System != nil && (len(edits.System) > 0 || p.system.Len() > 0):
		p.member("system", p.system, list(edits.System), true)
	case edits.System == nil && edits.Text != nil:
		p.member("system", p.system, edits.Text, true)
	}
}

// list is an array of the given elements.
func list(elements [][]byte) []byte {
	size := 2
	for _, e := range elements {
		size += len(e) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for i, e := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}

var comma = []byte(",")

// messages inserts and replaces messages.
func (p *patch) messages(edits *Edits) error {
	have := p.facts.Messages
	for i, e := range edits.Inserts {
		switch {
		case e.After < 0 || e.After > len(have):
			return fmt.Errorf("inserting after message %d of %d", e.After, len(have))
		case e.After > 0:
			at := have[e.After-1].Span.End
			p.insert(at, comma)
			p.insert(at, e.Bytes)
		default:
			p.insert(p.first, e.Bytes)
			if len(have) > 0 || i+1 < len(edits.Inserts) {
				p.insert(p.first, comma)
			}
		}
	}
	for _, r := range edits.Replace {
		if r.Index < 0 || r.Index >= len(have) {
			return fmt.Errorf("replacing message %d of %d", r.Index, len(have))
		}
		p.edits = append(p.edits, splice.Edit{Span: have[r.Index].Span, Text: r.Bytes})
	}
	return nil
}

// marks sets and takes away marks.
func (p *patch) marks(edits *Edits) error {
	for _, m := range edits.Marks {
		span, replaced, err := p.element(edits, m)
		if err != nil {
			return err
		}
		if replaced {
			return fmt.Errorf("marking element %d, which other bytes replace", m.Index)
		}
		p.edits = markEdits(p.edits, p.body[span.Start:span.End], span.Start, m.Text)
	}
	return nil
}

// element is the span of what a mark is for.
func (p *patch) element(edits *Edits, m Mark) (span rewrite.Span, replaced bool, err error) {
	at := func(n int, span func(int) rewrite.Span) rewrite.Span {
		if m.Index < 0 || m.Index >= n {
			err = fmt.Errorf("marking element %d of %d", m.Index, n)
			return rewrite.Span{}
		}
		return span(m.Index)
	}
	switch m.Of {
	case OfTools:
		span = at(len(p.facts.Tools), func(i int) rewrite.Span { return p.facts.Tools[i].Span })
		replaced = edits.Tools != nil
	case OfSystem:
		span = at(len(p.facts.Sections), func(i int) rewrite.Span { return p.facts.Sections[i].Span })
		replaced = edits.System != nil || edits.Text != nil
	case OfMessages:
		span = at(len(p.facts.Messages), func(i int) rewrite.Span { return p.facts.Messages[i].Span })
		replaced = slices.ContainsFunc(edits.Replace, func(r Replacement) bool { return r.Index == m.Index })
	}
	return span, replaced, err
}

// drop asks for thinking of another prefix to be dropped. A request that does
// not configure thinking thinks adaptively, on every model that binds it.
func (p *patch) drop() error {
	at := p.thinking
	thinking := p.body[at.Start:at.End]
	if splice.Null(thinking) {
		p.member("thinking", at, []byte(`{"type":"adaptive","block_binding":`+dropBlock+`}`), true)
		return nil
	}
	var kind string
	var binding rewrite.Span
	if err := splice.Members(thinking, func(key []byte, _, value rewrite.Span) bool {
		switch string(key) {
		case "type":
			kind = splice.Text(thinking[value.Start:value.End])
		case "block_binding":
			binding = rewrite.Span{Start: at.Start + value.Start, End: at.Start + value.End}
		}
		return true
	}); err != nil {
		return fmt.Errorf("reading thinking: %w", err)
	}
	if kind != "adaptive" && kind != "enabled" {
		return ErrBinding
	}
	if binding.Len() > 0 {
		p.edits = append(p.edits, splice.Edit{Span: binding, Text: []byte(dropBlock)})
		return nil
	}
	p.edits = append(p.edits, insertMember(thinking, at.Start, `"block_binding":`+dropBlock))
	return nil
}
