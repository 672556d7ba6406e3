package prompt

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Settings are what a reload may change.
type Settings struct {
	Policies Policies
	// Expiry is how long a prompt waits, and Grace how long the prompts of somebody who
	// has gone wait for him to come back.
	Expiry, Grace time.Duration
}

// Counter counts prompts. metrics.Metrics is one.
type Counter interface {
	// PromptOpened counts a prompt as open until PromptClosed, which tells its kind,
	// its outcome, and how long it has waited: not at all if nobody was asked.
	PromptOpened()
	PromptClosed()
	PromptDone(kind, outcome string, waited time.Duration)
	// PromptSharingFailed counts an operation of the board, one of BoardOps.
	PromptSharingFailed(op string)
}

// Options are what a Book is made with.
type Options struct {
	Settings Settings
	// Counter counts, and Log takes what goes wrong; neither may be nil.
	Counter Counter
	Log     *slog.Logger
	// Board is shared with other gateways; nil for a gateway of its own.
	Board Board
}

// Book holds the prompts that are open. It is safe for concurrent use.
type Book struct {
	settings atomic.Pointer[Settings]
	count    Counter
	log      *slog.Logger
	sharing  *sharing // nil for a gateway of its own
	families families

	mu        sync.Mutex
	open      map[string]*entry
	past      past
	leases    map[*Lease]struct{}
	lost      map[*lingering]struct{}
	elsewhere elsewhere
	turns     turns
	changed   chan struct{} // closed when who can answer may have changed
	over      bool
}

// entry is a prompt that is open. What follows the record is guarded by the book's
// lock, but done, which is closed when answer and what is told of it hold.
type entry struct {
	record
	answer Answer
	told   View
	closed bool
	done   chan struct{}
}

// New makes a book. Close ends it.
func New(o Options) *Book {
	b := &Book{
		count: o.Counter, log: o.Log,
		open: map[string]*entry{}, leases: map[*Lease]struct{}{}, lost: map[*lingering]struct{}{},
		changed: make(chan struct{}),
	}
	b.Configure(o.Settings)
	if o.Board != nil {
		b.sharing = newSharing(b, o.Board)
	}
	return b
}

// Configure changes what prompts that open from now on are held to.
func (b *Book) Configure(s Settings) { b.settings.Store(&s) }

// Policies are the rules that hold now.
func (b *Book) Policies() *Policies { return &b.settings.Load().Policies }

// Close ends the prompts that are open, and all leases. Whoever asks from then on
// is told at once that the gateway stops.
func (b *Book) Close() {
	b.mu.Lock()
	b.over = true
	for _, e := range b.open {
		b.finish(e, Answer{Outcome: Draining}, "")
	}
	for l := range b.leases {
		l.end(false)
	}
	for lost := range b.lost {
		lost.timer.Stop()
	}
	b.announce()
	b.mu.Unlock()
	if b.sharing != nil {
		b.sharing.stop()
	}
}

// Ask asks whoever can answer and waits for it. Where nobody can it does not wait,
// and the policies decide. The answer is also there if ctx ends, as Cancelled. The
// error is ErrDraining, when the gateway stops while somebody is being asked.
func (b *Book) Ask(ctx context.Context, s Session, p Prompt) (Answer, error) {
	return b.ask(ctx, &s, p, false)
}

func (b *Book) ask(ctx context.Context, s *Session, p Prompt, editable bool) (Answer, error) {
	settings := b.settings.Load()
	if p.Kind() == Question && !p.HumanOnly() && settings.Policies.Target(p.Tool()) == ToAssistant {
		return b.decided(p, Answer{Outcome: Model}), nil
	}
	t := b.enter(s)
	defer b.leave(t)
	if a, ok := b.known(t, p); ok {
		return a, nil
	}
	if !b.canReach(s) {
		return b.detached(settings, p), nil
	}
	if !b.takeTurn(ctx, t, s.Order) {
		return b.decided(p, Answer{Outcome: Cancelled}), nil
	}
	defer b.yieldTurn(t)
	// A call before may have been answered for the whole turn, and whoever answered
	// may have gone.
	if a, ok := b.known(t, p); ok {
		return a, nil
	}
	a, waited := b.wait(ctx, s, p, editable, settings)
	if a.Outcome == Nobody {
		a = b.verdict(settings, p)
	}
	b.count.PromptDone(p.Kind().String(), a.Outcome.String(), waited)
	b.learn(t, p, a)
	if a.Outcome == Draining {
		return a, ErrDraining
	}
	return a, nil
}

// wait opens a prompt and waits until it closes.
func (b *Book) wait(ctx context.Context, s *Session, p Prompt, editable bool, settings *Settings) (Answer, time.Duration) {
	expiry := settings.Expiry
	if s.Wait > 0 {
		expiry = min(expiry, s.Wait)
	}
	began := time.Now()
	e := &entry{record: newRecord(s, p, editable, expiry), done: make(chan struct{})}
	opened := e.View
	if !b.enroll(e) {
		return Answer{Outcome: Draining}, 0
	}
	expired := time.NewTimer(expiry)
	defer expired.Stop()
	// Who is notified may write to a disk: nobody else waits for that.
	if s.Notify != nil {
		s.Notify(Event{Prompt: opened})
		defer func() {
			<-e.done
			s.Notify(Event{Closed: true, Prompt: e.told})
		}()
	}
	for {
		changed, there := b.watch(s)
		if !there {
			return b.giveUp(e, Answer{Outcome: Nobody}), time.Since(began)
		}
		select {
		case <-e.done:
			if ctx.Err() != nil {
				// The turn has ended: what was answered in the same moment has no effect.
				return Answer{Outcome: Cancelled}, time.Since(began)
			}
			return e.answer, time.Since(began)
		case <-ctx.Done():
			b.giveUp(e, Answer{Outcome: Cancelled})
			return Answer{Outcome: Cancelled}, time.Since(began)
		case <-expired.C:
			return b.giveUp(e, Answer{Outcome: Expired}), time.Since(began)
		case <-changed:
		}
	}
}

// watch gives what is closed when it may have changed who can answer, and whether
// somebody can.
func (b *Book) watch(s *Session) (changed <-chan struct{}, there bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed, b.reachable(s)
}

func (b *Book) canReach(s *Session) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over || b.reachable(s) // When all is over, asking says so.
}

// enroll opens a prompt, unless the book is closed.
func (b *Book) enroll(e *entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return false
	}
	if b.sharing != nil {
		e.Key = b.sharing.public
	}
	b.open[e.ID] = e
	b.count.PromptOpened()
	b.tell(&e.record, false)
	b.share(noticePrompt(&e.record, e.life()))
	return true
}

// giveUp closes a prompt without an answer, unless somebody has answered it on
// another gateway in the meantime. It gives what the prompt was closed with.
func (b *Book) giveUp(e *entry, a Answer) Answer {
	if b.sharing != nil {
		if theirs, by, ok := b.sharing.claim(e); ok {
			a = theirs
			b.mu.Lock()
			defer b.mu.Unlock()
			b.finish(e, a, by)
			return e.answer
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finish(e, a, "")
	return e.answer
}

// finish closes a prompt; the first answer holds. The book's lock is held.
func (b *Book) finish(e *entry, a Answer, by string) bool {
	if e.closed {
		return false
	}
	e.closed, e.answer = true, a
	delete(b.open, e.ID)
	e.State, e.By = a.Outcome.String(), by
	b.past.add(&e.record, a.Outcome.byPerson() && by != "")
	b.count.PromptClosed()
	slim := e.slim()
	e.told = slim.View
	b.tell(slim, true)
	b.share(noticePrompt(slim, pastLife))
	close(e.done)
	return true
}

// detached decides a prompt that nobody can answer, and counts it.
func (b *Book) detached(settings *Settings, p Prompt) Answer {
	return b.decided(p, b.verdict(settings, p))
}

// verdict is what the policies make of a prompt.
func (b *Book) verdict(settings *Settings, p Prompt) Answer {
	policy, setting := settings.Policies.Detached(p.Tool(), p.Kind())
	a := Answer{Outcome: Nobody, Policy: policy, Setting: setting}
	switch policy.Decide(p) {
	case Approve:
		a.Outcome = Approved
	case UseDefaults:
		a.Outcome = Defaulted
		a.Content, _ = defaults(p)
	case AskModel:
		a.Outcome = Model
	case Refuse:
	}
	return a
}

// decided counts an answer that nobody was waited for.
func (b *Book) decided(p Prompt, a Answer) Answer {
	b.count.PromptDone(p.Kind().String(), a.Outcome.String(), 0)
	return a
}

// Answer takes somebody's reply to a prompt, wherever it waits. It fails with
// ErrUnknown, ErrAnswered, ErrGone, or an InvalidError, after which the prompt is
// still open.
func (b *Book) Answer(ctx context.Context, who Who, id string, reply Reply) error {
	b.mu.Lock()
	e, here := b.open[id]
	if !here {
		closed := b.past.why(who, id)
		b.mu.Unlock()
		if closed != nil {
			return closed
		}
		return b.sharing.answer(ctx, who, id, reply)
	}
	b.mu.Unlock()
	if !who.sees(e.Tenant) {
		return ErrUnknown
	}
	a, err := accepts(e.kind, e.questions, e.Editable, reply)
	if err != nil {
		return err
	}
	if b.sharing != nil && !b.sharing.first(ctx, id, nil) {
		return ErrAnswered
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.finish(e, a, who.name()) {
		return b.past.why(who, id)
	}
	return nil
}

// List gives the prompts that match, oldest first.
func (b *Book) List(filter Filter) []View {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list(filter)
}

// list is List under the book's lock.
func (b *Book) list(filter Filter) []View {
	views := []View{}
	for _, e := range b.open {
		if filter.matches(&e.record) {
			views = append(views, e.View)
		}
	}
	for _, r := range b.elsewhere.prompts {
		if filter.matches(r) && (r.State != stateOpen || time.Now().Before(r.Expires)) {
			views = append(views, r.View)
		}
	}
	for i := range b.past.list {
		if r := &b.past.list[i].record; filter.matches(r) {
			views = append(views, r.View)
		}
	}
	slices.SortFunc(views, func(a, b View) int {
		if order := a.Opened.Compare(b.Opened); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
	})
	return views
}

// Get gives one prompt, open or closed a while ago; its error is ErrUnknown.
func (b *Book) Get(who Who, id string) (View, error) {
	for _, view := range b.List(Filter{Who: who}) {
		if view.ID == id {
			return view, nil
		}
	}
	return View{}, ErrUnknown
}

// IsInvalid reports whether an error is an InvalidError, and what it says.
func IsInvalid(err error) (problem string, ok bool) {
	if e, ok := errors.AsType[*InvalidError](err); ok {
		return e.Problem, true
	}
	return "", false
}
