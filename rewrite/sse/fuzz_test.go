package sse_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/sse"
)

// reference reads a whole stream line by line, as the standard words it, with
// none of the splitter's care for speed.
func reference(stream string, limit int) (events []event, skipped int64) {
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	lines := strings.Split(stream, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	var name string
	var data []string
	size, long := 0, false
	end := func() {
		switch {
		case long:
			skipped++
		case data != nil:
			events = append(events, event{name, strings.Join(data, "\n")})
		}
		name, data, size, long = "", nil, 0, false
	}
	for i, line := range lines {
		if line != "" && size+len(line) > limit {
			long = true
		}
		if i == 0 && !long {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" {
			end()
			continue
		}
		if long || line[0] == ':' {
			continue
		}
		size += len(line) + 1
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			name = value
		case "data":
			data = append(data, value)
		}
	}
	end()
	return events, skipped
}

// FuzzSplitter cuts a stream where the fuzzer says and expects what the
// reference reads of it whole.
func FuzzSplitter(f *testing.F) {
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		f.Add(cases[name].stream, []byte{3, 1, 7})
	}
	f.Add("data: 0123456789012345678901234567890123456789\r\n\r\ndata: a\r\rdata: b", []byte{1})
	f.Fuzz(func(t *testing.T, stream string, cuts []byte) {
		const limit = 40
		want, skipped := reference(stream, limit)
		s := &sse.Splitter{Max: limit}
		var chunks []string
		rest := stream
		for _, cut := range cuts {
			n := min(int(cut), len(rest))
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		chunks = append(chunks, rest)
		if diff := cmp.Diff(want, feed(s, chunks...)); diff != "" || s.Skipped != skipped {
			t.Fatalf("%q in %q: skipped %d, want %d; %s", stream, chunks, s.Skipped, skipped, diff)
		}
	})
}
