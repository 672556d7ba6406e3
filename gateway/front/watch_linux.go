package front

import (
	"fmt"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// watcher learns that a client has left while nobody reads from it: one epoll
// descriptor for all connections of the process, which sees the state of the
// TCP connection and so works under TLS as well. A client that closes only its
// sending side counts as gone.
type watcher struct {
	epoll int
	wake  int // an eventfd that ends the loop
	done  chan struct{}

	mu     sync.Mutex
	last   uint32
	leaves map[uint32]func()
}

func newWatcher() (*watcher, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("opening epoll: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(epoll)
		return nil, fmt.Errorf("opening eventfd: %w", err)
	}
	w := &watcher{epoll: epoll, wake: wake, done: make(chan struct{}), leaves: map[uint32]func(){}}
	if err := w.control(unix.EPOLL_CTL_ADD, wake, unix.EPOLLIN, 0); err != nil {
		return nil, err
	}
	go w.loop()
	return w, nil
}

// control passes a token along with the descriptor: descriptors are used again
// by later connections, tokens are not until all have had their turn.
func (w *watcher) control(op, fd int, events, token uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(token)}
	if err := unix.EpollCtl(w.epoll, op, fd, &event); err != nil {
		return fmt.Errorf("watching a connection: %w", err)
	}
	return nil
}

func (w *watcher) loop() {
	defer close(w.done)
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(w.epoll, events, -1)
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
			w.mu.Lock()
			leave := w.leaves[token]
			delete(w.leaves, token)
			w.mu.Unlock()
			if leave != nil {
				leave()
			}
		}
	}
}

// watch calls leave once if the client goes away before stop is called. Stop
// must be called before the connection is closed.
func (w *watcher) watch(conn net.Conn, leave func()) (stop func()) {
	raw := rawConn(conn)
	if raw == nil {
		return func() {}
	}
	w.mu.Lock()
	for w.last++; w.last == 0 || w.leaves[w.last] != nil; w.last++ {
	}
	token := w.last
	w.leaves[token] = leave
	w.mu.Unlock()
	err := raw.Control(func(fd uintptr) {
		if w.control(unix.EPOLL_CTL_ADD, int(fd), unix.EPOLLRDHUP|unix.EPOLLONESHOT, token) != nil {
			w.forget(token)
		}
	})
	if err != nil {
		w.forget(token)
	}
	return func() {
		w.forget(token)
		_ = raw.Control(func(fd uintptr) { _ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, int(fd), nil) })
	}
}

func (w *watcher) forget(token uint32) {
	w.mu.Lock()
	delete(w.leaves, token)
	w.mu.Unlock()
}

// close ends the loop and gives the descriptors back.
func (w *watcher) close() {
	_, _ = unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-w.done
	_ = unix.Close(w.wake)
	_ = unix.Close(w.epoll)
}

// rawConn unwraps TLS and other layers down to the socket.
func rawConn(conn net.Conn) syscall.RawConn {
	for {
		if layer, ok := conn.(interface{ NetConn() net.Conn }); ok {
			conn = layer.NetConn()
			continue
		}
		socket, ok := conn.(syscall.Conn)
		if !ok {
			return nil
		}
		raw, err := socket.SyscallConn()
		if err != nil {
			return nil
		}
		return raw
	}
}
