package relay

import (
	"crypto/sha256"
	"sync"

	"warmpath/gateway/catalog"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// passage is where a turn of a conversation went, and what it was.
type passage struct {
	model string
	route catalog.Base
	turn  *continuity.Turn
	// conversation is its name, and session the client's own for it. Sent is the
	// number of messages of the turn, and first the first of them.
	conversation, session string
	epoch, sent           int
	first                 continuity.Hash
	// sealed says that its end holds what the provider makes for nobody else, and
	// observed that the turn was only planned.
	sealed, observed bool
	// saved says that the conversation was remembered with it.
	saved bool
}

// maxPassages is how many turns a trail remembers at least, and half of those
// that it remembers at most.
const maxPassages = 1024

// trail remembers the newest turns by what stood at their ends, to tell where a
// conversation has been if its history cannot be found: it was changed, or went
// to another model. It decides nothing but the reason that a miss is given, and
// so lives in the process alone.
type trail struct {
	mu          sync.Mutex
	now, before map[continuity.Hash]passage
}

func (t *trail) add(key continuity.Hash, p passage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.now) >= 2*maxPassages || t.now == nil {
		t.now, t.before = make(map[continuity.Hash]passage), t.now
	}
	t.now[key], t.now[named(p.conversation, p.observed)] = p, p
}

func (t *trail) find(key continuity.Hash) (p passage, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, ok = t.now[key]; !ok {
		p, ok = t.before[key]
	}
	return p, ok
}

// named is the key of a conversation's newest turn, or of its newest observed one.
func named(conversation string, observed bool) continuity.Hash {
	var room [64]byte
	kind := "conversation "
	if observed {
		kind = "observed "
	}
	digest := sha256.Sum256(append(append(room[:0], kind...), conversation...))
	return continuity.Hash(digest[:16])
}

// ending names the end of a history: its last two messages, one of which is a
// reply that hardly any other conversation of the tenant has there. Sealed says
// that no other can have it. What would have been sent is apart from what was.
func (x *exchange) ending(w *warmth, messages []continuity.Message) (key continuity.Hash, sealed bool) {
	var room [512]byte
	end := append(room[:0], x.tenant...)
	if w.observing {
		end = append(end, " observed"...)
	}
	for _, m := range messages[max(0, len(messages)-2):] {
		end = append(end, m.Meaning[:]...)
		if m.Seal.Len() > 0 {
			end, sealed = append(end, splice.Text(w.body[m.Seal.Start:m.Seal.End])...), true
		}
	}
	digest := sha256.Sum256(end)
	return continuity.Hash(digest[:16]), sealed
}

// lastReply is the index of the newest reply in a history, -1 for none.
func lastReply(messages []continuity.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == continuity.Assistant {
			return i
		}
	}
	return -1
}

// past is what is known of the turn before a request.
type past struct {
	last *continuity.Turn
	// elsewhere is why it is not the one that the request goes on from, if it went
	// another way or had another beginning, and rewritten says that the client has
	// changed what it sent, in the epoch.
	elsewhere continuity.Miss
	rewritten bool
	epoch     int
	// forgotten says that the turn was not remembered.
	forgotten bool
}

// retrace finds the turn before the request. What the store knows of the history
// is that turn, unless there are turns in it that the store does not know.
func (x *exchange) retrace(w *warmth) past {
	var p past
	switch {
	case w.left != nil:
		return past{last: w.left.Last, rewritten: true, epoch: w.left.Epoch}
	case w.state != nil:
		p.last = w.state.Last
	}
	messages := w.facts.Messages
	reply := lastReply(messages)
	if reply < 0 || w.state != nil && (w.stranger || !askedAgain(messages, w.known.Sent, reply)) {
		return p
	}
	key, _ := x.ending(w, messages[:reply])
	end, ok := x.relay.trail.find(key)
	if w.stranger {
		return end.changed(w.facts)
	}
	ok = ok && (end.owns(w) || end.place(w, reply))
	if !ok && w.state != nil {
		// Its end has been changed as well, if it has been here at all.
		end, ok = x.relay.trail.find(named(w.state.Conversation, w.observing))
		ok = ok && end.sent > w.known.Sent && end.owns(w)
	}
	model, route := x.way()
	switch {
	case !ok:
	case end.model != model || end.route != route:
		if w.state != nil {
			// Those turns went elsewhere; this way, the known one is the last.
			return p
		}
		if p.last, p.elsewhere = end.turn, continuity.RouteMiss; end.model != model {
			p.elsewhere = continuity.ModelMiss
		}
	case w.blind:
		p.last = end.turn
	case !end.saved, end.owns(w):
		p.last, p.rewritten, p.forgotten = end.turn, end.saved, !end.saved
		p.epoch = end.epoch
	}
	return p
}

// owns reports that the turn is proven to be one of the request's conversation.
// Short ends, and beginnings, are the same in many.
func (p *passage) owns(w *warmth) bool {
	switch {
	case w.state != nil && p.conversation != w.state.Conversation:
		return false
	case p.session != "" && p.session == w.facts.Session, p.sealed:
		return true
	}
	return w.state != nil && w.state.Sealed
}

// place reports that the turn stands in the request's history where it would
// stand if nothing had been changed.
func (p *passage) place(w *warmth, sent int) bool {
	return p.sent == sent && p.first == w.facts.Messages[0].Line()
}

// changed judges a request whose history is that of the turn, but which is not
// proven to be its agent's. If one of its lists is the same it most likely is;
// anything else is another role over the same history.
func (p *passage) changed(facts *continuity.Facts) past {
	if p.turn == nil {
		return past{}
	}
	switch tools, system := p.turn.Lists(facts); {
	case tools && !system:
		return past{last: p.turn, elsewhere: continuity.SystemMiss}
	case system && !tools:
		return past{last: p.turn, elsewhere: continuity.ToolsMiss}
	}
	return past{}
}

// askedAgain reports that a history goes on behind a known part of it by more
// than a reply and what the client says to that.
func askedAgain(messages []continuity.Message, known, reply int) bool {
	for i := known; i < reply; i++ {
		if messages[i].Role == continuity.User {
			return true
		}
	}
	return false
}

// way is the model that a request goes to, and the endpoint.
func (x *exchange) way() (model string, route catalog.Base) { return x.target.Model, *x.target.Base }
