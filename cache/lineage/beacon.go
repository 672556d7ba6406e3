package lineage

import (
	"bytes"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"warmpath/cache"
)

// beacon tells a store that has lost what it had: a key that is read with each
// lookup, and holds what whoever missed it first has put there. When it is gone or
// another, what this process takes for written need not be there any more, and
// is written again once it is needed. Without that, states would stand in the
// store whose parts do not, for nobody else to read.
type beacon struct {
	mu    sync.Mutex
	value []byte    // nil is unknown
	lit   time.Time // when its time began anew
}

const (
	beaconKey = "b1:"
	// lossPause is how long the losses of single states and parts are taken for one:
	// a store that is full drops them all the time.
	lossPause = time.Minute
)

// differs notes the value that was read, and reports whether the one before it
// is gone. A beacon that this process has not seen before tells nothing.
func (b *beacon) differs(value []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.value
	if bytes.Equal(before, value) {
		return false
	}
	b.value = bytes.Clone(value)
	return before != nil
}

// stale gives the value to be written again, and whether that is due.
func (b *beacon) stale(now time.Time, after time.Duration) (value []byte, due bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.value != nil && now.Sub(b.lit) < after {
		return nil, false
	}
	b.lit = now
	return b.value, true
}

// watch looks at the beacon's value, nil for none, and keeps one there. It only
// makes sure of what else is done; without the store that fails as well.
func (l *Lineage) watch(ctx context.Context, value []byte) {
	if l.beacon.differs(value) {
		l.recent.lost(time.Now(), 0)
	}
	old, due := l.beacon.stale(time.Now(), min(rewritten, l.ttl))
	if !due {
		return
	}
	next := old
	if next == nil {
		next = []byte(rand.Text())
	}
	entry := cache.Entry{Key: beaconKey, Value: next, TTL: keptLonger * l.ttl}
	if swapped, err := l.store.CompareAndSwap(ctx, old, entry); err == nil && swapped {
		l.beacon.differs(next)
	}
}

// ask looks at the beacon where nothing is looked up.
func (l *Lineage) ask(ctx context.Context) {
	if values, err := l.store.GetMany(ctx, beaconKey); err == nil {
		l.watch(ctx, values[0])
	}
}
