package anthropic

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Decoder reads the stream of one reply.
type Decoder struct {
	provider string
	yield    func(*rewrite.Event)
	event    rewrite.Event // of the text that comes
	usage    rewrite.Usage
	stop     rewrite.Stop
	late     []rewrite.Member
	begun    bool
	ended    bool
	// items counts those that were opened, and open has the blocks by the
	// dialect's index.
	items int
	open  map[int64]*opened
	// said is the message that a block of text joins.
	said *speech
	// text is where text is unescaped.
	text []byte
}

// opened is a block under construction.
type opened struct {
	block wireBlock // as it began, in memory of its own
	item  rewrite.Item
	index int // of the item
	// part is the part's number, or -1 if there is none yet.
	part int
	said *speech
	// thinking and signature are the insides of JSON strings, as written; input
	// is JSON. They are gathered where the block is kept as a payload.
	thinking, signature, input []byte
	citations                  [][]byte
	merge                      []byte
	keeps, argued, streamed    bool
	// spoiled says that something came for the block that is not understood.
	spoiled bool
}

// speech is an item of text, whose parts are blocks.
type speech struct {
	index, parts, open int
	closing            bool
}

// NewDecoder gives a decoder for one stream of a provider.
func NewDecoder(provider string) *Decoder {
	return &Decoder{provider: provider, open: map[int64]*opened{}}
}

// Event reads one event of the stream and yields what it says. Data that is no
// JSON object, and what is not known, says nothing.
func (d *Decoder) Event(name, data []byte, yield func(*rewrite.Event)) {
	if d.ended {
		return
	}
	if len(name) == 0 {
		name = kindOf(data)
	}
	d.yield = yield
	switch string(name) {
	case "content_block_delta":
		d.delta(data)
	case "content_block_start":
		d.blockStart(data)
	case "content_block_stop":
		if at, _, ok := atIndex(data, ""); ok {
			d.finish(at)
		}
	case "message_start":
		if message, ok := whole(data, "message"); ok && !d.begun && splice.Valid(data) == nil {
			d.message(message)
		}
	case "message_delta":
		d.messageDelta(data)
	case "message_stop":
		if _, ok := whole(data, ""); ok {
			d.begin()
			d.end()
		}
	case "error":
		if failure, ok := whole(data, "error"); ok {
			d.fault(failure)
		}
	}
}

// Close ends the stream. One that was cut leaves open what was open.
func (d *Decoder) Close(yield func(*rewrite.Event)) {
	if d.yield = yield; !d.ended {
		d.endText()
	}
	d.ended = true
}

// atIndex gives the index of an event's block and one other member.
func atIndex(data []byte, name string) (at int64, member []byte, ok bool) {
	known := false
	ok = splice.Fields(data, func(key, value []byte) bool {
		switch string(key) {
		case "index":
			at, known = splice.Int(value)
		case name:
			member = value
		}
		return true
	})
	return at, member, ok && known
}

func (d *Decoder) blockStart(data []byte) {
	at, block, ok := atIndex(data, "content_block")
	if !ok || splice.Null(block) || splice.Valid(data) != nil {
		return
	}
	d.begin()
	d.start(at, append([]byte(nil), block...))
}

// begin opens a reply that did not say that it began.
func (d *Decoder) begin() {
	if !d.begun {
		d.begun = true
		d.yield(&rewrite.Event{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{}})
	}
}

// messageDelta reads what is known near the end.
func (d *Decoder) messageDelta(data []byte) {
	if splice.Valid(data) != nil {
		return
	}
	d.begin()
	splice.Fields(data, func(name, value []byte) bool {
		if string(name) == "delta" {
			splice.Fields(value, func(name, value []byte) bool {
				d.addLate(string(name), value)
				return true
			})
		} else if string(name) != "type" {
			d.addLate(string(name), value)
		}
		return true
	})
	d.used()
}

func (d *Decoder) addLate(name string, value []byte) {
	d.late = append(d.late, d.outcome(name, value)...)
}

// start opens the block of an index with what it begins with, which is all of it
// in a whole reply.
func (d *Decoder) start(at int64, raw []byte) {
	if d.open[at] != nil {
		d.finish(at)
	}
	b, ok := readBlock(raw)
	if !ok {
		return
	}
	o := &opened{block: b, part: -1}
	d.open[at] = o
	if b.kind == "text" {
		d.startText(o)
		return
	}
	d.endText()
	o.index = d.items
	d.items++
	o.item = d.startItem(o)
	head := o.item
	head.Hosted.Input, head.Call.Arguments = nil, nil
	if head.Kind != rewrite.ItemCall || !o.keeps {
		head.Payload.Value = nil
	}
	d.yield(&rewrite.Event{Kind: rewrite.EventItem, Index: o.index, Item: &head})
	if b.kind == "thinking" {
		d.think(o, b.values[fieldThinking])
	}
}

// startItem is what is known of an item when its block begins. What it was made
// of is kept, unless the hub has a place for all of it.
func (d *Decoder) startItem(o *opened) rewrite.Item {
	b := &o.block
	item := rewrite.Item{Kind: rewrite.ItemOpaque, Role: rewrite.RoleAssistant, Payload: payload(d.provider, b.kind, b.raw)}
	o.keeps = true
	switch b.kind {
	case "thinking", "redacted_thinking":
		item.Kind = rewrite.ItemReasoning
	case "tool_use":
		item.Kind, item.Call = rewrite.ItemCall, rewrite.Call{ID: b.text(fieldID), Name: b.text(fieldName)}
		if o.keeps = b.beyond(callFields); !o.keeps {
			item.Payload = rewrite.Payload{}
		}
	default:
		if hosted, ok := readHosted(b); ok {
			item.Kind, item.ID, item.Hosted = rewrite.ItemHosted, hosted.ID, hosted
		}
	}
	return item
}

// startText opens a part of the message that is under way, or of a new one.
func (d *Decoder) startText(o *opened) {
	if d.said == nil {
		d.said = &speech{index: d.items}
		d.items++
		d.yield(&rewrite.Event{Kind: rewrite.EventItem, Index: d.said.index, Item: &rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant}})
	}
	o.said, o.index, o.part = d.said, d.said.index, d.said.parts
	o.said.parts++
	o.said.open++
	o.keeps = o.block.beyond(textFields)
	var part rewrite.Part
	if o.keeps {
		part.Payload = payload(d.provider, "text", o.block.raw)
	}
	d.yield(&rewrite.Event{Kind: rewrite.EventPart, Index: o.index, PartIndex: o.part, Part: &part})
	d.write(o, o.block.values[fieldText])
	splice.Elements(o.block.values[fieldCitations], func(raw []byte) bool {
		d.cite(o, raw)
		return true
	})
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
