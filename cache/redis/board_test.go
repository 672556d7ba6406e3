package redis_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache/redis"
)

// pinned are the values of a kind as text.
func pinned(t *testing.T, b *redis.Board, kind string) map[string]string {
	t.Helper()
	values, err := b.Pinned(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, value := range values {
		texts[name] = string(value)
	}
	return texts
}

func pin(t *testing.T, b *redis.Board, kind, name, value string, life time.Duration, once bool) bool {
	t.Helper()
	first, err := b.Pin(t.Context(), kind, name, []byte(value), life, once)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

func TestBoard(t *testing.T) {
	s := start(t)
	b := open(t, "redis://"+s.addr, patient).Board()
	other := open(t, "redis://"+s.addr, patient).Board()
	fleet := patient
	fleet.Prefix = "another"
	strangers := open(t, "redis://"+s.addr, fleet).Board()

	pin(t, b, "k", "a", "1", time.Hour, false)
	pin(t, b, "k", "b", "2", time.Hour, false)
	pin(t, b, "k", "b", "3", time.Hour, false)
	pin(t, b, "k2", "a", "4", time.Hour, false)
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "3"}, pinned(t, other, "k")); diff != "" {
		t.Error(diff)
	}
	if got := pinned(t, strangers, "k"); len(got) > 0 {
		t.Errorf("another fleet sees %v", got)
	}
	pin(t, other, "k", "a", "", 0, false)
	if diff := cmp.Diff(map[string]string{"b": "3"}, pinned(t, b, "k")); diff != "" {
		t.Error(diff)
	}
	if !pin(t, b, "once", "a", "first", time.Hour, true) || pin(t, other, "once", "a", "second", time.Hour, true) {
		t.Error("not the first one was first")
	}
	if diff := cmp.Diff(map[string]string{"a": "first"}, pinned(t, b, "once")); diff != "" {
		t.Error(diff)
	}
	if !pin(t, b, "short", "a", "x", time.Millisecond, true) {
		t.Error("the first one was not first")
	}
	eventually(t, func() bool { return len(pinned(t, b, "short")) == 0 })
	if !pin(t, b, "short", "a", "y", time.Hour, true) || pinned(t, b, "short")["a"] != "y" {
		t.Error("what is over is still there")
	}
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for range 1000 {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it does not come to be")
}

func TestBoardCalls(t *testing.T) {
	s := start(t)
	b := open(t, "redis://"+s.addr, redis.Options{Timeout: 2 * time.Second}).Board()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := b.Listen(ctx)
	heard := func() bool {
		_ = b.Call(t.Context())
		select {
		case _, open := <-calls:
			return open
		case <-time.After(20 * time.Millisecond):
			return false
		}
	}
	eventually(t, heard)
	s.signal(t, syscall.SIGKILL)
	eventually(t, func() bool { return b.Call(t.Context()) != nil })
	if _, err := b.Pin(t.Context(), "k", "a", nil, time.Hour, true); err == nil {
		t.Error("something was pinned to a board that is gone")
	}
	if _, err := b.Pinned(t.Context(), "k"); err == nil {
		t.Error("a board that is gone has nothing pinned")
	}
	if !s.run(t) {
		t.Skip(fmt.Sprint("the port ", s.addr, " is taken"))
	}
	eventually(t, heard)
	cancel()
	eventually(t, func() bool {
		select {
		case _, open := <-calls:
			return !open
		default:
			return false
		}
	})
}

// A server that takes longer than a request may wait for it still takes answers.
func TestBoardIsPatient(t *testing.T) {
	s := start(t)
	hurried := patient
	hurried.Timeout = 20 * time.Millisecond
	store := open(t, "redis://"+s.addr, hurried)
	b := store.Board()
	pin(t, b, "k", "a", "1", time.Hour, false)
	admin := open(t, "redis://"+s.addr, patient).Client()
	pause := func() {
		t.Helper()
		if err := admin.Do(t.Context(), "client", "pause", "200", "all").Err(); err != nil {
			t.Fatal(err)
		}
	}
	pause()
	if _, err := store.GetMany(t.Context(), "x"); err == nil {
		t.Error("the store has waited: the server was not slow")
	}
	if !pin(t, b, "k", "b", "2", time.Hour, true) {
		t.Error("the answer is not the first")
	}
	pause()
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2"}, pinned(t, b, "k")); diff != "" {
		t.Error(diff)
	}
}
