package completions

import (
	"fmt"
	"hash/fnv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// assistant writes what the assistant has made as one message: what it has
// thought, what it has said, and what it has called.
func (w *requestWriter) assistant(items []rewrite.Entry) {
	start := w.Size()
	w.Literal(`{"role":"assistant"`)
	before := w.Size()
	said := w.said(items)
	w.thought(items)
	w.calls(items)
	switch {
	case w.Size() == before:
		w.Cut(start)
		return
	case !said:
		w.Literal(`"content":null`)
	}
	for i := range items {
		if name := w.voice(&items[i].Item.Voice).Name; name != "" {
			w.Text("name", name)
			break
		}
	}
	w.Close('}')
}

// said writes the text of a message. Several texts are several parts, so that
// nothing is put between them.
func (w *requestWriter) said(items []rewrite.Entry) bool {
	var texts []string
	var refusal string
	var audio []byte
	for i := range items {
		if items[i].Item.Kind != rewrite.ItemMessage {
			continue
		}
		for j := range items[i].Item.Parts {
			p := &items[i].Item.Parts[j]
			switch p.Kind {
			case rewrite.PartText, rewrite.PartSummary:
				texts = append(texts, p.Text)
			case rewrite.PartRefusal:
				refusal += p.Text
			case rewrite.PartImage, rewrite.PartAudio, rewrite.PartVideo, rewrite.PartFile, rewrite.PartOpaque:
				if member, raw := w.native(&p.Payload); member == "audio" {
					audio = raw
				} else {
					w.losses.Add(fmt.Sprintf("%s.parts.%d", items[i].Path, j), "the dialect has no place for "+p.Kind.String()+" that the model made")
				}
			}
		}
	}
	switch len(texts) {
	case 0:
	case 1:
		w.Name("content")
		w.String(texts[0])
	default:
		w.Name("content")
		w.Open('[')
		for _, text := range texts {
			w.Literal(`{"type":"text"`)
			w.Name("text")
			w.String(text)
			w.Close('}')
		}
		w.Close(']')
	}
	w.Text("refusal", refusal)
	w.Value("audio", audio)
	return len(texts) > 0
}

// thought writes the reasoning that the provider wants back: the members in which
// it has come.
func (w *requestWriter) thought(items []rewrite.Entry) {
	written := map[string]bool{}
	for i := range items {
		item, path := items[i].Item, items[i].Path
		switch item.Kind {
		case rewrite.ItemReasoning:
			member, raw := w.native(&item.Payload)
			if member != "reasoning" {
				if !item.Plain() {
					w.losses.Add(path, "reasoning that this provider cannot read")
				}
				continue
			}
			splice.Fields(raw, func(key, value []byte) bool {
				if name := string(key); written[name] {
					w.losses.Add(path, "reasoning behind other reasoning of the same message")
				} else {
					w.Value(name, value)
					written[name] = true
				}
				return true
			})
		case rewrite.ItemHosted:
			w.losses.Add(path, "an activity of another provider; its text and sources stay")
		case rewrite.ItemOpaque:
			w.losses.Add(path, "known to another dialect only: "+item.Payload.Format)
		case rewrite.ItemMessage, rewrite.ItemCall, rewrite.ItemResult, rewrite.ItemDirective:
		}
	}
}

// longestCall is how many characters the name of a call may have.
const longestCall = 40

// callID is a call's name. That of another dialect is shortened, in the same way
// wherever it stands.
func (w *requestWriter) callID(id string) string {
	if len(id) <= longestCall || w.c.Dialect == rewrite.Completions {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return fmt.Sprintf("%s_%016x", id[:longestCall-17], h.Sum64())
}

// calls writes the calls of a message.
func (w *requestWriter) calls(items []rewrite.Entry) {
	start := w.Size()
	w.Name("tool_calls")
	w.Open('[')
	before := w.Size()
	for i := range items {
		if items[i].Item.Kind != rewrite.ItemCall {
			continue
		}
		if _, raw := w.native(&items[i].Item.Payload); raw != nil {
			w.Raw(raw)
			continue
		}
		call := &items[i].Item.Call
		kind, input := "function", "arguments"
		if call.Custom {
			kind, input = "custom", "input"
		}
		w.Open('{')
		w.Name("id")
		w.String(w.callID(call.ID))
		w.Text("type", kind)
		w.Name(kind)
		w.Open('{')
		w.Text("name", toolName(call.Namespace, call.Name))
		w.Name(input)
		if len(call.Arguments) == 0 && !call.Custom {
			w.String("{}")
		} else {
			w.Bytestring(call.Arguments)
		}
		w.Close('}')
		w.Close('}')
	}
	if w.Size() == before {
		w.Cut(start)
		return
	}
	w.Close(']')
}
