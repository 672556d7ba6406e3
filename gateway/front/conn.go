package front

import (
	"io"
	"net"
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
	// unread says that the client may still be sending a body that nobody reads.
	unread bool
}

// Write moves the deadline on, but not on every write: a quarter of it may have
// passed, which spares most writes the cost.
func (c *conn) Write(p []byte) (int, error) {
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
