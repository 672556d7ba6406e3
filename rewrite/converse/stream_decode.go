package converse

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Decoder reads the stream of one reply.
type Decoder struct {
	provider string
	yield    func(*rewrite.Event)
	event    rewrite.Event // of what comes often
	usage    rewrite.Usage
	stop     rewrite.Stop
	late     []rewrite.Member
	begun    bool
	ended    bool
	// items counts those that were opened, and open has the blocks by the
	// dialect's index.
	items int
	open  map[int64]*block
	// said is the message that a block of text joins, and tools are the names of
	// those that the provider runs, by the call.
	said  *speech
	tools map[string]string
	// text is where text is unescaped.
	text []byte
}

// NewDecoder gives a decoder for one stream of a provider, whose events are those
// that Splitter finds.
func NewDecoder(provider string) *Decoder {
	return &Decoder{provider: provider, open: map[int64]*block{}, tools: map[string]string{}}
}

// Event reads one event of the stream and yields what it says. Data that is no
// JSON object, and what is not known, says nothing.
func (d *Decoder) Event(name, data []byte, yield func(*rewrite.Event)) {
	if d.ended {
		return
	}
	d.yield = yield
	if isException(name) {
		d.fault(faultOf(name, data))
		return
	}
	if splice.Valid(data) != nil {
		return
	}
	switch string(name) {
	case "contentBlockDelta":
		if at, delta, ok := atIndex(data, "delta"); ok {
			d.begin()
			d.delta(at, delta)
		}
	case "contentBlockStart":
		if at, start, ok := atIndex(data, "start"); ok {
			d.begin()
			d.finish(at)
			d.start(at, start)
		}
	case "contentBlockStop":
		if at, _, ok := atIndex(data, ""); ok {
			d.finish(at)
		}
	case "messageStart":
		d.begin()
	case "messageStop":
		d.begin()
		d.messageStop(data)
	case "metadata":
		d.begin()
		d.metadata(data)
	}
}

// Close ends the stream. A message that has said how it ended is over; one that
// was cut leaves open what was open.
func (d *Decoder) Close(yield func(*rewrite.Event)) {
	if d.yield = yield; !d.ended {
		if d.stop.Reason != rewrite.StopUnknown {
			d.end()
		} else {
			d.endText()
		}
	}
	d.ended = true
}

// begin opens the reply. The dialect gives neither an identifier nor a model.
func (d *Decoder) begin() {
	if !d.begun {
		d.begun = true
		d.yield(&rewrite.Event{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{}})
	}
}

// messageStop reads how the message ended. What was used comes after that.
func (d *Decoder) messageStop(data []byte) {
	splice.Fields(data, func(name, value []byte) bool {
		if string(name) == "stopReason" {
			d.stopped(value)
		} else {
			d.late = addExtra(d.late, name, value)
		}
		return true
	})
	d.endText()
	d.sequence()
	if d.stop.Reason == rewrite.StopUnknown {
		d.stop.Reason = rewrite.StopOther
	}
	if d.usage.Known() {
		d.end()
	}
}

// stopped reads why the message ended.
func (d *Decoder) stopped(value []byte) {
	if word := splice.Text(value); word != "" {
		d.stop.Reason, d.stop.Word = stopOf(word), word
	}
}

// sequence finds the stop sequence among what the model's vendor has said, where
// a request has asked for it.
func (d *Decoder) sequence() {
	if d.stop.Word != "stop_sequence" {
		return
	}
	var find func(object []byte)
	find = func(object []byte) {
		splice.Fields(object, func(name, value []byte) bool {
			switch string(name) {
			case "stop_sequence":
				d.stop.Sequence = splice.Text(value)
			case "delta":
				find(value)
			}
			return true
		})
	}
	for _, m := range d.late {
		if m.Name == "additionalModelResponseFields" {
			find(m.Value)
		}
	}
}

// metadata reads what was used, which is the last that comes.
func (d *Decoder) metadata(data []byte) {
	splice.Fields(data, func(name, value []byte) bool {
		if string(name) == "usage" {
			readUsage(value, &d.usage)
		} else {
			d.late = addExtra(d.late, name, value)
		}
		return true
	})
	if d.usage.Known() {
		d.yield(&rewrite.Event{Kind: rewrite.EventUsage, Usage: &d.usage})
	}
	if d.stop.Reason != rewrite.StopUnknown {
		d.end()
	}
}

// fault ends the reply with an error of the provider's.
func (d *Decoder) fault(f rewrite.Fault) {
	d.ended = true
	d.yield(&rewrite.Event{Kind: rewrite.EventError, Fault: &f})
}

// end closes the reply.
func (d *Decoder) end() {
	d.endText()
	d.ended = true
	e := rewrite.Event{Kind: rewrite.EventEnd, Stop: d.stop}
	if len(d.late) > 0 {
		e.Reply = &rewrite.Reply{Extra: d.late}
	}
	d.yield(&e)
}
