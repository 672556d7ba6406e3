package cache_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/cache/cachetest"
)

func TestGuardConforms(t *testing.T) {
	cachetest.Run(t, func(*testing.T) cache.Store {
		// The suite's own goroutines must not be taken for a slow store.
		return cache.NewGuard(cache.NewMemory(64<<20), cache.GuardOptions{Deadline: time.Minute})
	})
}

// mood is what a moody store does with every operation.
type mood int32

const (
	well   mood = iota
	fails       // answers with an error
	slow        // answers when its context ends
	frozen      // answers only when released
)

// moody is a Memory that can be ill, for reads and writes apart.
type moody struct {
	*cache.Memory
	reads, writes atomic.Int32
	asked         atomic.Int32
	release       chan struct{}
	block         time.Duration // how long a well store takes
}

func newMoody() *moody {
	return &moody{Memory: cache.NewMemory(1 << 20), release: make(chan struct{})}
}

var errIll = errors.New("the disk is on fire")

func (m *moody) suffer(ctx context.Context, now mood) error {
	m.asked.Add(1)
	switch now {
	case fails:
		return errIll
	case slow:
		<-ctx.Done()
		return fmt.Errorf("reading: %w", ctx.Err())
	case frozen:
		<-m.release
	}
	time.Sleep(m.block)
	return nil
}

func (m *moody) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	if err := m.suffer(ctx, mood(m.reads.Load())); err != nil {
		return nil, err
	}
	return m.Memory.GetMany(context.WithoutCancel(ctx), keys...)
}

func (m *moody) Set(ctx context.Context, entries ...cache.Entry) error {
	if err := m.suffer(ctx, mood(m.writes.Load())); err != nil {
		return err
	}
	return m.Memory.Set(context.WithoutCancel(ctx), entries...)
}

func (m *moody) CompareAndSwap(ctx context.Context, old []byte, e cache.Entry) (bool, error) {
	if err := m.suffer(ctx, mood(m.writes.Load())); err != nil {
		return false, err
	}
	return m.Memory.CompareAndSwap(context.WithoutCancel(ctx), old, e)
}

// counts records what a guard counted, as "op reason".
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(op cache.Op, reason cache.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[fmt.Sprint(op, " ", reason)]++
}

func (c *counts) want(t *testing.T, want map[string]int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if diff := cmp.Diff(want, c.n); diff != "" {
		t.Errorf("counts: %s", diff)
	}
}

// took measures a call in the bubble's time.
func took(call func()) time.Duration {
	begun := time.Now()
	call()
	return time.Since(begun)
}

func TestGuardGivesUp(t *testing.T) {
	get := func(ctx context.Context, g *cache.Guard) error { _, err := g.GetMany(ctx, "k"); return err }
	set := func(ctx context.Context, g *cache.Guard) error {
		return g.Set(ctx, cache.Entry{Key: "k", TTL: time.Hour})
	}
	swap := func(ctx context.Context, g *cache.Guard) error {
		_, err := g.CompareAndSwap(ctx, nil, cache.Entry{Key: "k", TTL: time.Hour})
		return err
	}
	tests := []struct {
		name   string
		mood   mood
		do     func(context.Context, *cache.Guard) error
		cause  error
		took   time.Duration
		counts map[string]int
	}{
		{"well", well, get, nil, 0, nil},
		{"failing get", fails, get, errIll, 0, map[string]int{"get error": 1}},
		{"failing set", fails, set, errIll, 0, map[string]int{"set error": 1}},
		{"failing swap", fails, swap, errIll, 0, map[string]int{"swap error": 1}},
		{"slow get", slow, get, context.DeadlineExceeded, 50 * time.Millisecond, map[string]int{"get timeout": 1}},
		{"slow swap", slow, swap, context.DeadlineExceeded, 50 * time.Millisecond, map[string]int{"swap timeout": 1}},
		{"frozen get", frozen, get, context.DeadlineExceeded, 50 * time.Millisecond, map[string]int{"get timeout": 1}},
		{"frozen set", frozen, set, context.DeadlineExceeded, 50 * time.Millisecond, map[string]int{"set timeout": 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, c := newMoody(), &counts{}
				m.reads.Store(int32(tt.mood))
				m.writes.Store(int32(tt.mood))
				g := cache.NewGuard(m, cache.GuardOptions{OnFailure: c.add})
				var err error
				if d := took(func() { err = tt.do(t.Context(), g) }); d != tt.took {
					t.Errorf("took %v, want %v", d, tt.took)
				}
				if !errors.Is(err, tt.cause) || tt.cause != nil && !errors.Is(err, cache.ErrUnavailable) {
					t.Errorf("error %v, want ErrUnavailable and %v", err, tt.cause)
				}
				c.want(t, tt.counts)
				close(m.release)
			})
		})
	}
}

func TestGuardLeavesAStoreAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := newMoody(), &counts{}
		m.reads.Store(int32(slow))
		g := cache.NewGuard(m, cache.GuardOptions{Failures: 3, OnFailure: c.add})
		get := func() error { _, err := g.GetMany(t.Context(), "k"); return err }

		for range 3 {
			if d := took(func() { _ = get() }); d != 50*time.Millisecond {
				t.Errorf("a call before the breaker opens took %v", d)
			}
		}
		for range 100 {
			if d := took(func() { _ = get() }); d != 0 {
				t.Errorf("a call after the breaker opened took %v", d)
			}
		}
		c.want(t, map[string]int{"get timeout": 3, "get open": 100})
		if n := m.asked.Load(); n != 3 {
			t.Errorf("the store was asked %d times, want 3", n)
		}
		if reads, writes := g.Open(); !reads || writes {
			t.Errorf("open for reads %v and for writes %v, want only reads", reads, writes)
		}

		// One probe a second, and no call waits for it.
		for range 10 {
			time.Sleep(300 * time.Millisecond)
			if d := took(func() { _ = get() }); d != 0 {
				t.Errorf("a call that starts a probe took %v", d)
			}
			_ = get()
		}
		if n := m.asked.Load() - 3; n < 2 || n > 3 {
			t.Errorf("%d probes in 3 s, want 2 or 3", n)
		}

		// Well again: a probe finds out, and then calls go through.
		m.reads.Store(int32(well))
		time.Sleep(1100 * time.Millisecond)
		if err := get(); !errors.Is(err, cache.ErrUnavailable) {
			t.Errorf("the call that starts the probe: %v, want ErrUnavailable", err)
		}
		synctest.Wait()
		if err := get(); err != nil {
			t.Errorf("after a probe succeeded: %v", err)
		}
		if reads, _ := g.Open(); reads {
			t.Error("still open after a probe succeeded")
		}
	})
}

// A full disk fails every write and answers every read.
func TestGuardReadsOnWhenWritesFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMoody()
		store(t, m, 24*time.Hour, "v", "k")
		m.writes.Store(int32(fails))
		g := cache.NewGuard(m, cache.GuardOptions{Failures: 2})
		for range 4 {
			if err := g.Set(t.Context(), cache.Entry{Key: "new", TTL: time.Hour}); !errors.Is(err, cache.ErrUnavailable) {
				t.Errorf("Set: %v, want ErrUnavailable", err)
			}
			if there := found(t, g, "k"); len(there) != 1 {
				t.Error("the entry is not found while writes fail")
			}
		}
		m.writes.Store(int32(well))
		time.Sleep(time.Second)
		_ = g.Set(t.Context(), cache.Entry{Key: "new", TTL: time.Hour})
		synctest.Wait()
		store(t, g, time.Hour, "v", "new")
	})
}

// Only failures in a row open the breaker.
func TestGuardForgivesSomeFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMoody()
		g := cache.NewGuard(m, cache.GuardOptions{Failures: 2})
		for range 10 {
			m.reads.Store(int32(fails))
			_, _ = g.GetMany(t.Context(), "k")
			m.reads.Store(int32(well))
			if _, err := g.GetMany(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A store that answers its probe only after the deadline is not well.
func TestGuardProbeMustBeQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMoody()
		m.block = 80 * time.Millisecond
		g := cache.NewGuard(m, cache.GuardOptions{Failures: 1})
		for range 5 {
			_, _ = g.GetMany(t.Context(), "k")
			time.Sleep(1100 * time.Millisecond)
		}
		if reads, _ := g.Open(); !reads {
			t.Error("the breaker closed for a store that takes 80 ms")
		}
	})
}

func TestGuardBlamesNotTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := newMoody(), &counts{}
		g := cache.NewGuard(m, cache.GuardOptions{Failures: 1, OnFailure: c.add})
		m.reads.Store(int32(slow))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := g.GetMany(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, cache.ErrUnavailable) {
			t.Errorf("the caller's own deadline: %v", err)
		}
		m.reads.Store(int32(well))
		if err := g.Set(t.Context(), cache.Entry{Key: "k", Value: make([]byte, cache.MaxValue+1)}); !errors.Is(err, cache.ErrTooLarge) {
			t.Errorf("a large value: %v, want ErrTooLarge", err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := g.GetMany(t.Context(), "k"); !errors.Is(err, cache.ErrClosed) || errors.Is(err, cache.ErrUnavailable) {
			t.Errorf("after Close: %v, want ErrClosed", err)
		}
		c.want(t, nil)
	})
}

// However many calls come, only so many hang in a frozen store.
func TestGuardBoundsWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := newMoody(), &counts{}
		m.reads.Store(int32(frozen))
		g := cache.NewGuard(m, cache.GuardOptions{Parallel: 4, Failures: 1000, OnFailure: c.add})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { _, _ = g.GetMany(t.Context(), "k") })
		}
		wg.Wait()
		c.want(t, map[string]int{"get timeout": 4, "get busy": 16})
		close(m.release)
		synctest.Wait()
		if _, err := g.GetMany(t.Context(), "k"); err != nil {
			t.Errorf("after the store thawed: %v", err)
		}
	})
}

// A late store reads what the call was given, not what the caller has made of
// it since.
func TestGuardKeepsLateValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMoody()
		m.writes.Store(int32(frozen))
		g := cache.NewGuard(m, cache.GuardOptions{})
		entries := []cache.Entry{{Key: "k", Value: []byte("before"), TTL: time.Hour}}
		_ = g.Set(t.Context(), entries...)
		copy(entries[0].Value, "after!")
		entries[0].Key = "other"
		close(m.release)
		synctest.Wait()
		values, err := m.Memory.GetMany(t.Context(), "k", "other")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]byte{[]byte("before"), nil}, values); diff != "" {
			t.Error(diff)
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	g := cache.NewGuard(cache.NewMemory(1<<20), cache.GuardOptions{Deadline: time.Minute}) // The machine may be busy.
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.GetMany(b.Context(), "k"); err != nil {
			b.Fatal(err)
		}
	}
}
