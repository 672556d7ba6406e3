package cache_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache"
	"warmpath/cache/cachetest"
)

func TestMemoryConforms(t *testing.T) {
	cachetest.Run(t, func(*testing.T) cache.Store { return cache.NewMemory(64 << 20) })
}

// found gives those of the keys that have a value.
func found(t *testing.T, s cache.Store, keys ...string) []string {
	t.Helper()
	values, err := s.GetMany(t.Context(), keys...)
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for i, v := range values {
		if v != nil {
			there = append(there, keys[i])
		}
	}
	return there
}

func store(t *testing.T, s cache.Store, ttl time.Duration, value string, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if err := s.Set(t.Context(), cache.Entry{Key: key, Value: []byte(value), TTL: ttl}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMemoryExpiresToTheMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := cache.NewMemory(1 << 20)
		store(t, m, time.Second, "", "a")
		store(t, m, 2*time.Second, "", "b")
		time.Sleep(time.Second - time.Millisecond)
		if diff := cmp.Diff([]string{"a", "b"}, found(t, m, "a", "b")); diff != "" {
			t.Errorf("just before: %s", diff)
		}
		time.Sleep(time.Millisecond)
		if diff := cmp.Diff([]string{"b"}, found(t, m, "a", "b")); diff != "" {
			t.Errorf("at its time: %s", diff)
		}
	})
}

func TestMemoryEvicts(t *testing.T) {
	value := strings.Repeat("v", 1000) // With key and bookkeeping, three fit in 4000 bytes.
	tests := []struct {
		name string
		play func(t *testing.T, m *cache.Memory)
		want []string
	}{
		{
			"the oldest",
			func(t *testing.T, m *cache.Memory) { store(t, m, time.Hour, value, "a", "b", "c", "d") },
			[]string{"b", "c", "d"},
		},
		{
			"not what was read",
			func(t *testing.T, m *cache.Memory) {
				store(t, m, time.Hour, value, "a", "b", "c")
				found(t, m, "a")
				store(t, m, time.Hour, value, "d")
			},
			[]string{"a", "c", "d"},
		},
		{
			"not what was replaced",
			func(t *testing.T, m *cache.Memory) {
				store(t, m, time.Hour, value, "a", "b", "c", "a", "d")
			},
			[]string{"a", "c", "d"},
		},
		{
			"the expired before the oldest",
			func(t *testing.T, m *cache.Memory) {
				store(t, m, time.Hour, value, "a", "b")
				store(t, m, time.Second, value, "c")
				time.Sleep(time.Second)
				store(t, m, time.Hour, value, "d")
			},
			[]string{"a", "b", "d"},
		},
		{
			"several small for one large",
			func(t *testing.T, m *cache.Memory) {
				store(t, m, time.Hour, value, "a", "b", "c")
				store(t, m, time.Hour, strings.Repeat("v", 2000), "d")
			},
			[]string{"c", "d"},
		},
		{
			"nothing for what never fits, whose old value goes",
			func(t *testing.T, m *cache.Memory) {
				store(t, m, time.Hour, value, "a", "b")
				store(t, m, time.Hour, strings.Repeat("v", 4000), "b")
			},
			[]string{"a"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := cache.NewMemory(4000)
				tt.play(t, m)
				if diff := cmp.Diff(tt.want, found(t, m, "a", "b", "c", "d")); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// What the store takes in truth stays near its bound, for small entries too.
func TestMemoryKeepsItsBound(t *testing.T) {
	const bound = 16 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m := cache.NewMemory(bound)
	for i := range 200_000 {
		store(t, m, time.Hour, "0123456789", fmt.Sprint(i))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	took := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if took < bound/4 || took > bound*5/4 {
		t.Errorf("a store of %d bytes takes %d", bound, took)
	}
	runtime.KeepAlive(m)
}

func BenchmarkMemory(b *testing.B) {
	m := cache.NewMemory(256 << 20)
	value := make([]byte, 10<<10)
	var keys []string
	for i := range 1000 {
		keys = append(keys, fmt.Sprintf("lineage:%040d", i))
		_ = m.Set(b.Context(), cache.Entry{Key: keys[i], Value: value, TTL: time.Hour})
	}
	b.Run("GetMany16", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i = (i + 16) % 960 {
			if _, err := m.GetMany(b.Context(), keys[i:i+16]...); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Set10K", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i = (i + 1) % 1000 {
			if err := m.Set(b.Context(), cache.Entry{Key: keys[i], Value: value, TTL: time.Hour}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
