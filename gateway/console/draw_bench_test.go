package console

import (
	"fmt"
	"testing"
	"time"

	"warmpath/metrics"
)

// BenchmarkOverview draws the overview with as much behind it as there can be: what a
// page that somebody looks at costs a second.
func BenchmarkOverview(b *testing.B) {
	registry := metrics.NewRegistry()
	metrics.New(registry, []string{"anthropic", "openai", "gemini"}, []string{"claude-opus-5-5", "gpt-5.5", "gemini-3.5-pro"})
	var requests []Request
	for i := range int64(1000) {
		n := i * 100
		requests = append(requests, Request{ID: 1000 - i, Arrived: time.Unix(1_800_000_000-i, 0), Model: "m", Status: 200, Conversation: fmt.Sprint("c", i%25), Input: &n, Read: &n})
	}
	s := New(Config{
		Gatherer: registry, Ready: func() bool { return true }, Status: func() Status { return Status{} },
		Requests: func() []Request { return requests },
	})
	defer s.end()
	b.ReportAllocs()
	for b.Loop() {
		if len(s.paint(scene{kind: "overview"})) != 8 {
			b.Fatal("not all parts were drawn")
		}
	}
}
