package prompt_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"warmpath/gateway/prompt"
	"warmpath/rewrite"
)

// WT-09: what a prompt holds while it waits, with the goroutine that asks.
func TestAWaitingPromptIsSmall(t *testing.T) {
	const most, many = 32 << 10, 100
	b, _ := newBook(t, nil)
	arguments := rewrite.JSON(`{"text":"` + strings.Repeat("x", 900) + `","more":["` + strings.Repeat("y", 900) + `"]}`)
	ctx, cancel := context.WithCancel(t.Context())
	before := held()
	done := make(chan struct{})
	for i := range many {
		s := session
		s.Conversation = fmt.Sprint("c", i)
		go func() {
			defer func() { done <- struct{}{} }()
			_, _ = b.Permit(ctx, s, "mcp__db__migrate", "mcp", arguments)
		}()
	}
	for len(b.List(prompt.Filter{Who: operator, State: "open"})) < many {
		time.Sleep(20 * time.Millisecond)
	}
	each := (held() - before) / many
	cancel()
	for range many {
		<-done
	}
	t.Logf("%d bytes for each prompt that waits", each)
	if each > most {
		t.Errorf("%d bytes for each prompt that waits, want at most %d", each, most)
	}
}

// held is the memory of heap and stacks that is in use.
func held() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

func BenchmarkAsk(b *testing.B) {
	book, _ := newBook(b, nil)
	alone := session
	alone.Attended = false
	for b.Loop() {
		_, _ = book.Ask(b.Context(), alone, asks(true, confirm))
	}
}
