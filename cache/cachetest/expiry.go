package cachetest

import (
	"testing"
	"time"

	"warmpath/cache"
)

// brief is a lifetime that a test can wait for. That an entry is still there
// before its time is tested with a long one only: a loaded machine may take
// longer than brief from one line to the next.
const brief = 30 * time.Millisecond

// gone waits until a key has no value. A store's clock may be another
// machine's, so there is nothing better than to ask again.
func gone(t *testing.T, s cache.Store, key string, since time.Time) {
	t.Helper()
	for {
		asked := time.Now()
		value := get(t, s, key)[0]
		switch {
		case value == nil:
			if lived := time.Since(since); lived < brief-2*time.Millisecond {
				t.Errorf("%q was gone after %v, want %v at least", key, lived, brief)
			}
			return
		case asked.Sub(since) > brief+5*time.Second:
			t.Fatalf("%q is still there %v after it was stored for %v", key, asked.Sub(since), brief)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func expiry(t *testing.T, s cache.Store) {
	begun := time.Now()
	set(t, s,
		cache.Entry{Key: "brief", Value: []byte("1"), TTL: brief},
		cache.Entry{Key: "tiny", Value: []byte("1"), TTL: time.Nanosecond},
		cache.Entry{Key: "endless", Value: []byte("1"), TTL: 1<<63 - 1},
		entry("long", "2"),
	)
	gone(t, s, "brief", begun)
	want(t, s, "brief", absent, "tiny", absent, "endless", "1", "long", "2")
	if swapped, err := s.CompareAndSwap(t.Context(), []byte("1"), entry("brief", "3")); swapped || err != nil {
		t.Errorf("swap from an expired value: %v, %v", swapped, err)
	}
	if swapped, err := s.CompareAndSwap(t.Context(), nil, entry("brief", "3")); !swapped || err != nil {
		t.Errorf("swap from absent where a value has expired: %v, %v", swapped, err)
	}
	want(t, s, "brief", "3")
}

func renew(t *testing.T, s cache.Store) {
	begun := time.Now()
	set(t, s,
		cache.Entry{Key: "witness", Value: []byte("1"), TTL: brief},
		cache.Entry{Key: "renewed", Value: []byte("1"), TTL: brief},
		entry("shortened", "1"),
	)
	set(t, s, entry("renewed", "2"), cache.Entry{Key: "shortened", Value: []byte("2"), TTL: brief})
	gone(t, s, "witness", begun)
	gone(t, s, "shortened", begun)
	want(t, s, "renewed", "2")
}

func swapExpires(t *testing.T, s cache.Store) {
	begun := time.Now()
	swapped, err := s.CompareAndSwap(t.Context(), nil, cache.Entry{Key: "k", Value: []byte("1"), TTL: brief})
	if !swapped || err != nil {
		t.Fatalf("swap from absent: %v, %v", swapped, err)
	}
	gone(t, s, "k", begun)
}
