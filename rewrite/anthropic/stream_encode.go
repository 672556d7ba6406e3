package anthropic

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncoderOptions say how a reply is given to a client.
type EncoderOptions struct {
	// Provider is whose payloads in this dialect the client gets as they are.
	// Those of others travel in fields that it hands back unseen.
	Provider string
	// Model is the model as the client named it; empty for the provider's word.
	Model string
	// ID is the reply's name where the provider has given none.
	ID string
	// Losses gets what the dialect cannot say.
	Losses *rewrite.Losses
}

// Encoder writes the events of one reply as a stream of this dialect, in which
// one block is open at a time.
type Encoder struct {
	o      EncoderOptions
	turns  rewrite.InTurn
	yield  func(*rewrite.Event) // tell, bound once
	dst    []byte
	blocks int // that were opened
	// item has the floor, and block says that one of its blocks is open. Part is
	// the part that it is of, and carried says that the item's payload has gone
	// ahead of it.
	item           rewrite.Item
	block, carried bool
	part           int
	// held are carriers that wait for a block to stand before, and text says that
	// the newest block is one.
	held []carrier
	// asked is what a search of another provider's was asked.
	asked []byte
	text  bool
	usage rewrite.Usage
	// besides is what the provider has said of the usage in the beginning.
	besides rewrite.JSON
	calls   bool
	ended   bool
}

// carrier is a payload on its way through the client, with the ending that says
// what it belongs to.
type carrier struct {
	payload rewrite.Payload
	ending  string
}

// NewEncoder gives an encoder for one reply.
func NewEncoder(o EncoderOptions) *Encoder {
	n := &Encoder{o: o}
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

// tell writes an event whose turn it is.
func (n *Encoder) tell(e *rewrite.Event) {
	switch e.Kind {
	case rewrite.EventBegin:
		n.begin(e.Reply)
	case rewrite.EventUsage:
		n.usage = *e.Usage
	case rewrite.EventEnd:
		n.end(e)
	case rewrite.EventError:
		n.fail(e.Fault)
	case rewrite.EventItem:
		n.speak(e)
	case rewrite.EventPart, rewrite.EventText, rewrite.EventArguments, rewrite.EventAttribution, rewrite.EventPartDone, rewrite.EventDone:
		n.write(e)
	}
}

// data begins an event and gives the writer of its data.
func (n *Encoder) data(name string) splice.Writer {
	n.dst = append(n.dst, "event: "...)
	n.dst = append(n.dst, name...)
	n.dst = append(n.dst, "\ndata: "...)
	w := splice.WriteTo(n.dst)
	w.Open('{')
	w.Text("type", name)
	return w
}

// send ends the event that was written.
func (n *Encoder) send(w *splice.Writer) {
	w.Close('}')
	n.dst = append(w.Bytes(), "\n\n"...)
}

func (n *Encoder) begin(r *rewrite.Reply) {
	w := n.data("message_start")
	w.Name("message")
	w.Open('{')
	w.Text("id", or(r.ID, n.o.ID))
	w.Literal(`"type":"message","role":"assistant"`)
	w.Name("model")
	w.String(or(n.o.Model, r.Model))
	w.Literal(`"content":[],"stop_reason":null,"stop_sequence":null`)
	w.Name("usage")
	n.besides = append(rewrite.JSON(nil), rewrite.Messages.Owned(r.Extra, "usage")...)
	writeUsage(&w, &r.Usage, n.besides)
	writeExtra(&w, r.Extra)
	w.Close('}')
	n.send(&w)
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// end closes what is open and tells how the reply went.
func (n *Encoder) end(e *rewrite.Event) {
	if n.text && !slices.ContainsFunc(n.held, func(c carrier) bool { return c.ending != "" || !dispensable(&c.payload) }) {
		n.held = nil
	}
	n.release()
	w := n.data("message_delta")
	w.Name("delta")
	w.Open('{')
	written, usage := writeStop(&w, &e.Stop, n.calls), n.besides
	if e.Reply != nil {
		usage = rewrite.Messages.Owned(e.Reply.Extra, "usage")
		writeExtra(&w, e.Reply.Extra, written)
	}
	w.Close('}')
	w.Name("usage")
	writeUsage(&w, &n.usage, usage)
	n.send(&w)
	w = n.data("message_stop")
	n.send(&w)
	n.ended = true
}

// fail ends the stream with an error of the provider's.
func (n *Encoder) fail(f *rewrite.Fault) {
	w := n.data("error")
	w.Name("error")
	w.Open('{')
	w.Text("type", faultType(f))
	w.Name("message")
	w.String(f.Message)
	if f.Code != "" {
		w.Name("details")
		w.Open('{')
		w.Text("error_code", f.Code)
		w.Close('}')
	}
	w.Close('}')
	n.send(&w)
	n.ended = true
}
