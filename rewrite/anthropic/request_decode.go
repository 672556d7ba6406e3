package anthropic

import (
	"fmt"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// DecodeRequest reads a client's request. The provider is whose replies the
// conversation holds where it does not say otherwise. Raw values share memory
// with body. The error is a *rewrite.Failure.
func DecodeRequest(body []byte, provider string) (*rewrite.Conversation, error) {
	if err := splice.Valid(body); err != nil {
		return nil, refuse("the request body", "%v; send one JSON object", err)
	}
	r := requestReader{provider: provider, names: map[string]string{}}
	r.c.Dialect, r.c.Items = rewrite.Messages, rewrite.RoomFor(len(body))
	w, models, streams := splice.Walk(body), 0, 0
	object := w.Fields(func(name []byte) {
		switch string(name) {
		case "model":
			models++
		case "stream":
			streams++
		}
		if w.Next() != 'n' && r.err == nil {
			r.member(string(name), &w)
		}
	})
	switch {
	case !object:
		return nil, refuse("the request body", "not a JSON object; send one")
	case models > 1 || streams > 1:
		_, err := splice.Peek(body) // which says where
		return nil, err
	case r.err != nil:
		return nil, r.err
	case !r.messages:
		return nil, refuse("messages", "a request needs an array of messages")
	}
	return &r.c, nil
}

// refuse is the failure of a request that is wrong at a path.
func refuse(path, format string, args ...any) *rewrite.Failure {
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: path + ": " + fmt.Sprintf(format, args...)}
}

// requestReader reads one request.
type requestReader struct {
	c        rewrite.Conversation
	provider string
	// names are those of the tools, by the identifiers of their calls.
	names    map[string]string
	messages bool
	// next is a payload for the item that comes next.
	next rewrite.Payload
	// blocks are those of the message that is read, and inner those of its results.
	blocks, inner []wireBlock
	err           *rewrite.Failure
}

func (r *requestReader) refuse(path, format string, args ...any) {
	if r.err == nil {
		r.err = refuse(path, format, args...)
	}
}

// member reads a member of the request.
func (r *requestReader) member(name string, w *splice.Walker) {
	switch name {
	case "system":
		r.system(w)
	case "tools":
		r.each("tools", w, func(at rewrite.Path) { r.tool(at, w.Value()) })
	case "messages":
		r.messages = true
		r.each("messages", w, func(at rewrite.Path) { r.message(at, w) })
	default:
		r.setting(name, w.Value())
	}
}

// setting reads a member that is no part of the prompt.
func (r *requestReader) setting(name string, value []byte) {
	c := &r.c
	switch name {
	case "model":
		c.Model = splice.Text(value)
	case "stream":
		c.Stream = string(value) == "true"
	case "tool_choice":
		r.choice(value)
	case "thinking":
		r.thinking(value)
	case "output_config":
		r.output(value)
	case "output_format":
		r.format(value)
	case "metadata":
		r.metadata(value)
	case "service_tier":
		c.ServiceTier = splice.Text(value)
	case "max_tokens":
		c.Sampling.MaxTokens = value
	case "temperature":
		c.Sampling.Temperature = value
	case "top_p":
		c.Sampling.TopP = value
	case "top_k":
		c.Sampling.TopK = value
	case "stop_sequences":
		splice.Elements(value, func(word []byte) bool {
			c.Sampling.Stop = append(c.Sampling.Stop, splice.Text(word))
			return true
		})
	default:
		c.Extra = append(c.Extra, rewrite.Member{Name: name, Value: value})
	}
}

// each reads the elements of a member that is an array.
func (r *requestReader) each(member string, w *splice.Walker, read func(at rewrite.Path)) {
	i := 0
	if !w.Elements(func() {
		if r.err == nil {
			read(rewrite.Path{}.At(member, i))
		}
		i++
	}) {
		r.refuse(member, "not an array; send one")
	}
}

// system reads the system prompt.
func (r *requestReader) system(w *splice.Walker) {
	r.content(rewrite.Path{}, "system", w)
	for i := range r.blocks {
		r.c.System = append(r.c.System, r.part("", &r.blocks[i]))
	}
}

// content reads the blocks that a member of what stands at a path holds; a string
// is one of text.
func (r *requestReader) content(at rewrite.Path, member string, w *splice.Walker) {
	r.blocks, r.inner = r.blocks[:0], r.inner[:0]
	if w.Next() == '"' {
		if text := w.Value(); len(text) > 2 {
			r.blocks = append(r.blocks, wireBlock{at: at.In(member), kind: "text", values: [fields][]byte{fieldText: text}})
		}
		return
	}
	if !w.Elements(func() {
		last := len(r.blocks)
		r.blocks = append(r.blocks, wireBlock{at: at.At(member, last)})
		if b := &r.blocks[last]; !b.read(w, r.results) {
			r.notBlock(b.at)
		}
	}) {
		r.refuse(at.In(member).String(), "not an array; send one")
	}
}

func (r *requestReader) notBlock(at rewrite.Path) {
	r.refuse(at.String(), `not a content block; send an object with a "type"`)
}

// results reads the blocks that a result holds.
func (r *requestReader) results(w *splice.Walker) []wireBlock {
	first := len(r.inner)
	w.Elements(func() {
		r.inner = append(r.inner, wireBlock{})
		r.inner[len(r.inner)-1].read(w, nil)
	})
	return r.inner[first:]
}

// message reads one message.
func (r *requestReader) message(at rewrite.Path, w *splice.Walker) {
	var role, clear []byte
	start, more, content := w.Offset(), false, false
	w.Fields(func(name []byte) {
		switch string(name) {
		case "role":
			role = w.Value()
		case "content":
			content = true
			r.content(at, "content", w)
		case "clear_at":
			more, clear = more || w.Next() != 'n', w.Value()
		default:
			more = more || w.Next() != 'n'
		}
	})
	if !content {
		r.refuse(at.In("content").String(), "not an array; send one")
		return
	}
	raw, blocks := w.Since(start), r.blocks
	switch splice.Text(role) {
	case "user":
		r.cleared()
		if r.user(at, blocks); len(blocks) == 0 {
			r.add(rewrite.Item{Kind: rewrite.ItemMessage, Path: at, Role: rewrite.RoleUser})
		}
	case "assistant":
		if r.assistant(at, blocks); len(blocks) == 0 {
			r.add(rewrite.Item{Kind: rewrite.ItemMessage, Path: at, Role: rewrite.RoleAssistant})
		}
	case "system":
		if more {
			r.wholeMessage(at, raw, blocks, splice.Text(clear) == "next_user_message")
		} else {
			r.operator(at, blocks)
		}
	default:
		r.refuse(at.String()+".role", `not a role; send "user", "assistant" or "system"`)
	}
}

// user reads a message of the user: results of tools, and what he says.
func (r *requestReader) user(at rewrite.Path, blocks []wireBlock) {
	var said *rewrite.Item
	for i := range blocks {
		b := &blocks[i]
		if b.kind != "tool_result" {
			if said == nil {
				said = r.add(rewrite.Item{Kind: rewrite.ItemMessage, Path: at, Role: rewrite.RoleUser})
			}
			said.Parts = append(said.Parts, r.part("", b))
			continue
		}
		said = nil
		item := rewrite.Item{Kind: rewrite.ItemResult, Path: b.at, Role: rewrite.RoleUser, Failed: string(b.values[fieldFailed]) == "true", Mark: b.mark}
		item.Call.ID = b.text(fieldCallID)
		item.Call.Name = r.names[item.Call.ID]
		if item.Call.ID == "" {
			r.refuse(b.at.String()+".tool_use_id", "a result needs the identifier of its call")
			return
		}
		item.Parts = r.given(b)
		if b.beyond(resultFields) {
			item.Payload = payload("", b.kind, b.raw)
		}
		r.add(item)
	}
}

// given reads what a tool gave.
func (r *requestReader) given(b *wireBlock) (parts []rewrite.Part) {
	content := b.values[fieldContent]
	if len(content) == 0 {
		return nil
	}
	if text, ok := splice.TextOf(content); ok {
		if text == "" {
			return nil
		}
		return []rewrite.Part{{Path: b.at.In("content"), Text: text}}
	}
	inner := b.inner
	if inner == nil {
		// The type of the block stands behind its content.
		w := splice.Walk(content)
		inner = r.results(&w)
	}
	if content[0] != '[' {
		r.refuse(b.at.In("content").String(), "not an array; send one")
	}
	for i := range inner {
		if inner[i].at = b.at.At("content", i); inner[i].kind == "" {
			r.notBlock(inner[i].at)
		}
		parts = append(parts, r.part("", &inner[i]))
	}
	return parts
}

// add adds an item, with the payload that was announced for it.
func (r *requestReader) add(item rewrite.Item) *rewrite.Item {
	if !r.next.Empty() {
		item.Payload, r.next = r.next, rewrite.Payload{}
	}
	r.c.Items = append(r.c.Items, item)
	return &r.c.Items[len(r.c.Items)-1]
}
