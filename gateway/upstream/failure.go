package upstream

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

// Phase is how far an exchange had come when it failed.
type Phase uint8

// The phases. Before PhaseHead has begun no byte of the request has reached
// the provider's application.
const (
	PhaseConnect Phase = iota
	PhaseSend
	PhaseHead
	PhaseBody
)

// String is the phase in words, for logs.
func (p Phase) String() string {
	switch p {
	case PhaseConnect:
		return "connecting"
	case PhaseSend:
		return "sending the request"
	case PhaseHead:
		return "waiting for the reply"
	case PhaseBody:
		return "reading the reply"
	}
	return "phase " + strconv.Itoa(int(p))
}

// Error is an exchange that broke. Its text never holds header values.
type Error struct {
	Phase Phase
	Err   error
}

// Error says what was being done and what went wrong.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Phase, e.Err) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a deadline ended the exchange.
func (e *Error) Timeout() bool {
	return errors.Is(e.Err, os.ErrDeadlineExceeded) || errors.Is(e.Err, errSlow)
}

var (
	errSlow = errors.New("no answer in time")
	// ErrSilent is returned by Response.Next when nothing arrived for the given
	// time. The exchange goes on: call Next again.
	ErrSilent = errors.New("the provider is silent")
	// errNoAnswer is a connection that closed before the first byte of a reply.
	errNoAnswer = errors.New("the provider closed the connection without an answer")
)

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
