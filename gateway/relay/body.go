package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"warmpath/gateway/prompt"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

// Body is a reply's body on its way from the provider to the client. It is
// pulled: each write to the client asks the provider for what has arrived.
type Body struct {
	x      *exchange
	resp   *upstream.Response
	tap    *tap
	mender *mender
	// translation gives what goes to the client in place of what has come.
	translation *translation
	rest        []byte // of the last chunk, for readers with small buffers
	ended       error  // sticky
	gone        bool   // the client did not take what was written
	streamed    bool   // it is counted as an open stream
	spoke       time.Time
	frames      bool // some bytes have gone to the client
	// midEvent says that the provider ended its stream within an event.
	midEvent bool
	// tail is the last two bytes that came from the provider.
	tail    [2]byte
	between between
}

// unbuffered asks proxies in front of us not to collect the stream.
var unbuffered = upstream.Field{Name: []byte("X-Accel-Buffering"), Value: []byte("no")}

// untouched asks them not to pack it or keep it either, where the provider's own word
// on that does not come along.
var untouched = upstream.Field{Name: []byte("Cache-Control"), Value: []byte("no-cache, no-transform")}

// answer hands the provider's reply over.
func (x *exchange) answer(resp *upstream.Response) *Reply {
	x.record.Status = resp.Status
	if resp.Status >= 400 {
		x.record.Reason = rewrite.ReasonProvider
	}
	reply := &x.reply
	*reply = Reply{Status: resp.Status, Length: resp.Length, Fields: x.lines.down[:0], Body: &x.body}
	var contentType, encoding []byte
	resp.Fields(func(name, value []byte) {
		reply.Fields = append(reply.Fields, upstream.Field{Name: name, Value: value})
		switch {
		case upstream.EqualFold(name, "content-type"):
			contentType = value
		case upstream.EqualFold(name, "content-encoding"):
			encoding = value
		}
	})
	x.tap.begin(x, resp.Status, contentType, encoding)
	x.follow(resp.Status, resp.Length)
	x.listen(resp.Status, resp.Length)
	x.scribe.listens(x, resp.Length)
	x.tap.scribe = x.scribe
	x.watchSigns(resp.Status)
	mender := x.mend(resp.Status, x.tap.encoding != "", x.tap.streamed)
	if x.tap.guarded() || mender != nil {
		// Room for heartbeats, and for an error event should the end be missing.
		reply.Length = -1
	}
	if x.tap.streamed {
		x.record.Stream = true
		x.relay.metrics.StreamOpened()
		reply.Fields = append(reply.Fields, unbuffered)
	}
	reply.Fields = append(reply.Fields, x.told()...)
	x.lines.down = reply.Fields
	x.body = Body{x: x, resp: resp, tap: &x.tap, mender: mender, spoke: time.Now(), streamed: x.tap.streamed}
	return reply
}

// Streamed reports whether the body is an event stream, whose bytes the client
// wants one by one.
func (b *Body) Streamed() bool { return b.streamed }

// SupportsBodyWriteTo says that WriteTo and Read give the same bytes.
func (b *Body) SupportsBodyWriteTo() bool { return true }

// WriteTo writes the body as it arrives, each piece in one Write, until the
// reply is over or the client stops taking it.
func (b *Body) WriteTo(w io.Writer) (int64, error) {
	var written int64
	for {
		chunk, err := b.next()
		if len(chunk) > 0 {
			n, failed := w.Write(chunk)
			written += int64(n)
			if failed != nil {
				b.gone = true
				return written, failed
			}
		}
		if err == io.EOF {
			return written, nil
		}
		if err != nil {
			return written, err
		}
	}
}

// Read is WriteTo for who must pull. An error is only returned alone, and again
// on every later call.
func (b *Body) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.ended != nil {
			return 0, b.ended
		}
		b.rest, _ = b.next()
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// next is the next piece for the client, or the end. The last piece of a stream
// that broke is the dialect's error event.
func (b *Body) next() ([]byte, error) {
	if b.ended != nil {
		return nil, b.ended
	}
	settings := b.x.settings
	if b.waiting() {
		return b.wait()
	}
	b.handedOver()
	if ahead := b.x.ahead; len(ahead) > 0 {
		b.x.ahead = nil
		b.tap.feed(ahead, time.Now())
		return b.passed(ahead), nil
	}
	chunk, err := b.resp.Next(settings.patience())
	now := time.Now()
	if len(chunk) > 0 {
		b.tap.feed(chunk, now)
		b.spoke, b.frames = now, true
		if b.tail[0] = b.tail[1]; len(chunk) > 1 {
			b.tail[0] = chunk[len(chunk)-2]
		}
		b.tail[1] = chunk[len(chunk)-1]
	}
	switch {
	case err == nil && !b.lost():
		return b.passed(chunk), nil
	case errors.Is(err, upstream.ErrSilent):
		if now.Sub(b.spoke) < settings.Silence {
			return b.heartbeat(), nil
		}
		err = &upstream.Error{Phase: upstream.PhaseBody, Err: errors.New("the provider fell silent")}
	case err == io.EOF:
		// To the tap the end of the stream ends its last event too; to the
		// client it does not.
		b.midEvent = b.tap.guarded() && b.frames && !b.tap.events.AtBoundary()
		b.tap.end()
	}
	if b.complete() || err == io.EOF && !b.tap.guarded() {
		if b.translation != nil && b.translation.ends() {
			return b.leaveCall()
		}
		if b.translation != nil && !b.translation.ended {
			return b.broken(io.EOF)
		}
		b.ended = io.EOF
		if b.translation != nil {
			return b.translation.rest(), nil
		}
		if held := b.mender.end(); len(held) > 0 {
			return held, nil
		}
		return nil, io.EOF
	}
	return b.broken(err)
}

// passed is what the client gets of a piece of the reply.
func (b *Body) passed(chunk []byte) []byte {
	if b.translation != nil {
		return b.translation.taken()
	}
	return b.mender.feed(chunk)
}

// lost reports a stream of which an event was too long to be translated.
func (b *Body) lost() bool { return b.translation != nil && b.tap.skipped() }

// complete reports a stream that has said itself that it is over: how its
// connection ends after that is no matter.
func (b *Body) complete() bool { return b.tap.guarded() && b.tap.ended() && !b.lost() }

func (b *Body) handedOver() {
	b.resp.DropHead()
	b.x.handedOver()
}

// heartbeat is a frame that the client's dialect ignores, if one fits here.
func (b *Body) heartbeat() []byte {
	if b.x.settings.Heartbeat <= 0 || !b.tap.guarded() || b.tap.ended() {
		return nil
	}
	if b.translation != nil {
		return b.translation.heartbeat(b.x.client.heartbeat)
	}
	if !b.tap.events.AtBoundary() || b.mender.holds() {
		return nil
	}
	return b.framed([]byte(b.x.client.heartbeat))
}

// framed gives a frame of ours the line ends of the stream: a client may look
// for one kind of empty line in all that it has, and overlook the other.
func (b *Body) framed(frame []byte) []byte {
	if string(b.tail[:]) == "\r\n" {
		return bytes.ReplaceAll(frame, []byte("\n"), []byte("\r\n"))
	}
	return frame
}

// broken ends a reply that did not end by itself. A stream says so in the
// client's dialect; anything else is cut, which a client sees by its length.
func (b *Body) broken(err error) ([]byte, error) {
	failure := b.failure(err)
	b.x.record.Reason, b.x.record.Cause = failure.Reason, err
	b.x.scribe.failed(failure.Message)
	if failure.Reason == rewrite.ReasonClientGone {
		b.gone = true
	}
	if !b.tap.guarded() || b.gone {
		b.ended = err
		if err == io.EOF {
			b.ended = io.ErrUnexpectedEOF
		}
		return nil, b.ended
	}
	b.ended = io.EOF
	if b.translation != nil {
		return b.translation.fail(failure), nil
	}
	held := b.mender.holds()
	last := b.mender.cut()
	if !held && (b.midEvent || b.frames && !b.tap.events.AtBoundary()) {
		last = append(last, "\n\n"...)
	}
	return b.framed(b.x.client.appendStreamError(last, failure, &b.x.record.Report)), nil
}

func (b *Body) failure(err error) *rewrite.Failure {
	provider := b.x.record.Provider
	switch {
	case errors.Is(context.Cause(b.x.ctx), ErrDraining), errors.Is(err, prompt.ErrDraining):
		return &rewrite.Failure{Reason: rewrite.ReasonDraining, Cause: err,
			Message: "The gateway is stopping and cut this stream. Send the request again."}
	case b.x.ctx.Err() != nil:
		return &rewrite.Failure{Reason: rewrite.ReasonClientGone, Cause: err, Message: "The client left."}
	case err != io.EOF && time.Since(b.spoke) >= b.x.settings.Silence:
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamTimeout, Cause: err,
			Message: "The provider " + provider + " fell silent in the middle of its reply. Send the request again."}
	}
	if damage := b.tap.damage(); b.lost() && damage != nil {
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken, Cause: damage,
			Message: "The provider " + provider + " sent a stream that is damaged. Send the request again."}
	}
	if b.lost() {
		return &rewrite.Failure{Reason: rewrite.ReasonUpstreamBroken,
			Message: "The provider " + provider + " sent an event that is too long to be translated. Ask for less in one piece."}
	}
	return &rewrite.Failure{Reason: rewrite.ReasonStreamCut, Cause: err,
		Message: "The provider " + provider + " closed the stream before the reply had ended. Send the request again."}
}

// Close ends the exchange and counts it. It must be called exactly once, and
// nothing of the reply may be used afterwards.
func (b *Body) Close() error {
	if b.ended == nil && (b.waiting() || !b.complete() && !b.finished()) {
		b.gone = true
	}
	b.abandon()
	if b.gone {
		b.x.record.Status, b.x.record.Reason = 499, rewrite.ReasonClientGone
	}
	if b.resp != nil { // else it broke between two calls of a chain
		b.resp.Close()
	}
	if b.streamed {
		b.x.relay.metrics.StreamClosed()
	}
	record := &b.x.record
	if b.translation != nil {
		record.Said = b.translation.said.All
	}
	if !b.tap.first.IsZero() {
		record.TimeToFirstToken = b.tap.first.Sub(record.Arrived)
	}
	if b.streamed {
		record.LongestGap = b.tap.gap
	}
	if record.Reason == rewrite.ReasonNone && record.Report.Failed {
		record.Reason = rewrite.ReasonProvider
	}
	b.x.finish()
	b.x.recycle()
	return nil
}

// finished reads on past the last byte that was announced: who writes a body of
// known length may stop there, before its end has been seen.
func (b *Body) finished() bool {
	if !b.resp.Drained() {
		return false
	}
	b.tap.end()
	return true
}
