package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"warmpath/cache"
)

var (
	// places has, for each key behind a byte that is never missing, where its
	// record is, and under layoutKey the version of all this.
	places    = []byte("places")
	layoutKey = []byte("layout")
	layout    = []byte("1")
	// records has the records by place. New ones come in at the right end, or
	// at one end per lifetime, and both expiry and eviction eat from the left.
	records = []byte("records")
)

// reserve is what is kept free of a file for the transactions that make room.
// One may have to rewrite a page with two of the largest values.
func reserve(maxBytes int64) int64 { return max(maxBytes/16, 4*cache.MaxValue) }

// How many records one transaction evicts at most: few in the ordinary course,
// so that writers do not wait for long, and many where one waits for room.
const (
	evictAtMost   = 512
	evictForWrite = 64 << 10
)

// file is the database. Only read is for everybody; the rest is the writer's.
type file struct {
	db  *bbolt.DB
	max int64

	// Once a file is known to be damaged nobody enters it again: a panic of the
	// library may have left its locks locked for ever.
	broken atomic.Bool

	mu     sync.RWMutex // held by readers, so that close waits for them
	closed bool

	used  int64 // bytes of the file that hold something
	first place // of the record that expires first
	empty bool
}

// damageError says that the file is not what was written.
type damageError struct{ what string }

func (e *damageError) Error() string { return "damaged store: " + e.what }

var errBroken = &damageError{"it was found before"}

// openFile opens or makes the file. Its error is a damageError if a new file
// would do better.
func openFile(path string, maxBytes int64) (f *file, err error) {
	defer catch(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: time.Millisecond, // one try: the folder's lock is held already
		// What the operating system has outlives the process; see syncAll.
		NoSync:       true,
		NoGrowSync:   true,
		FreelistType: bbolt.FreelistMapType,
	})
	var system syscall.Errno
	var onPath *fs.PathError
	switch {
	case err == nil:
	case errors.Is(err, berrors.ErrTimeout):
		return nil, inUse(path, "")
	case errors.As(err, &system), errors.As(err, &onPath):
		return nil, fmt.Errorf("disk: opening the store: %w", err)
	default:
		return nil, &damageError{err.Error()}
	}
	db.AllocSize = 64 << 10 // The library rounds up to it before it compares with MaxSize.
	f = &file{db: db, max: maxBytes}
	// A file that is as it should be is only looked at: a full disk still
	// serves what it has.
	known, err := f.look()
	if err == nil && !known {
		err = f.update(true, lay)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// look reports whether the file has our layout already.
func (f *file) look() (known bool, err error) {
	return known, f.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(places)
		if b == nil {
			return nil
		}
		known = true
		if found := b.Get(layoutKey); !bytes.Equal(found, layout) {
			return &damageError{fmt.Sprintf("its layout is %.20q, not %q", found, layout)}
		}
		f.note(tx)
		return nil
	})
}

// lay makes an empty file ours.
func lay(tx *bbolt.Tx) error {
	if _, err := tx.CreateBucket(records); err != nil {
		return err
	}
	b, err := tx.CreateBucket(places)
	if err != nil {
		return err
	}
	return b.Put(layoutKey, layout)
}

// note takes down which record expires first.
func (f *file) note(tx *bbolt.Tx) {
	key, _ := tx.Bucket(records).Cursor().First()
	f.empty = key == nil
	copy(f.first[:], key)
}

func (f *file) close() error {
	if f.broken.Load() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return errors.Join(f.db.Sync(), f.db.Close())
}

// catch makes damage of what a damaged file does to the library: it panics, or
// reads from where no memory is. It is deferred.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *damageError:
		*err = r
	default:
		*err = &damageError{fmt.Sprint(r)}
	}
}

// mark takes down that the file is damaged. It is deferred, before catch.
func (f *file) mark(err *error) {
	if _, ok := errors.AsType[*damageError](*err); ok {
		f.broken.Store(true)
	}
}

// read gives copies of values; nil where a key is unknown or expired.
func (f *file) read(keys []string, now time.Time) (values [][]byte, err error) {
	if f.broken.Load() {
		return nil, errBroken
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return nil, cache.ErrClosed
	}
	defer f.mark(&err)
	defer catch(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	values = make([][]byte, len(keys))
	err = f.db.View(func(tx *bbolt.Tx) error {
		v := viewOf(tx)
		for i, key := range keys {
			value, err := v.value(key, now)
			if err != nil {
				return err
			}
			if value != nil {
				values[i] = append(make([]byte, 0, len(value)), value...)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// update runs a transaction and takes note of what the file then holds.
// makesRoom says that it may use the reserve.
func (f *file) update(makesRoom bool, do func(*bbolt.Tx) error) (err error) {
	if f.broken.Load() {
		return errBroken
	}
	defer f.mark(&err)
	defer catch(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	f.db.MaxSize = int(f.max)
	if !makesRoom {
		f.db.MaxSize -= int(reserve(f.max))
	}
	var size int64
	err = f.db.Update(func(tx *bbolt.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		f.note(tx)
		size = tx.Size()
		return nil
	})
	if err == nil {
		stats := f.db.Stats()
		f.used = size - int64(stats.FreeAlloc)
	}
	return err
}

// apply writes a batch.
func (f *file) apply(batch []*write) (results []written, err error) {
	results = make([]written, len(batch))
	now := time.Now()
	err = f.update(false, func(tx *bbolt.Tx) error {
		v := viewOf(tx)
		for i, w := range batch {
			if w.compare {
				value, err := v.value(w.record.key, now)
				if err != nil {
					return err
				}
				if (value == nil) != (w.old == nil) || !bytes.Equal(value, w.old) {
					continue
				}
			}
			if err := v.put(&w.record); err != nil {
				return err
			}
			results[i].swapped = true
		}
		return nil
	})
	return results, err
}

// evict removes what has expired, and what expires next as long as the file is
// too full and until at least so many bytes are gone. It reports how many
// records it removed.
func (f *file) evict(now time.Time, atLeast int64) (removed int, err error) {
	room := f.max - reserve(f.max)
	surplus := f.used - room*7/8
	if surplus > 0 {
		surplus += room / 64 // so that not every write has to evict
	}
	limit := evictAtMost
	if atLeast > 0 {
		limit = evictForWrite
	}
	surplus = max(surplus, atLeast)
	if surplus <= 0 && (f.empty || !f.first.expired(now)) {
		return 0, nil
	}
	err = f.update(true, func(tx *bbolt.Tx) error {
		v := viewOf(tx)
		type pair struct {
			place place
			text  []byte
		}
		var going []pair
		c := v.records.Cursor()
		for key, text := c.First(); key != nil && len(going) < limit; key, text = c.Next() {
			if len(key) != len(place{}) {
				return &damageError{"a record has no place"}
			}
			p := place(key)
			if !p.expired(now) && surplus <= 0 {
				break
			}
			surplus -= int64(len(key) + len(text))
			going = append(going, pair{p, text})
		}
		for _, g := range going {
			if err := v.remove(g.place, g.text); err != nil {
				return err
			}
		}
		removed = len(going)
		return nil
	})
	return removed, err
}
