// Package cache remembers: it keeps bytes by key until they expire. The Store
// interface has three implementations, Memory here and one package each for
// the embedded disk store and for Redis. Guard stands before any of them, so
// that a store that is slow or gone costs a request next to nothing.
//
// What a store holds can vanish at any time, by expiry, eviction or an outage.
// Whoever asks must be able to go on without it.
package cache

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// MaxKey is the length in bytes of the longest key a store takes.
	MaxKey = 256
	// MaxValue is the length in bytes of the longest value a store takes.
	MaxValue = 1 << 20
)

var (
	// ErrClosed is the error of every operation on a store after its Close.
	ErrClosed = errors.New("cache: the store is closed")
	// ErrTooLarge says that a key is longer than MaxKey or a value than
	// MaxValue. Nothing of the call was stored.
	ErrTooLarge = errors.New("cache: too large")
	// ErrUnavailable is in every error by which Guard says that the store did
	// not answer or answered with an error. The request goes on without it.
	ErrUnavailable = errors.New("cache: the store is unavailable")
)

// Entry is a value to be kept under a key.
type Entry struct {
	Key   string // any bytes, at most MaxKey of them
	Value []byte // at most MaxValue; nil is kept as an empty value
	// TTL is how long the entry lives, to the millisecond. An entry whose TTL
	// is zero or less is already dead: storing it removes the key.
	TTL time.Duration
}

// Store keeps bytes by key, each until it expires. It may forget an entry
// before that, but never gives anything other than what was last stored. All
// methods may be called at the same time from many goroutines, and what one
// call has stored every later call finds. An operation whose context has ended
// returns its error; a write may have happened all the same.
type Store interface {
	// GetMany reads several keys in one round trip. The result has one value
	// for each key, in their order: nil where a key is unknown or expired, and
	// an empty slice where the value is empty. The caller must not change the
	// values, which others may be reading.
	GetMany(ctx context.Context, keys ...string) ([][]byte, error)

	// Set stores entries in one round trip, replacing what their keys had; of
	// two entries with one key the later stays. The group is not atomic: after
	// an error any of them may have been stored. The caller may reuse the
	// values when Set has returned.
	Set(ctx context.Context, entries ...Entry) error

	// CompareAndSwap stores an entry only if its key still has the value old,
	// or, with old nil, only if the key is absent. That swapped is false is no
	// error.
	CompareAndSwap(ctx context.Context, old []byte, entry Entry) (swapped bool, err error)

	// Close ends the store. It may be called more than once.
	Close() error
}

// CheckKeys returns an error that wraps ErrTooLarge if a key is too long. It is
// for implementations of Store.
func CheckKeys(keys ...string) error {
	for _, key := range keys {
		if len(key) > MaxKey {
			return fmt.Errorf("%w: a key of %d bytes, where %d is the most", ErrTooLarge, len(key), MaxKey)
		}
	}
	return nil
}

// CheckEntries returns an error that wraps ErrTooLarge if a key or a value is
// too long. It is for implementations of Store.
func CheckEntries(entries ...Entry) error {
	for i := range entries {
		if err := CheckKeys(entries[i].Key); err != nil {
			return err
		}
		if n := len(entries[i].Value); n > MaxValue {
			return fmt.Errorf("%w: a value of %d bytes, where %d is the most", ErrTooLarge, n, MaxValue)
		}
	}
	return nil
}
