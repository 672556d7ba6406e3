package audience

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// member is a member of an object in a request.
type member struct {
	name string
	// key begins where the member does, and value ends where it does.
	key, value rewrite.Span
}

// each calls yield for the members of the object at a place; anything else has
// none. The member is valid until the next one.
func each(body []byte, at rewrite.Span, yield func(m *member)) {
	var m member
	// The error is of something that is no object.
	_ = splice.Members(body[at.Start:at.End], func(name []byte, key, value rewrite.Span) bool {
		m = member{string(name), moved(key, at.Start), moved(value, at.Start)}
		yield(&m)
		return true
	})
}

func moved(s rewrite.Span, by int) rewrite.Span {
	return rewrite.Span{Start: s.Start + by, End: s.End + by}
}

// elements calls yield for the elements of the array at a place; anything else has
// none.
func elements(body []byte, at rewrite.Span, yield func(element rewrite.Span)) {
	w := splice.Walk(body[at.Start:at.End])
	w.Elements(func() {
		start := w.Offset()
		w.Value()
		yield(rewrite.Span{Start: at.Start + start, End: at.Start + w.Offset()})
	})
}

// pruning makes the edits that leave elements out of a list, or members out of an
// object, with the commas that go with them. It is told of each in order.
type pruning struct {
	edits []splice.Edit
	// kept is where the last one that stays ends, negative before there is one.
	kept int
	// from and to are the run of those that go; from is negative where none is.
	from, to int
}

func newPruning() pruning { return pruning{kept: -1, from: -1} }

// leave leaves out what stands at a place.
func (p *pruning) leave(at rewrite.Span) {
	if p.from < 0 {
		p.from = at.Start
	}
	p.to = at.End
}

// keep keeps it, with edits inside of it.
func (p *pruning) keep(at rewrite.Span, edits []splice.Edit) {
	if p.from >= 0 {
		p.cut(p.from, at.Start)
		p.from = -1
	}
	p.edits = append(p.edits, edits...)
	p.kept = at.End
}

// done ends the list.
func (p *pruning) done() []splice.Edit {
	switch {
	case p.from < 0:
	case p.kept >= 0:
		p.cut(p.kept, p.to)
	default:
		p.cut(p.from, p.to)
	}
	return p.edits
}

func (p *pruning) cut(start, end int) {
	p.edits = append(p.edits, splice.Edit{Span: rewrite.Span{Start: start, End: end}})
}
