package replies_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/cache/replies"
)

// spy is a store that notes whatever is written.
type spy struct {
	cache.Store
	written bytes.Buffer
	keys    []string
	trips   int
}

func (s *spy) Set(ctx context.Context, entries ...cache.Entry) error {
	for _, e := range entries {
		s.written.WriteString(e.Key)
		s.written.Write(e.Value)
		s.keys = append(s.keys, e.Key)
	}
	return s.Store.Set(ctx, entries...)
}

func (s *spy) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	s.trips++
	return s.Store.GetMany(ctx, keys...)
}

func open(t *testing.T) (*replies.Replies, *spy) {
	s := &spy{Store: cache.NewMemory(256 << 20)}
	t.Cleanup(func() { _ = s.Close() })
	return replies.New(s, time.Hour), s
}

func turn(name string) replies.Turn {
	return replies.Turn{Input: []byte(`["` + name + ` asked"]`), Reply: []byte(`{"id":"` + name + `"}`)}
}

// chain saves turns that go on from each other and gives the last history.
func chain(t *testing.T, r *replies.Replies, tenant string, names ...string) {
	t.Helper()
	var after *replies.History
	for _, name := range names {
		if err := r.Save(t.Context(), tenant, name, after, turn(name)); err != nil {
			t.Fatal(err)
		}
		var err error
		if after, err = r.History(t.Context(), tenant, name, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChain(t *testing.T) {
	r, s := open(t)
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("resp_%d", i))
	}
	chain(t, r, "a", names...)
	// A fork goes on from the middle.
	middle, err := r.History(t.Context(), "a", "resp_1", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Save(t.Context(), "a", "fork", middle, turn("fork")); err != nil {
		t.Fatal(err)
	}
	s.trips = 0
	long, err := r.History(t.Context(), "a", "resp_39", 1<<20)
	if err != nil || len(long.Turns) != 40 {
		t.Fatalf("%v, %v", long, err)
	}
	if s.trips > 6 {
		t.Errorf("%d round trips for 40 turns", s.trips)
	}
	for i, got := range long.Turns {
		want := turn(names[i])
		if i > 0 {
			want.Previous = names[i-1]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("turn %d: %s", i, diff)
		}
	}
	fork, err := r.History(t.Context(), "a", "fork", 1<<20)
	if err != nil || len(fork.Turns) != 3 || fork.Turns[2].Previous != "resp_1" {
		t.Errorf("%+v, %v", fork, err)
	}
}

// A turn of any length comes back as it was, from as many entries as it takes.
func TestTurnsOfEveryLength(t *testing.T) {
	r, s := open(t)
	for _, n := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 3 << 20, replies.MaxTurn - 10} {
		name := fmt.Sprint("resp_", n)
		want := replies.Turn{Input: bytes.Repeat([]byte("i"), n/3), Reply: bytes.Repeat([]byte("r"), n-n/3)}
		if err := r.Save(t.Context(), "a", name, nil, want); err != nil {
			t.Fatal(n, err)
		}
		got, err := r.Load(t.Context(), "a", name)
		if err != nil || !bytes.Equal(got.Input, want.Input) || !bytes.Equal(got.Reply, want.Reply) {
			t.Errorf("%d bytes: %d and %d came back, %v", n, len(got.Input), len(got.Reply), err)
		}
	}
	// What is lost of a turn, or stems from another writing of it, is all of it.
	last := s.keys[len(s.keys)-3]
	for _, entry := range []cache.Entry{{Key: last, Value: bytes.Repeat([]byte("x"), 256<<10), TTL: time.Hour}, {Key: last}} {
		if err := s.Store.Set(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Load(t.Context(), "a", fmt.Sprint("resp_", replies.MaxTurn-10)); !errors.Is(err, replies.ErrUnknown) {
			t.Errorf("got %v", err)
		}
	}
}

func TestBounds(t *testing.T) {
	r, _ := open(t)
	big := replies.Turn{Input: make([]byte, replies.MaxTurn), Reply: []byte("x")}
	if err := r.Save(t.Context(), "a", "big", nil, big); !errors.Is(err, replies.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	chain(t, r, "a", "one", "two", "three")
	size := len(turn("one").Input) + len(turn("one").Reply) + len(turn("two").Input) + len(turn("two").Reply) + len(turn("three").Input) + len(turn("three").Reply)
	for most, fits := range map[int]bool{size: true, size - 1: false, 1: false} {
		_, err := r.History(t.Context(), "a", "three", most)
		if fits != (err == nil) || !fits && !errors.Is(err, replies.ErrTooLarge) {
			t.Errorf("within %d bytes: %v", most, err)
		}
	}
}

// A chain that has grown to its bound takes no more.
func TestChainEnds(t *testing.T) {
	r, _ := open(t)
	if err := r.Save(t.Context(), "a", "last", replies.HistoryOf(replies.MaxChain-1), turn("last")); err != nil {
		t.Error(err)
	}
	if err := r.Save(t.Context(), "a", "more", replies.HistoryOf(replies.MaxChain), turn("more")); !errors.Is(err, replies.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// Turns are found by several names at once, in few round trips.
func TestFind(t *testing.T) {
	r, s := open(t)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint("resp_", i))
		if err := r.Save(t.Context(), "a", names[i], nil, turn(names[i])); err != nil {
			t.Fatal(err)
		}
	}
	names[7] = "resp_unknown"
	s.trips = 0
	got, err := r.Find(t.Context(), "a", names, 1<<20)
	if err != nil || len(got) != 20 || s.trips > 3 {
		t.Fatalf("%d turns in %d round trips, %v", len(got), s.trips, err)
	}
	for i := range got {
		want := turn(names[i])
		if i == 7 {
			want = replies.Turn{}
		}
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("%s: %s", names[i], diff)
		}
	}
	if _, err := r.Find(t.Context(), "a", names, 100); !errors.Is(err, replies.ErrTooLarge) {
		t.Errorf("more than was asked for: %v", err)
	}
	others, err := r.Find(t.Context(), "b", names, 1<<20)
	if diff := cmp.Diff(make([]replies.Turn, 20), others); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// Nobody finds what another has asked or got, however names and tenants are put
// together, and neither tenants nor names stand in the store.
func TestTenantsAreApart(t *testing.T) {
	r, s := open(t)
	chain(t, r, "tenant-secret", "resp_1", "resp_2")
	for _, c := range [][2]string{
		{"other", "resp_2"}, {"", "resp_2"}, {"tenant-secre", "tresp_2"}, {"tenant-secretresp_", "2"}, {"tenant-secret", "resp_3"}, {"", ""},
	} {
		if _, err := r.Load(t.Context(), c[0], c[1]); !errors.Is(err, replies.ErrUnknown) {
			t.Errorf("%q: load gives %v", c, err)
		}
		if _, err := r.History(t.Context(), c[0], c[1], 1<<20); !errors.Is(err, replies.ErrUnknown) {
			t.Errorf("%q: history gives %v", c, err)
		}
		if err := r.Delete(t.Context(), c[0], c[1]); !errors.Is(err, replies.ErrUnknown) {
			t.Errorf("%q: delete gives %v", c, err)
		}
	}
	if strings.Contains(s.written.String(), "tenant-secret") {
		t.Error("the tenant stands in the store")
	}
	if _, err := r.History(t.Context(), "tenant-secret", "resp_2", 1<<20); err != nil {
		t.Error(err)
	}
}

func TestDelete(t *testing.T) {
	r, s := open(t)
	chain(t, r, "a", "one", "two", "three")
	big := replies.Turn{Input: make([]byte, 1<<20), Reply: []byte("x")}
	if err := r.Save(t.Context(), "a", "big", nil, big); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"two", "big"} {
		if err := r.Delete(t.Context(), "a", name); err != nil {
			t.Fatal(err)
		}
		if err := r.Delete(t.Context(), "a", name); !errors.Is(err, replies.ErrUnknown) {
			t.Errorf("deleted twice: %v", err)
		}
	}
	if _, err := r.Load(t.Context(), "a", "three"); err != nil {
		t.Errorf("a later reply is gone as well: %v", err)
	}
	if _, err := r.History(t.Context(), "a", "three", 1<<20); !errors.Is(err, replies.ErrUnknown) {
		t.Errorf("a conversation with a hole: %v", err)
	}
	left, err := s.Store.GetMany(t.Context(), s.keys...)
	if err != nil {
		t.Fatal(err)
	}
	there := 0
	for _, value := range left {
		if value != nil {
			there++
		}
	}
	if there != 2 {
		t.Errorf("%d entries are left, want those of two turns", there)
	}
}

func TestShorterLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewMemory(1 << 20)
		defer store.Close()
		r := replies.New(store, time.Hour)
		for name, within := range map[string]time.Duration{"short": time.Minute, "long": 2 * time.Hour} {
			if err := r.Within(within).Save(t.Context(), "a", name, nil, turn(name)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Minute)
		_, short := r.Load(t.Context(), "a", "short")
		_, long := r.Load(t.Context(), "a", "long")
		time.Sleep(time.Hour)
		_, later := r.Load(t.Context(), "a", "long")
		if !errors.Is(short, replies.ErrUnknown) || long != nil || !errors.Is(later, replies.ErrUnknown) {
			t.Errorf("%v, %v, %v", short, long, later)
		}
	})
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewMemory(1 << 20)
		defer store.Close()
		r := replies.New(store, time.Hour)
		chain(t, r, "a", "one")
		time.Sleep(40 * time.Minute)
		after, err := r.History(t.Context(), "a", "one", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Save(t.Context(), "a", "two", after, turn("two")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(21 * time.Minute)
		if _, err := r.Load(t.Context(), "a", "two"); err != nil {
			t.Error(err)
		}
		if _, err := r.History(t.Context(), "a", "two", 1<<20); !errors.Is(err, replies.ErrUnknown) {
			t.Errorf("what it goes on from has expired: %v", err)
		}
	})
}

// A store that is gone is no reply that is unknown.
func TestStoreIsGone(t *testing.T) {
	r, s := open(t)
	chain(t, r, "a", "one")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, loading := r.Load(t.Context(), "a", "one")
	_, reading := r.History(t.Context(), "a", "one", 1)
	for _, err := range []error{loading, reading, r.Delete(t.Context(), "a", "one"), r.Save(t.Context(), "a", "two", nil, turn("two"))} {
		if !errors.Is(err, cache.ErrClosed) || errors.Is(err, replies.ErrUnknown) {
			t.Errorf("got %v", err)
		}
	}
}

// FuzzValue asks that whatever stands in the store is read or unknown.
func FuzzValue(f *testing.F) {
	store := &spy{Store: cache.NewMemory(1 << 20)}
	r := replies.New(store, time.Hour)
	if err := r.Save(context.Background(), "a", "n", &replies.History{}, turn("n")); err != nil {
		f.Fatal(err)
	}
	key := store.keys[0]
	value, err := store.GetMany(context.Background(), key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(value[0])
	f.Fuzz(func(t *testing.T, value []byte) {
		if err := store.Store.Set(t.Context(), cache.Entry{Key: key, Value: value, TTL: time.Hour}); err != nil {
			t.Skip(err)
		}
		if _, err := r.Load(t.Context(), "a", "n"); err != nil && !errors.Is(err, replies.ErrUnknown) {
			t.Error(err)
		}
		if _, err := r.History(t.Context(), "a", "n", 1<<20); err != nil && !errors.Is(err, replies.ErrUnknown) && !errors.Is(err, replies.ErrTooLarge) {
			t.Error(err)
		}
	})
}
