package disk_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"warmpath/cache"
	"warmpath/cache/cachetest"
	"warmpath/cache/disk"
)

func open(t testing.TB, folder string, o disk.Options) *disk.Store {
	t.Helper()
	s, err := disk.Open(folder, o)
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

func set(t testing.TB, s cache.Store, ttl time.Duration, value string, keys ...string) {
	t.Helper()
	var entries []cache.Entry
	for _, key := range keys {
		entries = append(entries, cache.Entry{Key: key, Value: []byte(value), TTL: ttl})
	}
	if err := s.Set(context.Background(), entries...); err != nil {
		t.Fatal(err)
	}
}

// value is what a key has; "" if nothing.
func value(t testing.TB, s cache.Store, key string) string {
	t.Helper()
	values, err := s.GetMany(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(values[0])
}

func TestConforms(t *testing.T) {
	cachetest.Run(t, func(t *testing.T) cache.Store {
		// Warnings may come while the suite closes the store, so they are kept.
		var mu sync.Mutex
		var warned []error
		s, err := disk.Open(t.TempDir(), disk.Options{Warn: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			warned = append(warned, err)
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if len(warned) > 0 {
				t.Errorf("warnings: %v", warned)
			}
		})
		return s
	})
}

func TestReopenFindsEverything(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "made", "by", "open")
	s := open(t, folder, disk.Options{})
	for i := range 100 {
		set(t, s, time.Hour, fmt.Sprint("value ", i), fmt.Sprint("key ", i))
	}
	set(t, s, 0, "", "key 7")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, folder, disk.Options{})
	for i := range 100 {
		want := fmt.Sprint("value ", i)
		if i == 7 {
			want = ""
		}
		if got := value(t, s, fmt.Sprint("key ", i)); got != want {
			t.Errorf("key %d has %q after reopening, want %q", i, got, want)
		}
	}
}

// A start does not read what the file holds: the time it takes does not grow
// with it.
func TestReopenIsQuick(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, disk.Options{})
	keys := benchFill(t, s, 10_000)
	for i := range 5_000 {
		if i%5 == 0 { // Leave holes.
			set(t, s, 0, "", keys[i])
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	s = open(t, folder, disk.Options{})
	if value(t, s, keys[len(keys)-1]) == "" {
		t.Error("an entry is gone")
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("opening a file of %d MB took %v", fileSize(t, folder)>>20, took)
	}
}

func TestExpiryInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		s := open(t, folder, disk.Options{MaxAge: time.Hour})
		set(t, s, time.Minute, "m", "minute")
		set(t, s, time.Hour, "h", "hour")
		set(t, s, 24*time.Hour, "d", "day, cut to an hour")

		time.Sleep(time.Minute - time.Millisecond)
		if value(t, s, "minute") == "" {
			t.Error("gone before its time")
		}
		time.Sleep(time.Millisecond)
		if value(t, s, "minute") != "" {
			t.Error("there after its time")
		}
		if swapped, err := s.CompareAndSwap(t.Context(), []byte("m"), cache.Entry{Key: "minute", TTL: time.Hour}); swapped || err != nil {
			t.Errorf("swap from an expired value: %v, %v", swapped, err)
		}
		time.Sleep(59 * time.Minute)
		for _, key := range []string{"hour", "day, cut to an hour"} {
			if value(t, s, key) != "" {
				t.Errorf("%q is there after its time", key)
			}
		}
	})
}

// What expires gives its room back, so a file does not grow with time.
func TestExpiredRoomIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		s := open(t, folder, disk.Options{})
		text := strings.Repeat("x", 10_000)
		var sizes []int64
		for round := range 6 {
			for i := range 100 {
				set(t, s, time.Minute, text, fmt.Sprint(round, ".", i))
			}
			sizes = append(sizes, fileSize(t, folder))
			time.Sleep(2 * time.Minute)
		}
		if sizes[5] > sizes[1]*3/2 {
			t.Errorf("the file grows: %v", sizes)
		}
	})
}

func fileSize(t *testing.T, folder string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(folder, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// The file stays within its size whatever is written; what was written last is
// there, and what goes is what would have expired first.
func TestBoundedInSize(t *testing.T) {
	tests := []struct {
		name  string
		size  func(i int) int
		count int
	}{
		{"small", func(int) int { return 100 }, 40_000},
		{"middling", func(int) int { return 10_000 }, 3_000},
		{"largest", func(int) int { return cache.MaxValue }, 40},
		{"largest after small", func(i int) int {
			if i < 50_000 {
				return 100
			}
			return cache.MaxValue
		}, 50_005},
		{"mixed", func(i int) int { return []int{50, 3_000, 200_000, 700, 40_000}[i%5] }, 1_500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			s := open(t, folder, disk.Options{MaxBytes: disk.MinBytes})
			var entries []cache.Entry
			written := 0
			for i := range tt.count {
				entries = append(entries, cache.Entry{Key: fmt.Sprint("key ", i), Value: make([]byte, tt.size(i)), TTL: time.Hour + time.Duration(i)*time.Millisecond})
				written += tt.size(i)
				if len(entries) == 100 || tt.size(i) == cache.MaxValue {
					if err := s.Set(t.Context(), entries...); err != nil {
						t.Fatal(err)
					}
					entries = entries[:0]
				}
			}
			// The writer makes room behind each write that it has answered: small ones
			// that follow see to it that none of that is left to do.
			for range 100 {
				if err := s.Set(t.Context(), cache.Entry{Key: "last", Value: []byte("x"), TTL: 48 * time.Hour}); err != nil {
					t.Fatal(err)
				}
			}
			if size := fileSize(t, folder); size > disk.MinBytes {
				t.Errorf("the file has %d bytes, more than %d", size, disk.MinBytes)
			}
			left, first := 0, -1
			for i := range tt.count - len(entries) {
				values, err := s.GetMany(t.Context(), fmt.Sprint("key ", i))
				if err != nil {
					t.Fatal(err)
				}
				if values[0] != nil {
					left += len(values[0])
					if first < 0 {
						first = i
					}
				} else if first >= 0 {
					t.Fatalf("key %d went before key %d, which expires earlier", i, first)
				}
			}
			t.Logf("%d bytes written, %d left, from key %d on, in a file of %d", written, left, first, fileSize(t, folder))
			if floor := disk.MinBytes / 4; written > disk.MinBytes && left < floor {
				t.Errorf("%d bytes are left, want %d at least", left, floor)
			}
		})
	}
}

func TestTwoProcesses(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, disk.Options{})
	_, err := disk.Open(folder, disk.Options{})
	if !errors.Is(err, disk.ErrInUse) {
		t.Fatalf("a second store in the folder: %v, want ErrInUse", err)
	}
	for _, want := range []string{folder, fmt.Sprintf("(process %d)", os.Getpid()), "its own folder", "redis://"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, folder, disk.Options{})
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]struct {
		folder  string
		options disk.Options
		want    string
	}{
		"a file for a folder": {file, disk.Options{}, "making the folder"},
		"too small":           {t.TempDir(), disk.Options{MaxBytes: 1000}, "give it 16777216"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := disk.Open(o.folder, o.options); err == nil || !strings.Contains(err.Error(), o.want) {
				t.Errorf("error %v, want one with %q", err, o.want)
			}
		})
	}
}
