package relay

import (
	"context"
	"time"

	"warmpath/cache/lineage"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/sse"
)

// notes remember a conversation once its reply has begun, and before the client
// gets to see that: whoever serves the next request must find it, and what the
// provider says of its cache belongs to it. Nil notes do nothing.
type notes struct {
	relay   *Relay
	ctx     context.Context //nolint:containedctx // the request's own life
	report  *rewrite.Report
	head    lineage.Head
	known   *lineage.Known
	state   *continuity.State
	ending  continuity.Hash
	passage passage
	// length is that of a whole reply, or -1 if only its end will tell.
	length int64
	// saved says that the notes have been taken, blind that the conversation must
	// be left as it is.
	saved, blind bool
}

// note begins the notes of a request that the provider has accepted. What the
// state needs of the request is kept at once: the request will be gone. It is
// false if that could not be kept.
func (x *exchange) note(w *warmth, keep map[continuity.Hash][]byte) bool {
	w.plan.Next.Last = x.turn(w)
	if len(keep) > 0 {
		if err := x.relay.memory.Keep(x.ctx, keep); err != nil {
			x.relay.metrics.Unplanned(unsaved(err))
			return false
		}
	}
	n := &x.notes
	*n = notes{
		relay: x.relay, ctx: x.ctx, report: &x.record.Report, head: w.heads[len(w.heads)-1], known: w.known,
		state: w.plan.Next,
	}
	n.ending, n.passage.sealed = x.ending(w, w.facts.Messages)
	if n.passage.session = w.facts.Session; len(w.facts.Messages) > 0 {
		n.passage.first = w.facts.Messages[0].Line()
	}
	n.blind, n.passage.observed = w.blind, w.observing
	n.passage.model, n.passage.route = x.way()
	n.passage.turn, n.passage.conversation = n.state.Last, n.state.Conversation
	n.passage.epoch, n.passage.sent = n.state.Epoch, n.state.Sent
	return true
}

// defaultLifetime is how long the provider keeps what it was told no time for.
const defaultLifetime = 5 * time.Minute

// turn is what the next request will be compared with, as far as it is known
// before the reply.
func (x *exchange) turn(w *warmth) *continuity.Turn {
	t := continuity.NewTurn(w.facts)
	t.Started = int(x.begun().Unix())
	t.Asked, t.Previous = w.asked || w.facts.Diagnoses, w.previous
	t.Lifetime = int(defaultLifetime.Seconds())
	if w.past.last != nil {
		// What is read again lives on as long as it was written for.
		t.Lifetime = w.past.last.Lifetime
	}
	t.Own, t.Betas = betaSets(x.req.Fields, w.betas)
	return t
}

// betaSets are digests of the client's betas, and of those together with the
// gateway's.
func betaSets(fields []upstream.Field, more []string) (own, all uint64) {
	for _, field := range fields {
		if field.Is("anthropic-beta") {
			own = continuity.AddBetas(own, field.Value)
		}
	}
	all = own
	for _, beta := range more {
		all = continuity.AddBetas(all, []byte(beta))
	}
	return own, all
}

// event is told of an event of a stream that has been read. A ping says nothing
// yet.
func (n *notes) event(e sse.Event) {
	if n != nil && !n.saved && string(e.Name) != "ping" {
		n.save()
	}
}

// due reports whether a reply that is one document has come as a whole, and is
// not in the notes yet: the client knows as soon as we do that it has.
func (n *notes) due(length int) bool { return n != nil && !n.saved && int64(length) == n.length }

// save remembers the conversation, with what is known of the reply by now.
func (n *notes) save() {
	if n == nil || n.saved {
		return
	}
	n.saved = true
	n.complete()
	if !n.blind {
		err := n.relay.memory.Save(n.ctx, n.head, n.known, n.state, nil)
		if n.passage.saved = err == nil; err != nil {
			n.relay.metrics.Unplanned(unsaved(err))
		}
	}
	n.relay.trail.add(n.ending, n.passage)
	n.known, n.state = nil, nil
}

// complete notes what the provider says of its cache.
func (n *notes) complete() {
	t, r := n.state.Last, n.report
	t.Reply = r.ID
	u := &r.Usage
	if t.Reported = u.CacheRead.Known && u.InputTotal.Known; !t.Reported {
		return
	}
	t.Cached = int(u.CacheRead.N + u.CacheWrite.N)
	switch {
	case u.CacheWrite.N == 0:
	case u.CacheWrite1h.N > 0 && u.CacheWrite5m.N == 0:
		t.Lifetime = int(time.Hour.Seconds())
	default:
		t.Lifetime = int(defaultLifetime.Seconds())
	}
}
