package front

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// accept gives both ends of a connection that a watched listener has accepted.
func accept(t *testing.T, w *watcher) (client net.Conn, accepted *conn) {
	t.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	client, err = net.Dial("tcp", on.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := (&listener{TCPListener: on.(*net.TCPListener), patience: time.Second, watcher: w}).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server.(*conn)
}

func startWatcher(t *testing.T) *watcher {
	t.Helper()
	w, err := newWatcher()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w
}

func TestLifeInterruptsWhatItHolds(t *testing.T) {
	interrupted := func(c net.Conn) bool {
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, os.ErrDeadlineExceeded)
	}
	cause := errors.New("over")
	for name, hold := range map[string]func(l *life, c net.Conn){
		"before its end": func(l *life, c net.Conn) { l.Hold(c); l.end(cause) },
		"after its end":  func(l *life, c net.Conn) { l.end(cause); l.Hold(c) },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			defer near.Close()
			defer far.Close()
			l := newLife()
			hold(l, near)
			if !interrupted(near) {
				t.Error("the connection was not interrupted")
			}
			if l.Release() {
				t.Error("the connection is said to have been left alone")
			}
			if l.Err() == nil || !errors.Is(context.Cause(l), cause) {
				t.Errorf("the context ended with %v because of %v", l.Err(), context.Cause(l))
			}
		})
	}
	t.Run("released", func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		l := newLife()
		l.Hold(near)
		if !l.Release() {
			t.Error("the connection is said to have been interrupted")
		}
		l.end(cause)
		_ = far.SetDeadline(time.Now().Add(time.Second))
		go func() { _, _ = far.Write([]byte("x")) }()
		if interrupted(near) {
			t.Error("the connection was interrupted after it had been let go of")
		}
	})
}

func TestWatcherSeesClientsLeave(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	w := startWatcher(t)
	client, accepted := accept(t, w)
	_, other := accept(t, w)
	client.Close()
	select {
	case <-accepted.life.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("nobody noticed")
	}
	if cause := context.Cause(accepted.life); !errors.Is(cause, errClientLeft) {
		t.Errorf("the life ended because of %v", cause)
	}
	if other.life.Err() != nil {
		t.Error("another client's life has ended too")
	}
	accepted.Close()
	if len(w.lives) != 1 {
		t.Errorf("%d connections are known, want the other one", len(w.lives))
	}
}

func TestWatcherEndsEveryLife(t *testing.T) {
	w := startWatcher(t)
	cause := errors.New("stopping")
	_, before := accept(t, w)
	w.endAll(cause)
	_, after := accept(t, w)
	for name, c := range map[string]*conn{"before": before, "after": after} {
		if !errors.Is(context.Cause(c.life), cause) {
			t.Errorf("the connection that came %s ended because of %v", name, context.Cause(c.life))
		}
	}
}

func TestPiecesLeaveTogether(t *testing.T) {
	client, accepted := accept(t, startWatcher(t))
	got := make([]byte, 16)
	n, err := accepted.together(func() (int, error) {
		for _, piece := range []string{"5\r\n", "hello", "\r\n"} {
			if n, err := accepted.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Errorf("Write(%q) = %d, %v", piece, n, err)
			}
		}
		_ = client.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if n, err := client.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the client has %q, %v before all is written", got[:n], err)
		}
		return 5, nil
	})
	if n != 5 || err != nil {
		t.Errorf("together = %d, %v", n, err)
	}
	_ = client.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := client.Read(got); string(got[:n]) != "5\r\nhello\r\n" {
		t.Errorf("the client got %q, %v", got[:n], err)
	}
	// What is written afterwards leaves at once again.
	_, _ = accepted.Write([]byte("x"))
	if n, err := client.Read(got); string(got[:n]) != "x" {
		t.Errorf("the client got %q, %v", got[:n], err)
	}
	accepted.TCPConn.Close()
	if _, err := accepted.together(func() (int, error) { return accepted.Write([]byte("x")) }); err == nil {
		t.Error("writing to a closed connection went well")
	}
}
