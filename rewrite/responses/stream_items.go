package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// open opens an item. What a reply announces is not yet what it will be: the
// payload has a format and no value.
func (d *Decoder) open(output int, value []byte, yield func(*rewrite.Event)) int {
	if i := d.find(output); i >= 0 {
		return i
	}
	d.begin(nil, yield)
	item, f := d.item(value)
	if f != nil {
		item = rewrite.Item{Kind: rewrite.ItemOpaque}
	}
	item.Parts, item.Incomplete = nil, false
	item.Call.Arguments, item.Payload.Value = nil, nil
	item.Hosted.State, item.Hosted.Input, item.Hosted.Sources = rewrite.HostedStarted, nil, nil
	item.Hosted.Summary, item.Hosted.Error = "", ""
	d.slots = append(d.slots, slot{output: output, id: item.ID, kind: item.Kind})
	i := len(d.slots) - 1
	d.tell(yield, rewrite.Event{Kind: rewrite.EventItem, Index: i, Item: &item})
	return i
}

// openPart opens a part, whose kind its event or its list tells.
func (d *Decoder) openPart(item int, list byte, position int, value []byte, yield func(*rewrite.Event)) int {
	s := &d.slots[item]
	s.parts = append(s.parts, openPart{list: list, position: position})
	part := rewrite.Part{Kind: d.fallback}
	if list == inSummary {
		part.Kind = rewrite.PartSummary
	}
	if read, f := d.reader.part(value); f == nil && len(value) > 0 {
		part.Kind = read.Kind
	}
	n := len(s.parts) - 1
	s.parts[n].kind = part.Kind
	d.tell(yield, rewrite.Event{Kind: rewrite.EventPart, Index: item, PartIndex: n, Part: &part})
	return n
}

// part opens a part and tells the text that it may begin with.
func (d *Decoder) part(e *eventFields, list byte, position []byte, yield func(*rewrite.Event)) {
	d.at(e, list, position, yield)
}

// annotation adds a source to a part. Its range is checked when the text is
// complete, because it may come before the text that it is of.
func (d *Decoder) annotation(e *eventFields, yield func(*rewrite.Event)) {
	// ST-07: there is nothing that the source of an unknown part could be of.
	item := d.find(d.indexOf(e.output))
	if item < 0 || d.slots[item].done || splice.Valid(e.annotation) != nil {
		return
	}
	n, _ := splice.Int(e.content)
	part := d.slots[item].find(inContent, int(n))
	if part < 0 || d.slots[item].parts[part].done {
		return
	}
	a := d.attribution(clone(e.annotation))
	if a.Start < 0 || a.End < a.Start {
		a.Start, a.End = 0, 0
	}
	p := &d.slots[item].parts[part]
	p.sources = append(p.sources, a)
	d.tell(yield, rewrite.Event{Kind: rewrite.EventAttribution, Index: item, PartIndex: part, Attribution: &a})
}

// clone is memory that outlives the event, which is read again when its part
// ends.
func clone(value []byte) []byte { return append([]byte(nil), value...) }

// partDone closes a part.
func (d *Decoder) partDone(e *eventFields, list byte, position []byte, yield func(*rewrite.Event)) {
	if len(e.part) > 0 && splice.Valid(e.part) != nil {
		e.part = nil
	}
	if item, part, ok := d.at(e, list, position, yield); ok {
		d.finish(item, part, e.part, yield)
	}
}

// finish tells what of a part was not told yet, and closes it. The part's own
// list of sources replaces what came one by one.
func (d *Decoder) finish(item, part int, value []byte, yield func(*rewrite.Event)) {
	p := &d.slots[item].parts[part]
	if p.done {
		return
	}
	last := rewrite.Part{Kind: p.kind}
	if read, f := d.reader.part(value); f == nil && len(value) > 0 {
		if text := read.Text; len(text) > p.bytes {
			d.say(item, part, []byte(text[p.bytes:]), yield)
		}
		last = read
		last.Text = ""
	}
	sources := p.sources
	for i := range sources {
		bound(&sources[i], p.runes)
	}
	if len(last.Attributions) < len(sources) {
		last.Attributions = sources
	}
	for i := len(sources); i < len(last.Attributions); i++ {
		d.tell(yield, rewrite.Event{Kind: rewrite.EventAttribution, Index: item, PartIndex: part, Attribution: &last.Attributions[i]})
	}
	p.done = true
	d.tell(yield, rewrite.Event{Kind: rewrite.EventPartDone, Index: item, PartIndex: part, Part: &last})
}

// close closes an item: what of it was not told is told now.
func (d *Decoder) close(output int, value []byte, yield func(*rewrite.Event)) {
	last, f := d.item(value)
	if f != nil {
		if d.find(output) < 0 || len(value) == 0 {
			return
		}
		last = rewrite.Item{Kind: rewrite.ItemOpaque, Payload: d.payload("unknown", value)}
	}
	i := d.open(output, value, yield)
	if d.slots[i].done {
		return
	}
	readItem(value, complete, &d.report)
	d.closeParts(i, value, yield)
	if last.Kind == rewrite.ItemCall {
		d.argue(i, last.Call.Arguments, true, yield)
	}
	d.slots[i].done = true
	// The item is whole, even if its text is not.
	last.Parts, last.Incomplete = nil, false
	d.tell(yield, rewrite.Event{Kind: rewrite.EventDone, Index: i, Item: &last})
}

// closeParts closes the parts of an item, and tells those that never opened.
func (d *Decoder) closeParts(item int, value []byte, yield func(*rewrite.Event)) {
	var summary, content []byte
	if kind := d.slots[item].kind; kind == rewrite.ItemMessage || kind == rewrite.ItemReasoning {
		splice.Fields(value, func(key, value []byte) bool {
			switch string(key) {
			case "summary":
				summary = value
			case "content":
				content = value
			}
			return true
		})
	}
	for _, l := range [...]struct {
		list  byte
		parts []byte
	}{{inSummary, summary}, {inContent, content}} {
		position := 0
		splice.Elements(l.parts, func(element []byte) bool {
			part := d.slots[item].find(l.list, position)
			if part < 0 {
				part = d.openPart(item, l.list, position, element, yield)
			}
			d.finish(item, part, element, yield)
			position++
			return true
		})
	}
	for part := range d.slots[item].parts {
		d.finish(item, part, nil, yield)
	}
}
