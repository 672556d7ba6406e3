package redis_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/redis"
)

// server is a real redis-server on a port of its own.
type server struct {
	program string
	args    []string
	addr    string
	process *os.Process
}

// start starts a server with more arguments, and waits until it answers.
func start(t testing.TB, args ...string) *server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("WARMPATH_REQUIRE") == "all" {
			t.Fatal("redis-server is not installed, and WARMPATH_REQUIRE=all lets no test skip")
		}
		t.Skip("redis-server is not installed")
	}
	// Somebody may take the port between our look and the server's.
	for range 5 {
		if s := try(t, program, args...); s != nil {
			return s
		}
	}
	t.Fatal("redis-server does not start")
	return nil
}

func try(t testing.TB, program string, args ...string) *server {
	t.Helper()
	s := &server{program: program, args: args, addr: freeAddr(t)}
	if !s.run(t) {
		return nil
	}
	return s
}

// run starts the program and reports whether it came to answer.
func (s *server) run(t testing.TB) bool {
	t.Helper()
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	ports := []string{"--port", port}
	if slices.Contains(s.args, "--tls-cert-file") {
		ports = []string{"--port", "0", "--tls-port", port}
	}
	cmd := exec.Command(s.program, slices.Concat([]string{
		"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir(),
	}, ports, s.args)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // That ends a stopped process too.
		<-gone
	})
	s.process = cmd.Process
	for {
		select {
		case <-gone:
			return false
		case <-time.After(10 * time.Millisecond):
		}
		if c, err := net.Dial("tcp", s.addr); err == nil {
			_ = c.Close()
			return true
		}
	}
}

func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *server) signal(t *testing.T, what syscall.Signal) {
	t.Helper()
	if err := s.process.Signal(what); err != nil {
		t.Fatal(err)
	}
}

// patient has a timeout that a machine with much else to do keeps too.
var patient = redis.Options{Timeout: 30 * time.Second}

func open(t testing.TB, url string, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func set(t testing.TB, s cache.Store, key, value string) {
	t.Helper()
	if err := s.Set(t.Context(), cache.Entry{Key: key, Value: []byte(value), TTL: time.Hour}); err != nil {
		t.Fatal(err)
	}
}

// value is what a key has; "" if nothing.
func value(t testing.TB, s cache.Store, key string) string {
	t.Helper()
	values, err := s.GetMany(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(values[0])
}

// leaksNot fails if an error says a password.
func leaksNot(t *testing.T, what any, password string) {
	t.Helper()
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if said := fmt.Sprintf(form, what); strings.Contains(said, password) {
			t.Errorf("%s of %T says the password: %s", form, what, said)
		}
	}
}
