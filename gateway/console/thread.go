package console

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// thread is a conversation as far as its requests are remembered.
type thread struct {
	// ID names it; empty stands for the requests that belong to none.
	ID    string
	Turns []turn // the oldest first
	cacheTokens
	Saved, Missed int64
	Breaks        int
	cost          float64
	priced        int
}

// The bounds of what is shown: conversations of a list, and turns of a small bar and
// of a page.
const (
	maxThreads   = 20
	maxColumns   = 40
	maxPageTurns = 200
)

// threadOf is the conversation that a request belongs to.
func threadOf(r *Request) string {
	if r.Conversation == "" && r.Continuity != nil {
		return r.Continuity.Conversation
	}
	return r.Conversation
}

// threadsOf puts requests, the newest first, into their conversations: so many at most,
// the one with the newest request first, and so many turns of each.
func threadsOf(requests []Request, conversations, turns int) (list []*thread) {
	byID := map[string]*thread{}
	for i := range requests {
		r := &requests[i]
		id := threadOf(r)
		t := byID[id]
		if t == nil {
			if len(list) == conversations {
				continue
			}
			t = &thread{ID: id}
			byID[id] = t
			list = append(list, t)
		}
		t.add(r, turns)
	}
	for _, t := range list {
		t.finish()
	}
	return list
}

// threadBy is the one conversation of a name; nil if none of its requests is
// remembered.
func threadBy(requests []Request, id string, turns int) *thread {
	t := &thread{ID: id}
	for i := range requests {
		if r := &requests[i]; threadOf(r) == id || r.Conversation == id || r.Continuity != nil && r.Continuity.Conversation == id {
			t.add(r, turns)
		}
	}
	if len(t.Turns) == 0 {
		return nil
	}
	t.finish()
	return t
}

// add takes the request before those that are there.
func (t *thread) add(r *Request, most int) {
	if len(t.Turns) == most {
		return
	}
	c := tokensOf(r)
	t.Turns = append(t.Turns, turn{Request: r, tokens: c})
	t.cacheTokens = t.plus(c)
	if r.Continuity != nil {
		t.Saved += r.Continuity.Saved
	}
	if r.Miss != nil && r.Miss.Missed > 0 {
		t.Missed += r.Miss.Missed
		t.Breaks++
	}
	if amount, known := requestCost(r); known {
		t.cost += amount
		t.priced++
	}
}

// finish puts the turns in their order and gives them one scale.
func (t *thread) finish() {
	slices.Reverse(t.Turns)
	most := int64(0)
	for i := range t.Turns {
		most = max(most, t.Turns[i].tokens.total())
	}
	for i := range t.Turns {
		t.Turns[i].most = most
	}
}

// Last is when the newest request came.
func (t *thread) Last() time.Time { return t.Turns[len(t.Turns)-1].Arrived }

// Name is how it is called on the page.
func (t *thread) Name() string { return cmp.Or(t.ID, "requests of no conversation") }

// Models are those that were asked, the newest last.
func (t *thread) Models() string {
	var names []string
	for i := range t.Turns {
		if name := t.Turns[i].Model; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "–")
}

// Provider is the one that was asked last.
func (t *thread) Provider() string { return t.Turns[len(t.Turns)-1].Provider }

// Cost is what the turns have cost, as far as their prices are known.
func (t *thread) Cost() string {
	switch {
	case t.priced == 0:
		return "–"
	case t.priced < len(t.Turns):
		return "≥ " + dollars(t.cost)
	}
	return dollars(t.cost)
}

// turnChart is turns as columns of a height of 40.
type turnChart struct {
	Read, Write, Fresh, Broken boxes
	Spots                      []spot
}

// Chart draws the newest turns.
func (t *thread) Chart() (c turnChart) {
	const width = 6
	for i, turn := range t.Turns[max(len(t.Turns)-maxColumns, 0):] {
		x := int64(i * 8)
		c.Spots = append(c.Spots, spot{X: x, ID: turn.ID, Label: turn.Sentence()})
		if turn.Broke() || turn.Bad() {
			c.Broken = c.Broken.box(x, 42, width, 4)
		}
		if turn.tokens.total() == 0 {
			continue
		}
		up := func(tokens int64) int64 { return tokens * 40 / turn.most }
		read, written := up(turn.tokens.Read), up(turn.tokens.Read+turn.tokens.Write)
		all := max(up(turn.tokens.total()), 1)
		c.Read = c.Read.box(x, 40-read, width, read)
		c.Write = c.Write.box(x, 40-written, width, written-read)
		c.Fresh = c.Fresh.box(x, 40-all, width, all-written)
	}
	return c
}

// Width is that of the columns where they fill a picture.
func (t *thread) Width() int { return 8 * max(min(len(t.Turns), maxColumns), 16) }

// Sentence is the conversation in words.
func (t *thread) Sentence() string {
	s := counted(int64(len(t.Turns)), "turn") + ", " + t.cacheTokens.Sentence()
	if t.Breaks > 0 {
		s += "; " + counted(int64(t.Breaks), "break")
	}
	return s
}
