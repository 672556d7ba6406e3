package redis_test

import (
	"fmt"
	"testing"
	"time"

	"warmpath/cache"
)

func BenchmarkStore(b *testing.B) {
	s := open(b, "redis://"+start(b).addr, patient)
	value := make([]byte, 4<<10)
	var keys []string
	for i := range 64 {
		keys = append(keys, fmt.Sprintf("lineage:%040d", i))
		if err := s.Set(b.Context(), cache.Entry{Key: keys[i], Value: value, TTL: time.Hour}); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprint("GetMany/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.GetMany(b.Context(), keys[:n]...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Set", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Set(b.Context(), cache.Entry{Key: keys[0], Value: value, TTL: time.Hour}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Swap", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.CompareAndSwap(b.Context(), value, cache.Entry{Key: keys[0], Value: value, TTL: time.Hour}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
