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
func (e *Encoder) end(dst []byte, stop *rewrite.Stop) []byte {
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
	dst = finish(&w, strconv.Quote(reasonOf(stop.Reason, e.refused)))
	if e.usage.Known() && wantsUsage(e.o.Request) {
		dst = append(dst, "data: "...)
		w = splice.WriteTo(dst)
		w.Open('{')
		w.Raw(e.head)
		w.Literal(`"choices":[]`)
		w.Name("usage")
		writeUsage(&w, &e.usage)
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
	m.Close('}')
	m.Literal(`"logprobs":null`)
	m.Text("finish_reason", reasonOf(r.Stop.Reason, refused))
	m.Close('}')
	m.Close(']')
	if r.Usage.Known() {
		m.Name("usage")
		writeUsage(&m.Writer, &r.Usage)
	}
	m.Close('}')
	return m.Bytes()
}

// writeUsage writes what was used. What the provider has not told is left out,
// since zero would say that nothing was read from its cache.
func writeUsage(w *splice.Writer, u *rewrite.Usage) {
	number := func(name string, n int64) {
		w.Name(name)
		w.Int(n)
	}
	w.Open('{')
	number("prompt_tokens", u.InputTotal.N)
	number("completion_tokens", u.OutputTotal.N)
	number("total_tokens", u.InputTotal.N+u.OutputTotal.N)
	if u.CacheRead.Known || u.CacheWrite.Known {
		w.Name("prompt_tokens_details")
		w.Open('{')
		number("cached_tokens", u.CacheRead.N)
		if u.CacheWrite.Known {
			number("cache_write_tokens", u.CacheWrite.N)
		}
		w.Close('}')
	}
	if u.Reasoning.Known {
		w.Name("completion_tokens_details")
		w.Open('{')
		number("reasoning_tokens", u.Reasoning.N)
		w.Close('}')
	}
	w.Close('}')
}
