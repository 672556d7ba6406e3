package sse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/sse"
)

// event is a copy of an event that outlives the call.
type event struct{ Name, Data string }

// feed splits a stream that arrives in the chunks given.
func feed(s *sse.Splitter, chunks ...string) (events []event) {
	keep := func(e sse.Event) { events = append(events, event{string(e.Name), string(e.Data)}) }
	for _, chunk := range chunks {
		// A copy that is overwritten after the call shows whatever holds on
		// to it.
		b := []byte(chunk)
		s.Feed(b, keep)
		for i := range b {
			b[i] = '#'
		}
	}
	s.Close(keep)
	return events
}

// The cases follow those that browsers are tested with, and add what providers
// send.
var cases = map[string]struct {
	stream string
	want   []event
}{
	"nothing":                     {"", nil},
	"one":                         {"data: a\n\n", []event{{"", "a"}}},
	"named":                       {"event: x\ndata: a\n\n", []event{{"x", "a"}}},
	"name after data":             {"data: a\nevent: x\n\n", []event{{"x", "a"}}},
	"last name counts":            {"event: x\nevent: y\ndata: a\n\n", []event{{"y", "a"}}},
	"name is dropped with event":  {"event: x\n\ndata: a\n\n", []event{{"", "a"}}},
	"no space":                    {"data:a\n\n", []event{{"", "a"}}},
	"one space only is taken":     {"data:  a \n\n", []event{{"", " a "}}},
	"tab is not space":            {"data:\ta\n\n", []event{{"", "\ta"}}},
	"colon in value":              {"data: a:b: c\n\n", []event{{"", "a:b: c"}}},
	"lines are joined":            {"data: a\ndata: b\ndata\ndata:c\n\n", []event{{"", "a\nb\n\nc"}}},
	"empty data":                  {"data:\n\ndata\n\n", []event{{"", ""}, {"", ""}}},
	"no data no event":            {"event: x\nid: 1\nretry: 9\n\n", nil},
	"comments":                    {": hi\n:\ndata: a\n: there\ndata: b\n\n: x\n\n", []event{{"", "a\nb"}}},
	"other fields":                {"id: 1\nretry: 10\nfoo: bar\ndata: a\nfoo\n\n", []event{{"", "a"}}},
	"field names are exact":       {"Data: a\ndata : b\n data: c\ndatax: d\ndata: e\n\n", []event{{"", "e"}}},
	"carriage returns":            {"data: a\rdata: b\r\rdata: c\r\r", []event{{"", "a\nb"}, {"", "c"}}},
	"both line ends":              {"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []event{{"x", "a"}, {"", "b"}}},
	"mixed line ends":             {"data: a\rdata: b\r\ndata: c\n\rdata: d\n\r\n", []event{{"", "a\nb\nc"}, {"", "d"}}},
	"blank lines between":         {"\n\r\n\rdata: a\n\n\n\ndata: b\n\n", []event{{"", "a"}, {"", "b"}}},
	"byte order mark":             {"\ufeffdata: a\n\n", []event{{"", "a"}}},
	"byte order mark once":        {"\ufeff\ufeffdata: a\n\ndata: b\n\n", []event{{"", "b"}}},
	"byte order mark alone":       {"\ufeff\ndata: a\n\n", []event{{"", "a"}}},
	"later it is not one":         {"data: a\n\ufeffdata: b\n\n", []event{{"", "a"}}},
	"line separator is no end":    {"id: a\u2028data: bad\ndata: a\u2028b\u0085c\n\n", []event{{"", "a\u2028b\u0085c"}}},
	"null bytes":                  {"data: \x00\n\n", []event{{"", "\x00"}}},
	"beyond ascii":                {"data: é🙂\n\n", []event{{"", "é🙂"}}},
	"no blank line at the end":    {"data: a\n\ndata: b\n", []event{{"", "a"}, {"", "b"}}},
	"no line end at the end":      {"data: a\n\nevent: x\ndata: b", []event{{"", "a"}, {"x", "b"}}},
	"cut in the name of a field":  {"data: a\nda", []event{{"", "a"}}},
	"done":                        {"data: {\"a\":1}\n\ndata: [DONE]\n\n", []event{{"", `{"a":1}`}, {"", "[DONE]"}}},
	"a brace is no field as such": {"{\"error\":1}\n\n", nil},
	"anthropic": {
		"event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n",
		[]event{{"message_start", `{"type":"message_start"}`}, {"ping", `{"type": "ping"}`}},
	},
}

func TestSplitter(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, feed(new(sse.Splitter), c.stream)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// PB-25: a stream reads the same however the network cuts it.
func TestSplitterAtEveryByte(t *testing.T) {
	for name, c := range cases {
		t.Run("PB-25 "+name, func(t *testing.T) {
			s := new(sse.Splitter)
			if diff := cmp.Diff(c.want, feed(s, strings.Split(c.stream, "")...)); diff != "" {
				t.Errorf("a rune at a time: %s", diff)
			}
			var bytes []string
			for i := range len(c.stream) {
				bytes = append(bytes, c.stream[i:i+1], "")
			}
			if diff := cmp.Diff(c.want, feed(s, bytes...)); diff != "" {
				t.Errorf("a byte at a time: %s", diff)
			}
			for i := range c.stream {
				for j := i; j <= len(c.stream); j++ {
					got := feed(s, c.stream[:i], c.stream[i:j], c.stream[j:])
					if diff := cmp.Diff(c.want, got); diff != "" {
						t.Fatalf("cut at %d and %d: %s", i, j, diff)
					}
				}
			}
		})
	}
}

// An event is there as soon as its blank line is, even when that ends in a
// carriage return that a newline may still follow.
func TestSplitterIsPrompt(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n", "\r\n\r"} {
		s, n := new(sse.Splitter), 0
		count := func(sse.Event) { n++ }
		s.Feed([]byte("data: a"+end), count)
		if n != 1 {
			t.Errorf("%q: %d events, want 1", end, n)
		}
		s.Feed([]byte("\ndata: b\n\n"), count)
		if n != 2 {
			t.Errorf("%q: %d events after the next, want 2", end, n)
		}
	}
}

func TestAtBoundary(t *testing.T) {
	for stream, want := range map[string]bool{
		"":                              true,
		"data: a\n\n":                   true,
		"data: a\r\n\r":                 true,
		"data: a\r\n\r\n":               true,
		"data: a\n\n: keep-alive\n":     true,
		"data: a\n\n\n":                 true,
		"data: a\n":                     false,
		"data: a\r\n":                   false,
		"data: a":                       false,
		"event: a\n":                    false,
		"data: a\n\n: keep":             false,
		"data: a\n\ndata: {\"type\":\"": false,
		"data: long long long long\n":   false,
		"data: long long long long":     false,
		"data: long long long long\n\n": true,
		"d":                             false,
	} {
		for _, size := range []int{1, 3, len(stream) + 1} {
			s := &sse.Splitter{Max: 16}
			for rest := stream; rest != ""; {
				n := min(size, len(rest))
				s.Feed([]byte(rest[:n]), func(sse.Event) {})
				rest = rest[n:]
			}
			if got := s.AtBoundary(); got != want {
				t.Errorf("%q in chunks of %d: %v, want %v", stream, size, got, want)
			}
		}
	}
}

func TestSplitterSkipsLongEvents(t *testing.T) {
	for name, c := range map[string]struct {
		stream  string
		want    []event
		skipped int64
	}{
		"at the limit":        {"data: 0123456789\n\n", []event{{"", "0123456789"}}, 0},
		"a line too long":     {"data: 0123456789x\n\ndata: a\n\n", []event{{"", "a"}}, 1},
		"lines too many":      {"data: 0\ndata: 1\ndata: 2\n\ndata: a\n\n", []event{{"", "a"}}, 1},
		"name goes too":       {"event: x\ndata: 0123456789\n\ndata: a\n\n", []event{{"", "a"}}, 1},
		"comments do not add": {": 01234567\n: 01234567\n: 01234567\ndata: a\n\n", []event{{"", "a"}}, 0},
		"comment too long":    {": 0123456789abcdef\n\ndata: a\n\n", []event{{"", "a"}}, 1},
		"at the end":          {"data: a\n\ndata: 0123456789x", []event{{"", "a"}}, 1},
		"two":                 {"data: 0123456789x\n\ndata: 0123456789x\n\n", nil, 2},
		"first with a mark":   {"\ufeffdata: 0123456\n\n", []event{{"", "0123456"}}, 0},
		"mark adds":           {"\ufeffdata: 01234567\n\n", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(c.stream); size++ {
				s := &sse.Splitter{Max: 16}
				var chunks []string
				for i := 0; i < len(c.stream); i += size {
					chunks = append(chunks, c.stream[i:min(i+size, len(c.stream))])
				}
				if diff := cmp.Diff(c.want, feed(s, chunks...)); diff != "" || s.Skipped != c.skipped {
					t.Fatalf("chunks of %d: skipped %d, want %d; %s", size, s.Skipped, c.skipped, diff)
				}
			}
		})
	}
}

func TestSplitterTakesBareErrors(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []event
	}{
		"one line":  {"data: {\"a\":1}\n\n{\"error\":{\"code\":500}}\n\n", []event{{"", `{"a":1}`}, {"", `{"error":{"code":500}}`}}},
		"many":      {"{\n  \"error\": {\n    \"code\": 500\n  }\n}\n\ndata: b\n\n", []event{{"", "{\n  \"error\": {\n    \"code\": 500\n  }\n}"}, {"", "b"}}},
		"at eof":    {"{\"error\":\r\n{}}", []event{{"", "{\"error\":\n{}}"}}},
		"not later": {"data: a\n{b}\n\n", []event{{"", "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(c.stream); size++ {
				var chunks []string
				for i := 0; i < len(c.stream); i += size {
					chunks = append(chunks, c.stream[i:min(i+size, len(c.stream))])
				}
				if diff := cmp.Diff(c.want, feed(&sse.Splitter{Bare: true}, chunks...)); diff != "" {
					t.Fatalf("chunks of %d: %s", size, diff)
				}
			}
		})
	}
}

func TestWholeEventsAreNotCopied(t *testing.T) {
	chunk := []byte("event: x\ndata: a\n\ndata: b\n\n")
	s := new(sse.Splitter)
	changed := 0
	s.Feed(chunk, func(e sse.Event) {
		e.Data[0] = '!'
		changed++
	})
	if got := string(chunk); got != "event: x\ndata: !\n\ndata: !\n\n" || changed != 2 {
		t.Errorf("%d events did not lie in the chunk: %q", changed, got)
	}
}

func TestSplitterDoesNotAllocate(t *testing.T) {
	chunk := []byte(strings.Repeat("event: content_block_delta\r\ndata: {\"a\":1}\r\n\r\n: ping\n\ndata: x\ndata: y\n\n", 8))
	half := len(chunk)/2 + 3
	s := new(sse.Splitter)
	n := 0
	count := func(sse.Event) { n++ }
	s.Feed(chunk[:half], count)
	s.Feed(chunk[half:], count)
	if allocs := testing.AllocsPerRun(50, func() {
		s.Feed(chunk[:half], count)
		s.Feed(chunk[half:], count)
	}); allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
	if n == 0 || n%16 != 0 {
		t.Errorf("%d events, want a multiple of 16", n)
	}
}

// The memory that a stream holds is bounded by Max, not by what it sends.
func TestSplitterHoldsNoMore(t *testing.T) {
	s := &sse.Splitter{Max: 1000}
	line := []byte(strings.Repeat("x", 4096))
	yield := func(e sse.Event) { t.Errorf("an event of %d bytes", len(e.Data)) }
	s.Feed([]byte("data: "), yield)
	if n := testing.AllocsPerRun(100, func() { s.Feed(line, yield) }); n != 0 {
		t.Errorf("%v allocations a chunk of a line that is skipped", n)
	}
	s.Close(yield)
	if s.Skipped != 1 {
		t.Errorf("skipped %d, want 1", s.Skipped)
	}
}

func BenchmarkSplitter(b *testing.B) {
	one := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" of the relay\"}}\n\n"
	for _, perChunk := range []int{1, 20} {
		b.Run(fmt.Sprintf("%dPerChunk", perChunk), func(b *testing.B) {
			chunk := []byte(strings.Repeat(one, perChunk))
			s := new(sse.Splitter)
			n := 0
			count := func(sse.Event) { n++ }
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				s.Feed(chunk, count)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
		})
	}
	b.Run("Halves", func(b *testing.B) {
		chunk := []byte(one)
		s := new(sse.Splitter)
		n := 0
		count := func(sse.Event) { n++ }
		b.ReportAllocs()
		for b.Loop() {
			s.Feed(chunk[:70], count)
			s.Feed(chunk[70:], count)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
	})
}
