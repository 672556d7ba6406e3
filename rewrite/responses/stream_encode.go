package responses

import (
	"bytes"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncoderOptions are what a reply is written with.
type EncoderOptions struct {
	// Provider is whose payloads in this dialect the client gets as they are.
	// Those of others travel in fields that it hands back unseen.
	Provider string
	// Request is what the client has asked, which stands in the reply again; nil
	// where it is not known.
	Request *rewrite.Conversation
	// Model is the model as the client named it; empty for the provider's word.
	Model string
	// ID is the reply's name where the provider has given none.
	ID string
	// Keep says that the reply is kept: it is named ID, whatever its provider calls
	// it, and Response gives all of it once it has ended.
	Keep bool
	// Events asks for the events of our own, as the client's header does.
	Events bool
	// Report is what is read of the provider's reply as it comes, and Call the
	// number of the provider's call for the client's request, from one. The event
	// that tells of usage has them; both may be left out.
	Report *rewrite.Report
	Call   int
	// Continuity is what was done to the request to keep its prefix warm, for the
	// event about it; none where there is nothing to tell.
	Continuity []rewrite.Member
	// Losses gets what the dialect cannot say.
	Losses *rewrite.Losses
}

// Encoder turns the events of one reply into a stream for a client of this
// dialect. It keeps what it has written, because the last event repeats it.
type Encoder struct {
	o       EncoderOptions
	id      string
	model   string
	created int64
	begun   bool
	ended   bool
	// number is the next event's.
	number int64
	echo   []byte
	// theirs are members that the provider has said of the reply.
	theirs []rewrite.Member
	slots  []outItem
	// output are the finished items by their index, nil while they are open.
	output [][]byte
	// waiting is reasoning that has nothing to show.
	waiting []string
	usage   rewrite.Usage
	// response is the whole reply, if it is kept and has ended well.
	response []byte
}

// NewEncoder is ready for a reply.
func NewEncoder(o EncoderOptions) *Encoder { return &Encoder{o: o} }

// Response is the whole reply if it is kept and has ended well; else nil. The
// stream's client has got it with the last event.
func (e *Encoder) Response() []byte { return e.response }

// outItem is an item under way, found by its index in the reply.
type outItem struct {
	// output is its index in the stream, or -1 while it is held back.
	output int
	id     string
	head   rewrite.Item
	parts  []outPart
	// arguments are those of a call, or the input of a hosted activity.
	arguments []byte
	// unwrap says that the client calls the tool with free text and the provider
	// with JSON, which can be told only when it is complete.
	unwrap, done bool
	// carried says that the item's payload has gone ahead of it.
	carried bool
	// search says that the client looks for tools with the call.
	search bool
}

// outPart is a part under way.
type outPart struct {
	kind     rewrite.PartKind
	list     byte
	position int
	text     []byte
	runes    int
	// sources are the annotations that were told, whole are those without a range,
	// which are told when the text is complete.
	sources [][]byte
	whole   []rewrite.Attribution
	// heard is how many sources there were, told or not.
	heard int
	done  bool
	// part is what there is besides the text.
	part rewrite.Part
}

// Append appends what one event of the reply is in the stream: nothing, one event
// or several.
func (e *Encoder) Append(dst []byte, event *rewrite.Event) []byte {
	if e.ended {
		return dst
	}
	switch event.Kind {
	case rewrite.EventBegin:
		return e.begin(dst, event.Reply)
	case rewrite.EventUsage:
		e.usage = *event.Usage
		return dst
	case rewrite.EventEnd:
		if event.Reply != nil {
			e.theirs = append(e.theirs, event.Reply.Extra...)
		}
		return e.end(dst, &event.Stop)
	case rewrite.EventError:
		return e.fail(dst, event.Fault)
	case rewrite.EventItem:
		return e.open(e.begin(dst, &rewrite.Reply{}), event.Item)
	case rewrite.EventPart, rewrite.EventText, rewrite.EventArguments, rewrite.EventAttribution, rewrite.EventPartDone, rewrite.EventDone:
	}
	if event.Index < 0 || event.Index >= len(e.slots) || e.slots[event.Index].done {
		return dst
	}
	item := &e.slots[event.Index]
	switch event.Kind {
	case rewrite.EventArguments:
		return e.argue(dst, item, event.Text)
	case rewrite.EventDone:
		return e.done(dst, item, event.Item)
	case rewrite.EventPart:
		return e.openPart(dst, item, event.Part)
	}
	if event.PartIndex < 0 || event.PartIndex >= len(item.parts) || item.parts[event.PartIndex].done {
		return dst
	}
	part := &item.parts[event.PartIndex]
	switch event.Kind {
	case rewrite.EventText:
		return e.text(dst, item, part, event.Text)
	case rewrite.EventAttribution:
		return e.source(dst, item, part, event.Attribution)
	case rewrite.EventPartDone:
		return e.closePart(dst, item, part, event.Part)
	}
	return dst
}

// start begins an event; finish ends it.
func (e *Encoder) start(dst []byte, name string) splice.Writer {
	dst = append(append(append(dst, "event: "...), name...), "\ndata: "...)
	w := splice.WriteTo(dst)
	w.Open('{')
	w.Text("type", name)
	w.Name("sequence_number")
	w.Int(e.number)
	e.number++
	return w
}

// finish ends an event. Line breaks, which stand between the tokens of what a
// provider has laid out for people, would end it too early.
func finish(w *splice.Writer) []byte {
	w.Close('}')
	out := w.Bytes()
	flatten(out[len(out)-w.Size():])
	return append(out, "\n\n"...)
}

// flatten takes the line breaks out of JSON text.
func flatten(text []byte) {
	for {
		at := bytes.IndexAny(text, "\r\n")
		if at < 0 {
			return
		}
		text[at] = ' '
		text = text[at+1:]
	}
}

// begin opens the reply, once.
func (e *Encoder) begin(dst []byte, r *rewrite.Reply) []byte {
	if e.begun {
		return dst
	}
	e.begun = true
	for _, m := range r.Extra {
		e.theirs = append(e.theirs, rewrite.Member{Name: m.Name, Value: clone(m.Value)})
	}
	e.model, e.created, e.id = r.Model, r.Created, r.ID
	if e.o.Model != "" {
		e.model = e.o.Model
	}
	if e.id == "" || e.o.Keep {
		e.id = e.o.ID
	}
	if !bytes.HasPrefix([]byte(e.id), []byte("resp_")) {
		e.id = "resp" + madeHere + e.id
	}
	e.echo = appendEcho(nil, e.o.Request, e.o.Keep)
	for _, name := range [...]string{"response.created", "response.in_progress"} {
		w := e.start(dst, name)
		w.Name("response")
		e.write(&w, "in_progress", "", nil)
		dst = finish(&w)
	}
	return e.tellContinuity(dst)
}

// place writes where an event happens.
func place(w *splice.Writer, item *outItem, part *outPart) {
	w.Text("item_id", item.id)
	w.Name("output_index")
	w.Int(int64(item.output))
	if part != nil {
		if part.list == inSummary {
			w.Name("summary_index")
		} else {
			w.Name("content_index")
		}
		w.Int(int64(part.position))
	}
}

// openPart opens a part. What the dialect has no part for is held back.
func (e *Encoder) openPart(dst []byte, item *outItem, p *rewrite.Part) []byte {
	if item.head.Kind == rewrite.ItemReasoning && item.output < 0 && e.kindOf(&item.head.Payload) == "" {
		dst = e.announce(e.follow(dst), item)
	}
	item.parts = append(item.parts, outPart{kind: p.Kind, list: inContent, position: -1})
	part := &item.parts[len(item.parts)-1]
	if item.head.Kind == rewrite.ItemReasoning && (p.Kind == rewrite.PartSummary || e.kindOf(&item.head.Payload) == "") {
		// What another provider shows of its reasoning is a summary to clients of
		// this dialect: for the reasoning itself the vendor and the specification
		// have events of different names, which are known to half of the clients.
		part.list = inSummary
	}
	if item.output < 0 || p.Kind > rewrite.PartRefusal {
		return dst
	}
	part.position = 0
	for i := range item.parts[:len(item.parts)-1] {
		if other := &item.parts[i]; other.list == part.list && other.position >= 0 {
			part.position = other.position + 1
		}
	}
	name := "response.content_part.added"
	if part.list == inSummary {
		name = "response.reasoning_summary_part.added"
	}
	w := e.start(dst, name)
	place(&w, item, part)
	w.Name("part")
	part.write(&w, item.head.Kind, nil)
	return finish(&w)
}

// names are the events and the member of a part's text.
func (p *outPart) names(kind rewrite.ItemKind) (delta, done, member string) {
	switch {
	case p.list == inSummary:
		return "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text"
	case kind == rewrite.ItemReasoning:
		return "response.reasoning_text.delta", "response.reasoning_text.done", "text"
	case p.kind == rewrite.PartRefusal:
		return "response.refusal.delta", "response.refusal.done", "refusal"
	}
	return "response.output_text.delta", "response.output_text.done", "text"
}

// write writes the part with so much of its text.
func (p *outPart) write(w *splice.Writer, kind rewrite.ItemKind, text []byte) {
	w.Open('{')
	member := "text"
	switch {
	case p.list == inSummary:
		w.Text("type", "summary_text")
	case kind == rewrite.ItemReasoning:
		w.Text("type", "reasoning_text")
	case p.kind == rewrite.PartRefusal:
		w.Text("type", "refusal")
		member = "refusal"
	default:
		w.Text("type", "output_text")
		w.Name("annotations")
		w.Open('[')
		for _, source := range p.sources {
			w.Raw(source)
		}
		w.Close(']')
		w.Literal(`"logprobs":[]`)
	}
	w.Name(member)
	w.Bytestring(text)
	w.Close('}')
}

// text goes on with a text.
func (e *Encoder) text(dst []byte, item *outItem, part *outPart, text []byte) []byte {
	part.text = append(part.text, text...)
	part.runes += utf8.RuneCount(text)
	if part.position < 0 || len(text) == 0 {
		return dst
	}
	delta, _, _ := part.names(item.head.Kind)
	w := e.start(dst, delta)
	place(&w, item, part)
	w.Name("delta")
	w.Bytestring(text)
	if delta == "response.output_text.delta" {
		w.Literal(`"logprobs":[]`)
	}
	return finish(&w)
}

// closePart closes a part.
func (e *Encoder) closePart(dst []byte, item *outItem, part *outPart, last *rewrite.Part) []byte {
	part.done = true
	if last != nil {
		part.part = *last
		part.part.Payload.Value = clone(last.Payload.Value)
		// Sources that only the end has told.
		for i := part.heard; i < len(last.Attributions); i++ {
			dst = e.source(dst, item, part, &last.Attributions[i])
		}
	}
	for i := range part.whole {
		a := part.whole[i]
		if a.End <= a.Start || a.End > part.runes {
			a.Start, a.End = 0, part.runes
		}
		dst = e.annotate(dst, item, part, &a)
	}
	if part.position < 0 {
		return dst
	}
	_, done, member := part.names(item.head.Kind)
	w := e.start(dst, done)
	place(&w, item, part)
	w.Name(member)
	w.Bytestring(part.text)
	if done == "response.output_text.done" {
		w.Literal(`"logprobs":[]`)
	}
	name := "response.content_part.done"
	if part.list == inSummary {
		name = "response.reasoning_summary_part.done"
	}
	w = e.start(finish(&w), name)
	place(&w, item, part)
	w.Name("part")
	part.write(&w, item.head.Kind, part.text)
	return finish(&w)
}
