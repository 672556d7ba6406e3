package cache

import (
	"sync"
	"time"
)

// breaker decides whether a call may go to the store. It opens after a number
// of failures in a row; from then on nothing goes there but one probe at a
// time, and only a probe that succeeds closes it again.
type breaker struct {
	limit int           // failures in a row that open it
	pause time.Duration // between probes

	mu       sync.Mutex
	failures int
	open     bool
	probing  bool
	next     time.Time // when the next probe is due
}

// allow reports whether a call may go to the store, and, if not, whether the
// caller is the one to start a probe, whose outcome it must give to probed.
func (b *breaker) allow() (call, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true, false
	}
	if b.probing || time.Now().Before(b.next) {
		return false, false
	}
	b.probing = true
	return false, true
}

func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = 0
}

func (b *breaker) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	if b.failures >= b.limit && !b.open {
		b.open = true
		b.next = time.Now().Add(b.pause)
	}
}

func (b *breaker) probed(ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	if ok {
		b.open, b.failures = false, 0
		return
	}
	b.next = time.Now().Add(b.pause)
}

func (b *breaker) isOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}
