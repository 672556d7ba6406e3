package completions

import (
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// message opens the message, and a part of a kind, unless they are open.
func (d *Decoder) message(kind rewrite.PartKind, yield func(*rewrite.Event)) *saying {
	s := &d.said
	d.closeThought(yield)
	if !s.open {
		*s = saying{open: true}
		s.index = d.item(&rewrite.Item{Role: rewrite.RoleAssistant}, yield)
	}
	if s.parts == 0 || s.kind != kind {
		d.closePart(yield)
		s.kind, s.runes, s.marks = kind, 0, marked{from: -2}
		d.tell(yield, rewrite.Event{Kind: rewrite.EventPart, Index: s.index, PartIndex: s.parts, Part: &rewrite.Part{Kind: kind}})
		s.parts++
	}
	return s
}

// say goes on with a text.
func (d *Decoder) say(kind rewrite.PartKind, value []byte, yield func(*rewrite.Event)) {
	text, ok := splice.AppendText(d.text[:0], value)
	if d.text = text; !ok || len(text) == 0 {
		return
	}
	s := d.message(kind, yield)
	if s.runes += utf8.RuneCount(text); kind == rewrite.PartText {
		s.marks.add(text)
	}
	d.tell(yield, rewrite.Event{Kind: rewrite.EventText, Index: s.index, PartIndex: s.parts - 1, Text: text})
}

// annotate adds sources to the text. Their ranges are checked when the text is
// complete.
func (d *Decoder) annotate(value []byte, yield func(*rewrite.Event)) {
	if splice.Valid(value) != nil || d.items > 0 && !d.said.open && len(d.open) > 0 {
		return
	}
	kept := clone(value)
	splice.Elements(kept, func(element []byte) bool {
		a := d.attribution(element)
		if a.Start < 0 || a.End < a.Start {
			a.Start, a.End = 0, 0
		}
		d.source(a, yield)
		return true
	})
}

func (d *Decoder) source(a rewrite.Attribution, yield func(*rewrite.Event)) {
	s := d.message(rewrite.PartText, yield)
	s.sources = append(s.sources, a)
	d.tell(yield, rewrite.Event{Kind: rewrite.EventAttribution, Index: s.index, PartIndex: s.parts - 1, Attribution: &a})
}

// picture adds an image to the message.
func (d *Decoder) picture(value []byte, yield func(*rewrite.Event)) {
	part, f := d.part(value)
	if f != nil || part.Kind != rewrite.PartImage {
		return
	}
	s := d.message(rewrite.PartImage, yield)
	d.tell(yield, rewrite.Event{Kind: rewrite.EventPartDone, Index: s.index, PartIndex: s.parts - 1, Part: &part})
	s.kind = rewrite.PartOpaque
}

// closePart closes the part of the message that is open. A picture is closed when
// it comes.
func (d *Decoder) closePart(yield func(*rewrite.Event)) {
	s := &d.said
	if s.parts == 0 || s.kind == rewrite.PartOpaque {
		return
	}
	last := rewrite.Part{Kind: s.kind, Attributions: s.sources}
	for i := range last.Attributions {
		bound(&last.Attributions[i], s.runes)
	}
	s.sources = nil
	d.tell(yield, rewrite.Event{Kind: rewrite.EventPartDone, Index: s.index, PartIndex: s.parts - 1, Part: &last})
}

func (d *Decoder) closeSaid(yield func(*rewrite.Event)) {
	if !d.said.open {
		return
	}
	for i := range d.sources {
		at := d.said.marks.places[i]
		d.sources[i].Start, d.sources[i].End = at.start, at.end
		d.source(d.sources[i], yield)
	}
	d.sources = nil
	d.closePart(yield)
	d.said.open = false
	d.tell(yield, rewrite.Event{Kind: rewrite.EventDone, Index: d.said.index, Item: &rewrite.Item{Role: rewrite.RoleAssistant}})
}
