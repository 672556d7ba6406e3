//go:build unix

package redis_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/redis"
)

// soon is how long a call may take in which only the deadline of 50 ms should
// pass: a machine with much else to do may add to it.
const soon = time.Second

// reasons records what a guard counted.
type reasons struct {
	mu   sync.Mutex
	seen map[cache.Reason]int
}

func (r *reasons) add(_ cache.Op, reason cache.Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[reason]++
}

func (r *reasons) count(reason cache.Reason) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[reason]
}

// calls are the three ways to ask a store, each by the name of its test.
var calls = map[string]func(t *testing.T, s cache.Store) error{
	"get": func(t *testing.T, s cache.Store) error { _, err := s.GetMany(t.Context(), "k"); return err },
	"set": func(t *testing.T, s cache.Store) error {
		return s.Set(t.Context(), cache.Entry{Key: "k", Value: []byte("later"), TTL: time.Hour})
	},
	"swap": func(t *testing.T, s cache.Store) error {
		_, err := s.CompareAndSwap(t.Context(), nil, cache.Entry{Key: "swap", TTL: time.Hour})
		return err
	},
}

// endure makes calls to a server that is ill, and looks at what they cost:
// each little until the breaker opens, and then all together next to nothing.
func endure(t *testing.T, g *cache.Guard, r *reasons) {
	t.Helper()
	for name, call := range calls {
		for tries := 0; ; tries++ {
			before := r.count(cache.ReasonOpen)
			begun := time.Now()
			err := call(t, g)
			took := time.Since(begun)
			if !errors.Is(err, cache.ErrUnavailable) {
				t.Fatalf("%s: error %v, want ErrUnavailable", name, err)
			}
			if took > soon {
				t.Errorf("%s took %v", name, took)
			}
			if r.count(cache.ReasonOpen) > before {
				break
			}
			if tries == 5 {
				t.Fatalf("%s: the breaker is still closed after %d failures", name, tries)
			}
		}
		begun := time.Now()
		for range 1000 {
			if err := call(t, g); !errors.Is(err, cache.ErrUnavailable) {
				t.Fatalf("%s: error %v, want ErrUnavailable", name, err)
			}
		}
		if took := time.Since(begun); took > soon {
			t.Errorf("1000 times %s with the breaker open took %v", name, took)
		}
	}
}

// back waits until a guard lets calls through again.
func back(t *testing.T, g *cache.Guard) {
	t.Helper()
	for name, call := range calls {
		for begun := time.Now(); ; {
			err := call(t, g)
			if err == nil {
				break
			}
			if time.Since(begun) > 30*time.Second {
				t.Fatalf("%s: still unavailable long after the server is back: %v", name, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func guarded(t *testing.T, addr string, log *slog.Logger) (*cache.Guard, *reasons) {
	t.Helper()
	r := &reasons{seen: map[cache.Reason]int{}}
	s := open(t, "redis://"+addr, redis.Options{Log: log})
	return cache.NewGuard(s, cache.GuardOptions{Probe: 200 * time.Millisecond, OnFailure: r.add}), r
}

func TestFrozenServer(t *testing.T) {
	srv := start(t)
	g, r := guarded(t, srv.addr, nil)
	back(t, g)
	srv.signal(t, syscall.SIGSTOP)
	endure(t, g, r)
	if r.count(cache.ReasonTimeout) == 0 {
		t.Errorf("no timeout counted: %v", r.seen)
	}
	srv.signal(t, syscall.SIGCONT)
	back(t, g)
}

// lockedBuffer takes what the library's goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestKilledServer(t *testing.T) {
	srv := start(t)
	var said lockedBuffer
	g, r := guarded(t, srv.addr, slog.New(slog.NewTextHandler(&said, nil)))
	back(t, g)
	srv.signal(t, syscall.SIGKILL)
	endure(t, g, r)
	if n := strings.Count(said.text(), "\n"); n > 2 {
		t.Errorf("the client library wrote %d lines to the log:\n%s", n, said.text())
	}
}

func TestServerThatNeverWas(t *testing.T) {
	g, r := guarded(t, freeAddr(t), nil)
	endure(t, g, r)
}

// A server that restarts is used again, without what it held and without the
// script that it had learned.
func TestRestartedServer(t *testing.T) {
	srv := start(t)
	g, r := guarded(t, srv.addr, nil)
	back(t, g)
	srv.signal(t, syscall.SIGKILL)
	endure(t, g, r)
	if !srv.run(t) {
		t.Fatal("redis-server does not start again")
	}
	back(t, g)
	if got := value(t, open(t, "redis://"+srv.addr, patient), "k"); got != "later" {
		t.Errorf("after the restart k has %q", got)
	}
}
