package front

import (
	"context"
	"net"
	"sync"
	"time"

	"warmpath/gateway/upstream"
)

// past is a deadline that interrupts whatever a connection is doing.
var past = time.Unix(1, 0)

// life is the context of all exchanges of one connection, one after another. It
// ends once, when the client has left or the server has lost its patience.
type life struct {
	context.Context
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	ended bool
	held  net.Conn // what the exchange under way is waiting for
}

var _ upstream.Interrupter = (*life)(nil)

func newLife() *life {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &life{Context: ctx, cancel: cancel}
}

// end breaks off the exchange that is under way, and any that follows. The
// context ends first, so that who sets a deadline of its own in between finds
// that out when it looks.
func (l *life) end(cause error) {
	l.cancel(cause)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.held != nil {
		_ = l.held.SetDeadline(past)
	}
}

// Hold has the connection interrupted when the life ends.
func (l *life) Hold(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = conn
	if l.ended {
		_ = conn.SetDeadline(past)
	}
}

// Release lets go of the connection, and reports whether it was left alone.
func (l *life) Release() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = nil
	return !l.ended
}
