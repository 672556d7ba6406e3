package prompt

import (
	"context"
	"strings"
	"time"
)

// turns are the turns in which something was asked: what was answered for all of
// each, and whose prompt comes next. It is guarded by the book's lock.
type turns map[string]*turn

// What is remembered of turns in which nobody asks: for how long, and of how many.
const (
	turnLife  = time.Hour
	turnsMost = 4096
)

// turn is one turn of a conversation.
type turn struct {
	answers map[string]Answer // by what they were given to
	asking  int               // calls that are about to ask, or do
	last    time.Time
	busy    bool
	queue   []*place // of the prompts that wait for another one to close
}

// place is that of a prompt in the queue.
type place struct {
	order int
	free  chan struct{}
}

// enter gives the turn of a session. One without a name is only shared by calls
// that ask at the same time, which they do in the name of one conversation.
func (b *Book) enter(s *Session) *turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turns == nil {
		b.turns = turns{}
	}
	name := s.turn()
	if name == "" {
		name = strings.Join([]string{s.Tenant, s.Conversation, strings.Join(s.Path, "/")}, "\x00")
	}
	t := b.turns[name]
	if t == nil {
		b.turns.forget()
		t = &turn{}
		b.turns[name] = t
	}
	if s.Turn != "" && t.answers == nil {
		t.answers = map[string]Answer{}
	}
	t.asking++
	return t
}

// leave ends what enter began.
func (b *Book) leave(t *turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.asking--
	t.last = time.Now()
}

// forget drops turns in which nothing was asked for long, or all of those that hold
// nothing, or any if there are too many.
func (ts turns) forget() {
	now := time.Now()
	for name, t := range ts {
		if t.asking == 0 && (len(t.answers) == 0 || now.Sub(t.last) > turnLife || len(ts) >= turnsMost) {
			delete(ts, name)
		}
	}
}

// subject is what an answer for a turn is remembered under: the tool, and for a
// question its wording too.
func subject(p Prompt) string {
	parts := []string{p.Kind().Key(), p.Tool()}
	for _, q := range p.Questions() {
		parts = append(parts, q.Kind.String(), q.Text)
	}
	return strings.Join(parts, "\x00")
}

// known is the answer that holds for the turn, if there is one.
func (b *Book) known(t *turn, p Prompt) (Answer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, ok := t.answers[subject(p)]
	return a, ok
}

// learn remembers an answer that was given for the turn. One that holds a secret is
// asked for again.
func (b *Book) learn(t *turn, p Prompt, a Answer) {
	if !a.turn {
		return
	}
	for _, q := range p.Questions() {
		if q.Secret {
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.answers != nil {
		t.answers[subject(p)] = a
	}
}

// takeTurn waits until no other prompt of the turn is open, those of earlier calls
// first. It reports false if ctx has ended before.
func (b *Book) takeTurn(ctx context.Context, t *turn, order int) bool {
	b.mu.Lock()
	if !t.busy {
		t.busy = true
		b.mu.Unlock()
		return ctx.Err() == nil || b.yieldNow(t)
	}
	p := &place{order: order, free: make(chan struct{})}
	at := len(t.queue)
	for at > 0 && t.queue[at-1].order > order {
		at--
	}
	t.queue = append(t.queue[:at], append([]*place{p}, t.queue[at:]...)...)
	b.mu.Unlock()
	select {
	case <-p.free:
		return true
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range t.queue {
		if other == p {
			t.queue = append(t.queue[:i], t.queue[i+1:]...)
			return false
		}
	}
	t.next() // It was freed in the same moment.
	return false
}

// yieldNow gives up what was taken for a turn that has ended.
func (b *Book) yieldNow(t *turn) bool {
	b.yieldTurn(t)
	return false
}

// yieldTurn lets the next prompt of the turn open.
func (b *Book) yieldTurn(t *turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.next()
}

func (t *turn) next() {
	if len(t.queue) == 0 {
		t.busy = false
		return
	}
	close(t.queue[0].free)
	t.queue = t.queue[1:]
}
