package relay

import (
	"bytes"
	"context"
	"io"
	"time"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

// between is what a stream waits for between two calls of a chain: tools of the
// gateway's, or the head of the next reply. No connection to the provider is held
// while tools are run.
type between struct {
	tools bool
	// answered is told of the next reply, which is asked for beside the client's
	// connection; ended when that is over.
	answered chan nextReply
	stop     context.CancelFunc
}

// nextReply is how the provider has answered the next call of a chain.
type nextReply struct {
	resp    *upstream.Response
	failure *rewrite.Failure
}

// waiting reports a stream between two calls.
func (b *Body) waiting() bool { return b.between.tools || b.between.answered != nil }

// leaveCall ends the call whose reply has come, and turns to what is next. What the
// client has not got of it comes first.
func (b *Body) leaveCall() ([]byte, error) {
	t := b.translation
	rest := bytes.Clone(t.taken())
	if b.resp != nil {
		b.resp.Close()
		b.resp = nil
	}
	if b.spoke = time.Now(); t.waits() {
		b.between.tools = true
		b.x.rest()
		b.x.giveLines()
		t.chain.hidden.begin(b.x.ctx)
		return rest, nil
	}
	x := b.x
	whole := x.ctx
	var ctx context.Context
	ctx, b.between.stop = context.WithCancel(whole)
	x.ctx = ctx
	reply := make(chan nextReply, 1)
	b.between.answered = reply
	go func() {
		resp, failure := x.goOn()
		reply <- nextReply{resp, failure}
	}()
	return rest, nil
}

// wait waits between two calls, no longer than the client may be left without a sign.
func (b *Body) wait() ([]byte, error) {
	settings := b.x.settings
	var silence <-chan time.Time
	if patience := settings.Heartbeat; patience > 0 {
		if b.between.tools {
			patience = min(patience, toolBeat)
		}
		timer := time.NewTimer(patience)
		defer timer.Stop()
		silence = timer.C
	}
	if !b.between.tools {
		select {
		case a := <-b.between.answered:
			b.between.answered = nil
			return b.goOn(a)
		case <-silence:
			return b.translation.heartbeat(b.x.client.heartbeat), nil
		}
	}
	t := b.translation
	h := t.chain.hidden
	select {
	case r, more := <-h.running:
		if more {
			return b.ran(r)
		}
	case <-h.people.woken:
		return t.prompts(h.people.take(), h.session.Attended), nil
	case <-b.x.ctx.Done():
	case <-silence:
		return t.heartbeat(b.x.client.heartbeat), nil
	}
	h.end()
	b.between.tools = false
	if err := b.x.ctx.Err(); err != nil {
		return b.broken(err)
	}
	if t.resume(); t.goesOn() {
		return b.leaveCall()
	}
	b.ended = io.EOF
	return t.rest(), nil
}

// ran takes the result of a tool. What is new of prompts comes before it: both may have
// come at once.
func (b *Body) ran(r runResult) (frames []byte, err error) {
	t := b.translation
	h := t.chain.hidden
	news := t.prompts(h.people.take(), h.session.Attended)
	if r.result.Ended != nil {
		h.end()
		b.between.tools = false
		frames, err = b.broken(r.result.Ended)
	} else {
		h.ran(r.at, r.result)
		frames = t.taken()
	}
	if len(news) == 0 {
		return frames, err
	}
	return append(news, frames...), err
}

// goOn turns to the next call of a chain.
func (b *Body) goOn(a nextReply) ([]byte, error) {
	t := b.translation
	if a.failure != nil {
		b.ended = io.EOF
		b.x.record.Reason, b.x.record.Cause = a.failure.Reason, a.failure.Cause
		return t.fail(a.failure), nil
	}
	b.resp, b.spoke = a.resp, time.Now()
	if b.tap.guarded() {
		b.tap.translation = t
		return nil, nil
	}
	// It may be told in one piece all the same.
	plain, failure := b.x.collect(b.resp)
	if failure == nil {
		failure = t.read(plain, b.tap.streamed, b.tap.splitter())
	}
	if failure != nil {
		b.ended = io.EOF
		return t.fail(failure), nil
	}
	if t.waits() || t.goesOn() {
		return b.leaveCall()
	}
	if b.ended = io.EOF; !t.ended {
		failure = b.failure(io.EOF)
		b.x.record.Reason = failure.Reason
		return t.fail(failure), nil
	}
	return t.rest(), nil
}

// abandon ends what is waited for. Nothing of the exchange is in use afterwards.
func (b *Body) abandon() {
	w := &b.between
	if w.stop != nil {
		w.stop()
	}
	if w.answered != nil {
		if a := <-w.answered; a.resp != nil {
			a.resp.Close()
		}
		w.answered = nil
	}
	if b.translation != nil {
		b.translation.chain.hiddenOf().end()
	}
}
