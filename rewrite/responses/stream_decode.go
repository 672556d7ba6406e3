package responses

import (
	"bytes"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Decoder turns the events of a stream into those that all dialects share. It is
// for one reply and keeps no text.
type Decoder struct {
	reader
	// report collects what decides why the reply has ended.
	report rewrite.Report
	// event is the one that is being told, and text its unescaped text.
	event        rewrite.Event
	text         []byte
	begun, ended bool
	slots        []slot
	// fallback is the kind of a part that its first text opens.
	fallback rewrite.PartKind
}

// NewDecoder is ready for a reply of provider.
func NewDecoder(provider string) *Decoder { return &Decoder{reader: reader{provider}} }

// slot is an item of the reply, found by its index in the stream.
type slot struct {
	output int
	id     string
	kind   rewrite.ItemKind
	parts  []openPart
	// arguments is how many bytes of them were told.
	arguments int
	done      bool
}

// openPart is a part of an item, found by its list and its index there.
type openPart struct {
	list     byte
	kind     rewrite.PartKind
	position int
	// bytes and runes are how much of the text was told.
	bytes, runes int
	sources      []rewrite.Attribution
	done         bool
}

// The lists in which an item has its parts.
const (
	inContent = 'c'
	inSummary = 's'
)

// eventFields are the members of an event, of whatever kind.
type eventFields struct {
	kind, output, content, summary, delta, text                 []byte
	refusal, arguments, input, item, part, annotation, response []byte
}

func (e *eventFields) set(key, value []byte) bool {
	switch string(key) {
	case "type":
		e.kind = value
	case "output_index":
		e.output = value
	case "content_index":
		e.content = value
	case "summary_index":
		e.summary = value
	case "delta":
		e.delta = value
	case "text":
		e.text = value
	case "refusal":
		e.refusal = value
	case "arguments":
		e.arguments = value
	case "input":
		e.input = value
	case "item":
		e.item = value
	case "part":
		e.part = value
	case "annotation":
		e.annotation = value
	case "response":
		e.response = value
	}
	return true
}

// Event reads one event of the stream. Data that is not a complete JSON object,
// and events that this version does not know, say nothing.
func (d *Decoder) Event(name, data []byte, yield func(*rewrite.Event)) {
	var e eventFields
	if d.ended || bytes.HasPrefix(data, []byte("[DONE]")) || !splice.Fields(data, e.set) {
		return
	}
	if kind, ok := splice.String(e.kind); ok && len(kind) > 0 {
		name = kind
	}
	d.fallback = rewrite.PartText
	if bytes.HasPrefix(name, []byte("response.refusal.")) {
		d.fallback = rewrite.PartRefusal
	}
	switch string(name) {
	case "response.output_text.delta", "response.refusal.delta", "response.reasoning_text.delta":
		d.delta(&e, inContent, e.content, e.delta, yield)
	case "response.reasoning_summary_text.delta":
		d.delta(&e, inSummary, e.summary, e.delta, yield)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		d.arguments(&e, e.delta, false, yield)
	case "response.function_call_arguments.done":
		d.arguments(&e, e.arguments, true, yield)
	case "response.custom_tool_call_input.done":
		d.arguments(&e, e.input, true, yield)
	case "response.output_text.done", "response.reasoning_text.done":
		d.rest(&e, inContent, e.content, e.text, yield)
	case "response.refusal.done":
		d.rest(&e, inContent, e.content, e.refusal, yield)
	case "response.reasoning_summary_text.done":
		d.rest(&e, inSummary, e.summary, e.text, yield)
	case "response.content_part.added":
		d.part(&e, inContent, e.content, yield)
	case "response.reasoning_summary_part.added":
		d.part(&e, inSummary, e.summary, yield)
	case "response.output_text.annotation.added":
		d.annotation(&e, yield)
	case "response.content_part.done":
		d.partDone(&e, inContent, e.content, yield)
	case "response.reasoning_summary_part.done":
		d.partDone(&e, inSummary, e.summary, yield)
	default:
		d.outline(name, data, &e, yield)
	}
}

// outline reads the events that are about whole items and the whole reply. What
// they hold is kept as it is, so that it has to be JSON throughout.
func (d *Decoder) outline(name, data []byte, e *eventFields, yield func(*rewrite.Event)) {
	if splice.Valid(data) != nil {
		return
	}
	switch string(name) {
	case "response.created", "response.queued", "response.in_progress":
		readResponse(e.response, &d.report)
		d.begin(e.response, yield)
	case "response.output_item.added":
		if splice.Fields(e.item, func(_, _ []byte) bool { return true }) {
			d.open(d.indexOf(e.output), e.item, yield)
		}
	case "response.output_item.done":
		d.close(d.indexOf(e.output), e.item, yield)
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		d.end(name, data, e.response, yield)
	case "error":
		readError(data, &d.report)
		d.begin(nil, yield)
		d.fail(faultOf(data), yield)
	}
}

// Close ends the stream. Whether the reply has ended is for its events to say.
func (d *Decoder) Close(func(*rewrite.Event)) {}

// tell hands over the event; it is told of one at a time.
func (d *Decoder) tell(yield func(*rewrite.Event), e rewrite.Event) {
	d.event = e
	yield(&d.event)
}

// begin opens the reply, once.
func (d *Decoder) begin(response []byte, yield func(*rewrite.Event)) {
	if !d.begun {
		d.begun = true
		d.tell(yield, rewrite.Event{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{
			ID: d.report.ID, Model: d.report.Model, Created: d.report.Created, Extra: owned(response),
		}})
	}
}

// indexOf is the place of an item in the stream; some servers leave it out while
// there is but one.
func (d *Decoder) indexOf(value []byte) int {
	if n, ok := splice.Int(value); ok {
		return int(n)
	}
	return max(len(d.slots)-1, 0)
}

// find gives the item that stands at an index of the stream, or -1.
func (d *Decoder) find(output int) int {
	for i := len(d.slots) - 1; i >= 0; i-- {
		if d.slots[i].output == output {
			return i
		}
	}
	return -1
}

// at gives the open part that an event is about, which it opens if need be.
func (d *Decoder) at(e *eventFields, list byte, position []byte, yield func(*rewrite.Event)) (item, part int, ok bool) {
	item = d.find(d.indexOf(e.output))
	if item < 0 || d.slots[item].done {
		return 0, 0, false
	}
	n, _ := splice.Int(position)
	s := &d.slots[item]
	if part = s.find(list, int(n)); part < 0 {
		part = d.openPart(item, list, int(n), e.part, yield)
	}
	return item, part, !d.slots[item].parts[part].done
}

func (s *slot) find(list byte, position int) int {
	for i := len(s.parts) - 1; i >= 0; i-- {
		if s.parts[i].list == list && s.parts[i].position == position {
			return i
		}
	}
	return -1
}

// delta goes on with a text.
func (d *Decoder) delta(e *eventFields, list byte, position, text []byte, yield func(*rewrite.Event)) {
	item, part, ok := d.at(e, list, position, yield)
	if !ok {
		return
	}
	if d.text, ok = splice.AppendText(d.text[:0], text); ok {
		d.say(item, part, d.text, yield)
	}
}

// say tells a piece of a text.
func (d *Decoder) say(item, part int, text []byte, yield func(*rewrite.Event)) {
	if len(text) == 0 {
		return
	}
	p := &d.slots[item].parts[part]
	p.bytes += len(text)
	p.runes += utf8.RuneCount(text)
	d.tell(yield, rewrite.Event{Kind: rewrite.EventText, Index: item, PartIndex: part, Text: text})
}

// rest tells what of a text no delta has told.
func (d *Decoder) rest(e *eventFields, list byte, position, text []byte, yield func(*rewrite.Event)) {
	if item, part, ok := d.at(e, list, position, yield); ok {
		d.remainder(item, part, text, yield)
	}
}

func (d *Decoder) remainder(item, part int, text []byte, yield func(*rewrite.Event)) {
	var ok bool
	told := d.slots[item].parts[part].bytes
	if d.text, ok = splice.AppendText(d.text[:0], text); ok && len(d.text) > told {
		d.say(item, part, d.text[told:], yield)
	}
}

// arguments goes on with the arguments of a call; all of them where the event has
// the whole.
func (d *Decoder) arguments(e *eventFields, text []byte, whole bool, yield func(*rewrite.Event)) {
	item := d.find(d.indexOf(e.output))
	if item < 0 || d.slots[item].done {
		return
	}
	content, ok := splice.AppendText(d.text[:0], text)
	if d.text = content; ok {
		d.argue(item, content, whole, yield)
	}
}

// argue tells a piece of the arguments, or what of the whole was not told yet.
func (d *Decoder) argue(item int, text []byte, whole bool, yield func(*rewrite.Event)) {
	s := &d.slots[item]
	if whole {
		text = text[min(s.arguments, len(text)):]
	}
	if len(text) > 0 {
		s.arguments += len(text)
		d.tell(yield, rewrite.Event{Kind: rewrite.EventArguments, Index: item, Text: text})
	}
}
