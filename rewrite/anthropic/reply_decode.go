package anthropic

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// DecodeReply tells a whole reply of a provider as the events of a stream that
// has ended. The error is a *rewrite.Failure.
func DecodeReply(body []byte, provider string, yield func(*rewrite.Event)) error {
	if err := splice.Valid(body); err != nil {
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: "the provider's reply is not JSON; send the request again", Cause: err}
	}
	d := NewDecoder(provider)
	d.yield = yield
	var failure, content []byte
	if !splice.Fields(body, func(name, value []byte) bool {
		switch string(name) {
		case "error":
			failure = value
		case "content":
			content = value
		}
		return true
	}) {
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: "the provider's reply is not a JSON object; send the request again"}
	}
	if !splice.Null(failure) {
		d.fault(failure)
		return nil
	}
	d.message(body)
	at := int64(0)
	splice.Elements(content, func(raw []byte) bool {
		d.start(at, raw)
		d.finish(at)
		at++
		return true
	})
	d.end()
	return nil
}

// message reads the reply that a whole one is and message_start carries.
func (d *Decoder) message(message []byte) {
	var begin rewrite.Reply
	splice.Fields(message, func(name, value []byte) bool {
		switch string(name) {
		case "id":
			begin.ID = splice.Text(value)
		case "model":
			begin.Model = splice.Text(value)
		case "content", "type", "role":
		default:
			begin.Extra = append(begin.Extra, d.outcome(string(name), value)...)
		}
		return true
	})
	d.begun = true
	begin.Usage = d.usage
	d.yield(&rewrite.Event{Kind: rewrite.EventBegin, Reply: &begin})
	d.used()
}

// outcome reads a member that says how a reply went, and gives what the hub has no
// field for.
func (d *Decoder) outcome(name string, value []byte) (extra []rewrite.Member) {
	own := func(value []byte) []rewrite.Member {
		return []rewrite.Member{{Name: rewrite.Messages.Own(name), Value: append(rewrite.JSON(nil), value...)}}
	}
	switch name {
	case "usage":
		readUsage(value, &d.usage)
		if besides := splice.Besides(value, usageMembers, usageDetails); besides != nil {
			return own(besides)
		}
	case "stop_reason":
		if word, ok := splice.String(value); ok && len(word) > 0 {
			var r rewrite.Report
			readStop(value, &r)
			d.stop.Reason, d.stop.Word = r.Stop, string(word)
		}
	case "stop_sequence":
		if word, ok := splice.String(value); ok {
			d.stop.Sequence = string(word)
		}
	case "stop_details":
		if splice.Null(value) {
			return own(value)
		}
		d.stop.Details = append(rewrite.JSON(nil), value...)
	default:
		if splice.Null(value) || !slices.Contains(named, name) {
			return own(value)
		}
		return []rewrite.Member{{Name: name, Value: append(rewrite.JSON(nil), value...)}}
	}
	return nil
}

// used tells what has been used so far.
func (d *Decoder) used() {
	if d.usage.Known() {
		d.yield(&rewrite.Event{Kind: rewrite.EventUsage, Usage: &d.usage})
	}
}

// fault ends the reply with an error of the provider's.
func (d *Decoder) fault(failure []byte) {
	var f rewrite.Fault
	splice.Fields(failure, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			f.Type = splice.Text(value)
		case "message":
			f.Message = splice.Text(value)
		case "details":
			splice.Fields(value, func(name, value []byte) bool {
				if string(name) == "error_code" {
					f.Code = splice.Text(value)
				}
				return true
			})
		}
		return true
	})
	d.ended = true
	d.yield(&rewrite.Event{Kind: rewrite.EventError, Fault: &f})
}

// end closes the reply.
func (d *Decoder) end() {
	d.endText()
	if d.stop.Reason == rewrite.StopUnknown {
		d.stop.Reason = rewrite.StopOther
	}
	d.ended = true
	e := rewrite.Event{Kind: rewrite.EventEnd, Stop: d.stop}
	if len(d.late) > 0 {
		e.Reply = &rewrite.Reply{Extra: d.late}
	}
	d.yield(&e)
}
