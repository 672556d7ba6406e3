package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
	"warmpath/rewrite/sse"
)

// answerTranslated gives the client a reply of another dialect's provider: a
// stream as it comes, everything else once it is whole.
func (x *exchange) answerTranslated(resp *upstream.Response) *Reply {
	t := x.translation
	contentType, encoding := resp.Header("content-type"), resp.Header("content-encoding")
	x.record.Status = resp.Status
	x.tap.begin(x, resp.Status, contentType, encoding)
	x.follow(resp.Status, resp.Length)
	x.listen(resp.Status, resp.Length)
	x.scribe.listens(x, resp.Length)
	t.options.call = x.record.Calls
	if h := t.chain.hiddenOf(); h != nil {
		h.session = x.session()
	}
	t.decoder = t.vendor.decoder(x.target.Provider.Name)
	if t.stream {
		t.options.told = toldMembers(x.told())
		t.encoder = t.client.encoder(t.options)
	}
	x.body = Body{x: x, resp: resp, tap: &x.tap, translation: t, spoke: time.Now()}
	if x.tap.guarded() && t.encoder != nil && resp.Status == http.StatusOK {
		x.tap.translation, x.body.streamed = t, true
		x.relay.metrics.StreamOpened()
		reply := &x.reply
		*reply = Reply{Status: resp.Status, Length: -1, Body: &x.body}
		x.replyFields(resp, t.streamType(), append(x.told(), unbuffered, untouched))
		reply.Fields = x.lines.down
		if x.stays() {
			x.keepRequest()
		}
		x.leave()
		return reply
	}
	return x.answerWhole(resp)
}

// toldMembers are header lines of ours as members of an object.
func toldMembers(lines []upstream.Field) (members []rewrite.Member) {
	for _, line := range lines {
		name := strings.TrimPrefix(string(line.Name), ownPrefix)
		value := line.Value
		if name != "epoch" && name != "edits" {
			value = splice.AppendString(nil, value)
		}
		members = append(members, rewrite.Member{Name: name, Value: value})
	}
	return members
}

// streamType is the media type of a stream for the client.
func (t *translation) streamType() string {
	if t.array {
		return "application/json"
	}
	return "text/event-stream"
}

// replyFields are the header lines of a translated reply: the provider's, less
// what is about its own body.
func (x *exchange) replyFields(resp *upstream.Response, contentType string, more []upstream.Field) {
	down := append(x.lines.down[:0], upstream.Field{Name: []byte("Content-Type"), Value: []byte(contentType)})
	resp.Fields(func(name, value []byte) {
		field := upstream.Field{Name: name, Value: value}
		if !field.Is("content-type") && !field.Is("content-encoding") && !field.Is("content-length") {
			down = append(down, field)
		}
	})
	if losses := append(x.translation.losses.All, x.translation.said.All...); len(losses) > 0 {
		down = append(down, upstream.Field{Name: []byte(lossesField), Value: []byte(listed(losses))})
	}
	x.lines.down = append(down, more...)
}

// answerWhole reads the provider's reply to its end and translates it.
func (x *exchange) answerWhole(resp *upstream.Response) *Reply {
	t := x.translation
	plain, failure := x.collect(resp)
	if failure != nil {
		resp.Close()
		return x.fail(failure)
	}
	var whole []byte
	status, contentType := resp.Status, "application/json"
	if status == http.StatusOK && x.counting != nil {
		n, ok := x.counting.vendor.read(plain)
		if !ok {
			resp.Close()
			return x.fail(&rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Cause: errUnreadable,
				Message: "The provider " + x.record.Provider + " has answered with what is no number of tokens. Send the request again."})
		}
		whole = x.counting.client.answer(nil, n)
	} else if status == http.StatusOK {
		failure = t.read(plain, x.tap.streamed, x.tap.splitter())
		for failure == nil && (t.waits() || t.goesOn()) {
			if t.waits() {
				resp.Release()
				failure = x.runTools()
				continue
			}
			var next *upstream.Response
			if next, failure = x.goOn(); failure == nil {
				resp.Close()
				resp = next
				if plain, failure = x.collect(resp); failure == nil {
					failure = t.read(plain, x.tap.streamed, x.tap.splitter())
				}
			}
		}
		if failure == nil {
			whole, contentType, failure = t.whole()
		}
		if failure != nil {
			resp.Close()
			return x.fail(failure)
		}
	} else {
		if status < 400 {
			status = http.StatusBadGateway
		}
		fault := readFault(plain)
		if fault.Code == "" {
			// Amazon's errors have their name in the head, before a colon.
			name, _, _ := bytes.Cut(resp.Header("x-amzn-errortype"), []byte(":"))
			fault.Code = string(name)
		}
		h := t.chain.hiddenOf()
		if whole = plain; t.client != t.vendor || h.named(plain) {
			whole = t.client.appendFault(nil, status, h.unblamed(fault))
		}
		x.record.Status, x.record.Reason = status, rewrite.ReasonProvider
		x.scribe.failed(fault.Message)
	}
	x.replyFields(resp, contentType, x.told())
	reply := &Reply{Status: status, Length: int64(len(whole)), Whole: whole}
	// The lines point into the response, which goes.
	for _, field := range x.lines.down {
		reply.Fields = append(reply.Fields, upstream.Field{Name: bytes.Clone(field.Name), Value: bytes.Clone(field.Value)})
	}
	resp.Close()
	x.record.Said = t.said.All
	if !x.tap.first.IsZero() {
		x.record.TimeToFirstToken = x.tap.first.Sub(x.record.Arrived)
	}
	if x.record.Reason == rewrite.ReasonNone && x.record.Report.Failed {
		x.record.Reason = rewrite.ReasonProvider
	}
	x.finish()
	x.recycle()
	return reply
}

// read takes a reply of one call that has come to its end.
func (t *translation) read(plain []byte, streamed bool, split splitter) *rewrite.Failure {
	var err error
	if streamed {
		feed := func(e sse.Event) { t.decoder.Event(e.Name, e.Data, t.yield) }
		split.Feed(plain, feed)
		split.Close(feed)
		t.decoder.Close(t.yield)
	} else {
		err = t.vendor.decodeReply(plain, t.options.provider, t.yield)
	}
	if err != nil {
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Cause: fmt.Errorf("%w: %w", errUnreadable, err),
			Message: "The provider " + t.options.provider + " has answered with what is no reply of its dialect, so it cannot be translated. Send the request again."}
	}
	return nil
}

// whole is the reply that was read, for the client.
func (t *translation) whole() ([]byte, string, *rewrite.Failure) {
	if !t.ended {
		return nil, "", &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Cause: io.ErrUnexpectedEOF,
			Message: "The provider " + t.options.provider + " closed the stream before the reply had ended. Send the request again."}
	}
	if t.encoder != nil {
		return t.rest(), t.streamType(), nil
	}
	reply := t.fold.Reply()
	switch {
	case reply.Fault != nil && reply.Fault.Message == "":
		return nil, "", &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: "The provider " + t.options.provider + " has failed, and gives no reason. Send the request again."}
	case reply.Fault != nil:
		return nil, "", &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Message: reply.Fault.Message}
	case len(reply.Items) == 0 && reply.Stop.Word == "" && !reply.Usage.OutputTotal.Known:
		// A document that says nothing is no reply.
		return nil, "", &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Cause: errUnreadable,
			Message: "The provider " + t.options.provider + " has answered with what is no reply of its dialect, so it cannot be translated. Send the request again."}
	}
	whole := t.client.encodeReply(nil, reply, t.options)
	t.kept.save(whole)
	return whole, "application/json", nil
}

// collect reads a reply to its end, unpacked.
func (x *exchange) collect(resp *upstream.Response) ([]byte, *rewrite.Failure) {
	b := &x.body
	body := append([]byte(nil), x.ahead...)
	x.tap.feed(body, time.Now())
	x.ahead = nil
	for {
		chunk, err := resp.Next(x.settings.Silence)
		if len(chunk) > 0 {
			b.spoke = time.Now()
			if len(body)+len(chunk) > maxKept {
				return nil, &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken,
					Message: "The provider " + x.record.Provider + " has answered with more than can be translated in one piece. Stream the reply."}
			}
			body = append(body, chunk...)
			x.tap.feed(chunk, b.spoke)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			if errors.Is(err, upstream.ErrSilent) {
				err = &upstream.Error{Phase: upstream.PhaseBody, Err: errors.New("the provider fell silent")}
			}
			return nil, b.failure(err)
		}
	}
	x.tap.end()
	if x.tap.encoding == "" {
		return body, nil
	}
	plain, err := decode(body, x.tap.encoding, 4*maxKept, &roomy{})
	if err != nil {
		return nil, &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Cause: err, Message: "The provider " + x.record.Provider + "'s reply cannot be unpacked. Send the request again."}
	}
	return plain, nil
}

// event takes an event of the provider's stream.
func (t *translation) event(e sse.Event) {
	if t != nil {
		t.decoder.Event(e.Name, e.Data, t.yield)
	}
}

// ends reports that the provider's stream is over and another call is due, or tools.
func (t *translation) ends() bool {
	t.decoder.Close(t.yield)
	return t.goesOn() || t.waits()
}

// taken is what the client gets now. It is good until the next event.
func (t *translation) taken() []byte {
	if t.sent || len(t.out) == 0 {
		return nil
	}
	t.sent = true
	if t.array {
		return t.elements(t.out)
	}
	return t.out
}

// heartbeat is a frame that the client's dialect ignores: white space, where it
// reads an array.
func (t *translation) heartbeat(frame string) []byte {
	if t.array {
		return []byte("\n")
	}
	return []byte(frame)
}

// rest ends the stream and is what the client has not got of it.
func (t *translation) rest() []byte {
	t.decoder.Close(t.yield)
	out := t.taken()
	if t.array {
		if !t.begun {
			out = append(out, '[')
		}
		out = append(out, "]\n"...)
	}
	return out
}

// fail ends the stream with a failure of the gateway's own.
func (t *translation) fail(f *rewrite.Failure) []byte {
	fault := &rewrite.Fault{Code: f.Reason.String(), Message: f.Message}
	if refused, ok := errors.AsType[*refusal](f); ok && refused.fault.Type != "" {
		fault.Type = refused.fault.Type
	}
	t.take(&rewrite.Event{Kind: rewrite.EventError, Fault: fault})
	return t.rest()
}

// elements are frames of a stream as elements of an array.
func (t *translation) elements(frames []byte) (out []byte) {
	for frame := range bytes.SplitSeq(frames, []byte("\n\n")) {
		data, ok := bytes.CutPrefix(frame, []byte("data: "))
		if !ok {
			continue
		}
		mark := ",\r\n"
		if !t.begun {
			t.begun, mark = true, "["
		}
		out = append(append(out, mark...), data...)
	}
	return out
}
