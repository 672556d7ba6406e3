package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"warmpath/cache"
	"warmpath/cache/cachetest"
	"warmpath/cache/redis"
)

func TestConforms(t *testing.T) {
	s := start(t)
	var n atomic.Int32
	cachetest.Run(t, func(t *testing.T) cache.Store {
		o := patient
		o.Prefix = fmt.Sprint("test", n.Add(1)) // An empty store for each test.
		store, err := redis.Open("redis://"+s.addr, o)
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}

func TestAddresses(t *testing.T) {
	const password = "p%40ss/w:rd#1"
	tls := start(t, withTLS(t)...)
	plain := start(t, "--requirepass", password)
	socket := shortDir(t) + "/s"
	start(t, "--unixsocket", socket)
	escaped := url.QueryEscape(password)
	tests := []struct{ name, url, want string }{
		{"password", "redis://:" + escaped + "@" + plain.addr, "redis://" + plain.addr + "/0"},
		{"user and password", "redis://default:" + escaped + "@" + plain.addr + "/3", "redis://" + plain.addr + "/3"},
		{"tls", "rediss://" + tls.addr + "?skip_verify=true", "rediss://" + tls.addr + "/0"},
		{"socket", "unix://" + socket, "unix://" + socket},
		{"options that would make requests wait", "redis://:" + escaped + "@" + plain.addr + "?max_retries=9&read_timeout=1h", "redis://" + plain.addr + "/0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, tt.url, patient)
			set(t, s, "k", tt.name)
			if got := value(t, s, "k"); got != tt.name {
				t.Errorf("k has %q, want %q", got, tt.name)
			}
			if got := s.String(); got != tt.want {
				t.Errorf("String is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	const password = "hunter2hunter2"
	for _, bad := range []string{
		"", "localhost:6379", "http://localhost", "redis:// :6379",
		"redis://:" + password + "/x@localhost", "redis://:" + password + "#x@localhost:6379",
		"redis://:" + password + "%zz@localhost", password, password + "://localhost",
		"redis://localhost/" + password, "redis://localhost?" + password + "=1", "redis://a b:" + password + "@localhost",
	} {
		s, err := redis.Open(bad, redis.Options{})
		if err == nil {
			t.Errorf("Open(%q) gave %v", bad, s)
			_ = s.Close()
			continue
		}
		if !strings.Contains(err.Error(), "redis://host") {
			t.Errorf("error %q does not say what to write", err)
		}
		leaksNot(t, err, password)
	}
}

// No error has the password, whatever goes wrong between us and the server.
func TestPasswordStaysSecret(t *testing.T) {
	const password = "hunter2hunter2"
	locked := start(t, "--requirepass", "another")
	frozen, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	for name, addr := range map[string]string{"wrong password": locked.addr, "nobody there": freeAddr(t), "silent": frozen.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			s := open(t, "redis://user:"+password+"@"+addr, redis.Options{Timeout: 200 * time.Millisecond})
			_, err := s.GetMany(t.Context(), "k")
			errs := []error{err, s.Set(t.Context(), cache.Entry{Key: "k", TTL: time.Hour})}
			_, err = s.CompareAndSwap(t.Context(), nil, cache.Entry{Key: "k", TTL: time.Hour})
			for _, err := range append(errs, err) {
				if err == nil {
					t.Error("no error")
					continue
				}
				leaksNot(t, err, password)
			}
			leaksNot(t, s.String(), password)
		})
	}
}

// trips counts what the client sends.
type trips struct {
	mu   sync.Mutex
	sent []string
}

func (tr *trips) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (tr *trips) add(names ...string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.sent = append(tr.sent, strings.Join(names, " "))
}

func (tr *trips) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		tr.add(cmd.Name())
		return next(ctx, cmd)
	}
}

func (tr *trips) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		var names []string
		for _, cmd := range cmds {
			names = append(names, cmd.Name())
		}
		tr.add(names...)
		return next(ctx, cmds)
	}
}

func TestOneRoundTripEach(t *testing.T) {
	s := open(t, "redis://"+start(t).addr, patient)
	swap := func(old []byte, value string) {
		t.Helper()
		if swapped, err := s.CompareAndSwap(t.Context(), old, cache.Entry{Key: "k", Value: []byte(value), TTL: time.Hour}); err != nil || !swapped {
			t.Fatalf("CompareAndSwap: %v, %v", swapped, err)
		}
	}
	swap(nil, "0") // The connection, and the script, are there from now on.
	tr := &trips{}
	s.Client().AddHook(tr)
	for name, do := range map[string]func() error{
		"mget": func() error { _, err := s.GetMany(t.Context(), "a", "b", "c", "d"); return err },
		"set set del": func() error {
			return s.Set(t.Context(), cache.Entry{Key: "a", TTL: time.Hour}, cache.Entry{Key: "b", TTL: time.Hour}, cache.Entry{Key: "c"})
		},
		"evalsha": func() error { swap([]byte("0"), "1"); return nil },
	} {
		tr.sent = nil
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if want := []string{name}; !slices.Equal(tr.sent, want) {
			t.Errorf("trips %q, want %q", tr.sent, want)
		}
	}
	if err := s.Client().ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	swap([]byte("1"), "2")
}

// Keys say whose they are and in what layout, and no key lives for ever.
func TestKeys(t *testing.T) {
	addr := start(t).addr
	mine, other := open(t, "redis://"+addr, patient), open(t, "redis://"+addr, redis.Options{Prefix: "other", Timeout: patient.Timeout})
	set(t, mine, "k", "mine")
	set(t, other, "k", "other")
	if swapped, err := mine.CompareAndSwap(t.Context(), nil, cache.Entry{Key: "swapped", TTL: time.Hour}); err != nil || !swapped {
		t.Fatalf("CompareAndSwap: %v, %v", swapped, err)
	}
	if got := value(t, mine, "k"); got != "mine" {
		t.Errorf("the key of another prefix shows: %q", got)
	}
	keys, err := mine.Client().Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	if want := []string{"other:v1:k", "warmpath:v1:k", "warmpath:v1:swapped"}; !slices.Equal(keys, want) {
		t.Errorf("keys %q, want %q", keys, want)
	}
	for _, key := range keys {
		if ttl := mine.Client().PTTL(t.Context(), key).Val(); ttl <= 59*time.Minute || ttl > time.Hour {
			t.Errorf("%s lives for %v, want an hour", key, ttl)
		}
	}
}

// A full server refuses writes, says so, and can be read.
func TestFullServer(t *testing.T) {
	s := open(t, "redis://"+start(t, "--maxmemory", "3mb", "--maxmemory-policy", "noeviction").addr, patient)
	set(t, s, "first", "there")
	text := make([]byte, 100_000)
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		err = s.Set(t.Context(), cache.Entry{Key: fmt.Sprint(i), Value: text, TTL: time.Hour})
	}
	if err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("a full server: %v, want OOM", err)
	}
	if got := value(t, s, "first"); got != "there" {
		t.Errorf("read from a full server: %q", got)
	}
}

func TestClosedTwice(t *testing.T) {
	s := open(t, "redis://127.0.0.1:1", patient)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.GetMany(t.Context(), "k"); !errors.Is(err, cache.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}
