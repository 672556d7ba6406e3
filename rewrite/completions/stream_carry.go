package completions

import (
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// done closes an item: what its provider wants back is carried by the reasoning.
func (e *Encoder) done(dst []byte, item *outItem, last *rewrite.Item) []byte {
	for i := range item.parts {
		if p := &item.parts[i]; !p.done {
			dst = e.closePart(dst, item, p, nil)
		}
	}
	item.done = true
	if last == nil {
		last = &item.head
	}
	switch item.head.Kind {
	case rewrite.ItemCall:
		dst = e.closeCall(dst, item, last)
		if e.o.owns(&last.Payload, "tool_call") {
			return e.extra(dst, item, last.Payload.Value)
		}
		return e.carry(dst, item.head.Call.ID, &last.Payload)
	case rewrite.ItemReasoning:
		return e.carryReasoning(dst, &last.Payload)
	case rewrite.ItemHosted:
		if last.Payload.Empty() {
			return dst
		}
		return e.detail(dst, "", activity(last))
	case rewrite.ItemOpaque:
		return e.carry(dst, "", &last.Payload)
	case rewrite.ItemMessage, rewrite.ItemResult, rewrite.ItemDirective:
	}
	return dst
}

// closeCall tells the arguments that were not told yet.
func (e *Encoder) closeCall(dst []byte, item *outItem, last *rewrite.Item) []byte {
	if item.told {
		return dst
	}
	whole := item.arguments
	if len(whole) == 0 {
		whole = last.Call.Arguments
	}
	if item.unwrap {
		if text, ok := rewrite.UnwrapFreeText(whole); ok {
			whole = []byte(text)
		}
	} else if len(whole) == 0 && !item.head.Call.Custom {
		// A call without arguments is one with none, which clients parse.
		whole = []byte("{}")
	}
	if len(whole) == 0 {
		return dst
	}
	return e.argument(dst, item, whole)
}

// extra tells what a provider of this dialect has hung on to a call.
func (e *Encoder) extra(dst []byte, item *outItem, call []byte) []byte {
	w := e.start(dst)
	w.Literal(`"tool_calls":[{"index":`)
	w.Int(int64(item.place))
	size := w.Size()
	splice.Fields(call, func(key, value []byte) bool {
		switch string(key) {
		case "index", "id", "type", "function", "custom":
		default:
			w.Value(string(key), flat(clone(value)))
		}
		return true
	})
	if w.Size() == size {
		return dst
	}
	w.Close('}')
	w.Close(']')
	return finish(&w, "null")
}

// carryReasoning tells what a provider wants back of its reasoning. A provider of
// this dialect has told its text already, and says the rest in its own way.
func (e *Encoder) carryReasoning(dst []byte, p *rewrite.Payload) []byte {
	if !e.o.owns(p, "reasoning") {
		return e.carry(dst, "", p)
	}
	details := gjson.GetBytes(p.Value, "reasoning_details")
	if !details.IsArray() {
		return dst
	}
	w := e.start(dst)
	w.Name("reasoning_details")
	w.Raw(flat([]byte(details.Raw)))
	return finish(&w, "null")
}

// flat is JSON text without line breaks, which would end an event.
func flat(text []byte) []byte {
	for i, c := range text {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
	return text
}

// carry tells a payload that has to come back; that of a provider of this dialect
// comes back by itself.
func (e *Encoder) carry(dst []byte, call string, p *rewrite.Payload) []byte {
	if p.Empty() {
		return dst
	}
	return e.detail(dst, call, p.Envelope())
}

// detail keeps an entry of the reasoning that is opaque to the client for the end.
func (e *Encoder) detail(dst []byte, id, data string) []byte {
	writeDetail(&e.entries, id, data, e.details)
	e.details++
	return dst
}

// late tells the lists that were kept for the end, each whole: the vendor's
// library takes the newest for all of one.
func (e *Encoder) late(dst []byte) []byte {
	return e.list(e.list(dst, "annotations", &e.sources), "reasoning_details", &e.entries)
}

// list tells a list, and empties it.
func (e *Encoder) list(dst []byte, name string, elements *splice.Writer) []byte {
	if elements.Size() == 0 {
		return dst
	}
	w := e.start(dst)
	w.Name(name)
	w.Open('[')
	w.Raw(elements.Bytes())
	w.Close(']')
	*elements = splice.Writer{}
	return finish(&w, "null")
}

func writeDetail(w *splice.Writer, id, data string, index int) {
	w.Literal(`{"type":"reasoning.encrypted"`)
	w.Text("id", id)
	w.Text("data", data)
	w.Text("format", ownFormat)
	w.Name("index")
	w.Int(int64(index))
	w.Close('}')
}
