package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHistory(t *testing.T) {
	var h history
	at := time.Unix(1_800_000_000, 0).Truncate(time.Minute)
	note := func(minutes int, read, write, fresh, broken int64) {
		h.note(at.Add(time.Duration(minutes)*time.Minute), &numbers{
			Models: []modelNumbers{{Provider: "p", Model: "m", Cache: cacheTokens{read, write, fresh}}},
			Misses: []missCount{{Tokens: broken}},
		})
	}
	hour := func(minutes int) (list []cacheTokens) {
		for _, m := range h.hour(at.Add(time.Duration(minutes) * time.Minute)) {
			list = append(list, m.cache)
		}
		return list
	}
	note(0, 10, 5, 1, 0)
	note(0, 30, 5, 2, 7) // the same minute
	note(2, 100, 5, 2, 7)
	note(3, 4, 1, 0, 0) // the counters have begun anew
	got := hour(3)
	if len(got) != span {
		t.Fatalf("the hour has %d minutes", len(got))
	}
	if diff := cmp.Diff([]cacheTokens{{30, 5, 2}, {}, {70, 0, 0}, {4, 1, 0}}, got[span-4:]); diff != "" {
		t.Errorf("the newest minutes (-want +got):\n%s", diff)
	}
	if all := sum(h.hour(at.Add(3 * time.Minute))); all != (cacheTokens{104, 6, 2}) {
		t.Errorf("together %v", all)
	}
	if b := h.hour(at)[span-1].breaks; b != 7 {
		t.Errorf("%d tokens were broken in the first minute, want 7", b)
	}
	if all := sum(h.hour(at.Add(61 * time.Minute))); all != (cacheTokens{74, 1, 0}) {
		t.Errorf("an hour later %v is left", all)
	}
	note(60, 5, 1, 0, 0) // takes the place of the first minute
	if all := sum(h.hour(at.Add(60 * time.Minute))); all != (cacheTokens{75, 1, 0}) {
		t.Errorf("beyond an hour %v is left", all)
	}
}

// The columns of the chart fill its height, and those of the table say the same.
func TestHourChart(t *testing.T) {
	var minutes []minute
	for i := range int64(span) {
		minutes = append(minutes, minute{number: i, cache: cacheTokens{Read: i * 7, Write: i % 3, Fresh: i % 5}})
	}
	chart := chartOf(minutes)
	if len(chart.Spots) != span-1 { // the first minute had nothing
		t.Errorf("there are %d columns", len(chart.Spots))
	}
	height := map[int]int{}
	for _, p := range []boxes{chart.Read, chart.Write, chart.Fresh} {
		for box := range strings.SplitSeq(strings.TrimSuffix(p.String(), "z"), "z") {
			var x, y, width, h int
			if _, err := fmt.Sscanf(box, "M%d %dh%dv%d", &x, &y, &width, &h); err != nil {
				t.Fatalf("%q: %v", box, err)
			}
			height[x] += h
		}
	}
	for x, h := range height {
		if h != 100 {
			t.Errorf("the column at %d is %d high", x, h)
		}
	}
	var all cacheTokens
	for _, row := range chart.Rows {
		all = all.plus(row.cacheTokens)
	}
	if all != sum(minutes) || len(chart.Rows) != 12 {
		t.Errorf("the table has %v in %d rows, want %v", all, len(chart.Rows), sum(minutes))
	}
}
