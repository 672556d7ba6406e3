package responses

import (
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// activity tells a step of another provider's hosted tool. A client that has
// asked for it gets an item of our own when the step is complete; any other one
// gets a carrier of that item, so that it comes back.
func (e *Encoder) activity(dst []byte, item *outItem, head *rewrite.Item) []byte {
	e.identify(item)
	dst = e.tellActivity(dst, item)
	if !item.done {
		return dst
	}
	var whole splice.Writer
	writeActivity(&whole, head, true)
	if !e.wants("hosted_activity") {
		if head.Payload.Empty() {
			return dst
		}
		return e.carry(dst, carrier(carriedItem, whole.Bytes()))
	}
	return e.own(dst, whole.Bytes())
}

// tellActivity tells how far an activity has come: that it was started when it is
// opened, and what came of it when it is closed.
func (e *Encoder) tellActivity(dst []byte, item *outItem) []byte {
	h := &item.head.Hosted
	if started := h.State == rewrite.HostedStarted; !e.wants("hosted_activity") || item.done == started {
		return dst
	}
	w := e.start(dst, ownMark+"hosted_activity."+h.State.String())
	w.Name("item")
	writeActivity(&w, &item.head, false)
	return finish(&w)
}

// uniform tells an activity of a provider that speaks this dialect in the form of
// all others too. The provider's own item is what comes back.
func (e *Encoder) uniform(dst []byte, item *outItem) []byte {
	if !e.wants("hosted_activity") {
		return dst
	}
	if item.head.Hosted.ID == "" {
		item.head.Hosted.ID = item.id
	}
	if dst = e.tellActivity(dst, item); !item.done {
		return dst
	}
	var whole splice.Writer
	writeActivity(&whole, &item.head, false)
	return e.own(dst, whole.Bytes())
}

// tellContinuity tells what was done to the request to keep its prefix warm.
func (e *Encoder) tellContinuity(dst []byte) []byte {
	if !e.wants("continuity") || len(e.o.Continuity) == 0 {
		return dst
	}
	w := e.start(dst, ownMark+"continuity")
	for _, m := range e.o.Continuity {
		w.Value(m.Name, m.Value)
	}
	return finish(&w)
}

// AppendPrompt tells of something that people are asked or were asked: event is opened
// or closed. A client gets it that has asked for it, or can answer.
func (e *Encoder) AppendPrompt(dst []byte, event string, members []rewrite.Member, asked bool) []byte {
	if !asked && !e.wants("prompt") {
		return dst
	}
	w := e.start(dst, ownMark+"prompt."+event)
	for _, m := range members {
		w.Value(m.Name, m.Value)
	}
	return finish(&w)
}

// AppendUserMessage tells what a tool of the gateway's has addressed to the user, in its
// own blocks, beside the text that every client gets of it. A client gets it that has
// asked for it.
func (e *Encoder) AppendUserMessage(dst []byte, content rewrite.JSON) []byte {
	if !e.wants("user_message") {
		return dst
	}
	w := e.start(dst, ownMark+"user_message")
	w.Value("content", content)
	return finish(&w)
}

// identify gives an activity an id where its provider has none: what came of one
// that was started is the next of its name.
func (e *Encoder) identify(item *outItem) {
	h := &item.head.Hosted
	if h.ID != "" {
		return
	}
	if item.id == "" && h.State != rewrite.HostedStarted {
		for i := len(e.slots) - 2; i >= 0; i-- {
			if other := &e.slots[i]; other.head.Kind == rewrite.ItemHosted && other.head.Hosted.Name == h.Name {
				if other.head.Hosted.State == rewrite.HostedStarted {
					item.id = other.id
				}
				break
			}
		}
	}
	if item.id == "" {
		item.id = "ha" + madeHere + e.base() + "_" + strconv.Itoa(len(e.slots)-1)
	}
	h.ID = item.id
}

// own tells an item that is complete from the start.
func (e *Encoder) own(dst, whole []byte) []byte {
	output := int64(len(e.output))
	flatten(whole)
	e.output = append(e.output, whole)
	for _, name := range [...]string{"response.output_item.added", "response.output_item.done"} {
		w := e.start(dst, name)
		w.Name("output_index")
		w.Int(output)
		w.Value("item", whole)
		dst = finish(&w)
	}
	return dst
}

// writeActivity writes an activity in the form that it has for all providers.
func writeActivity(w *splice.Writer, item *rewrite.Item, payload bool) {
	h := &item.Hosted
	w.Open('{')
	w.Text("type", ownMark+"hosted_activity")
	w.Name("id")
	w.String(h.ID)
	w.Name("name")
	w.String(h.Name)
	status := h.State.String()
	if h.State == rewrite.HostedStarted {
		status = "in_progress"
	}
	w.Text("status", status)
	if len(h.Input) > 0 && splice.Valid(h.Input) == nil {
		w.Value("input", h.Input)
	}
	w.Text("summary", printable(h.Summary))
	w.Text("error_code", h.Error)
	if payload && !item.Payload.Empty() {
		w.Name("payload")
		writePayload(w, &item.Payload)
	}
	w.Close('}')
}

// printable is text without control characters, for people to read.
func printable(text string) string {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) {
			out = append(out, r)
		}
	}
	return string(out)
}

// carry tells an item of reasoning that holds something which has to come back.
func (e *Encoder) carry(dst []byte, content string) []byte {
	if content == "" {
		return dst
	}
	item := outItem{output: -1}
	e.name(&item, "reasoning")
	var whole splice.Writer
	whole.Literal(`{"type":"reasoning"`)
	whole.Text("id", item.id)
	whole.Literal(`"summary":[]`)
	whole.Text("encrypted_content", content)
	whole.Close('}')
	e.output = e.output[:item.output]
	return e.own(dst, whole.Bytes())
}

// attach carries the payload that another provider wants back with an item which
// has no place for it.
func (e *Encoder) attach(dst []byte, call string, p *rewrite.Payload) []byte {
	if p.Empty() || e.kindOf(p) != "" {
		return dst
	}
	var w splice.Writer
	w.Open('{')
	w.Text("id", call)
	w.Name("payload")
	writePayload(&w, p)
	w.Close('}')
	return e.carry(dst, carrier(carriedPart, w.Bytes()))
}

// media tells the pictures of a message, which the dialect has as the work of a
// tool; other media it has not.
func (e *Encoder) media(dst []byte, item *outItem) []byte {
	for i := range item.parts {
		p := &item.parts[i]
		switch {
		case p.position >= 0:
		case p.kind == rewrite.PartImage && p.part.Media.Data != "":
			picture := outItem{output: -1}
			e.name(&picture, "image_generation_call")
			e.output = e.output[:picture.output]
			var whole splice.Writer
			whole.Literal(`{"type":"image_generation_call"`)
			whole.Text("id", picture.id)
			whole.Literal(`"status":"completed"`)
			whole.Text("result", p.part.Media.Data)
			whole.Close('}')
			dst = e.own(dst, whole.Bytes())
		default:
			e.o.Losses.Add("output", "the dialect has no place for "+p.kind.String()+" that the model made")
		}
	}
	return dst
}
