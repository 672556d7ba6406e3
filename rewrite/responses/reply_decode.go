package responses

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
	d := NewDecoder(provider)
	d.end(nil, body, body, yield)
	if !d.ended {
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: "the provider's reply is no response that has ended"}
	}
	return nil
}

// end closes the reply by its last response object, whose items were told before
// as a rule.
func (d *Decoder) end(name, data, response []byte, yield func(*rewrite.Event)) {
	var output, usage, failure []byte
	if !splice.Fields(response, func(key, value []byte) bool {
		switch string(key) {
		case "output":
			output = value
		case "usage":
			usage = value
		case "error":
			failure = value
		}
		return true
	}) {
		return
	}
	readEnd(name, data, &d.report)
	if name == nil {
		readResponse(response, &d.report)
	}
	stop := d.report.Stop
	d.begin(nil, yield)
	at := 0
	splice.Elements(output, func(item []byte) bool {
		d.close(d.known(at, item), item, yield)
		at++
		return true
	})
	var u rewrite.Usage
	if readUsage(usage, &u); u.Known() {
		d.tell(yield, rewrite.Event{Kind: rewrite.EventUsage, Usage: &u})
	}
	if stop == rewrite.StopError || d.report.Failed {
		d.fail(faultOf(failure), yield)
		return
	}
	if stop == rewrite.StopUnknown {
		return
	}
	d.ended = true
	last := rewrite.Event{Kind: rewrite.EventEnd, Stop: rewrite.Stop{Reason: stop, Word: wordOf(response)}}
	if own := owned(response); len(own) > 0 {
		last.Reply = &rewrite.Reply{Extra: own}
	}
	d.tell(yield, last)
}

// known is the index under which an item of the last response was told, if it
// was: by its name, since what the provider leaves out of the stream or of the
// response shifts the others.
func (d *Decoder) known(at int, item []byte) int {
	id := ""
	splice.Fields(item, func(key, value []byte) bool {
		if string(key) == "id" {
			id = idOf(value)
		}
		return true
	})
	taken := false
	for i := range d.slots {
		if id != "" && d.slots[i].id == id {
			return d.slots[i].output
		}
		taken = taken || d.slots[i].output == at && d.slots[i].id != ""
	}
	if taken && id != "" {
		return d.slots[len(d.slots)-1].output + 1
	}
	return at
}

// wordOf is the provider's own word for why a response has ended.
func wordOf(response []byte) (word string) {
	var status, details []byte
	splice.Fields(response, func(key, value []byte) bool {
		switch string(key) {
		case "status":
			status = value
		case "incomplete_details":
			details = value
		}
		return true
	})
	splice.Fields(details, func(key, value []byte) bool {
		if string(key) == "reason" {
			word = splice.Text(value)
		}
		return true
	})
	if word == "" {
		word = splice.Text(status)
	}
	return word
}

// fail ends the reply with a fault.
func (d *Decoder) fail(fault rewrite.Fault, yield func(*rewrite.Event)) {
	d.ended = true
	d.tell(yield, rewrite.Event{Kind: rewrite.EventError, Fault: &fault})
}

// faultOf reads an error, whose members stand in an object of their own with some
// servers.
func faultOf(value []byte) (f rewrite.Fault) {
	var nested []byte
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			f.Type = splice.Text(value)
		case "code":
			f.Code = splice.Text(value)
		case "message":
			f.Message = splice.Text(value)
		case "error":
			nested = value
		}
		return true
	})
	if f.Type == "error" {
		f.Type = ""
	}
	if !splice.Empty(nested) {
		return faultOf(nested)
	}
	return f
}
