package verdicts_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/cache/verdicts"
)

// counted counts what is written to a store.
type counted struct {
	cache.Store
	written int
	broken  error
}

func (c *counted) Set(ctx context.Context, entries ...cache.Entry) error {
	c.written += len(entries)
	return c.Store.Set(ctx, entries...)
}

func (c *counted) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	return c.Store.GetMany(ctx, keys...)
}

func TestWhatWasDecidedStays(t *testing.T) {
	store := &counted{Store: cache.NewMemory(1 << 20)}
	defer store.Close()
	v := verdicts.New(store, 10*time.Hour)
	start := time.Unix(1_800_000_000, 0)
	a, b := [16]byte{1}, [16]byte{2}
	for i, step := range []struct {
		tenant  string
		results [][16]byte
		policy  verdicts.Verdict
		after   time.Duration
		want    string
		fresh   []bool
		written int
	}{
		{"t", [][16]byte{a}, verdicts.Filter, 0, "f", []bool{true}, 1},
		{"t", [][16]byte{a, b}, verdicts.Pass, time.Minute, "fp", []bool{false, true}, 1},
		{"t", [][16]byte{b, a}, verdicts.Filter, time.Minute, "pf", []bool{false, false}, 0},
		{"another", [][16]byte{a, b}, verdicts.Pass, time.Minute, "pp", []bool{true, true}, 2},
		{"t", [][16]byte{a, b}, verdicts.Filter, 6 * time.Hour, "fp", []bool{false, false}, 2}, // of use again
		{"t", [][16]byte{{3}, {3}}, verdicts.Filter, 0, "ff", []bool{true, false}, 1},
	} {
		store.written = 0
		d, err := v.Decide(t.Context(), step.tenant, step.results, slices.Repeat([]verdicts.Verdict{step.policy}, len(step.results)), start.Add(step.after))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, verdict := range d.Verdicts {
			got += string(verdict)
		}
		if err := v.Keep(t.Context(), d); err != nil || got != step.want || store.written != step.written {
			t.Errorf("step %d: %s and %d written (%v), want %s and %d", i, got, store.written, err, step.want, step.written)
		}
		if diff := cmp.Diff(step.fresh, d.New); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
}

func TestAStoreThatFailsLeavesItToThePolicy(t *testing.T) {
	store := &counted{Store: cache.NewMemory(1 << 20), broken: errors.New("gone")}
	defer store.Close()
	v := verdicts.New(store, time.Hour)
	d, err := v.Decide(t.Context(), "t", [][16]byte{{1}}, []verdicts.Verdict{verdicts.Pass}, time.Unix(0, 0))
	if !errors.Is(err, store.broken) || d.Verdicts[0] != verdicts.Pass || !d.New[0] {
		t.Errorf("%+v, %v", d, err)
	}
	if err := v.Keep(t.Context(), d); err != nil || store.written != 0 {
		t.Errorf("%d written (%v) of what nobody could look up", store.written, err)
	}
}
