package completions

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// DecodeReply reads a whole reply of provider, which tells the same events as its
// stream would. The error is a *rewrite.Failure for what is no reply.
func DecodeReply(body []byte, provider string, yield func(*rewrite.Event)) error {
	if err := splice.Valid(body); err != nil {
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: "the provider's reply is no JSON", Cause: err}
	}
	var choices, failure []byte
	splice.Fields(body, func(key, value []byte) bool {
		switch string(key) {
		case "choices":
			choices = firstOf(value)
		case "error":
			failure = value
		case "object":
			if string(value) == `"error"` {
				failure = body
			}
		}
		return true
	})
	if choices == nil && splice.Empty(failure) {
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: "the provider's reply holds no answer"}
	}
	d := NewDecoder(provider)
	d.Event(nil, body, yield)
	if !d.ended {
		d.finished = true
		d.end(yield)
	}
	return nil
}

// end closes the reply.
func (d *Decoder) end(yield func(*rewrite.Event)) {
	if !d.begun {
		return
	}
	d.closeThought(yield)
	d.closeSaid(yield)
	d.closeCalls(yield)
	d.stopTools(yield)
	d.ended = true
	d.usage(yield)
	stop := d.report.Stop
	if stop == rewrite.StopUnknown {
		if stop = rewrite.StopEnd; d.report.ToolCall {
			stop = rewrite.StopTools
		}
	}
	last := rewrite.Event{Kind: rewrite.EventEnd, Stop: rewrite.Stop{Reason: stop, Word: d.word}}
	if late := d.own.Tell(rewrite.Completions); len(late) > 0 {
		last.Reply = &rewrite.Reply{Extra: late}
	}
	d.tell(yield, last)
}

func (d *Decoder) usage(yield func(*rewrite.Event)) {
	if d.report.Usage.Known() {
		usage := d.report.Usage
		d.tell(yield, rewrite.Event{Kind: rewrite.EventUsage, Usage: &usage})
	}
}

// fail ends the reply with a fault.
func (d *Decoder) fail(data, choice []byte, yield func(*rewrite.Event)) {
	d.ended = true
	d.usage(yield)
	fault := faultIn(data)
	if fault == (rewrite.Fault{}) {
		fault = faultIn(choice)
	}
	if fault.Type == "" && fault.Code == "" {
		fault.Type = d.report.ErrorType
	}
	d.tell(yield, rewrite.Event{Kind: rewrite.EventError, Fault: &fault})
}

// faultIn reads an error, which stands in a member or, with some servers, at the
// top.
func faultIn(data []byte) (f rewrite.Fault) {
	top := false
	var nested []byte
	splice.Fields(data, func(key, value []byte) bool {
		switch string(key) {
		case "error":
			nested = value
		case "object":
			top = string(value) == `"error"`
		}
		return true
	})
	if splice.Empty(nested) {
		if !top {
			return f
		}
		nested = data
	}
	if text, ok := splice.String(nested); ok {
		return rewrite.Fault{Message: string(text)}
	}
	splice.Fields(nested, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			f.Type = splice.Text(value)
		case "code":
			if f.Code = splice.Text(value); f.Code == "" && !splice.Null(value) {
				f.Code = string(value)
			}
		case "message":
			f.Message = splice.Text(value)
		}
		return true
	})
	return f
}
