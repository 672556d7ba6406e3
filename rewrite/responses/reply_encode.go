package responses

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncodeReply appends a whole reply for a client of this dialect.
func EncodeReply(dst []byte, r *rewrite.Reply, o EncoderOptions) []byte {
	e := NewEncoder(o)
	var unused []byte
	r.Tell(func(event *rewrite.Event) {
		switch event.Kind {
		case rewrite.EventEnd, rewrite.EventError:
			if event.Reply != nil {
				e.theirs = append(e.theirs, event.Reply.Extra...)
			}
		default:
			unused = e.Append(unused[:0], event)
		}
	})
	status, reason := e.statusOf(&r.Stop)
	fault := r.Fault
	if fault == nil {
		fault = faultFor(&r.Stop)
	}
	if fault != nil {
		status, reason = "failed", ""
	}
	e.closeAll(unused[:0], status)
	w := splice.WriteTo(dst)
	e.write(&w, status, reason, fault)
	return w.Bytes()
}

// closeAll closes what is still open when the reply ends in some state: in a
// complete one nothing can be incomplete.
func (e *Encoder) closeAll(dst []byte, status string) []byte {
	for i := range e.slots {
		if item := &e.slots[i]; !item.done && (item.output >= 0 || item.head.Kind == rewrite.ItemHosted) {
			last := item.head
			last.Incomplete = status != "completed"
			dst = e.done(dst, item, &last)
		}
	}
	if e.answered() {
		e.waiting = nil
	}
	return e.follow(dst)
}

// end closes the reply.
func (e *Encoder) end(dst []byte, stop *rewrite.Stop) []byte {
	if fault := faultFor(stop); fault != nil {
		return e.fail(dst, fault)
	}
	status, reason := e.statusOf(stop)
	dst = e.closeAll(e.begin(dst, &rewrite.Reply{}), status)
	return e.last(e.used(dst, stop.Reason), status, reason, nil)
}

// last is the event that ends the stream, and the word that some clients wait
// for.
func (e *Encoder) last(dst []byte, status, reason string, fault *rewrite.Fault) []byte {
	e.ended = true
	w := e.start(dst, "response."+status)
	w.Name("response")
	from := w.Size()
	e.write(&w, status, reason, fault)
	whole := w.Bytes()
	to := len(whole)
	from += to - w.Size()
	out := finish(&w)
	if e.o.Keep && fault == nil {
		e.response = clone(out[from:to])
	}
	return append(out, done...)
}

// fail ends the reply with a fault: as an event that stands for itself if there
// is no reply yet.
func (e *Encoder) fail(dst []byte, fault *rewrite.Fault) []byte {
	if e.begun {
		return e.last(e.used(dst, rewrite.StopError), "failed", "", fault)
	}
	e.ended = true
	w := e.start(dst, "error")
	w.Text("code", codeOf(fault))
	w.Name("message")
	w.String(fault.Message)
	w.Literal(`"param":null`)
	// The vendor has these beside the type, the specification in an object.
	w.Name("error")
	w.Open('{')
	w.Text("type", errorWord(fault))
	w.Text("code", codeOf(fault))
	w.Name("message")
	w.String(fault.Message)
	w.Literal(`"param":null`)
	w.Close('}')
	return append(finish(&w), done...)
}

// done is the word that ends every stream.
const done = "data: [DONE]\n\n"

// errorWord is the kind of a fault.
func errorWord(fault *rewrite.Fault) string {
	if fault.Type != "" {
		return fault.Type
	}
	return "server_error"
}

// codeOf is the closest that a provider has to a code.
func codeOf(fault *rewrite.Fault) string {
	switch {
	case fault.Code != "":
		return fault.Code
	case fault.Type != "":
		return fault.Type
	}
	return "server_error"
}

// statusOf is the dialect's word for why a reply has ended. A refusal in words is
// an answer; one without would look like an answer that is whole.
func (e *Encoder) statusOf(stop *rewrite.Stop) (status, reason string) {
	switch stop.Reason {
	case rewrite.StopLength:
		return "incomplete", "max_output_tokens"
	case rewrite.StopFilter:
		return "incomplete", "content_filter"
	case rewrite.StopRefusal:
		if !e.refused() {
			return "incomplete", "content_filter"
		}
	case rewrite.StopPause:
		return "incomplete", "steered"
	case rewrite.StopEnd, rewrite.StopTools, rewrite.StopMalformed, rewrite.StopCompaction, rewrite.StopError, rewrite.StopOther, rewrite.StopUnknown:
	}
	return "completed", ""
}

// refused reports whether the model has declined in words.
func (e *Encoder) refused() bool {
	return slices.ContainsFunc(e.slots, func(item outItem) bool {
		return slices.ContainsFunc(item.parts, func(p outPart) bool { return p.kind == rewrite.PartRefusal })
	})
}

// faultFor is the fault that a reply has ended with, if its reason is one.
func faultFor(stop *rewrite.Stop) *rewrite.Fault {
	switch stop.Reason {
	case rewrite.StopError:
		return &rewrite.Fault{Code: "server_error", Message: "the provider has ended the reply with an error: " + stop.Word}
	case rewrite.StopMalformed:
		return &rewrite.Fault{Code: "server_error", Message: "the model has written a call that is none: " + stop.Word}
	}
	return nil
}

// write writes the reply as an object in some state.
func (e *Encoder) write(w *splice.Writer, status, reason string, fault *rewrite.Fault) {
	w.Open('{')
	w.Text("id", e.id)
	w.Literal(`"object":"response"`)
	w.Name("created_at")
	w.Int(e.created)
	w.Value("completed_at", e.completedAt())
	w.Text("status", status)
	w.Name("incomplete_details")
	if reason == "" {
		w.Literal("null")
	} else {
		w.Open('{')
		w.Text("reason", reason)
		w.Close('}')
	}
	w.Name("error")
	if fault == nil {
		w.Literal("null")
	} else {
		w.Open('{')
		w.Text("code", codeOf(fault))
		w.Name("message")
		w.String(fault.Message)
		w.Close('}')
	}
	w.Name("model")
	w.String(e.model)
	w.Name("output")
	w.Open('[')
	for _, item := range e.output {
		if item != nil && status != "in_progress" {
			w.Raw(item)
		}
	}
	w.Close(']')
	e.writeEcho(w)
	w.Name("usage")
	if e.usage.Known() {
		writeUsage(w, &e.usage, e.o.Events, rewrite.Responses.Owned(e.theirs, "usage"))
	} else {
		w.Literal("null")
	}
	w.Close('}')
}

// writeUsage writes what was used. Clients want both details, known or not, and
// some of them (the vendor's agents library for one) nothing but numbers in them,
// so that cache writes by lifetime are for those that ask for more. What a provider of this
// dialect has said besides is added.
func writeUsage(w *splice.Writer, u *rewrite.Usage, lifetimes bool, own []byte) {
	number := func(name string, n int64) {
		w.Name(name)
		w.Int(n)
	}
	w.Open('{')
	number("input_tokens", u.InputTotal.N)
	w.Name("input_tokens_details")
	w.Open('{')
	number("cached_tokens", u.CacheRead.N)
	if u.CacheWrite.Known {
		number("cache_write_tokens", u.CacheWrite.N)
	}
	start := w.Size()
	w.Name("cache_write_tokens_details")
	w.Open('{')
	before := w.Size()
	for _, l := range [...]struct {
		name  string
		count rewrite.Count
	}{{"ttl_5m_tokens", u.CacheWrite5m}, {"ttl_30m_tokens", u.CacheWrite30m}, {"ttl_1h_tokens", u.CacheWrite1h}, {"ttl_12h_tokens", u.CacheWrite12h}} {
		if l.count.Known && lifetimes {
			number(l.name, l.count.N)
		}
	}
	if w.Size() == before {
		w.Cut(start)
	} else {
		w.Close('}')
	}
	w.Rest(splice.Field(own, "input_tokens_details"), "cached_tokens", "cache_write_tokens", "cache_write_tokens_details")
	w.Close('}')
	number("output_tokens", u.OutputTotal.N)
	w.Name("output_tokens_details")
	w.Open('{')
	number("reasoning_tokens", u.Reasoning.N)
	w.Rest(splice.Field(own, "output_tokens_details"), "reasoning_tokens")
	w.Close('}')
	number("total_tokens", u.InputTotal.N+u.OutputTotal.N)
	w.Rest(own, append([]string{"input_tokens_details", "output_tokens_details"}, usageMembers...)...)
	w.Close('}')
}
