package relay

import (
	"context"

	"warmpath/cache/lineage"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
	"warmpath/rewrite/sse"
)

// seals looks a reply through for what only the provider can have made, and
// remembers the conversation by it before the client gets to see it. That is
// done while the conversation has nothing yet that tells it from others. A nil
// one looks for nothing.
type seals struct {
	relay *Relay
	ctx   context.Context //nolint:containedctx // the request's own life
	head  lineage.Head
	state *continuity.State
	// length is that of a whole reply, or -1 if only its end will tell.
	length int64
	done   bool
}

// listen looks through a reply that is about to pass, if that is of use.
func (x *exchange) listen(status int, length int64) {
	w := x.warmth
	if w == nil || status != 200 || x.tap.off {
		return
	}
	if w.saved && w.plan.Next.Seals() {
		x.tap.seals = &seals{relay: x.relay, ctx: x.ctx, head: w.heads[len(w.heads)-1], state: w.plan.Next, length: length}
	}
	if w.able.Keep && (w.saved || w.passing && x.req.Operation == OpGenerate) {
		x.tap.calls = calls{relay: x.relay, ctx: x.ctx, scope: w.heads[0], length: length}
	}
}

// event takes an event of a stream.
func (s *seals) event(e sse.Event) {
	if s != nil {
		s.save(anthropic.EventSeals(e.Name, e.Data))
	}
}

// whole takes what has come so far of a reply that is one document; the client
// knows as soon as we do when that is all.
func (s *seals) whole(reply []byte, ended bool) {
	if s == nil || s.done || !ended && int64(len(reply)) != s.length {
		return
	}
	s.done = true
	s.save(anthropic.Seals(reply))
}

func (s *seals) save(found [][]byte) {
	if len(found) == 0 {
		return
	}
	sealed := make([]lineage.Sealed, 0, maxSeals)
	for _, seal := range found[:min(len(found), maxSeals)] {
		sealed = append(sealed, lineage.Seal(s.head, s.state.Sent, splice.Text(seal)))
	}
	if err := s.relay.memory.SaveSealed(s.ctx, s.state, sealed...); err != nil {
		s.relay.metrics.Unplanned(unsaved(err))
	}
}
