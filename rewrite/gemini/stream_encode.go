package gemini

import (
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncoderOptions say how a reply is given to a client.
type EncoderOptions struct {
	// Provider is whose payloads in this dialect the client gets as they are.
	// Those of others travel in signatures, which it hands back unseen.
	Provider string
	// Model is the model as the client named it; empty for the provider's word.
	Model string
	// ID is the reply's name where the provider has given none.
	ID string
	// Losses gets what the dialect cannot say.
	Losses *rewrite.Losses
}

// Encoder writes the events of one reply as a stream of this dialect: a frame
// for each piece of text, and for each item that is complete.
type Encoder struct {
	o         EncoderOptions
	turns     rewrite.InTurn
	yield     func(*rewrite.Event) // tell, bound once
	dst       []byte
	id, model string
	usage     rewrite.Usage
	ended     bool
	// whole says that the parts are gathered for one document.
	whole bool
	parts splice.Writer

	// item has the floor; sent says that it is written already, and shown that
	// something of it was.
	item        rewrite.Item
	sent, shown bool
	arguments   []byte
	skip        bool // the text of a part that is written already
	// pending are payloads of items that had nothing to show: the next part has
	// them in its signature.
	pending []string
	// holds says that a text waits for its end, to be signed.
	holds bool
	held  []byte
	extra []rewrite.Member
	cites citing
}

// NewEncoder gives an encoder for one reply.
func NewEncoder(o EncoderOptions) *Encoder {
	n := &Encoder{o: o, id: o.ID, model: o.Model}
	n.yield = n.tell
	return n
}

// Append appends the bytes of an event. Many events have none of their own.
func (n *Encoder) Append(dst []byte, e *rewrite.Event) []byte {
	if n.ended {
		return dst
	}
	n.dst = dst
	n.turns.Add(e, n.yield)
	dst, n.dst = n.dst, nil
	return dst
}

// EncodeReply appends a whole reply for a client: what an Encoder's stream of it
// comes to.
func EncodeReply(dst []byte, r *rewrite.Reply, o EncoderOptions) []byte {
	n := NewEncoder(o)
	n.whole = true
	r.Tell(func(e *rewrite.Event) { n.dst = n.Append(n.dst, e) })
	if !n.ended {
		n.end(&rewrite.Event{Stop: r.Stop})
	}
	return append(dst, n.dst...)
}

// native reports whether the client gets a payload as it is.
func (n *Encoder) native(p *rewrite.Payload) bool { return p.For(n.o.Provider, rewrite.Gemini) }

// tell takes an event whose turn it is.
func (n *Encoder) tell(e *rewrite.Event) {
	switch e.Kind {
	case rewrite.EventBegin:
		if e.Reply.ID != "" {
			n.id = e.Reply.ID
		}
		if n.model == "" {
			n.model = e.Reply.Model
		}
		for _, m := range e.Reply.Extra {
			n.extra = append(n.extra, rewrite.Member{Name: m.Name, Value: append(rewrite.JSON(nil), m.Value...)})
		}
	case rewrite.EventUsage:
		n.usage = *e.Usage
	case rewrite.EventItem:
		n.item, n.sent, n.shown, n.arguments = *e.Item, false, false, nil
		if p := &e.Item.Payload; e.Item.Kind != rewrite.ItemMessage && !beside(p) && n.native(p) {
			n.raw(p.Value)
			n.sent = true
		}
	case rewrite.EventPart:
		n.part(e.Part)
	case rewrite.EventText:
		n.text(e.Text)
	case rewrite.EventArguments:
		n.arguments = append(n.arguments, e.Text...)
	case rewrite.EventAttribution:
		if n.item.Kind == rewrite.ItemMessage {
			n.cites.add(e.Attribution)
		}
	case rewrite.EventPartDone:
		if n.holds {
			n.signedText(&e.Part.Payload)
		}
		n.cites.endPart()
		n.skip, n.holds = false, false
	case rewrite.EventDone:
		if !n.sent {
			n.done(e.Item)
		}
	case rewrite.EventEnd:
		n.release()
		n.end(e)
	case rewrite.EventError:
		n.fail(e.Fault)
	}
}

// open begins a part, whose object is due, in a frame of its own or among the
// others; close ends it.
func (n *Encoder) open() splice.Writer {
	if n.whole {
		return n.parts
	}
	n.dst = append(n.dst, `data: {"candidates":[{"content":{"parts":[`...)
	return splice.WriteTo(n.dst)
}

func (n *Encoder) close(w *splice.Writer) {
	if n.whole {
		n.parts = *w
		return
	}
	n.dst = append(w.Bytes(), `],"role":"model"},"index":0}],`...)
	tail := splice.WriteTo(n.dst)
	n.names(&tail)
	n.dst = append(tail.Bytes(), "}\n\n"...)
}

// names writes the members that every frame has.
func (n *Encoder) names(w *splice.Writer) {
	w.Name("modelVersion")
	w.String(n.model)
	w.Name("responseId")
	w.String(n.id)
}

// raw writes a part as its provider has made it.
func (n *Encoder) raw(value []byte) {
	n.release()
	w := n.open()
	w.Raw(value)
	n.close(&w)
	n.cites.endText()
}

// part begins a part of the item.
func (n *Encoder) part(part *rewrite.Part) {
	if n.sent || n.item.Kind != rewrite.ItemMessage {
		return
	}
	p := &part.Payload
	switch {
	case n.native(p):
		n.raw(p.Value)
		n.skip = true
		n.cites.beginPart(false)
	case part.Media.Data != "" && part.MIME != "", part.Media.URL != "":
		n.media(part)
		n.cites.beginPart(false)
	case part.Kind == rewrite.PartText || part.Kind == rewrite.PartRefusal || part.Kind == rewrite.PartSummary:
		n.holds, n.held = !p.Empty(), n.held[:0]
		n.cites.beginPart(!n.holds)
	default:
		n.o.Losses.Add("reply", part.Kind.String()+" cannot be shown here")
		n.skip = true
		n.cites.beginPart(false)
	}
}

// media writes a picture, a sound or a file that the model has made.
func (n *Encoder) media(part *rewrite.Part) {
	n.release()
	w := n.open()
	w.Open('{')
	if part.Media.Data != "" {
		w.Name("inlineData")
	} else {
		w.Name("fileData")
	}
	w.Open('{')
	w.Text("mimeType", part.MIME)
	w.Text("data", part.Media.Data)
	if part.Media.Data == "" {
		w.Text("fileUri", part.Media.URL)
	}
	w.Close('}')
	w.Close('}')
	n.close(&w)
	n.cites.endText()
}

// text writes a piece of the answer or of a thought.
func (n *Encoder) text(text []byte) {
	thought := n.item.Kind == rewrite.ItemReasoning
	if n.sent || n.skip || !thought && n.item.Kind != rewrite.ItemMessage {
		if n.item.Kind == rewrite.ItemMessage {
			n.cites.text(text)
		}
		return
	}
	if n.holds && !thought {
		n.held = append(n.held, text...)
		n.cites.text(text)
		return
	}
	w := n.open()
	w.Open('{')
	w.Name("text")
	w.Bytestring(text)
	if thought {
		w.Literal(`"thought":true`)
	}
	if len(n.pending) > 0 {
		n.signature(&w, &rewrite.Payload{})
	}
	w.Close('}')
	n.close(&w)
	if n.shown = true; thought {
		n.cites.thought()
	} else {
		n.cites.text(text)
	}
}

// signedText writes a text whose provider needs it back as it made it.
func (n *Encoder) signedText(p *rewrite.Payload) {
	w := n.open()
	w.Open('{')
	w.Name("text")
	w.Bytestring(n.held)
	if !p.Empty() || len(n.pending) > 0 {
		n.signature(&w, p)
	}
	w.Close('}')
	n.close(&w)
	n.cites.endText()
}

// signature signs a part with its own payload, if it has one, and with those that
// wait.
func (n *Encoder) signature(w *splice.Writer, p *rewrite.Payload) {
	w.Text("thoughtSignature", sign(n.pending, p.Envelope()))
	n.pending = nil
}

// done writes what is known of an item only at its end.
func (n *Encoder) done(item *rewrite.Item) {
	p := &item.Payload
	switch {
	case n.item.Kind == rewrite.ItemMessage, item.Incomplete:
	case n.item.Kind == rewrite.ItemCall:
		n.call(item)
	case p.Format == grounding && n.native(p):
		n.cites.metadata = append([]byte(nil), p.Value...)
	case p.Format == urlContext && n.native(p):
		n.cites.urls = append([]byte(nil), p.Value...)
	case p.Empty() || beside(p):
	case n.native(p) && !n.shown:
		n.raw(p.Value)
	case n.native(p):
		native, _ := splitPart(p.Value)
		n.signed(splice.Text(native.signature))
	default:
		n.pending = append(n.pending, p.Envelope())
	}
}

// release writes payloads that nothing follows.
func (n *Encoder) release() {
	if last := len(n.pending) - 1; last >= 0 {
		n.signed(sign(n.pending[:last], n.pending[last]))
		n.pending = nil
	}
}

// signed writes a signature that stands alone.
func (n *Encoder) signed(signature string) {
	w := n.open()
	w.Open('{')
	w.Literal(`"text":""`)
	w.Text("thoughtSignature", signature)
	w.Close('}')
	n.close(&w)
	n.cites.endText()
}

// call writes a call. What another model has called is signed as that, for the
// day when it comes back.
func (n *Encoder) call(item *rewrite.Item) {
	call := n.item.Call
	arguments := n.arguments
	w := n.open()
	w.Open('{')
	w.Name("functionCall")
	w.Open('{')
	w.Text("id", call.ID)
	w.Text("name", functionName(call.Namespace, call.Name))
	w.Name("args")
	switch {
	case call.Custom:
		w.Open('{')
		w.Name("input")
		w.Bytestring(arguments)
		w.Close('}')
	case len(arguments) == 0:
		w.Literal("{}")
	case arguments[0] == '{' && splice.Valid(arguments) == nil:
		w.Raw(arguments)
	default:
		w.Open('{')
		w.Name("INVALID_JSON")
		w.Bytestring(arguments)
		w.Close('}')
	}
	w.Close('}')
	p := item.Payload
	if native := n.native(&p); !native {
		if p.Empty() {
			p = rewrite.Payload{Format: plainReasoning, Value: rewrite.JSON("null")}
		}
		if call.ID != "" && !strings.HasPrefix(call.ID, made) {
			name := rewrite.Payload{Format: callName, Value: splice.AppendString(nil, []byte(call.ID))}
			n.pending = append(n.pending, name.Envelope())
		}
		n.signature(&w, &p)
	} else if made, _ := splitPart(p.Value); made.signature != nil {
		w.Value("thoughtSignature", made.signature)
	}
	w.Close('}')
	n.close(&w)
	n.cites.endText()
}
