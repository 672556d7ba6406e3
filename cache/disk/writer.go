package disk

import (
	"errors"
	"fmt"
	"time"

	berrors "go.etcd.io/bbolt/errors"

	"warmpath/cache"
)

const (
	batchWrites = 512
	batchBytes  = 2 << 20 // more than the largest value, and little beside MinBytes

	syncEvery  = time.Second
	sweepEvery = 10 * time.Second
	healEvery  = time.Minute
	warnEvery  = time.Minute
)

// write is one entry on its way to the file.
type write struct {
	record  record
	compare bool
	old     []byte // what compare wants; nil for absent
	done    chan<- written
}

type written struct {
	swapped bool
	err     error
}

// damage is what a reader found in a file.
type damage struct {
	file *file
	what *damageError
}

// newWrite copies what it needs of an entry, which the caller may change as
// soon as its context has ended.
func (s *Store) newWrite(e cache.Entry, done chan<- written) *write {
	w := &write{done: done}
	ttl := min(e.TTL, s.options.MaxAge)
	if ttl <= 0 {
		w.record = record{key: e.Key}
		return w
	}
	ttl = (ttl + time.Millisecond - 1).Truncate(time.Millisecond)
	w.record = newRecord(e.Key, e.Value, time.Now().Add(ttl))
	return w
}

// writeAll is the one goroutine that changes the file. It ends when stop is
// closed and nothing waits any more.
func (s *Store) writeAll() {
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	stop := s.stop
	for {
		select {
		case w := <-s.writes:
			s.commit(s.collect(w))
			s.evict(0)
		case d := <-s.damages:
			_ = s.heal(d.file, d.what)
		case <-sweep.C:
			s.evict(0)
		case <-stop:
			for {
				select {
				case w := <-s.writes:
					s.commit(s.collect(w))
				default:
					return
				}
			}
		}
	}
}

// collect takes what else is waiting, within the bounds of a batch.
func (s *Store) collect(first *write) []*write {
	batch := []*write{first}
	size := first.record.size()
	for len(batch) < batchWrites && size < batchBytes {
		select {
		case w := <-s.writes:
			batch = append(batch, w)
			size += w.record.size()
		default:
			return batch
		}
	}
	return batch
}

// commit writes a batch in one transaction and answers those who wait for it.
func (s *Store) commit(batch []*write) {
	f := s.db.Load()
	results, err := f.apply(batch)
	// A large value needs many pages in a row, and only so much eviction makes
	// them: at last there is nothing else in the file. The steps grow, since an
	// eviction that leaves half a page behind needs such pages itself, and grow
	// slowly, since what goes with a large step need not all have gone.
	step := f.max / 64
	for more := step; errors.Is(err, berrors.ErrMaxSizeReached) && more <= f.max; more += step {
		s.evict(more)
		results, err = f.apply(batch)
	}
	if bad, ok := errors.AsType[*damageError](err); ok {
		if err = s.heal(f, bad); err == nil {
			results, err = s.db.Load().apply(batch)
		}
	}
	s.dirty.Store(true)
	for i, w := range batch {
		if err != nil {
			w.done <- written{err: fmt.Errorf("disk: writing: %w", err)}
			continue
		}
		w.done <- results[i]
	}
}

// evict removes what has expired, what the file has no room for, and at least
// so many bytes. Its error is of no use to anybody: where the disk is full,
// those who write are told.
func (s *Store) evict(atLeast int64) {
	f := s.db.Load()
	removed, err := f.evict(time.Now(), atLeast)
	if bad, ok := errors.AsType[*damageError](err); ok {
		_ = s.heal(f, bad)
	}
	if removed > 0 {
		s.dirty.Store(true)
	}
}

// heal puts an empty file in the place of a damaged one. The damaged one stays
// open, since readers may still be in it and its locks may be held for ever.
// Damage that comes back at once is the disk's, and not healed over and over.
func (s *Store) heal(f *file, cause *damageError) error {
	if s.db.Load() != f {
		return nil
	}
	if now := time.Now(); s.healed.IsZero() || now.Sub(s.healed) >= healEvery {
		s.healed = now
	} else {
		return cause
	}
	fresh, err := s.begin(cause)
	if err != nil {
		s.options.Warn(fmt.Errorf("disk: the store is damaged and cannot begin empty: %w", err))
		return err
	}
	s.db.Store(fresh)
	return nil
}

// syncAll has the disk take what was written, every now and then. It is not the
// writer's work: a disk may need seconds for it.
func (s *Store) syncAll() {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	var warned time.Time
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		if !s.dirty.Swap(false) {
			continue
		}
		if err := s.db.Load().db.Sync(); err != nil && time.Since(warned) >= warnEvery {
			warned = time.Now()
			s.options.Warn(fmt.Errorf("disk: the disk does not take what was written: %w", err))
		}
	}
}
