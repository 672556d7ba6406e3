// Package disk is the store of a single gateway: one file in one folder, which
// outlives the process, even one that is killed, and stays within a size.
//
// A write is answered when the operating system has it, so it outlives the
// process; it reaches the disk within a second or so. A machine that loses its
// power can lose or damage what was written before. Damage is found by
// checksums, and then the file is moved aside and the store begins empty: what
// it held can be made again.
package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"warmpath/cache"
)

const (
	// MinBytes is the smallest Options.MaxBytes.
	MinBytes = 16 << 20

	fileName    = "store.db"
	damagedName = "store.db.damaged"
	lockName    = "lock"
)

// ErrInUse is in the error of Open when another process has the folder.
var ErrInUse = errors.New("in use by another process")

// Options bound a store. Where a field is zero its default holds.
type Options struct {
	// MaxBytes is how large the file may become, at least MinBytes; 1 GiB by
	// default. At about three quarters the entries that would expire first
	// make room for others.
	MaxBytes int64
	// MaxAge caps the lifetime of entries; 30 days by default.
	MaxAge time.Duration
	// Warn, if set, is told what went wrong where no caller is told: that
	// damage was found and the store begins empty, or that the disk does not
	// take what was written. It must not block.
	Warn func(error)
}

// Store is a cache.Store in a folder. One process at a time can have it open.
// Writes go through one goroutine, which takes all that wait in one
// transaction.
type Store struct {
	folder  string
	options Options
	lock    *folderLock

	mu     sync.RWMutex // held by senders, so that Close waits for them
	closed bool
	db     atomic.Pointer[file]

	writes  chan *write
	damages chan damage
	stop    chan struct{}
	done    sync.WaitGroup
	dirty   atomic.Bool // written since the last sync
	healed  time.Time   // the writer's: when it last began empty
}

var _ cache.Store = (*Store)(nil)

// Open opens the store in a folder, which it makes if there is none. The error
// wraps ErrInUse if another process has it open.
func Open(folder string, o Options) (*Store, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = 1 << 30
	}
	if o.MaxBytes < MinBytes {
		return nil, fmt.Errorf("disk: a store of %d bytes is too small: give it %d at least", o.MaxBytes, MinBytes)
	}
	if o.MaxAge <= 0 {
		o.MaxAge = 30 * 24 * time.Hour
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("disk: making the folder of the store: %w", err)
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return nil, err
	}
	s := &Store{
		folder:  folder,
		options: o,
		lock:    lock,
		writes:  make(chan *write, 1024),
		damages: make(chan damage, 1),
		stop:    make(chan struct{}),
	}
	f, err := s.openFile()
	if err != nil {
		lock.release()
		return nil, err
	}
	s.db.Store(f)
	s.done.Go(s.writeAll)
	s.done.Go(s.syncAll)
	return s, nil
}

// openFile opens the file, or begins with an empty one where it is damaged.
func (s *Store) openFile() (*file, error) {
	f, err := openFile(s.path(), s.options.MaxBytes)
	if bad, ok := errors.AsType[*damageError](err); ok {
		return s.begin(bad)
	}
	return f, err
}

// begin moves a damaged file aside, in the place of one that was there before,
// and begins with an empty one.
func (s *Store) begin(bad *damageError) (*file, error) {
	aside := filepath.Join(s.folder, damagedName)
	if err := os.Rename(s.path(), aside); err != nil {
		return nil, fmt.Errorf("disk: moving the damaged store aside: %w", err)
	}
	s.options.Warn(fmt.Errorf("disk: the store begins empty; what was there is now %s: %w", aside, bad))
	return openFile(s.path(), s.options.MaxBytes)
}

func (s *Store) path() string { return filepath.Join(s.folder, fileName) }

func inUse(folder, holder string) error {
	if holder != "" {
		holder = " (process " + holder + ")"
	}
	return fmt.Errorf("disk: the store in %s is %w%s: end that process, or give each process its own folder, or let them share one Redis (redis://...)",
		folder, ErrInUse, holder)
}

// GetMany implements cache.Store.
func (s *Store) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	if err := cache.CheckKeys(keys...); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := s.db.Load()
	values, err := f.read(keys, time.Now())
	if bad, ok := errors.AsType[*damageError](err); ok {
		select {
		case s.damages <- damage{f, bad}:
		default: // The writer knows of one already.
		}
		return nil, fmt.Errorf("disk: reading: %w", err)
	}
	return values, err
}

// Set implements cache.Store. Its error where the disk is full wraps that of
// the operating system.
func (s *Store) Set(ctx context.Context, entries ...cache.Entry) error {
	if err := cache.CheckEntries(entries...); err != nil {
		return err
	}
	done := make(chan written, len(entries))
	for _, e := range entries {
		if err := s.send(ctx, s.newWrite(e, done)); err != nil {
			return err
		}
	}
	var first error
	for range entries {
		if w := await(ctx, done); w.err != nil && first == nil {
			first = w.err
		}
	}
	return first
}

// CompareAndSwap implements cache.Store.
func (s *Store) CompareAndSwap(ctx context.Context, old []byte, entry cache.Entry) (swapped bool, err error) {
	if err := cache.CheckEntries(entry); err != nil {
		return false, err
	}
	done := make(chan written, 1)
	w := s.newWrite(entry, done)
	w.compare = true
	if old != nil {
		w.old = append(make([]byte, 0, len(old)), old...)
	}
	if err := s.send(ctx, w); err != nil {
		return false, err
	}
	result := await(ctx, done)
	return result.swapped, result.err
}

// Close implements cache.Store. It waits for the writes under way and for the
// disk to have them.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.stop) // Nobody sends any more: sending holds mu and looks at closed.
	s.done.Wait()
	err := s.db.Load().close()
	s.lock.release()
	if err != nil {
		return fmt.Errorf("disk: closing the store: %w", err)
	}
	return nil
}

// send hands a write to the writer.
func (s *Store) send(ctx context.Context, w *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return cache.ErrClosed
	}
	select {
	case s.writes <- w:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func await(ctx context.Context, done <-chan written) written {
	select {
	case w := <-done:
		return w
	case <-ctx.Done():
		return written{err: ctx.Err()}
	}
}
