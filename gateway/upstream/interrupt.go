package upstream

import (
	"context"
	"net"
)

// Interrupter is a context that interrupts a connection by itself when it ends:
// one that lasts for many exchanges then spares each of them a watch. It ends as
// a context before it touches the connection.
type Interrupter interface {
	context.Context
	// Hold sets the connection's deadline to the past when the context ends, or
	// at once if it has.
	Hold(conn net.Conn)
	// Release lets go of the connection, and reports whether it was left alone.
	Release() bool
}

// watch is how an exchange learns that its context ends.
type watch struct {
	by   Interrupter
	stop func() bool // for contexts that cannot
}

func watchOver(ctx context.Context, conn net.Conn) watch {
	if by, ok := ctx.(Interrupter); ok {
		by.Hold(conn)
		return watch{by: by}
	}
	return watch{stop: context.AfterFunc(ctx, func() { _ = conn.SetDeadline(past) })}
}

// end reports whether the connection was left alone.
func (w watch) end() bool {
	if w.by != nil {
		return w.by.Release()
	}
	return w.stop()
}
