package anthropic

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// delta reads what comes for an open block.
func (d *Decoder) delta(data []byte) {
	at, delta, ok := atIndex(data, "delta")
	o := d.open[at]
	if !ok || o == nil {
		return
	}
	o.streamed = true
	var kind, text, value []byte
	splice.Fields(delta, func(name, member []byte) bool {
		switch string(name) {
		case "type":
			kind = member
		case "text":
			text = member
		case "partial_json", "thinking", "signature", "citation":
			value = member
		}
		return true
	})
	switch string(kind) {
	case `"text_delta"`:
		if o.said == nil {
			o.spoiled = true
			return
		}
		d.write(o, text)
		return
	case `"input_json_delta"`:
		d.argue(o, value)
		return
	}
	if splice.Valid(data) != nil {
		return
	}
	switch {
	case string(kind) == `"thinking_delta"` && o.block.kind == "thinking":
		d.think(o, value)
	case string(kind) == `"signature_delta"` && o.block.kind == "thinking":
		o.signature = append(o.signature[:0], inside(value)...)
	case string(kind) == `"citations_delta"` && o.said != nil:
		d.cite(o, value)
	case string(kind) == `"compaction_delta"` && o.block.kind == "compaction":
		o.merge = append([]byte(nil), delta...)
	default:
		o.spoiled = true
	}
}

// inside is what stands between the quotes of a string.
func inside(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// tell yields text for an open block.
func (d *Decoder) tell(kind rewrite.EventKind, o *opened, text []byte) {
	d.event = rewrite.Event{Kind: kind, Index: o.index, PartIndex: max(o.part, 0), Text: text}
	d.yield(&d.event)
}

// write goes on with a block of text.
func (d *Decoder) write(o *opened, value []byte) {
	d.text, _ = splice.AppendText(d.text[:0], value)
	if o.keeps && splice.Valid(value) == nil {
		o.thinking = append(o.thinking, inside(value)...)
	}
	if len(d.text) > 0 {
		d.tell(rewrite.EventText, o, d.text)
	}
}

// think goes on with a thought. One that shows nothing has no part.
func (d *Decoder) think(o *opened, value []byte) {
	d.text, _ = splice.AppendText(d.text[:0], value)
	if len(d.text) == 0 {
		return
	}
	if o.part < 0 {
		o.part = 0
		d.yield(&rewrite.Event{Kind: rewrite.EventPart, Index: o.index, Part: &rewrite.Part{}})
	}
	o.thinking = append(o.thinking, inside(value)...)
	d.tell(rewrite.EventText, o, d.text)
}

// argue goes on with the input of a call.
func (d *Decoder) argue(o *opened, value []byte) {
	d.text, _ = splice.AppendText(d.text[:0], value)
	if len(d.text) == 0 {
		return
	}
	if o.item.Kind != rewrite.ItemCall && o.item.Kind != rewrite.ItemHosted {
		o.spoiled = true
		return
	}
	o.argued = true
	if o.keeps {
		o.input = append(o.input, d.text...)
	}
	d.tell(rewrite.EventArguments, o, d.text)
}

// cite adds a source to a block of text.
func (d *Decoder) cite(o *opened, raw []byte) {
	if splice.Null(raw) {
		return
	}
	if o.keeps {
		o.citations = append(o.citations, append([]byte(nil), raw...))
	}
	source := readCitation(d.provider, raw)
	d.yield(&rewrite.Event{Kind: rewrite.EventAttribution, Index: o.index, PartIndex: o.part, Attribution: &source})
}

// finish closes a block.
func (d *Decoder) finish(at int64) {
	o := d.open[at]
	if o == nil {
		return
	}
	delete(d.open, at)
	if o.said != nil {
		var part rewrite.Part
		if o.keeps && !o.spoiled {
			part.Payload = payload(d.provider, o.block.kind, o.whole())
		}
		d.yield(&rewrite.Event{Kind: rewrite.EventPartDone, Index: o.index, PartIndex: o.part, Part: &part})
		o.said.open--
		d.endSpeech(o.said)
		return
	}
	if o.part == 0 {
		d.yield(&rewrite.Event{Kind: rewrite.EventPartDone, Index: o.index, Part: &rewrite.Part{}})
	}
	if input := o.block.values[fieldInput]; !o.argued && len(input) > 0 && (o.item.Kind == rewrite.ItemCall || o.item.Kind == rewrite.ItemHosted) {
		d.tell(rewrite.EventArguments, o, input)
	}
	last := o.item
	last.Hosted.Input = nil
	switch raw := o.whole(); {
	case !o.keeps:
	case raw == nil || o.spoiled:
		last.Payload, last.Incomplete = rewrite.Payload{}, true
	default:
		last.Payload.Value = raw
	}
	d.yield(&rewrite.Event{Kind: rewrite.EventDone, Index: o.index, Item: &last})
}

// whole is the block with all that came for it; nil if that is no JSON.
func (o *opened) whole() []byte {
	if !o.streamed {
		return o.block.raw
	}
	var members []rewrite.Member
	set := func(name string, content []byte) {
		if len(content) > 0 {
			members = append(members, rewrite.Member{Name: name, Value: content})
		}
	}
	quoted := func(content []byte) []byte {
		if len(content) == 0 {
			return nil
		}
		return slices.Concat([]byte{'"'}, content, []byte{'"'})
	}
	if o.said != nil {
		set("text", quoted(o.thinking))
		if len(o.citations) > 0 {
			w := splice.WriteTo(nil)
			w.Open('[')
			for _, raw := range o.citations {
				w.Raw(raw)
			}
			w.Close(']')
			set("citations", w.Bytes())
		}
	} else {
		set("thinking", quoted(o.thinking))
	}
	set("signature", quoted(o.signature))
	if len(o.input) > 0 && splice.Valid(o.input) != nil {
		return nil
	}
	set("input", o.input)
	splice.Fields(o.merge, func(name, value []byte) bool {
		if string(name) != "type" {
			set(string(name), value)
		}
		return true
	})
	return withMembers(o.block.raw, members)
}

// emptied is withMembers for the members that the object has.
func emptied(object []byte, members ...rewrite.Member) []byte {
	var present []rewrite.Member
	splice.Fields(object, func(name, _ []byte) bool {
		for _, m := range members {
			if m.Name == string(name) {
				present = append(present, m)
			}
		}
		return true
	})
	return withMembers(object, present)
}

// withMembers gives an object in which members have other values. Those that it
// does not have come last.
func withMembers(object []byte, members []rewrite.Member) []byte {
	if len(members) == 0 {
		return object
	}
	var edits []splice.Edit
	missing := slices.Clone(members)
	end := rewrite.Span{}
	_ = splice.Members(object, func(name []byte, _, value rewrite.Span) bool {
		end = rewrite.Span{Start: value.End, End: value.End}
		for i, m := range missing {
			if m.Name == string(name) {
				edits = append(edits, splice.Edit{Span: value, Text: m.Value})
				missing = slices.Delete(missing, i, i+1)
				break
			}
		}
		return true
	})
	for _, m := range missing {
		text := append(splice.AppendString([]byte{','}, m.Name), ':')
		edits = append(edits, splice.Edit{Span: end, Text: append(text, m.Value...)})
	}
	return splice.Apply(nil, object, edits)
}
