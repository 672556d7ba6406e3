//go:build unix

package upstream

import (
	"errors"
	"net"
	"syscall"
)

// closedByPeer looks, without waiting, whether an idle connection has been
// closed, or holds bytes that nobody asked for.
func closedByPeer(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	closed := true
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		closed = !errors.Is(err, syscall.EAGAIN)
		return true
	})
	return closed || err != nil
}
