package anthropic

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncoderOptions say how a reply is given to a client.
type EncoderOptions struct {
	// Provider is whose payloads in this dialect the client gets as they are.
	// Those of others travel in fields that it hands back unseen.
	Provider string
	// ID and Model stand in for what the reply does not say.
	ID, Model string
}

// Encoder writes the events of one reply as a stream of this dialect. One block
// is open at a time: what comes for another waits until that one is closed.
type Encoder struct {
	o       EncoderOptions
	dst     []byte
	blocks  int // that were opened
	current *speaking
	waiting []*held
	usage   rewrite.Usage
	calls   bool
	ended   bool
}

// speaking is the item whose block is open, or is next.
type speaking struct {
	item  rewrite.Item
	index int
	// block says that a block is open, and part which part it is of; -1 for none.
	block bool
	part  int
	// carried says that the item's payload has gone ahead of it.
	carried bool
	later   []rewrite.Event
}

// held is an item that waits, with its events.
type held struct {
	index  int
	events []rewrite.Event
}

// NewEncoder gives an encoder for one reply.
func NewEncoder(o EncoderOptions) *Encoder { return &Encoder{o: o} }

// Append appends the bytes of an event. Many events have none of their own.
func (n *Encoder) Append(dst []byte, e *rewrite.Event) []byte {
	if n.ended {
		return dst
	}
	n.dst = dst
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
		if n.current == nil {
			n.speak(e)
		} else {
			n.waiting = append(n.waiting, &held{e.Index, []rewrite.Event{e.Keep()}})
		}
	case rewrite.EventPart, rewrite.EventText, rewrite.EventArguments, rewrite.EventAttribution, rewrite.EventPartDone, rewrite.EventDone:
		n.within(e)
	}
	dst, n.dst = n.dst, nil
	return dst
}

// within takes an event of an item, now or when its turn comes.
func (n *Encoder) within(e *rewrite.Event) {
	if s := n.current; s != nil && s.index == e.Index {
		n.write(e)
		for n.current == nil && len(n.waiting) > 0 {
			next := n.waiting[0]
			n.waiting = n.waiting[1:]
			n.replay(next)
		}
		return
	}
	for _, h := range n.waiting {
		if h.index == e.Index {
			h.events = append(h.events, e.Keep())
			return
		}
	}
}

// replay writes what has come for an item that waited.
func (n *Encoder) replay(h *held) {
	n.speak(&h.events[0])
	for i := 1; i < len(h.events) && n.current != nil; i++ {
		n.write(&h.events[i])
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
	w.String(or(r.Model, n.o.Model))
	w.Literal(`"content":[],"stop_reason":null,"stop_sequence":null`)
	w.Name("usage")
	writeUsage(&w, &r.Usage)
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
	n.closeAll()
	w := n.data("message_delta")
	w.Name("delta")
	w.Open('{')
	writeStop(&w, &e.Stop, n.calls)
	if e.Reply != nil {
		writeExtra(&w, e.Reply.Extra)
	}
	w.Close('}')
	w.Name("usage")
	writeUsage(&w, &n.usage)
	n.send(&w)
	w = n.data("message_stop")
	n.send(&w)
	n.ended = true
}

// closeAll ends the items that were never closed.
func (n *Encoder) closeAll() {
	for {
		if s := n.current; s != nil {
			if s.item.Kind == rewrite.ItemMessage {
				n.settle(s)
			}
			n.stop(s)
			n.current = nil
		}
		if len(n.waiting) == 0 {
			return
		}
		next := n.waiting[0]
		n.waiting = n.waiting[1:]
		n.replay(next)
	}
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
