package relay

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"time"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// continueField asks for replies that were cut off to be gone on with, or not to be,
// in place of what is configured.
const continueField = "warmpath-continue"

// maxChain bounds how often a reply is gone on with.
const maxChain = 5

// goOnText asks a model to go on with what it was cut off in.
const goOnText = "Your reply was cut off at its limit of length. Go on exactly where it ended, in the middle of a word if need be. Repeat nothing of it, and say nothing about this."

// chaining is the part of a translation by which one reply is made of several calls:
// the provider has paused, or the model was cut off at its bound on tokens.
type chaining struct {
	chain *rewrite.Chain
	// conversation grows with every call, and is in memory of its own.
	conversation *rewrite.Conversation
	// length says that replies which were cut off are gone on with, and pauses that
	// those are which the provider has paused.
	length, pauses bool
	calls          int
	// next says that another call is due, and cut that it is for a reply that was
	// cut off.
	next, cut bool
	// wait says that tools are run first.
	wait bool
	over bool // nothing more is sent
	// hidden are the tools of the gateway's; nil for none.
	hidden *hidden
	// earlier is what the calls before have used.
	earlier rewrite.Usage
	// began is when the call began, and ended when its reply had ended: tools, and
	// people, take their time after that.
	began, ended time.Time
	now          func() time.Time
}

// continues reports whether the client or the provider's row asks for replies that
// were cut off to be gone on with.
func (x *exchange) continues() bool {
	if asked := x.req.Field(continueField); len(asked) > 0 {
		return string(asked) != "0" && string(asked) != "off"
	}
	return x.target.Provider.Continue
}

// chained begins a chain if the reply may take several calls; the conversation must
// be read again from memory of its own then. A bound that the client has chosen
// itself is kept, where its dialect leaves it the choice. A client that knows pauses
// goes on from them itself, unless the reply already holds what it is not told of.
func (x *exchange) chained(c *rewrite.Conversation) *chaining {
	length := x.continues() && (c.Format.Kind == "" || c.Format.Kind == "text") &&
		(len(c.Sampling.MaxTokens) == 0 || x.req.Dialect == rewrite.Messages)
	hosted := slices.ContainsFunc(c.Tools, func(t rewrite.Tool) bool { return t.Kind == rewrite.ToolHosted })
	if !length && !(hosted && x.target.Dialect == rewrite.Messages && x.translates()) && x.set == nil {
		return nil
	}
	return &chaining{length: length, pauses: x.translates() || x.continues(), now: x.relay.now}
}

// more decides whether another call goes on from a reply.
func (c *chaining) more(stop *rewrite.Stop, called bool) rewrite.Course {
	c.ended = c.now()
	calls := c.calls
	if h := c.hidden; h != nil {
		calls -= h.rounds
		if len(h.calls) > 0 {
			course := h.course(stop, called)
			c.cut, c.next, c.wait = false, course == rewrite.CourseTools, course == rewrite.CourseWait
			return course
		}
	}
	c.cut = stop.Reason == rewrite.StopLength
	paused := stop.Reason == rewrite.StopPause && (c.pauses || c.calls > 0)
	if c.next = calls < maxChain && (paused || c.cut && c.length && !called); c.next {
		return rewrite.CourseOn
	}
	return rewrite.CourseEnd
}

// keepRequest makes what outlives the head of the reply the exchange's own: the client's
// header lines decide how later calls are sent.
func (x *exchange) keepRequest() {
	req := *x.req
	req.Body, req.Room = nil, nil
	req.Path, req.Read, req.Query = bytes.Clone(req.Path), bytes.Clone(req.Read), bytes.Clone(req.Query)
	req.Fields = make([]upstream.Field, len(x.req.Fields))
	for i, field := range x.req.Fields {
		req.Fields[i] = upstream.Field{Name: bytes.Clone(field.Name), Value: bytes.Clone(field.Value)}
	}
	x.req = &req
	x.asked, x.whole = nil, nil
	x.out.Target = bytes.Clone(x.out.Target)
}

// stays reports an exchange that may have to send again.
func (x *exchange) stays() bool {
	return x.translation != nil && x.translation.chain != nil && !x.translation.chain.over
}

// apart is a conversation that can be changed for one call, and marked, while the one
// that the next goes on from stays as it is.
func apart(c *rewrite.Conversation) *rewrite.Conversation {
	copied := *c
	copied.Items, copied.System, copied.Tools = slices.Clone(c.Items), slices.Clone(c.System), slices.Clone(c.Tools)
	return &copied
}

// goOn makes the next call of a chain. Nothing may be left of the reply before.
func (x *exchange) goOn() (*upstream.Response, *rewrite.Failure) {
	t := x.translation
	c := t.chain
	x.callOver()
	c.next = false
	c.calls++
	c.conversation.Items = append(c.conversation.Items, c.hidden.native(c.chain.Next(), t.names)...)
	if h := c.hidden; h.pending() {
		c.conversation.Items = append(c.conversation.Items, h.results()...)
		if h.next(); h.hides(&rewrite.Call{Name: c.conversation.Choice.Name}) {
			c.conversation.Choice = rewrite.ToolChoice{} // it has been called
		}
	}
	if c.cut {
		c.conversation.Items = append(c.conversation.Items, rewrite.Item{Parts: []rewrite.Part{{Text: goOnText}}})
	}
	var losses rewrite.Losses
	body, err := x.encode(apart(c.conversation), &losses)
	if err != nil {
		return nil, badJSON(err)
	}
	x.takeLines()
	x.plain, x.warmth, x.explained, x.ahead, x.tries = body, nil, nil, nil, 0
	x.readAgain(body)
	x.send(x.warm(body))
	resp, failure := x.attempt()
	if failure != nil {
		return nil, failure
	}
	first, gap := x.tap.first, x.tap.gap // of the reply that the client gets
	x.tap.begin(x, resp.Status, resp.Header("content-type"), resp.Header("content-encoding"))
	x.tap.first, x.tap.gap = first, gap
	if resp.Status == http.StatusOK {
		x.count()
		x.consider()
		x.remember()
	}
	x.follow(resp.Status, resp.Length)
	t.decoder = t.vendor.decoder(x.target.Provider.Name)
	if resp.Status == http.StatusOK {
		return resp, nil
	}
	refused := &refusal{status: resp.Status, retryAfter: bytes.Clone(resp.Header("retry-after"))}
	if resp.Status < http.StatusBadRequest {
		refused.status = http.StatusBadGateway
	}
	plain, failure := x.collect(resp)
	resp.Close()
	if failure == nil {
		refused.fault = c.hidden.unblamed(readFault(plain))
		failure = &rewrite.Failure{Reason: rewrite.ReasonProvider, Message: refused.fault.Message, Cause: refused}
	}
	return nil, failure
}

// refusal is how a provider has answered a later call of a chain. A client that gets
// nothing of the reply is told it as of a first call: it decides by that whether and
// when to ask again.
type refusal struct {
	status     int
	fault      *rewrite.Fault
	retryAfter []byte
}

func (r *refusal) Error() string {
	return "the provider has answered the call with status " + strconv.Itoa(r.status)
}

// callOver tells of a call that another one follows.
func (x *exchange) callOver() {
	c := x.translation.chain
	x.verdict()
	record := x.record
	record.Duration = c.ended.Sub(c.began)
	record.Cache = rewrite.OutcomeOf(record.Report.Usage, x.opening)
	x.scribe.called()
	x.spend()
	record.Cost, record.Partial, record.Call = x.record.Cost, false, c.calls+1
	x.relay.observe(&record)
	c.earlier = c.earlier.Plus(record.Report.Usage)
	x.record.Report, c.began = rewrite.Report{}, x.relay.now()
	x.record.Verdict, x.judged = continuity.Verdict{}, false
	x.record.Earlier, x.record.latest = nil, Attempt{} // told with this one
}

// goesOn reports that another call is due, and waits that tools are to be run first.
func (t *translation) goesOn() bool { return t.chain != nil && t.chain.next }
func (t *translation) waits() bool  { return t.chain != nil && t.chain.wait }

// resume goes on once the tools have been run.
func (t *translation) resume() {
	c := t.chain
	course := c.hidden.settled(&rewrite.Stop{})
	c.wait, c.next = false, course == rewrite.CourseTools
	c.chain.Resume(course)
}

// runTools runs the tools that a reply has called, for a client that waits for all of
// it.
func (x *exchange) runTools() *rewrite.Failure {
	h := x.translation.chain.hidden
	h.begin(x.ctx)
	var ended error
	for r := range h.running {
		if ended = r.result.Ended; ended == nil {
			h.ran(r.at, r.result)
		}
	}
	if h.end(); ended != nil {
		return x.broken(ended)
	}
	if err := x.ctx.Err(); err != nil {
		return x.broken(err)
	}
	x.translation.resume()
	return nil
}
