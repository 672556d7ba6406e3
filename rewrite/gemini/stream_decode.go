package gemini

import (
	"bytes"
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Decoder reads the stream of one reply: frames of which each brings some parts.
// Texts that follow one another are one part of a message, which stays open to
// the end: its sources come last.
type Decoder struct {
	provider string
	yield    func(*rewrite.Event)
	event    rewrite.Event // of what comes often
	id       string
	report   rewrite.Report // usage, and how the reply ended
	word     string
	late     []rewrite.Member
	own      rewrite.Owning
	begun    bool
	ended    bool
	items    int
	calls    int
	// parts are those of the candidate, as its sources count them.
	parts []said
	last  run
	// thought is the index of the open thought, and message that of the message
	// which a text may join.
	thought, message, texts int
	sources                 [][]byte
	urls                    []byte
	// traced are the tools that the reply shows at work.
	traced  []string
	scratch []byte
}

// said is a part of the candidate; text is kept to find the places of sources in
// it. Item is -1 for what is no text.
type said struct {
	item, part int
	text       []byte
	head       rewrite.Part
}

// run is what a part may go on with.
type run uint8

const (
	runNone run = iota
	runText
	runSigned // text that is complete in itself
	runThought
)

// NewDecoder gives a decoder for one stream of a provider.
func NewDecoder(provider string) *Decoder { return &Decoder{provider: provider} }

// Event reads one frame of the stream; frames have no names. Data that is no
// JSON object, and what is not known, says nothing.
func (d *Decoder) Event(_, data []byte, yield func(*rewrite.Event)) {
	if d.ended || splice.Valid(data) != nil {
		return
	}
	d.yield = yield
	d.frame(data)
}

// Close ends the stream. A reply that has told how it ended is over; one that was
// cut leaves open what was open.
func (d *Decoder) Close(yield func(*rewrite.Event)) {
	if d.yield = yield; !d.ended && d.report.Stop != rewrite.StopUnknown {
		d.end()
	}
	d.ended = true
}

// DecodeReply tells a whole reply as the events of a stream that has ended: one
// document, or the array of frames that a streaming method answers with when
// nobody asked for events. The error is a *rewrite.Failure.
func DecodeReply(body []byte, provider string, yield func(*rewrite.Event)) error {
	broken := &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: "the provider's reply is not a JSON object; send the request again"}
	if err := splice.Valid(body); err != nil {
		broken.Cause = err
		return broken
	}
	d := NewDecoder(provider)
	d.yield = yield
	switch body = bytes.TrimSpace(body); body[0] {
	case '{':
		d.frame(body)
	case '[':
		splice.Elements(body, func(frame []byte) bool {
			d.frame(frame)
			return true
		})
	default:
		return broken
	}
	if d.ended {
		return nil
	}
	d.begin()
	if d.report.Stop == rewrite.StopUnknown {
		d.report.Stop = rewrite.StopOther
	}
	d.end()
	return nil
}

// frame reads a reply or a part of one.
func (d *Decoder) frame(data []byte) {
	var id, model, candidates, usage, feedback, failure []byte
	if d.ended || !splice.Fields(data, func(name, value []byte) bool {
		switch string(name) {
		case "responseId":
			id = value
		case "modelVersion":
			model = value
		case "candidates":
			candidates = value
		case "usageMetadata":
			usage = value
			if besides := splice.Besides(value, usageMembers, nil); besides != nil {
				d.own.Add("", name, besides)
			}
		case "promptFeedback":
			feedback = value
			d.own.Add("", name, value)
		case "error":
			failure = value
		default:
			d.own.Add("", name, value)
		}
		return true
	}) {
		return
	}
	if !splice.Null(failure) {
		d.fault(failure)
		return
	}
	if !d.begun {
		d.id = splice.Text(id)
		d.report.Model = splice.Text(model)
		readUsage(usage, &d.report.Usage)
		d.begin()
	}
	splice.Elements(candidates, func(candidate []byte) bool {
		d.candidate(candidate)
		return true
	})
	d.feedback(feedback)
	if readUsage(usage, &d.report.Usage); d.report.Usage.Known() {
		d.event = rewrite.Event{Kind: rewrite.EventUsage, Usage: &d.report.Usage}
		d.yield(&d.event)
	}
}

func (d *Decoder) begin() {
	if !d.begun {
		d.begun = true
		d.yield(&rewrite.Event{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{ID: d.id, Model: d.report.Model, Usage: d.report.Usage}})
	}
}

// candidate reads what comes for a candidate; there is one.
func (d *Decoder) candidate(candidate []byte) {
	var content, finish, sources, urls, token, notices []byte
	first := true
	splice.Fields(candidate, func(name, value []byte) bool {
		switch string(name) {
		case "index":
			n, ok := splice.Int(value)
			first = ok && n == 0
		case "content":
			content = value
		case "finishReason":
			finish = value
		case "groundingMetadata":
			sources = value
		case "urlContextMetadata":
			urls = value
		case "continuationToken":
			token = value
		case "citationMetadata":
			notices = value
		}
		return true
	})
	if !first {
		return
	}
	splice.Fields(candidate, func(name, value []byte) bool {
		switch string(name) {
		case "index", "content", "finishReason", "groundingMetadata", "urlContextMetadata", "continuationToken", "citationMetadata":
		default:
			d.own.Add(ofCandidate, name, value)
		}
		return true
	})
	splice.Fields(content, func(name, parts []byte) bool {
		if string(name) == "parts" {
			splice.Elements(parts, func(raw []byte) bool {
				if p, ok := splitPart(raw); ok {
					d.part(&p)
				}
				return true
			})
		}
		return true
	})
	if !splice.Empty(sources) {
		d.sources = append(d.sources, bytes.Clone(sources))
	}
	if !splice.Empty(urls) {
		d.urls = bytes.Clone(urls)
	}
	d.keep("continuationToken", token)
	d.keep("citationMetadata", notices)
	if word, ok := splice.String(finish); ok && len(word) > 0 {
		d.report.ToolCall = d.calls > 0
		if readFinish(finish, &d.report); d.report.Stop != rewrite.StopUnknown {
			d.word = string(word)
		}
	}
}

// keep keeps a member of the candidate that the hub has no field for: the last
// one counts.
func (d *Decoder) keep(name string, value []byte) {
	if splice.Empty(value) {
		return
	}
	for i := range d.late {
		if d.late[i].Name == name {
			d.late[i].Value = bytes.Clone(value)
			return
		}
	}
	d.late = append(d.late, rewrite.Member{Name: name, Value: bytes.Clone(value)})
}

// feedback reads what the provider thought of the prompt.
func (d *Decoder) feedback(feedback []byte) {
	before := d.report.Stop
	if readFeedback(feedback, &d.report); d.report.Stop != before {
		splice.Fields(feedback, func(name, value []byte) bool {
			if string(name) == "blockReason" {
				d.word = splice.Text(value)
			}
			return true
		})
	}
}

// fault ends the reply with an error of the provider's.
func (d *Decoder) fault(failure []byte) {
	var f rewrite.Fault
	splice.Fields(failure, func(name, value []byte) bool {
		switch string(name) {
		case "status":
			f.Type = splice.Text(value)
		case "code":
			if n, ok := splice.Int(value); ok {
				f.Code = strconv.FormatInt(n, 10)
			}
		case "message":
			f.Message = splice.Text(value)
		}
		return true
	})
	d.ended = true
	d.yield(&rewrite.Event{Kind: rewrite.EventError, Fault: &f})
}
