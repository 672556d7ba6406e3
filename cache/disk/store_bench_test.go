package disk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/disk"
)

// benchFill writes so many entries of 4 KiB.
func benchFill(tb testing.TB, s cache.Store, count int) []string {
	tb.Helper()
	text := []byte(strings.Repeat("0123456789abcdef", 256))
	var keys []string
	var entries []cache.Entry
	for i := range count {
		keys = append(keys, fmt.Sprintf("lineage:%040d", i*7919%count))
		entries = append(entries, cache.Entry{Key: keys[i], Value: text, TTL: time.Hour})
		if len(entries) == 500 || i == count-1 {
			if err := s.Set(tb.Context(), entries...); err != nil {
				tb.Fatal(err)
			}
			entries = entries[:0]
		}
	}
	return keys
}

func BenchmarkGetMany(b *testing.B) {
	s := open(b, b.TempDir(), disk.Options{})
	keys := benchFill(b, s, 20_000)
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i = (i + n) % (len(keys) - n) {
				if _, err := s.GetMany(b.Context(), keys[i:i+n]...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSet(b *testing.B) {
	s := open(b, b.TempDir(), disk.Options{})
	keys := benchFill(b, s, 20_000)
	for _, size := range []int{1 << 10, 32 << 10, 1 << 20} {
		value := make([]byte, size)
		b.Run(fmt.Sprint("alone/", size), func(b *testing.B) {
			for i := 0; b.Loop(); i = (i + 1) % len(keys) {
				if err := s.Set(b.Context(), cache.Entry{Key: keys[i], Value: value, TTL: time.Hour}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("together/4096", func(b *testing.B) {
		value := make([]byte, 4<<10)
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i = (i + 1) % len(keys) {
				if err := s.Set(b.Context(), cache.Entry{Key: keys[i], Value: value, TTL: time.Hour}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

func BenchmarkReopen(b *testing.B) {
	folder := b.TempDir()
	s := open(b, folder, disk.Options{})
	benchFill(b, s, 50_000) // 200 MB
	for b.Loop() {
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		s = open(b, folder, disk.Options{})
	}
}
