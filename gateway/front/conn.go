package front

import (
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
	return c.TCPConn.Close()
}
