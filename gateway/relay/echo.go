package relay

import (
	"context"
	"fmt"

	"warmpath/cache/lineage"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/sse"
)

// calls looks a reply through for arguments that the client may spell otherwise
// when it sends them back, and keeps them before the client gets to see their
// end. The zero calls looks for nothing.
type calls struct {
	relay *Relay          // nil for nothing
	ctx   context.Context //nolint:containedctx // the request's own life
	// scope is the empty history: whoever asks whom. The provider's ids are enough
	// beside it, and a request that goes on with a thread has no other history.
	scope lineage.Head
	// length is that of a whole reply, or -1 if only its end will tell.
	length    int64
	arguments anthropic.Arguments
}

// event takes an event of a stream.
func (c *calls) event(e sse.Event) {
	if c.relay == nil {
		return
	}
	if c.arguments.Read(e.Name, e.Data); anthropic.Ends(e.Name, e.Data) {
		c.save()
	}
}

// whole takes what has come so far of a reply that is one document.
func (c *calls) whole(reply []byte, ended bool) {
	if c.relay == nil || !ended && int64(len(reply)) != c.length {
		return
	}
	c.arguments.Whole(reply)
	c.save()
}

func (c *calls) save() {
	notes := map[lineage.Head][]byte{}
	c.arguments.All(func(id string, arguments []byte) {
		notes[lineage.Seal(c.scope, 0, id).Head] = arguments
	})
	if len(notes) > 0 {
		if err := c.relay.memory.Note(c.ctx, notes); err != nil {
			c.relay.metrics.Unplanned("store")
		}
	}
	c.relay = nil
}

// made finds the replies that the client sends back for the first time and that
// it spells otherwise than the provider, and gives these as the provider made
// them. Without an answer of the store they stay as they are.
func (w *warmth) made(ctx context.Context, memory *lineage.Lineage, sent int) func(at int) (continuity.Hash, bool) {
	var ids []string
	var heads []lineage.Head
	var replies []int
	for i := sent; i < len(w.facts.Messages) && w.able.Keep; i++ {
		m := w.facts.Messages[i]
		if m.Role != continuity.Assistant || !m.Spelled {
			continue
		}
		replies = append(replies, i)
		for _, id := range anthropic.CallIDs(w.body[m.Span.Start:m.Span.End]) {
			ids, heads = append(ids, id), append(heads, lineage.Seal(w.heads[0], 0, id).Head)
		}
	}
	if len(heads) == 0 {
		return nil
	}
	notes, err := memory.Notes(ctx, heads...)
	if err != nil {
		return nil
	}
	arguments := make(map[string][]byte, len(ids))
	for i, id := range ids {
		arguments[id] = notes[i]
	}
	made := map[int]continuity.Hash{}
	for _, i := range replies {
		m := w.facts.Messages[i]
		if reply := anthropic.AsMade(w.body[m.Span.Start:m.Span.End], arguments); reply != nil {
			reply = anthropic.StripMark(reply)
			made[i] = anthropic.ExactHash(reply)
			w.kept[made[i]] = reply
		}
	}
	return func(at int) (continuity.Hash, bool) {
		hash, ok := made[at]
		return hash, ok
	}
}

// again are the messages that go out as they were first sent, with the client's
// marks.
func (w *warmth) again() []anthropic.Replacement {
	var again []anthropic.Replacement
	for _, a := range w.plan.Again {
		bytes := w.kept[a.Kept]
		if m := w.facts.Messages[a.At]; m.Marks > 0 {
			bytes = anthropic.WithMark(bytes, anthropic.MarkText(w.body, m.Mark))
		}
		again = append(again, anthropic.Replacement{Index: a.At, Bytes: bytes})
	}
	return again
}

// thoughtless are the replies in the history without their thinking: a request
// that thinks in a way which does not let the provider drop what is bound to
// another prefix has to leave all of it out.
func (w *warmth) thoughtless(again []anthropic.Replacement) ([]anthropic.Replacement, error) {
	bytes := make(map[int][]byte, len(again))
	for _, a := range again {
		bytes[a.Index] = a.Bytes
	}
	var replies []anthropic.Replacement
	for i, m := range w.facts.Messages {
		own, other := bytes[i]
		if !other {
			own = w.body[m.Span.Start:m.Span.End]
		}
		if m.Bound {
			var err error
			if own, err = anthropic.StripThinking(own); err != nil {
				return nil, fmt.Errorf("message %d: %w", i, err)
			}
		}
		if m.Bound || other {
			replies = append(replies, anthropic.Replacement{Index: i, Bytes: own})
		}
	}
	return replies, nil
}
