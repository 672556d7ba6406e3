package completions

import (
	"slices"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncoderOptions are what a reply is written with.
type EncoderOptions struct {
	// Provider is whose payloads in this dialect the client gets as they are.
	// Those of others travel in fields that it hands back unseen.
	Provider string
	// Request is what the client has asked; nil where it is not known.
	Request *rewrite.Conversation
	// Model is the model as the client named it; empty for the provider's word.
	Model string
	// ID is the reply's name where the provider has given none.
	ID string
	// Losses gets what the dialect cannot say.
	Losses *rewrite.Losses
}

// owns says that the client gets a payload of this kind as it is.
func (o *EncoderOptions) owns(p *rewrite.Payload, kind string) bool {
	return p.Format == formats+kind && (p.Provider == "" || p.Provider == o.Provider)
}

// Encoder turns the events of one reply into a stream of chunks for a client of
// this dialect. It keeps no text but free text that comes as JSON.
type Encoder struct {
	o    EncoderOptions
	head []byte
	// first is what the head was made of.
	first        rewrite.Reply
	begun, ended bool
	// refused says that the model has declined in words.
	refused bool
	// said is how many code points of text there were, in all messages.
	said    int
	calls   int
	details int
	// entries and sources are the lists of the reply that are told at its end.
	entries, sources splice.Writer
	slots            []outItem
	usage            rewrite.Usage
}

// NewEncoder is ready for a reply.
func NewEncoder(o EncoderOptions) *Encoder { return &Encoder{o: o} }

// outItem is an item under way, found by its index in the reply.
type outItem struct {
	head rewrite.Item
	// place is a call's index in the stream.
	place int
	parts []outPart
	// unwrap says that the client calls the tool with free text and the provider
	// with JSON, which can be told only when it is complete.
	unwrap    bool
	arguments []byte
	// told says that arguments were told.
	told, done bool
}

// outPart is a part under way: where it begins in the text, how long it is, and
// the sources that are of all of it.
type outPart struct {
	kind          rewrite.PartKind
	start, length int
	heard         int
	whole         []rewrite.Attribution
	done          bool
}

// Append appends what one event of the reply is in the stream: nothing, one chunk
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
		return e.end(e.begin(dst, &rewrite.Reply{}), &event.Stop, event.Reply)
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
		item.parts = append(item.parts, outPart{kind: event.Part.Kind, start: e.said})
		return dst
	}
	if event.PartIndex < 0 || event.PartIndex >= len(item.parts) || item.parts[event.PartIndex].done {
		return dst
	}
	part := &item.parts[event.PartIndex]
	switch event.Kind {
	case rewrite.EventText:
		return e.text(dst, item, part, event.Text)
	case rewrite.EventAttribution:
		return e.source(dst, part, event.Attribution)
	case rewrite.EventPartDone:
		return e.closePart(dst, item, part, event.Part)
	}
	return dst
}

// begin opens the reply, once.
func (e *Encoder) begin(dst []byte, r *rewrite.Reply) []byte {
	if e.begun {
		return dst
	}
	e.begun = true
	e.first = rewrite.Reply{ID: r.ID, Model: r.Model, Created: r.Created, Extra: slices.Clone(r.Extra)}
	e.head = appendHead(nil, r, &e.o, "chat.completion.chunk")
	w := e.start(dst)
	w.Literal(`"role":"assistant","content":""`)
	return finish(&w, "null")
}

// appendHead appends the members that all chunks, or the reply, begin with.
func appendHead(dst []byte, r *rewrite.Reply, o *EncoderOptions, object string) []byte {
	id, model := r.ID, r.Model
	if id == "" {
		id = o.ID
	}
	if o.Model != "" {
		model = o.Model
	}
	w := splice.WriteTo(dst)
	w.Name("id")
	w.String(id)
	w.Text("object", object)
	w.Name("created")
	w.Int(r.Created)
	w.Name("model")
	w.String(model)
	writeOwn(&w, r.Extra, "")
	return w.Bytes()
}

// start begins a chunk, up to the inside of its delta; finish ends it.
func (e *Encoder) start(dst []byte) splice.Writer {
	dst = append(dst, "data: "...)
	w := splice.WriteTo(dst)
	w.Open('{')
	w.Raw(e.head)
	w.Literal(`"choices":[{"index":0,"delta":{`)
	return w
}

// finish ends a chunk with the reason to stop, null for none yet.
func finish(w *splice.Writer, reason string) []byte {
	w.Close('}')
	w.Literal(`"finish_reason":` + reason)
	w.Close('}')
	w.Close(']')
	w.Close('}')
	return append(w.Bytes(), "\n\n"...)
}

// open opens an item. All messages are one text here.
func (e *Encoder) open(dst []byte, head *rewrite.Item) []byte {
	e.slots = append(e.slots, outItem{head: *head})
	item := &e.slots[len(e.slots)-1]
	item.head.Parts, item.head.Payload.Value = nil, nil
	switch head.Kind {
	case rewrite.ItemMessage:
		if e.said > 0 {
			dst = e.more(dst, "content", []byte("\n\n"))
			e.said += 2
		}
	case rewrite.ItemCall:
		dst = e.list(dst, "annotations", &e.sources) // where they are sought
		item.place = e.calls
		e.calls++
		item.unwrap = callOfCustom(e.o.Request, &item.head.Call)
		kind, input := "function", "arguments"
		if item.head.Call.Custom {
			kind, input = "custom", "input"
		}
		w := e.start(dst)
		w.Literal(`"tool_calls":[{"index":`)
		w.Int(int64(item.place))
		w.Name("id")
		w.String(item.head.Call.ID)
		w.Text("type", kind)
		w.Name(kind)
		w.Open('{')
		w.Text("name", item.head.Call.Name)
		w.Literal(`"` + input + `":""`)
		return e.endCall(&w)
	case rewrite.ItemReasoning, rewrite.ItemResult, rewrite.ItemHosted, rewrite.ItemDirective, rewrite.ItemOpaque:
	}
	return dst
}

// endCall ends a chunk within a call.
func (e *Encoder) endCall(w *splice.Writer) []byte {
	w.Close('}')
	w.Close('}')
	w.Close(']')
	return finish(w, "null")
}

// callOfCustom says that the client knows a tool as one that is called with free
// text, and calls it so.
func callOfCustom(c *rewrite.Conversation, call *rewrite.Call) (unwrap bool) {
	if c == nil || call.Custom {
		return false
	}
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Name == call.Name && t.Kind == rewrite.ToolCustom {
			call.Custom = true
			return true
		}
	}
	return false
}

// more goes on with a text of the delta.
func (e *Encoder) more(dst []byte, member string, text []byte) []byte {
	w := e.start(dst)
	w.Name(member)
	w.Bytestring(text)
	return finish(&w, "null")
}

// text goes on with a text.
func (e *Encoder) text(dst []byte, item *outItem, part *outPart, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	switch {
	case item.head.Kind == rewrite.ItemReasoning:
		return e.more(dst, "reasoning_content", text)
	case item.head.Kind != rewrite.ItemMessage:
		return dst
	case part.kind == rewrite.PartRefusal:
		e.refused = true
		return e.more(dst, "refusal", text)
	}
	n := utf8.RuneCount(text)
	part.length += n
	e.said += n
	return e.more(dst, "content", text)
}

// argue goes on with the arguments of a call.
func (e *Encoder) argue(dst []byte, item *outItem, text []byte) []byte {
	if item.head.Kind != rewrite.ItemCall || len(text) == 0 {
		return dst
	}
	if item.unwrap {
		item.arguments = append(item.arguments, text...)
		return dst
	}
	item.told = true
	return e.argument(dst, item, text)
}

// argument tells a piece of the arguments.
func (e *Encoder) argument(dst []byte, item *outItem, text []byte) []byte {
	kind, input := "function", "arguments"
	if item.head.Call.Custom {
		kind, input = "custom", "input"
	}
	w := e.start(dst)
	w.Literal(`"tool_calls":[{"index":`)
	w.Int(int64(item.place))
	w.Name(kind)
	w.Open('{')
	w.Name(input)
	w.Bytestring(text)
	return e.endCall(&w)
}

// source adds a source, whose range is of the part and becomes one of the whole
// text. A range of text that is still to come is checked
// when it is there.
func (e *Encoder) source(dst []byte, part *outPart, a *rewrite.Attribution) []byte {
	part.heard++
	if a.End <= a.Start || a.End > part.length {
		part.whole = append(part.whole, *a)
		part.whole[len(part.whole)-1].Payload = rewrite.Payload{}
		return dst
	}
	return e.annotate(dst, part, a)
}

// annotate keeps a source for the end.
func (e *Encoder) annotate(dst []byte, part *outPart, a *rewrite.Attribution) []byte {
	if a.URL == "" {
		e.o.Losses.Add("choices", "a source without an address")
		return dst
	}
	writeSource(&e.sources, a, part.start)
	return dst
}

// writeSource writes a source of a part that begins at an offset of the text.
func writeSource(w *splice.Writer, a *rewrite.Attribution, offset int) {
	w.Literal(`{"type":"url_citation","url_citation":{`)
	w.Text("url", a.URL)
	w.Name("title")
	w.String(a.Title)
	w.Name("start_index")
	w.Int(int64(a.Start + offset))
	w.Name("end_index")
	w.Int(int64(a.End + offset))
	w.Close('}')
	w.Close('}')
}

// closePart closes a part: what is a source of all of it has a range now.
func (e *Encoder) closePart(dst []byte, item *outItem, part *outPart, last *rewrite.Part) []byte {
	part.done = true
	if last != nil {
		for i := part.heard; i < len(last.Attributions); i++ {
			dst = e.source(dst, part, &last.Attributions[i])
		}
		if item.head.Kind == rewrite.ItemMessage && last.Kind > rewrite.PartRefusal {
			dst = e.media(dst, last)
		}
	}
	for i := range part.whole {
		a := part.whole[i]
		if a.End <= a.Start || a.End > part.length {
			a.Start, a.End = 0, part.length
		}
		dst = e.annotate(dst, part, &a)
	}
	return dst
}

// media tells a picture, for which some clients have a place.
func (e *Encoder) media(dst []byte, p *rewrite.Part) []byte {
	if p.Kind != rewrite.PartImage || p.Media.Data == "" && p.Media.URL == "" {
		e.o.Losses.Add("choices", "the dialect has no place for "+p.Kind.String()+" that the model made")
		return dst
	}
	w := e.start(dst)
	w.Literal(`"images":[{"type":"image_url","image_url":{`)
	w.Text("url", addressOf(p, "image/png"))
	return e.endCall(&w)
}
