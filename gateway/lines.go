package gateway

import (
	"io"
	"sync"
	"sync/atomic"

	"warmpath/gateway/relay"
)

// lines writes one line for each request.
type lines struct {
	quiet atomic.Bool
	mu    sync.Mutex
	to    io.Writer
}

func (l *lines) print(record *relay.Record) {
	if l.to == nil || l.quiet.Load() {
		return
	}
	line := record.Line() + "\n"
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.to, line)
}
