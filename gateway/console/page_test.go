package console

import (
	"fmt"
	"regexp"
	"strings"
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

func TestDollars(t *testing.T) {
	for amount, want := range map[float64]string{0: "$0", 0.00012: "$0.0001", 0.5: "$0.50", 1234.567: "$1234.57"} {
		if got := dollars(amount); got != want {
			t.Errorf("dollars(%v) = %q, want %q", amount, got, want)
		}
	}
}

// A cost that is not known is not shown as none, and one that has more to it is
// shown as the least.
func TestCostOf(t *testing.T) {
	for want, m := range map[string]modelNumbers{"$1.50": {Cost: 1.5}, "≥ $1.50": {Cost: 1.5, Unpriced: 1}, "<small>no price</small>": {Unpriced: 1}} {
		if got := costOf(&m); got != want {
			t.Errorf("%v: got %q, want %q", m, got, want)
		}
	}
}

// Whatever the numbers, the parts of a bar touch and fill it.
func TestBarIsFull(t *testing.T) {
	rect := regexp.MustCompile(`x="(\d+)" width="(\d+)"`)
	for _, c := range []cacheTokens{{1, 1, 1}, {0, 0, 7}, {7, 0, 0}, {1, 1000000, 1}, {3, 3, 1}} {
		var end int
		for _, m := range rect.FindAllStringSubmatch(bar(c), -1) {
			var x, width int
			if _, err := fmt.Sscan(m[1], &x); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(m[2], &width); err != nil {
				t.Fatal(err)
			}
			if x != end {
				t.Errorf("%v: a part begins at %d, the one before ends at %d", c, x, end)
			}
			end = x + width
		}
		if end != 1000 {
			t.Errorf("%v: the bar ends at %d", c, end)
		}
	}
}

// Names come from configuration and replies; none of them is markup, and none
// is taken for a place to fill.
func TestRenderEscapes(t *testing.T) {
	const evil = `<i>"{share}"`
	page := render(&numbers{
		Models:  []modelNumbers{{Provider: evil, Model: evil}},
		Reasons: []reasonCount{{evil, 1}},
		Misses:  []missCount{{Reason: evil, By: evil, Count: 1}},
		Hosted:  []hostedCount{{Name: evil, States: map[string]int64{"started": 1}}},
	}, Status{Version: evil, Mode: evil, Providers: []string{evil}}, true)
	if strings.Contains(page, "<i>") {
		t.Error("a name became markup")
	}
	if got := strings.Count(page, "&lt;i&gt;&#34;{share}&#34;"); got != 9 {
		t.Errorf("the name stands %d times on the page, want 9", got)
	}
	if left := regexp.MustCompile(`\{[a-z_]+\}`).FindAllString(strings.ReplaceAll(page, "{share}", ""), -1); left != nil {
		t.Errorf("never filled: %v", left)
	}
}
