//go:build unix

package upstream

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// arrival looks at a plain connection without holding a buffer for what may come.
type arrival struct {
	raw        syscall.RawConn
	take, peek func(fd uintptr) bool // made once, since each would be an allocation

	large  bool
	buf    *buffer
	n      int
	err    error
	closed bool
}

func newConn(plain *net.TCPConn) *conn {
	c := &conn{TCPConn: plain}
	if raw, err := plain.SyscallConn(); err == nil {
		c.ready.raw, c.ready.take, c.ready.peek = raw, c.ready.tryRead, c.ready.tryPeek
	}
	return c
}

// read waits until bytes are there and only then takes a buffer for them, which
// is nil if none came. It takes as many system calls as an ordinary read.
func (a *arrival) read(large bool) (*buffer, int, error) {
	a.large, a.buf, a.n, a.err = large, nil, 0, nil
	err := a.raw.Read(a.take)
	if err == nil {
		err = a.err
	}
	buf := a.buf
	a.buf = nil
	return buf, a.n, err
}

func (a *arrival) tryRead(fd uintptr) bool {
	a.buf = acquireBuffer(a.large)
	for {
		a.n, a.err = syscall.Read(int(fd), a.buf.bytes)
		switch {
		case errors.Is(a.err, syscall.EINTR):
			continue
		case errors.Is(a.err, syscall.EAGAIN):
			a.buf.release()
			a.buf, a.n, a.err = nil, 0, nil
			return false
		case a.err != nil:
			a.n = 0
		case a.n == 0:
			a.err = io.EOF
		}
		return true
	}
}

// closedByPeer looks, without waiting, whether an idle connection has been
// closed, or holds bytes that nobody asked for.
func (c *conn) closedByPeer() bool {
	c.ready.closed = true
	return c.ready.raw == nil || c.ready.raw.Read(c.ready.peek) != nil || c.ready.closed
}

func (a *arrival) tryPeek(fd uintptr) bool {
	var one [1]byte
	_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	a.closed = !errors.Is(err, syscall.EAGAIN)
	return true
}

// waits reports whether read can be used.
func (a *arrival) waits() bool { return a.raw != nil }
