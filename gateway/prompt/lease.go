package prompt

import (
	"encoding/json"
	"time"
)

// Event is that a prompt has opened or closed.
type Event struct {
	// Closed says that it has closed, else it has opened.
	Closed bool
	Prompt View
}

// leaseEvents is how many events may wait for the reader of a lease.
const leaseEvents = 128

// Lease is somebody who looks at prompts as they open, and so can answer them. Its
// end is that of his ability to.
type Lease struct {
	// Events are those of the prompts that match, first those that are open already.
	// It is closed when the lease ends, which it also does when nobody reads it.
	Events <-chan Event

	book   *Book
	id     string
	filter Filter
	events chan Event
	ended  bool // guarded by the book's lock
}

// Subscribe begins a lease. Close ends it.
func (b *Book) Subscribe(filter Filter) *Lease {
	filter.State = ""
	b.mu.Lock()
	defer b.mu.Unlock()
	looking := filter
	looking.State = stateOpen
	open := b.list(looking)
	events := make(chan Event, leaseEvents+len(open))
	l := &Lease{Events: events, events: events, book: b, id: newName(), filter: filter}
	if b.over {
		l.ended = true
		close(events)
		return l
	}
	b.leases[l] = struct{}{}
	for _, view := range open {
		l.tell(Event{Prompt: view})
	}
	b.announce()
	b.share(noticeLease(l, leaseLife))
	return l
}

// Close ends the lease. Prompts that nobody else can answer are given up after a
// while, in which he can come back.
func (l *Lease) Close() {
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	l.end(true)
}

// end is Close under the book's lock; with grace the prompts wait a while.
func (l *Lease) end(grace bool) {
	if l.ended {
		return
	}
	l.ended = true
	b := l.book
	delete(b.leases, l)
	close(l.events)
	if grace && !b.over {
		b.linger(l.filter)
	}
	b.announce()
	b.share(noticeLease(l, 0))
}

// tell gives the lease an event. One that is not read ends: nobody is there.
func (l *Lease) tell(e Event) {
	if l.ended {
		return
	}
	select {
	case l.events <- e:
	default:
		l.end(true)
	}
}

// presence is what gateways tell each other of a lease.
type presence struct {
	Operator     bool   `json:"operator,omitempty"`
	Tenant       string `json:"tenant,omitempty"`
	Conversation string `json:"conversation,omitempty"`
}

func (l *Lease) presence() []byte {
	p := presence{Operator: l.filter.Who.Operator, Tenant: l.filter.Who.Tenant, Conversation: l.filter.Conversation}
	text, err := json.Marshal(p)
	if err != nil {
		panic("BUG: a lease that is no JSON: " + err.Error())
	}
	return text
}

func (p *presence) filter() Filter {
	return Filter{Who: Who{Operator: p.Operator, Tenant: p.Tenant}, Conversation: p.Conversation}
}

// lingering is a lease that has just been lost.
type lingering struct {
	filter Filter
	timer  *time.Timer
}

// linger keeps a lost lease for the grace. The book's lock is held.
func (b *Book) linger(filter Filter) {
	grace := b.settings.Load().Grace
	if grace <= 0 {
		return
	}
	lost := &lingering{filter: filter}
	b.lost[lost] = struct{}{}
	lost.timer = time.AfterFunc(grace, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.lost, lost)
		b.announce()
	})
}

// reachable reports whether somebody can answer prompts of a session. The book's
// lock is held.
func (b *Book) reachable(s *Session) bool {
	if s.Wait < 0 {
		return false
	}
	if s.Attended {
		return true
	}
	there := func(f *Filter) bool { return f.Who.sees(s.Tenant) && f.hears(s.Conversation) }
	for l := range b.leases {
		if there(&l.filter) {
			return true
		}
	}
	for lost := range b.lost {
		if there(&lost.filter) {
			return true
		}
	}
	for i := range b.elsewhere.leases {
		if there(&b.elsewhere.leases[i]) {
			return true
		}
	}
	return false
}

// announce wakes the prompts that wait, as who can answer may have changed. The
// book's lock is held.
func (b *Book) announce() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// tell gives an event to all that it is for. The book's lock is held.
func (b *Book) tell(r *record, closed bool) {
	for l := range b.leases {
		if l.filter.matches(r) {
			l.tell(Event{Closed: closed, Prompt: r.View})
		}
	}
}
