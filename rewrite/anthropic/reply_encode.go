package anthropic

import (
	"slices"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncodeReply appends a whole reply for a client: what an Encoder's stream of it
// comes to.
func EncodeReply(dst []byte, r *rewrite.Reply, o EncoderOptions) []byte {
	w := splice.WriteTo(dst)
	w.Open('{')
	if r.Fault != nil {
		w.Literal(`"type":"error"`)
		w.Name("error")
		w.Open('{')
		w.Text("type", faultType(r.Fault))
		w.Name("message")
		w.String(r.Fault.Message)
		w.Close('}')
		w.Close('}')
		return w.Bytes()
	}
	w.Text("id", or(r.ID, o.ID))
	w.Literal(`"type":"message","role":"assistant"`)
	w.Name("model")
	w.String(or(o.Model, r.Model))
	w.Name("content")
	w.Open('[')
	calls := false
	items := untilAnswer(r.Items, o)
	var asked []byte
	for i := range items {
		calls = calls || items[i].Kind == rewrite.ItemCall
		writeItem(&w, &items[i], o)
		asked = writeSearch(&w, &items[i], asked, o)
	}
	w.Close(']')
	written := writeStop(&w, &r.Stop, calls)
	w.Name("usage")
	writeUsage(&w, &r.Usage, rewrite.Messages.Owned(r.Extra, "usage"))
	writeExtra(&w, r.Extra, written)
	w.Close('}')
	return w.Bytes()
}

// untilAnswer are the items of a reply without the thoughts behind its answer: a
// reply that ends with a redacted thought is none that this dialect knows, and
// agents that look for an answer in the last block find none. It only seals what was
// told, for a provider that does not insist on it, and counts as no loss.
func untilAnswer(items []rewrite.Item, o EncoderOptions) []rewrite.Item {
	end := len(items)
	for end > 0 && isAfterthought(&items[end-1], o) {
		end--
	}
	if end == 0 || end == len(items) || !endsInText(&items[end-1], o) {
		return items
	}
	for i := range items[end:] {
		if item := &items[end+i]; item.Kind == rewrite.ItemHosted {
			o.unseen(item)
		}
	}
	return items[:end]
}

// isAfterthought reports an item of which the client is given a carrier and no
// more, and which its provider can do without.
func isAfterthought(item *rewrite.Item, o EncoderOptions) bool {
	return item.Kind != rewrite.ItemMessage && item.Kind != rewrite.ItemCall &&
		!(item.Kind == rewrite.ItemReasoning && len(item.Parts) > 0) &&
		dispensable(&item.Payload) && !item.Payload.For(o.Provider, rewrite.Messages)
}

// endsInText reports an item whose last block is a text, with no carrier behind it.
func endsInText(item *rewrite.Item, o EncoderOptions) bool {
	if item.Kind != rewrite.ItemMessage {
		return false
	}
	for _, part := range slices.Backward(item.Parts) {
		if isText(part.Kind) {
			return part.Payload.Empty() || part.Payload.For(o.Provider, rewrite.Messages)
		}
	}
	return false
}

// writeItem writes the blocks of an item.
func writeItem(w *splice.Writer, item *rewrite.Item, o EncoderOptions) {
	p := &item.Payload
	native := p.For(o.Provider, rewrite.Messages)
	switch {
	case native:
		w.Raw(p.Value)
	case item.Kind == rewrite.ItemMessage:
		for i := range item.Parts {
			o.lose(&item.Parts[i])
			writeSpeech(w, &item.Parts[i], o)
		}
	case item.Kind == rewrite.ItemReasoning && len(item.Parts) > 0:
		var texts []string
		for i := range item.Parts {
			if text := item.Parts[i].Text; text != "" {
				texts = append(texts, text)
			}
		}
		w.Open('{')
		w.Text("type", "thinking")
		w.Name("thinking")
		w.String(strings.Join(texts, betweenThoughts))
		w.Name("signature")
		w.String(signature(p, false))
		w.Close('}')
	case item.Kind == rewrite.ItemCall:
		if returns(p) {
			writeCarrier(w, p, ofAfter)
		}
		w.Open('{')
		writeCallHead(w, &item.Call)
		w.Name("input")
		writeInput(w, &item.Call)
		w.Close('}')
	default:
		if o.unseen(item); !p.Empty() {
			writeCarrier(w, p, "")
		}
	}
}

// lose notes a part of the model's that has no block here.
func (o *EncoderOptions) lose(part *rewrite.Part) {
	if !isText(part.Kind) && !part.Payload.For(o.Provider, rewrite.Messages) {
		o.Losses.Add("reply", part.Kind.String()+" cannot be shown here")
	}
}

// writeInput writes a call's arguments as the object that this dialect has.
func writeInput(w *splice.Writer, call *rewrite.Call) {
	name := "INVALID_JSON"
	switch {
	case call.Custom:
		name = "input"
	case len(call.Arguments) == 0:
		w.Literal("{}")
		return
	case call.Arguments[0] == '{' && splice.Valid(call.Arguments) == nil:
		w.Raw(call.Arguments)
		return
	}
	w.Open('{')
	w.Name(name)
	w.Bytestring(call.Arguments)
	w.Close('}')
}

// writeSpeech writes a part of a message.
func writeSpeech(w *splice.Writer, part *rewrite.Part, o EncoderOptions) {
	switch {
	case part.Payload.For(o.Provider, rewrite.Messages):
		w.Raw(part.Payload.Value)
		return
	case !isText(part.Kind):
		return
	}
	w.Open('{')
	w.Text("type", "text")
	w.Name("text")
	w.String(part.Text)
	size := w.Size()
	w.Name("citations")
	w.Open('[')
	empty := w.Size()
	for i := range part.Attributions {
		a := &part.Attributions[i]
		if a.URL != "" || !a.Payload.Empty() {
			writeCitation(w, a, a.Payload.For(o.Provider, rewrite.Messages))
		}
	}
	if w.Size() == empty {
		w.Cut(size)
	} else {
		w.Close(']')
	}
	w.Close('}')
	if p := &part.Payload; !p.Empty() {
		writeCarrier(w, p, ofPart)
	}
}
