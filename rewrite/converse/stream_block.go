package converse

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// block is a block of content under construction.
type block struct {
	kind  string
	item  rewrite.Item // as it began
	index int          // of the item
	// part is the part's number, or -1 if there is none yet.
	part int
	said *speech
	head rewrite.Part
	// start is what a call or a result began with, in memory of its own.
	start members
	// text, signature and input are gathered for a payload: the first two are the
	// insides of JSON strings, as written, and input is JSON.
	text, signature, input []byte
	redacted               []byte
	data                   []byte // of an image
	content                []piece
	raw                    []byte // the block, if it came as a whole
	argued                 bool
	// spoiled says that something came for the block that is not understood.
	spoiled bool
}

// speech is an item of text, whose parts are blocks.
type speech struct {
	index, parts, open int
	closing            bool
}

// start opens a block that says what it is. A text does not.
func (d *Decoder) start(at int64, start []byte) {
	switch kind, value := only(start); kind {
	case kindCall, kindResult:
		m, _ := readMembers(append([]byte(nil), value...))
		d.startTool(at, kind, m)
	case kindImage:
		m, _ := readMembers(value)
		part := rewrite.Part{Kind: rewrite.PartImage, MIME: "image/" + splice.Text(m.format)}
		d.startPart(at, kind, part)
	case "":
	default:
		d.startItem(at, &block{kind: kind, spoiled: true, item: rewrite.Item{
			Kind: rewrite.ItemOpaque, Role: rewrite.RoleAssistant, Payload: payload(d.provider, kind, nil),
		}})
	}
}

// startTool opens a call, or what came of one that the provider has answered.
func (d *Decoder) startTool(at int64, kind string, m members) {
	b := &block{kind: kind, start: m, item: rewrite.Item{Role: rewrite.RoleAssistant}}
	id, name := splice.Text(m.id), splice.Text(m.name)
	hosted := rewrite.Hosted{ID: id, Name: capability(name)}
	switch {
	case kind == kindResult:
		hosted.Name, hosted.State = d.tools[id], rewrite.HostedCompleted
		if hosted.Name == "" {
			hosted.Name = "other"
		}
		if splice.Text(m.status) == "error" {
			hosted.State = rewrite.HostedFailed
		}
		b.item.Kind, b.item.ID, b.item.Hosted = rewrite.ItemHosted, id, hosted
		b.item.Payload = payload(d.provider, kind, nil)
	case splice.Text(m.kind) == serverTool:
		d.tools[id] = hosted.Name
		b.item.Kind, b.item.ID, b.item.Hosted = rewrite.ItemHosted, id, hosted
		b.item.Payload = payload(d.provider, kind, nil)
	default:
		b.item.Kind, b.item.Call = rewrite.ItemCall, rewrite.Call{ID: id, Name: name}
	}
	d.startItem(at, b)
}

// startItem opens the item that a block is.
func (d *Decoder) startItem(at int64, b *block) {
	d.endText()
	b.index, b.part = d.items, -1
	d.items++
	d.open[at] = b
	d.yield(&rewrite.Event{Kind: rewrite.EventItem, Index: b.index, Item: &b.item})
}

// startPart opens a part of the message that is under way, or of a new one.
func (d *Decoder) startPart(at int64, kind string, part rewrite.Part) *block {
	if d.said == nil {
		d.said = &speech{index: d.items}
		d.items++
		d.yield(&rewrite.Event{Kind: rewrite.EventItem, Index: d.said.index, Item: &rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}})
	}
	b := &block{kind: kind, said: d.said, index: d.said.index, part: d.said.parts, head: part}
	d.said.parts++
	d.said.open++
	d.open[at] = b
	d.yield(&rewrite.Event{Kind: rewrite.EventPart, Index: b.index, PartIndex: b.part, Part: &part})
	return b
}

// endText closes the message under way, as soon as its blocks are closed.
func (d *Decoder) endText() {
	if d.said == nil {
		return
	}
	d.said.closing = true
	d.endSpeech(d.said)
	d.said = nil
}

func (d *Decoder) endSpeech(s *speech) {
	if s.closing && s.open == 0 {
		d.yield(&rewrite.Event{Kind: rewrite.EventDone, Index: s.index, Item: &rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}})
	}
}

// finish closes a block.
func (d *Decoder) finish(at int64) {
	b := d.open[at]
	if b == nil {
		return
	}
	delete(d.open, at)
	if b.said != nil {
		part := b.head
		if part.Kind == rewrite.PartImage {
			part.Media.Data = encoded(b.data)
		}
		d.yield(&rewrite.Event{Kind: rewrite.EventPartDone, Index: b.index, PartIndex: b.part, Part: &part})
		b.said.open--
		d.endSpeech(b.said)
		return
	}
	if b.part == 0 {
		d.yield(&rewrite.Event{Kind: rewrite.EventPartDone, Index: b.index, Part: &rewrite.Part{}})
	}
	if b.kind == kindCall && !b.argued {
		d.tell(rewrite.EventArguments, b, []byte("{}"))
	}
	last := b.item
	if last.Kind != rewrite.ItemCall {
		if last.Payload.Value = b.whole(); last.Payload.Value == nil {
			last.Payload, last.Incomplete = rewrite.Payload{}, true
		}
	}
	d.yield(&rewrite.Event{Kind: rewrite.EventDone, Index: b.index, Item: &last})
}

// tell yields text for an open block.
func (d *Decoder) tell(kind rewrite.EventKind, b *block, text []byte) {
	d.event = rewrite.Event{Kind: kind, Index: b.index, PartIndex: max(b.part, 0), Text: text}
	d.yield(&d.event)
}
