package cachetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"warmpath/cache"
)

func swap(t *testing.T, s cache.Store) {
	steps := []struct {
		name string
		old  []byte
		next string
		want bool
		left string
	}{
		{"from absent", nil, "1", true, "1"},
		{"from absent again", nil, "2", false, "1"},
		{"from another value", []byte("0"), "2", false, "1"},
		{"from a prefix", []byte(""), "2", false, "1"},
		{"from a longer value", []byte("1\x00"), "2", false, "1"},
		{"from the value", []byte("1"), "\x00\xff", true, "\x00\xff"},
		{"from a binary value", []byte("\x00\xff"), "3", true, "3"},
		{"to the same", []byte("3"), "3", true, "3"},
	}
	for _, step := range steps {
		swapped, err := s.CompareAndSwap(t.Context(), step.old, entry("k", step.next))
		if err != nil || swapped != step.want {
			t.Errorf("%s: %v, %v, want %v", step.name, swapped, err, step.want)
		}
		want(t, s, "k", step.left)
	}
}

// swapsRace counts in a value that many goroutines raise by one: a lost update
// leaves the count too low, and two winners of one turn too.
func swapsRace(t *testing.T, s cache.Store) {
	const goroutines, each = 16, 12
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				if err := increment(t, s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	want(t, s, "count", strconv.Itoa(goroutines*each))
}

func increment(t *testing.T, s cache.Store) error {
	for {
		values, err := s.GetMany(t.Context(), "count")
		if err != nil {
			return err
		}
		n := 0
		if values[0] != nil {
			if n, err = strconv.Atoi(string(values[0])); err != nil {
				return err
			}
		}
		swapped, err := s.CompareAndSwap(t.Context(), values[0], entry("count", strconv.Itoa(n+1)))
		if swapped || err != nil {
			return err
		}
	}
}

// writersAndReaders looks for values that nobody wrote, and for a write that
// its own writer does not read back.
func writersAndReaders(t *testing.T, s cache.Store) {
	const writers, rounds = 8, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			mine := fmt.Sprintf("own %d", w)
			for round := range rounds {
				value := strings.Repeat(fmt.Sprintf("%d.%d ", w, round), 1+w*100)
				if err := s.Set(t.Context(), entry(mine, value), entry("shared", value)); err != nil {
					t.Errorf("Set: %v", err)
					return
				}
				values, err := s.GetMany(t.Context(), mine, "shared")
				if err != nil {
					t.Errorf("GetMany: %v", err)
					return
				}
				if string(values[0]) != value {
					t.Errorf("writer %d reads %.20q (%d bytes) after writing %.20q (%d bytes)", w, values[0], len(values[0]), value, len(value))
				}
				if !whole(string(values[1])) {
					t.Errorf("a value that nobody wrote: %.60q (%d bytes)", values[1], len(values[1]))
				}
			}
		})
	}
	wg.Wait()
}

// whole reports whether a value is one that a writer of writersAndReaders made.
func whole(value string) bool {
	first, _, ok := strings.Cut(value, " ")
	if !ok {
		return false
	}
	w, err := strconv.Atoi(strings.Split(first, ".")[0])
	return err == nil && value == strings.Repeat(first+" ", 1+w*100)
}

// closeUnderLoad closes the store while it is in use: each operation is done or
// says that the store is closed.
func closeUnderLoad(t *testing.T, s cache.Store) {
	var wg, warm sync.WaitGroup
	const goroutines = 8
	warm.Add(goroutines)
	for i := range goroutines {
		wg.Go(func() {
			key := strconv.Itoa(i)
			for round := 0; ; round++ {
				err := s.Set(t.Context(), entry(key, "value"))
				if err == nil {
					_, err = s.GetMany(t.Context(), key)
				}
				if round == 5 || err != nil && round < 5 {
					warm.Done()
				}
				switch {
				case errors.Is(err, cache.ErrClosed):
					return
				case err != nil:
					t.Errorf("while the store closes: %v", err)
					return
				}
			}
		})
	}
	warm.Wait()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wg.Wait()
}
