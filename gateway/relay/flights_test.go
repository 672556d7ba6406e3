package relay

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"warmpath/cache/lineage"
)

func head(name string) (h lineage.Head) {
	copy(h[:], name)
	return h
}

// shared, and what one of two requests adds to it.
func upTo(sizes ...int) (prefixes []prefix) {
	for i, size := range sizes {
		prefixes = append(prefixes, prefix{head("shared"), size})
		if i > 0 {
			prefixes[i].key = head(string(rune('a' + size%26)))
		}
	}
	return prefixes
}

func TestFlights(t *testing.T) {
	const patience, reply = 2 * time.Second, 500 * time.Millisecond
	long := upTo(8 << 10)
	tests := map[string]struct {
		first, second []prefix
		reply         time.Duration
		fails         bool
		waits         time.Duration
	}{
		"the same":                        {long, long, reply, false, reply},
		"a shared beginning":              {upTo(8<<10, 9<<10), upTo(8<<10, 10<<10), reply, false, reply},
		"one within the other":            {upTo(8<<10, 16<<10), long, reply, false, reply},
		"another":                         {long, []prefix{{head("other"), 8 << 10}}, reply, false, 0},
		"too short to be kept":            {upTo(1 << 10), upTo(1 << 10), reply, false, 0},
		"no marks":                        {nil, nil, reply, false, 0},
		"too slow":                        {long, long, time.Minute, false, patience},
		"refused":                         {long, long, reply, true, reply},
		"little is shared beyond the old": {upTo(1<<10, 9<<10), upTo(1<<10, 9<<10)[:1], reply, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f flights
				var all sync.WaitGroup
				b, waited := f.board(t.Context(), tt.first, patience)
				if waited {
					t.Error("the first has waited")
				}
				all.Go(func() {
					time.Sleep(tt.reply)
					b.land(!tt.fails)
				})
				begun := time.Now()
				second, waited := f.board(t.Context(), tt.second, patience)
				if got := time.Since(begun); got != tt.waits || waited != (tt.waits > 0) {
					t.Errorf("waited %v (%v), want %v", got, waited, tt.waits)
				}
				second.land(true)
				all.Wait()
				begun = time.Now()
				third, _ := f.board(t.Context(), tt.second, patience)
				if got := time.Since(begun); got > 0 {
					t.Errorf("the third waited %v", got)
				}
				third.land(true)
				if len(f.open) > 0 {
					t.Errorf("%d flights are still open", len(f.open))
				}
			})
		})
	}
}

// When the one that all waited for fails, all go at once.
func TestFlightsAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		first, _ := f.board(t.Context(), upTo(8<<10), time.Minute)
		var all sync.WaitGroup
		var mu sync.Mutex
		var begun []time.Duration
		start := time.Now()
		for range 3 {
			all.Go(func() {
				b, _ := f.board(t.Context(), upTo(8<<10), time.Minute)
				mu.Lock()
				begun = append(begun, time.Since(start))
				mu.Unlock()
				time.Sleep(time.Second)
				b.land(true)
			})
		}
		time.Sleep(time.Second)
		first.land(false)
		all.Wait()
		if len(begun) != 3 || begun[0] != time.Second || begun[1] != time.Second || begun[2] != time.Second {
			t.Errorf("begun after %v", begun)
		}
	})
}

func TestFlightsGoCold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		b, _ := f.board(t.Context(), upTo(8<<10), time.Second)
		b.land(true)
		time.Sleep(staysWarm)
		b, _ = f.board(t.Context(), upTo(8<<10), time.Second)
		if _, waited := f.board(t.Context(), upTo(8<<10), time.Second); !waited {
			t.Error("it did not wait for a prefix that had gone cold")
		}
		b.land(true)
		for i := range 2 * maxWarm {
			b, _ := f.board(t.Context(), []prefix{{lineage.Head{byte(i), byte(i >> 8), byte(i >> 16)}, 8 << 10}}, time.Second)
			b.land(true)
		}
		if len(f.warm) > maxWarm || len(f.open) > 0 {
			t.Errorf("%d warm, %d open", len(f.warm), len(f.open))
		}
	})
}

func TestFlightsLetGoWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		b, _ := f.board(t.Context(), upTo(8<<10), time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		f.board(ctx, upTo(8<<10), time.Minute)
		if got := time.Since(begun); got != time.Second {
			t.Errorf("it left after %v", got)
		}
		b.land(true)
	})
}
