package converse

import (
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// DecodeReply tells a whole reply of a provider as the events of a stream that
// has ended. The error is a *rewrite.Failure.
func DecodeReply(body []byte, provider string, yield func(*rewrite.Event)) error {
	broken := &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: "the provider's reply is not a JSON object; send the request again"}
	if err := splice.Valid(body); err != nil {
		broken.Cause = err
		return broken
	}
	reply, ok := readWhole(body)
	if !ok {
		return broken
	}
	d := NewDecoder(provider)
	d.yield = yield
	if reply.content == nil && reply.failed() {
		d.fault(rewrite.Fault{Type: reply.failure, Message: splice.Text(reply.message)})
		return nil
	}
	d.begin()
	at := int64(0)
	splice.Elements(reply.content, func(raw []byte) bool {
		d.wholeBlock(at, raw)
		d.finish(at)
		at++
		return true
	})
	d.endText()
	d.late = reply.extra
	d.stopped(reply.stop)
	d.sequence()
	if d.stop.Reason == rewrite.StopUnknown {
		d.stop.Reason = rewrite.StopOther
	}
	if readUsage(reply.usage, &d.usage); d.usage.Known() {
		d.yield(&rewrite.Event{Kind: rewrite.EventUsage, Usage: &d.usage})
	}
	d.end()
	return nil
}

// wholeBlock tells a block that is complete.
func (d *Decoder) wholeBlock(at int64, raw []byte) {
	switch kind, value := only(raw); kind {
	case kindText:
		d.write(d.startPart(at, kindText, rewrite.Part{}), value)
	case kindCited:
		d.wholeCited(at, raw, value)
	case kindImage:
		m, _ := readMembers(value)
		source, _ := readMembers(m.source)
		b := d.startPart(at, kind, rewrite.Part{Kind: rewrite.PartImage, MIME: "image/" + splice.Text(m.format)})
		b.data = appendDecoded(nil, source.bytes)
	case kindReasoning:
		d.wholeThought(at, raw, value)
	case kindCall, kindResult:
		m, _ := readMembers(value)
		d.startTool(at, kind, m)
		b := d.open[at]
		if input := m.input; kind == kindCall && len(input) > 0 {
			b.argued = true
			d.tell(rewrite.EventArguments, b, input)
		}
		d.complete(at, raw)
	default:
		d.startItem(at, &block{kind: kind, item: rewrite.Item{Kind: rewrite.ItemOpaque, Role: rewrite.RoleAssistant, Payload: payload(d.provider, kind, raw)}})
		d.complete(at, raw)
	}
}

// wholeCited tells a text with its sources.
func (d *Decoder) wholeCited(at int64, raw, value []byte) {
	m, _ := readMembers(value)
	var text strings.Builder
	pieces := 0
	splice.Elements(m.content, func(content []byte) bool {
		of, _ := readMembers(content)
		text.WriteString(splice.Text(of.text))
		pieces++
		return true
	})
	var part rewrite.Part
	if pieces != 1 || m.more {
		part.Payload = payload(d.provider, kindCited, raw)
	}
	b := d.startPart(at, kindText, part)
	if text.Len() > 0 {
		d.tell(rewrite.EventText, b, []byte(text.String()))
	}
	splice.Elements(m.citations, func(citation []byte) bool {
		source := readCitation(d.provider, citation)
		d.yield(&rewrite.Event{Kind: rewrite.EventAttribution, Index: b.index, PartIndex: b.part, Attribution: &source})
		return true
	})
}

// wholeThought tells a thought.
func (d *Decoder) wholeThought(at int64, raw, value []byte) {
	b := &block{kind: kindReasoning, item: rewrite.Item{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Payload: payload(d.provider, kindReasoning, nil)}}
	d.startItem(at, b)
	m, _ := readMembers(value)
	if m.reasoningText != nil {
		m, _ = readMembers(m.reasoningText)
	}
	d.reasonText(b, m.text)
	d.complete(at, raw)
}

// complete keeps a block as it came.
func (d *Decoder) complete(at int64, raw []byte) { d.open[at].raw = raw }
