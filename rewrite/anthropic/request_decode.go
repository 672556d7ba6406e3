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
	if _, err := splice.Peek(body); err != nil {
		return nil, err
	}
	r := requestReader{provider: provider, names: map[string]string{}}
	r.c.Dialect = rewrite.Messages
	if !splice.Fields(body, func(name, value []byte) bool {
		if !splice.Null(value) {
			r.member(string(name), value)
		}
		return r.err == nil
	}) && r.err == nil {
		return nil, refuse("the request body", "not a JSON object; send one")
	}
	switch {
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
	err  *rewrite.Failure
}

func (r *requestReader) refuse(path, format string, args ...any) {
	if r.err == nil {
		r.err = refuse(path, format, args...)
	}
}

// member reads a member of the request.
func (r *requestReader) member(name string, value []byte) {
	c := &r.c
	switch name {
	case "model":
		c.Model = splice.Text(value)
	case "stream":
		c.Stream = string(value) == "true"
	case "system":
		r.system(value)
	case "tools":
		r.each(rewrite.Path{}, "tools", value, r.tool)
	case "messages":
		r.messages = true
		r.each(rewrite.Path{}, "messages", value, r.message)
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

// each reads the elements of a member that is an array, of what stands at a path.
func (r *requestReader) each(at rewrite.Path, member string, array []byte, read func(at rewrite.Path, element []byte)) {
	i := 0
	if !splice.Elements(array, func(element []byte) bool {
		read(at.At(member, i), element)
		i++
		return r.err == nil
	}) {
		r.refuse(at.In(member).String(), "not an array; send one")
	}
}

// system reads the system prompt: a string, or blocks of text.
func (r *requestReader) system(value []byte) {
	if text, ok := splice.String(value); ok {
		if len(text) > 0 {
			r.c.System = append(r.c.System, rewrite.Part{Path: rewrite.Path{}.In("system"), Text: string(text)})
		}
		return
	}
	r.each(rewrite.Path{}, "system", value, func(at rewrite.Path, element []byte) {
		if b, ok := r.block(at, element); ok {
			r.c.System = append(r.c.System, r.part("", &b))
		}
	})
}

// block reads a block at a path.
func (r *requestReader) block(at rewrite.Path, raw []byte) (wireBlock, bool) {
	b, ok := readBlock(raw)
	if b.at = at; !ok {
		r.refuse(at.String(), `not a content block; send an object with a "type"`)
	}
	return b, ok
}

// message reads one message.
func (r *requestReader) message(at rewrite.Path, raw []byte) {
	var role, content, clear []byte
	more := false
	splice.Fields(raw, func(name, value []byte) bool {
		switch string(name) {
		case "role":
			role = value
		case "content":
			content = value
		case "clear_at":
			more, clear = more || !splice.Null(value), value
		default:
			more = more || !splice.Null(value)
		}
		return true
	})
	var blocks []wireBlock
	if text, ok := splice.String(content); ok {
		if len(text) > 0 {
			blocks = append(blocks, wireBlock{at: at.In("content"), kind: "text", values: [fields][]byte{fieldText: content}})
		}
	} else {
		r.each(at, "content", content, func(at rewrite.Path, element []byte) {
			if b, ok := r.block(at, element); ok {
				blocks = append(blocks, b)
			}
		})
	}
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
		item.Parts = r.results(b.at, b.values[fieldContent])
		if b.beyond(resultFields) {
			item.Payload = payload("", b.kind, b.raw)
		}
		r.add(item)
	}
}

// results reads what a tool gave.
func (r *requestReader) results(at rewrite.Path, content []byte) (parts []rewrite.Part) {
	if len(content) == 0 {
		return nil
	}
	if text, ok := splice.String(content); ok {
		if len(text) == 0 {
			return nil
		}
		return []rewrite.Part{{Path: at.In("content"), Text: string(text)}}
	}
	r.each(at, "content", content, func(at rewrite.Path, element []byte) {
		if b, ok := r.block(at, element); ok {
			parts = append(parts, r.part("", &b))
		}
	})
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
