package prompt

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// elsewhere is what is known of other gateways.
type elsewhere struct {
	leases  []Filter
	prompts map[string]*record
}

// share has a notice pinned, if there is a board. The book's lock is held.
func (b *Book) share(n func() notice) {
	if b.sharing != nil {
		b.sharing.post(n())
	}
}

// sharing keeps a book and a board in step.
type sharing struct {
	book    *Book
	board   Board
	sealer  sealer
	public  []byte
	cancel  context.CancelFunc
	stopped sync.WaitGroup
	wake    chan struct{}

	mu      sync.Mutex
	pending []notice
	missing bool // the board lacks prompts that are open
	failed  int  // operations that have failed since the last that was heard of

	// renewed and asked say when leases and prompts were pinned last. They are of the
	// goroutine that runs.
	renewed, asked time.Time
}

func newSharing(b *Book, board Board) *sharing {
	ctx, cancel := context.WithCancel(context.Background())
	s := &sharing{book: b, board: board, cancel: cancel, wake: make(chan struct{}, 1)}
	s.sealer, s.public = newSealer()
	s.stopped.Go(func() { s.run(ctx) })
	return s
}

// stop pins what is still to be told, and ends.
func (s *sharing) stop() {
	s.cancel()
	s.stopped.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), boardTime)
	defer cancel()
	s.flush(ctx)
}

func (s *sharing) post(n notice) {
	s.mu.Lock()
	s.pending = append(s.pending, n)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *sharing) run(ctx context.Context) {
	calls := s.board.Listen(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var looked time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			s.flush(ctx)
			if time.Since(looked) < renewal {
				timer.Reset(s.pause())
				continue
			}
		case _, ok := <-calls:
			if !ok {
				calls = nil
			}
		case <-timer.C:
		}
		// Where much is asked there is always something to do before the timer ends.
		if time.Since(s.renewed) >= renewal {
			s.renewed = time.Now()
			s.renew()
		}
		s.read(ctx)
		looked = time.Now()
		timer.Reset(s.pause())
	}
}

// pause is how long to wait until the board is read again: calls get lost.
func (s *sharing) pause() time.Duration {
	b := s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open)+len(b.leases)+len(b.elsewhere.leases) > 0 {
		return renewal
	}
	return idle
}

// flush pins what is to be told. What cannot be pinned is dropped: leases and open
// prompts are pinned again when the board answers.
func (s *sharing) flush(ctx context.Context) {
	s.mu.Lock()
	pending := s.pending
	s.pending = nil
	s.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	if s.pin(ctx, pending) {
		s.call(ctx)
	}
}

// pin pins all, and reports whether it could.
func (s *sharing) pin(ctx context.Context, all []notice) bool {
	for _, n := range all {
		if _, err := s.board.Pin(ctx, n.kind, n.name, n.value, n.life, false); err != nil {
			s.failure(ctx, "pin", err)
			s.mu.Lock()
			s.missing = true
			s.mu.Unlock()
			return false
		}
	}
	return true
}

func (s *sharing) call(ctx context.Context) {
	if err := s.board.Call(ctx); err != nil {
		s.failure(ctx, "call", err)
	}
}

// failure counts what the board could not do, and says so when it begins to fail.
func (s *sharing) failure(ctx context.Context, op string, err error) {
	if ctx.Err() != nil {
		return
	}
	s.book.count.PromptSharingFailed(op)
	s.mu.Lock()
	s.failed++
	first := s.failed == 1
	s.mu.Unlock()
	if first {
		s.book.log.Warn("prompts are not shared with other gateways until the store answers", "cause", err)
	}
}

// renew pins the leases of this gateway again, and its prompts now and then, or at once
// if the board lacks some.
func (s *sharing) renew() {
	b := s.book
	s.mu.Lock()
	missing := s.missing
	s.mu.Unlock()
	b.mu.Lock()
	var all []notice
	for l := range b.leases {
		all = append(all, noticeLease(l, leaseLife)())
	}
	if missing || time.Since(s.asked) >= leaseLife/3 {
		s.asked = time.Now()
		for _, e := range b.open {
			all = append(all, noticePrompt(&e.record, e.life())())
		}
	}
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), boardTime)
	defer cancel()
	if s.pin(ctx, all) && missing {
		s.mu.Lock()
		s.missing = false
		s.mu.Unlock()
		s.call(ctx)
	}
}

// read takes over what the board has: who listens elsewhere, what is asked there,
// and what was answered there to prompts of this gateway.
func (s *sharing) read(ctx context.Context) {
	leases, err := s.board.Pinned(ctx, kindLease)
	var prompts, answers map[string][]byte
	if err == nil {
		prompts, err = s.board.Pinned(ctx, kindPrompt)
	}
	if err == nil && s.waits() {
		answers, err = s.board.Pinned(ctx, kindAnswer)
	}
	if err != nil {
		s.failure(ctx, "read", err)
		s.forget()
		return
	}
	s.mu.Lock()
	s.failed = 0
	s.mu.Unlock()
	s.book.takeOver(leases, prompts)
	for id, sealed := range answers {
		s.deliver(id, sealed)
	}
}

func (s *sharing) waits() bool {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return len(s.book.open) > 0
}

// forget drops what is known of other gateways once the board has failed for longer
// than a lease is believed in.
func (s *sharing) forget() {
	s.mu.Lock()
	long := s.failed > int(leaseLife/idle)
	s.mu.Unlock()
	if long {
		s.book.takeOver(nil, nil)
	}
}

// takeOver replaces what is known of other gateways, and tells those who look.
func (b *Book) takeOver(leases, prompts map[string][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := map[string]bool{}
	for l := range b.leases {
		own[l.id] = true
	}
	var there []Filter
	for id, text := range leases {
		var p presence
		if !own[id] && json.Unmarshal(text, &p) == nil {
			there = append(there, p.filter())
		}
	}
	b.elsewhere.leases = there
	before := b.elsewhere.prompts
	b.elsewhere.prompts = map[string]*record{}
	for id, text := range prompts {
		_, past := b.past.byID[id]
		if b.open[id] != nil || past {
			continue
		}
		if r, err := decodeRecord(text); err == nil {
			b.elsewhere.prompts[id] = r
			b.tellOf(before[id], r)
		}
	}
	for id, r := range before {
		// Its gateway has gone without a word. If only the board has lost it, it is there
		// again soon.
		if _, past := b.past.byID[id]; b.elsewhere.prompts[id] == nil && r.State == stateOpen && !past {
			slim := r.slim()
			slim.State = Cancelled.String()
			b.tell(slim, true)
		}
	}
	b.announce()
}

// tellOf tells of a prompt elsewhere what is new of it.
func (b *Book) tellOf(before, now *record) {
	wasOpen, isOpen := before != nil && before.State == stateOpen, now.State == stateOpen
	switch {
	case isOpen && !wasOpen:
		b.tell(now, false)
	case wasOpen && !isOpen:
		b.tell(now, true)
	}
}
