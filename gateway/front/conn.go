package front

import (
	"io"
	"net"
	"sync"
	"time"
)

// listener hands out connections that give a client a limited time to take each
// piece of its reply. One deadline for a whole stream would cut long ones, and
// none would let a client that never reads hold its stream for ever.
type listener struct {
	*net.TCPListener
	patience time.Duration
	watcher  *watcher
}

func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	_ = accepted.SetKeepAlive(true)
	_ = accepted.SetKeepAlivePeriod(30 * time.Second)
	c := &conn{TCPConn: accepted, patience: l.patience, watcher: l.watcher, life: newLife()}
	c.token = l.watcher.add(accepted, c.life)
	return c, nil
}

// conn is a client's connection. It serves one request at a time.
type conn struct {
	*net.TCPConn
	patience time.Duration
	deadline time.Time

	watcher *watcher
	token   uint32
	life    *life
	reply   running
	pieces  *[]byte // what is to leave in one system call, nil while each write does
	// unread says that the client may still be sending a body that nobody reads.
	unread bool
}

// writeBuffer is what the server collects before it writes, in bytes. It is held
// for as long as a connection is open, so it fits a head and not much more:
// larger writes are put together here while they last.
const writeBuffer = 1 << 10

var writeBuffers = sync.Pool{New: func() any { return new([]byte) }}

// together calls write and sends all that it writes in one system call.
func (c *conn) together(write func() (int, error)) (n int, err error) {
	c.pieces = writeBuffers.Get().(*[]byte)
	n, err = write()
	pieces := c.pieces
	c.pieces = nil
	if len(*pieces) > 0 {
		if _, failed := c.Write(*pieces); err == nil {
			err = failed
		}
	}
	*pieces = (*pieces)[:0]
	writeBuffers.Put(pieces)
	return n, err
}

// Write moves the deadline on, but not on every write: a quarter of it may have
// passed, which spares most writes the cost.
func (c *conn) Write(p []byte) (int, error) {
	if c.pieces != nil {
		*c.pieces = append(*c.pieces, p...)
		return len(p), nil
	}
	if now := time.Now(); c.deadline.Sub(now) < c.patience-c.patience/4 {
		c.deadline = now.Add(c.patience)
		if err := c.SetWriteDeadline(c.deadline); err != nil {
			return 0, err
		}
	}
	return c.TCPConn.Write(p)
}

// Close ends whatever is still done for the client.
func (c *conn) Close() error {
	c.watcher.remove(c.token)
	c.life.end(net.ErrClosed)
	if c.unread {
		c.linger()
	}
	return c.TCPConn.Close()
}

// What a client that was refused may still send, and for how long.
const (
	lingerBytes = 256 << 10
	lingerTime  = 500 * time.Millisecond
)

// linger gives a client the time to take its refusal: closing a connection on
// which bytes lie unread resets it, and a client that is still sending then sees
// its own failure to send instead of the answer.
func (c *conn) linger() {
	until := time.Now().Add(lingerTime)
	if c.CloseWrite() != nil || c.SetReadDeadline(until) != nil {
		return
	}
	if n, _ := io.Copy(io.Discard, io.LimitReader(c.TCPConn, lingerBytes)); n == lingerBytes {
		// It goes on sending; what it has sent is left to the kernel, which
		// slows it down.
		time.Sleep(time.Until(until))
	}
}
