package anthropic

import (
	"slices"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// speak gives an item the floor.
func (n *Encoder) speak(e *rewrite.Event) {
	n.item, n.block, n.carried, n.part = *e.Item, false, false, -1
	if n.item.Kind == rewrite.ItemHosted && n.item.Hosted.State == rewrite.HostedStarted {
		n.asked = n.asked[:0]
	}
	if n.item.Kind != rewrite.ItemCall {
		return
	}
	n.calls = true
	start := []byte(nil)
	switch p := &e.Item.Payload; {
	case n.native(p):
		start = emptied(p.Value, rewrite.Member{Name: "input", Value: rewrite.JSON("{}")})
	case returns(p):
		n.carry(p, ofAfter)
		n.carried = true
	}
	w := n.blockStart()
	if start != nil {
		w.Raw(start)
	} else {
		w.Open('{')
		writeCallHead(&w, &n.item.Call)
		w.Literal(`"input":{}`)
		w.Close('}')
	}
	n.send(&w)
	if n.item.Call.Custom {
		n.delta("input_json_delta", "partial_json", []byte(`{"input":"`))
	}
}

// native reports whether the client gets a payload as it is.
func (n *Encoder) native(p *rewrite.Payload) bool { return p.For(n.o.Provider, rewrite.Messages) }

// blockStart opens a block, whose object is due.
func (n *Encoder) blockStart() splice.Writer {
	n.release()
	n.text = false
	return n.open()
}

// release writes the carriers that had to wait.
func (n *Encoder) release() {
	held := n.held
	n.held = nil
	for i := range held {
		n.writeCarrier(&held[i].payload, held[i].ending)
	}
}

func (n *Encoder) open() splice.Writer {
	w := n.data("content_block_start")
	w.Name("index")
	w.Int(int64(n.blocks))
	w.Name("content_block")
	n.blocks++
	n.block = true
	return w
}

// stop closes the open block, if there is one.
func (n *Encoder) stop() {
	if !n.block {
		return
	}
	w := n.data("content_block_stop")
	w.Name("index")
	w.Int(int64(n.blocks - 1))
	n.send(&w)
	n.block = false
}

// delta goes on with a string of the open block.
func (n *Encoder) delta(kind, name string, text []byte) {
	w := n.data("content_block_delta")
	w.Name("index")
	w.Int(int64(n.blocks - 1))
	w.Name("delta")
	w.Open('{')
	w.Text("type", kind)
	w.Name(name)
	w.Bytestring(text)
	w.Close('}')
	n.send(&w)
}

// single writes a block that is complete when it begins.
func (n *Encoder) single(write func(w *splice.Writer)) {
	w := n.blockStart()
	write(&w)
	n.send(&w)
	n.stop()
}

// carry sends a payload through the client in a redacted thought: at once where it
// belongs to what follows, else before the next block.
func (n *Encoder) carry(p *rewrite.Payload, ending string) {
	if ending == ofAfter {
		n.release()
		n.writeCarrier(p, ending)
		return
	}
	kept := *p
	kept.Value = slices.Clone(p.Value)
	n.held = append(n.held, carrier{kept, ending})
}

func (n *Encoder) writeCarrier(p *rewrite.Payload, ending string) {
	w := n.open()
	writeCarrier(&w, p, ending)
	n.send(&w)
	n.stop()
}

// write takes an event of the item that has the floor.
func (n *Encoder) write(e *rewrite.Event) {
	switch n.item.Kind {
	case rewrite.ItemMessage:
		n.message(e)
	case rewrite.ItemReasoning:
		n.reasoning(e)
	case rewrite.ItemCall:
		n.call(e)
	default:
		if e.Kind == rewrite.EventArguments && n.item.Kind == rewrite.ItemHosted {
			n.asked = append(n.asked, e.Text...)
		}
		if e.Kind == rewrite.EventDone {
			n.other(e.Item)
		}
	}
}

// message writes texts, a block for each part.
func (n *Encoder) message(e *rewrite.Event) {
	switch e.Kind {
	case rewrite.EventPart:
		if n.o.lose(e.Part); !isText(e.Part.Kind) {
			return
		}
		w := n.blockStart()
		if p := &e.Part.Payload; n.native(p) {
			start := emptied(p.Value, rewrite.Member{Name: "citations", Value: rewrite.JSON("[]")})
			w.Raw(withMembers(start, []rewrite.Member{{Name: "text", Value: rewrite.JSON(`""`)}}))
		} else {
			w.Literal(`{"type":"text","text":""}`)
		}
		n.send(&w)
		n.text = true
	case rewrite.EventText:
		if n.block {
			n.delta("text_delta", "text", e.Text)
		}
	case rewrite.EventAttribution:
		if n.block {
			n.cite(e.Attribution)
		}
	case rewrite.EventPartDone:
		n.stop()
		if p := &e.Part.Payload; isText(e.Part.Kind) && !p.Empty() && !n.native(p) {
			n.carry(p, ofPart)
		}
	}
}

// isText reports parts that a client of this dialect is given.
func isText(k rewrite.PartKind) bool {
	return k == rewrite.PartText || k == rewrite.PartRefusal || k == rewrite.PartSummary
}

// cite adds a source to the open block.
func (n *Encoder) cite(a *rewrite.Attribution) {
	if a.URL == "" && a.Payload.Empty() {
		return
	}
	w := n.data("content_block_delta")
	w.Name("index")
	w.Int(int64(n.blocks - 1))
	w.Name("delta")
	w.Open('{')
	w.Text("type", "citations_delta")
	w.Name("citation")
	writeCitation(&w, a, n.native(&a.Payload))
	w.Close('}')
	n.send(&w)
}

// reasoning writes a thought, whose parts are one block.
func (n *Encoder) reasoning(e *rewrite.Event) {
	switch e.Kind {
	case rewrite.EventText:
		if !n.block {
			w := n.blockStart()
			w.Literal(`{"type":"thinking","thinking":"","signature":""}`)
			n.send(&w)
		} else if e.PartIndex != n.part {
			n.delta("thinking_delta", "thinking", []byte(betweenThoughts))
		}
		n.part = e.PartIndex
		n.delta("thinking_delta", "thinking", e.Text)
	case rewrite.EventDone:
		p := &e.Item.Payload
		if !n.block {
			n.other(e.Item)
			return
		}
		if sign := signature(p, n.native(p)); sign != "" {
			n.delta("signature_delta", "signature", []byte(sign))
		}
		n.stop()
	}
}

// call goes on with a call of a client's tool.
func (n *Encoder) call(e *rewrite.Event) {
	switch e.Kind {
	case rewrite.EventArguments:
		if !n.item.Call.Custom {
			n.delta("input_json_delta", "partial_json", e.Text)
			return
		}
		quoted := splice.AppendString(nil, e.Text)
		n.delta("input_json_delta", "partial_json", quoted[1:len(quoted)-1])
	case rewrite.EventDone:
		if n.item.Call.Custom {
			n.delta("input_json_delta", "partial_json", []byte(`"}`))
		}
		n.stop()
		if p := &e.Item.Payload; !n.carried && returns(p) && !n.native(p) {
			n.carry(p, ofBefore)
		}
	}
}

// other writes an item that is one payload.
func (n *Encoder) other(item *rewrite.Item) {
	p := &item.Payload
	if !n.native(p) {
		n.o.unseen(item)
	}
	if !n.native(p) {
		if !p.Empty() {
			n.carry(p, "")
		}
		n.search(item)
		return
	}
	b, _ := readBlock(p.Value)
	input := b.values[fieldInput]
	if len(input) == 0 || !strings.HasSuffix(b.kind, "tool_use") {
		if b.kind != "thinking" || b.text(fieldSignature) == "" {
			n.single(func(w *splice.Writer) { w.Raw(p.Value) })
			return
		}
		w := n.blockStart()
		w.Raw(emptied(p.Value, rewrite.Member{Name: "signature", Value: rewrite.JSON(`""`)}))
		n.send(&w)
		n.delta("signature_delta", "signature", []byte(b.text(fieldSignature)))
		n.stop()
		return
	}
	w := n.blockStart()
	w.Raw(emptied(p.Value, rewrite.Member{Name: "input", Value: rewrite.JSON("{}")}))
	n.send(&w)
	n.delta("input_json_delta", "partial_json", input)
	n.stop()
}
