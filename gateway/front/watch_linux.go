package front

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// sight tells that a client has left while nobody reads from it: one epoll
// descriptor for all connections of the process, which each joins once and
// leaves by being closed. A client that closes only its sending side counts as
// gone.
type sight struct {
	epoll int
	wake  int // an eventfd that ends the loop
	done  chan struct{}
}

func (s *sight) open(left func(token uint32)) error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("opening epoll: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(epoll)
		return fmt.Errorf("opening eventfd: %w", err)
	}
	s.epoll, s.wake, s.done = epoll, wake, make(chan struct{})
	if err := s.control(wake, unix.EPOLLIN, 0); err != nil {
		_, _ = unix.Close(wake), unix.Close(epoll)
		return fmt.Errorf("watching eventfd: %w", err)
	}
	go s.loop(left)
	return nil
}

// control passes a token along with the descriptor: descriptors are used again
// by later connections, tokens are not until all have had their turn.
func (s *sight) control(fd int, events, token uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(token)}
	return unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &event)
}

func (s *sight) loop(left func(token uint32)) {
	defer close(s.done)
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(s.epoll, events, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		for _, event := range events[:n] {
			token := uint32(event.Fd)
			if token == 0 {
				return
			}
			left(token)
		}
	}
}

// watch has left called once if the client goes away before the connection is
// closed. One that cannot be watched is found out by the next write to it.
func (s *sight) watch(conn *net.TCPConn, token uint32) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = s.control(int(fd), unix.EPOLLRDHUP|unix.EPOLLONESHOT, token)
	})
}

// close ends the loop and gives the descriptors back.
func (s *sight) close() {
	_, _ = unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-s.done
	_ = unix.Close(s.wake)
	_ = unix.Close(s.epoll)
}
