package console

import (
	"slices"
	"testing"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", 100000: "100\u202f000"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShortSeconds(t *testing.T) {
	for s, want := range map[float64]string{0: "–", 25e-6: "25 µs", 250e-6: "250 µs", 2.5e-3: "2.5 ms", 0.25: "250 ms", 1: "1 s"} {
		if got := shortSeconds(s); got != want {
			t.Errorf("shortSeconds(%v) = %q, want %q", s, got, want)
		}
	}
}

// Whatever the numbers, the parts of a bar touch and fill it.
func TestBarIsFull(t *testing.T) {
	for _, c := range []cacheTokens{{1, 1, 1}, {0, 0, 7}, {7, 0, 0}, {1, 1000000, 1}, {3, 3, 1}} {
		bar := barOf(c)
		var x int64
		for _, s := range bar {
			if s.X != x || s.Width < 0 {
				t.Errorf("%v: %v", c, bar)
			}
			x += s.Width
		}
		if x != 1000 {
			t.Errorf("%v: the bar ends at %d", c, x)
		}
	}
	if bar := barOf(cacheTokens{}); !slices.Equal(bar, nil) {
		t.Errorf("nothing has the bar %v", bar)
	}
}
