package completions

import (
	"strconv"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// reasonOf is the dialect's word for why a reply has ended.
func reasonOf(stop rewrite.StopReason, refused bool) string {
	switch stop {
	case rewrite.StopTools:
		return "tool_calls"
	case rewrite.StopLength:
		return "length"
	case rewrite.StopFilter:
		return "content_filter"
	case rewrite.StopRefusal:
		if !refused {
			return "content_filter"
		}
	case rewrite.StopEnd, rewrite.StopPause, rewrite.StopMalformed, rewrite.StopCompaction, rewrite.StopError,
		rewrite.StopOther, rewrite.StopUnknown:
	}
	return "stop"
}

// faultFor is the fault that a reply has ended with, if its reason is one.
func faultFor(stop *rewrite.Stop) *rewrite.Fault {
	switch stop.Reason {
	case rewrite.StopError:
		return &rewrite.Fault{Type: "server_error", Message: "the provider has ended the reply with an error: " + stop.Word}
	case rewrite.StopMalformed:
		return &rewrite.Fault{Type: "server_error", Message: "the model has written a call that is none: " + stop.Word}
	}
	return nil
}

// end closes the reply.
func (e *Encoder) end(dst []byte, stop *rewrite.Stop, late *rewrite.Reply) []byte {
	if late != nil {
		e.first.Extra = append(e.first.Extra, late.Extra...)
		e.head = appendHead(nil, &e.first, &e.o, "chat.completion.chunk")
	}
	if fault := faultFor(stop); fault != nil {
		return e.fail(dst, fault)
	}
	e.ended = true
	for i := range e.slots {
		if item := &e.slots[i]; !item.done && item.head.Kind == rewrite.ItemMessage {
			dst = e.done(dst, item, nil)
		}
	}
	dst = e.late(dst)
	w := e.start(dst)
	w.Close('}')
	w.Literal(`"finish_reason":` + strconv.Quote(reasonOf(stop.Reason, e.refused)))
	writeOwn(&w, e.first.Extra, ofChoice)
	w.Close('}')
	w.Close(']')
	w.Close('}')
	dst = append(w.Bytes(), "\n\n"...)
	if e.usage.Known() && wantsUsage(e.o.Request) {
		dst = append(dst, "data: "...)
		w = splice.WriteTo(dst)
		w.Open('{')
		w.Raw(e.head)
		w.Literal(`"choices":[]`)
		w.Name("usage")
		writeUsage(&w, &e.usage, rewrite.Completions.Owned(e.first.Extra, "usage"))
		w.Close('}')
		dst = append(w.Bytes(), "\n\n"...)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// wantsUsage says that the client has asked for the usage of a stream.
func wantsUsage(c *rewrite.Conversation) bool {
	if c == nil {
		return false
	}
	for i := range c.Extra {
		if c.Extra[i].Name == "stream_options" {
			return gjson.GetBytes(c.Extra[i].Value, "include_usage").Bool()
		}
	}
	return false
}

// fail ends the reply with a fault. No [DONE] follows, because it is not done.
func (e *Encoder) fail(dst []byte, fault *rewrite.Fault) []byte {
	e.ended = true
	dst = append(dst, "data: "...)
	return append(appendFault(dst, fault), "\n\n"...)
}

func appendFault(dst []byte, fault *rewrite.Fault) []byte {
	kind := fault.Type
	if kind == "" {
		kind = "server_error"
	}
	w := splice.WriteTo(dst)
	w.Literal(`{"error":{`)
	w.Name("message")
	w.String(fault.Message)
	w.Text("type", kind)
	w.Literal(`"param":null`)
	w.Name("code")
	if fault.Code == "" {
		w.Literal("null")
	} else {
		w.String(fault.Code)
	}
	w.Close('}')
	w.Close('}')
	return w.Bytes()
}

// EncodeReply appends a whole reply for a client of this dialect.
func EncodeReply(dst []byte, r *rewrite.Reply, o EncoderOptions) []byte {
	fault := r.Fault
	if fault == nil {
		fault = faultFor(&r.Stop)
	}
	if fault != nil {
		return appendFault(dst, fault)
	}
	m := replyWriter{Writer: splice.WriteTo(dst), o: &o}
	m.Open('{')
	m.Raw(appendHead(nil, r, &o, "chat.completion"))
	m.Literal(`"choices":[{"index":0,"message":{"role":"assistant"`)
	refused := m.message(r.Items)
	if !cites(r.Items) { // else it has written its annotations
		writeOwn(&m.Writer, r.Extra, ofMessage)
	}
	m.Close('}')
	m.Literal(`"logprobs":null`)
	m.Text("finish_reason", reasonOf(r.Stop.Reason, refused))
	writeOwn(&m.Writer, r.Extra, ofChoice)
	m.Close('}')
	m.Close(']')
	if r.Usage.Known() {
		m.Name("usage")
		writeUsage(&m.Writer, &r.Usage, rewrite.Completions.Owned(r.Extra, "usage"))
	}
	m.Close('}')
	return m.Bytes()
}

// writeUsage writes what was used. What the provider has not told is left out,
// since zero would say that nothing was read from its cache. What a provider of this
// dialect has said besides is added.
func writeUsage(w *splice.Writer, u *rewrite.Usage, own []byte) {
	number := func(name string, n int64) {
		w.Name(name)
		w.Int(n)
	}
	w.Open('{')
	number("prompt_tokens", u.InputTotal.N)
	number("completion_tokens", u.OutputTotal.N)
	number("total_tokens", u.InputTotal.N+u.OutputTotal.N)
	prompt, completion := splice.Field(own, "prompt_tokens_details"), splice.Field(own, "completion_tokens_details")
	if known := u.CacheRead.Known || u.CacheWrite.Known; known || len(prompt) > 0 && prompt[0] == '{' {
		w.Name("prompt_tokens_details")
		w.Open('{')
		if known {
			number("cached_tokens", u.CacheRead.N)
		}
		if u.CacheWrite.Known {
			number("cache_write_tokens", u.CacheWrite.N)
		}
		w.Rest(prompt, "cached_tokens", "cache_write_tokens")
		w.Close('}')
	}
	if u.Reasoning.Known || len(completion) > 0 && completion[0] == '{' {
		w.Name("completion_tokens_details")
		w.Open('{')
		if u.Reasoning.Known {
			number("reasoning_tokens", u.Reasoning.N)
		}
		w.Rest(completion, "reasoning_tokens")
		w.Close('}')
	}
	w.Rest(own, append([]string{"prompt_tokens_details", "completion_tokens_details"}, usageMembers...)...)
	w.Close('}')
}
