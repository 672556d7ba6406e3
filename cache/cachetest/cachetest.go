// Package cachetest is the conformance suite that every cache.Store passes.
package cachetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"warmpath/cache"
)

// Run tests the stores that open returns, one fresh and empty store for each
// test. The suite closes them itself; what open starts beside the store ends by
// the test's Cleanup.
func Run(t *testing.T, open func(t *testing.T) cache.Store) {
	tests := []struct {
		name string
		test func(t *testing.T, s cache.Store)
	}{
		{"unknown keys", unknownKeys},
		{"nothing asked", nothingAsked},
		{"replace", replace},
		{"order and duplicates", orderAndDuplicates},
		{"binary keys and values", binary},
		{"largest", largest},
		{"too large", tooLarge},
		{"empty value is not absent", emptyValue},
		{"values are the store's own", ownValues},
		{"expiry", expiry},
		{"a dead entry removes", deadEntry},
		{"replace renews", renew},
		{"swap", swap},
		{"swap expires", swapExpires},
		{"swaps race", swapsRace},
		{"writers and readers race", writersAndReaders},
		{"ended context", endedContext},
		{"closed", closed},
		{"close under load", closeUnderLoad},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			s := open(t)
			tt.test(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			goleak.VerifyNone(t, before)
		})
	}
}

const long = time.Hour

func entry(key, value string) cache.Entry {
	return cache.Entry{Key: key, Value: []byte(value), TTL: long}
}

func get(t *testing.T, s cache.Store, keys ...string) [][]byte {
	t.Helper()
	values, err := s.GetMany(t.Context(), keys...)
	if err != nil {
		t.Fatalf("GetMany: %v", err)
	}
	if len(values) != len(keys) {
		t.Fatalf("GetMany of %d keys gave %d values", len(keys), len(values))
	}
	return values
}

func set(t *testing.T, s cache.Store, entries ...cache.Entry) {
	t.Helper()
	if err := s.Set(t.Context(), entries...); err != nil {
		t.Fatalf("Set: %v", err)
	}
}

// absent stands for no value in what want compares.
const absent = "\x00absent"

// want compares the values of keys: pairs has each key with its value.
func want(t *testing.T, s cache.Store, pairs ...string) {
	t.Helper()
	var keys []string
	for i := 0; i < len(pairs); i += 2 {
		keys = append(keys, pairs[i])
	}
	for i, value := range get(t, s, keys...) {
		got := string(value)
		if value == nil {
			got = absent
		}
		if got != pairs[2*i+1] {
			t.Errorf("key %.40q has %s, want %s", keys[i], short(got), short(pairs[2*i+1]))
		}
	}
}

func short(s string) string {
	if s == absent {
		return "no value"
	}
	return fmt.Sprintf("%.40q (%d bytes)", s, len(s))
}

func unknownKeys(t *testing.T, s cache.Store) {
	want(t, s, "a", absent, "b", absent)
	set(t, s, entry("b", "1"))
	want(t, s, "a", absent, "b", "1", "c", absent)
}

func nothingAsked(t *testing.T, s cache.Store) {
	get(t, s)
	set(t, s)
}

func replace(t *testing.T, s cache.Store) {
	set(t, s, entry("k", "first"), entry("other", "stays"))
	set(t, s, entry("k", "a longer second"))
	want(t, s, "k", "a longer second", "other", "stays")
	set(t, s, entry("k", "3"), entry("k", "4"))
	want(t, s, "k", "4")
}

func orderAndDuplicates(t *testing.T, s cache.Store) {
	set(t, s, entry("a", "A"), entry("b", "B"), entry("c", "C"))
	want(t, s, "c", "C", "a", "A", "c", "C", "nothing", absent, "b", "B", "a", "A")
}

func binary(t *testing.T, s cache.Store) {
	var all strings.Builder
	for i := range 256 {
		all.WriteByte(byte(i))
	}
	odd := []string{"", "\x00", "\x00\x00", "\xff\xfe", "a\r\nb", "{tag}", "k*", "ключ", all.String()[:cache.MaxKey]}
	var entries []cache.Entry
	var pairs []string
	for i, key := range odd {
		value := fmt.Sprintf("%d:%s\x00", i, all.String())
		entries = append(entries, entry(key, value))
		pairs = append(pairs, key, value)
	}
	set(t, s, entries...)
	want(t, s, pairs...)
}

func largest(t *testing.T, s cache.Store) {
	key := strings.Repeat("k", cache.MaxKey)
	value := strings.Repeat("0123456789abcdef", cache.MaxValue/16)
	set(t, s, entry(key, value))
	want(t, s, key, value)
	swapped, err := s.CompareAndSwap(t.Context(), []byte(value), entry(key, value[1:]+"!"))
	if err != nil || !swapped {
		t.Fatalf("CompareAndSwap of a large value: %v, %v", swapped, err)
	}
	want(t, s, key, value[1:]+"!")
}

func tooLarge(t *testing.T, s cache.Store) {
	set(t, s, entry("k", "old"))
	longKey := strings.Repeat("k", cache.MaxKey+1)
	longValue := strings.Repeat("v", cache.MaxValue+1)
	for name, err := range map[string]error{
		"Set with a long key":   s.Set(t.Context(), entry("k", "new"), entry(longKey, "")),
		"Set with a long value": s.Set(t.Context(), entry("k", "new"), entry("l", longValue)),
		"GetMany":               second(s.GetMany(t.Context(), "k", longKey)),
		"CompareAndSwap":        second(s.CompareAndSwap(t.Context(), []byte("old"), entry("k", longValue))),
	} {
		if !errors.Is(err, cache.ErrTooLarge) {
			t.Errorf("%s: error %v, want ErrTooLarge", name, err)
		}
	}
	want(t, s, "k", "old", "l", absent)
}

func second[T any](_ T, err error) error { return err }

func emptyValue(t *testing.T, s cache.Store) {
	set(t, s, entry("empty", ""), cache.Entry{Key: "nil", TTL: long})
	want(t, s, "empty", "", "nil", "", "other", absent)
	if swapped, err := s.CompareAndSwap(t.Context(), nil, entry("empty", "x")); swapped || err != nil {
		t.Errorf("swap from absent where an empty value is: %v, %v", swapped, err)
	}
	if swapped, err := s.CompareAndSwap(t.Context(), []byte{}, entry("other", "x")); swapped || err != nil {
		t.Errorf("swap from an empty value where none is: %v, %v", swapped, err)
	}
	if swapped, err := s.CompareAndSwap(t.Context(), []byte{}, entry("empty", "x")); !swapped || err != nil {
		t.Errorf("swap from an empty value: %v, %v", swapped, err)
	}
	want(t, s, "empty", "x", "nil", "", "other", absent)
}

func ownValues(t *testing.T, s cache.Store) {
	value := []byte("before")
	set(t, s, cache.Entry{Key: "k", Value: value, TTL: long})
	copy(value, "after!")
	want(t, s, "k", "before")
	held := get(t, s, "k")[0]
	set(t, s, entry("k", "replaced"), entry("more", strings.Repeat("x", 5000)))
	if string(held) != "before" {
		t.Errorf("a value that was read became %q when its key was replaced", held)
	}
}

func deadEntry(t *testing.T, s cache.Store) {
	set(t, s, entry("a", "1"), entry("b", "1"), entry("c", "1"))
	set(t, s, cache.Entry{Key: "a", Value: []byte("2")}, cache.Entry{Key: "b", TTL: -time.Second}, cache.Entry{Key: "new"})
	want(t, s, "a", absent, "b", absent, "c", "1", "new", absent)
	swapped, err := s.CompareAndSwap(t.Context(), []byte("1"), cache.Entry{Key: "c"})
	if !swapped || err != nil {
		t.Errorf("swap to a dead entry: %v, %v", swapped, err)
	}
	want(t, s, "c", absent)
}

func endedContext(t *testing.T, s cache.Store) {
	set(t, s, entry("k", "1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"GetMany":        second(s.GetMany(ctx, "k")),
		"Set":            s.Set(ctx, entry("k", "2")),
		"CompareAndSwap": second(s.CompareAndSwap(ctx, []byte("1"), entry("k", "2"))),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: error %v, want context.Canceled", name, err)
		}
	}
	want(t, s, "k", "1")
}

func closed(t *testing.T, s cache.Store) {
	set(t, s, entry("k", "1"))
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	for name, err := range map[string]error{
		"GetMany":        second(s.GetMany(t.Context(), "k")),
		"Set":            s.Set(t.Context(), entry("k", "2")),
		"CompareAndSwap": second(s.CompareAndSwap(t.Context(), []byte("1"), entry("k", "2"))),
	} {
		if !errors.Is(err, cache.ErrClosed) {
			t.Errorf("%s after Close: error %v, want ErrClosed", name, err)
		}
	}
}
