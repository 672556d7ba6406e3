//go:build unix

package disk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/disk"
)

// warnings collects what a store warns of.
type warnings struct {
	mu   sync.Mutex
	text []string
}

func (w *warnings) add(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, err.Error())
}

func (w *warnings) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.text)
}

// hurt changes the file of a store.
func hurt(t *testing.T, folder string, change func(text []byte) []byte) {
	t.Helper()
	path := filepath.Join(folder, "store.db")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// In place: a store that has the file open sees it.
	if err := os.WriteFile(path, change(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var injuries = []struct {
	name   string
	change func(text []byte) []byte
}{
	{"not a store", func([]byte) []byte { return []byte(strings.Repeat("not a store\n", 1000)) }},
	{"one byte", func([]byte) []byte { return []byte{1} }},
	{"heads gone", func(text []byte) []byte { clear(text[:8192]); return text }},
	{"only heads left", func(text []byte) []byte { return text[:8192] }},
	{"cut in half", func(text []byte) []byte { return text[:len(text)/2] }},
	{"all but heads is noise", func(text []byte) []byte {
		r := rand.New(rand.NewPCG(1, 2))
		for i := 8192; i < len(text); i++ {
			text[i] = byte(r.Uint32())
		}
		return text
	}},
	{"all but heads is zero", func(text []byte) []byte { clear(text[8192:]); return text }},
	{"values changed", func(text []byte) []byte {
		return []byte(strings.ReplaceAll(string(text), "genuine", "forgery"))
	}},
}

func fill(t *testing.T, s cache.Store) {
	t.Helper()
	for i := range 50 {
		set(t, s, time.Hour, fmt.Sprint(i, strings.Repeat(" genuine", 100)), fmt.Sprint(i))
	}
}

// use reads everything, now and then writes, and says whether it saw the store
// in order: no errors, and values only that were written.
func use(t *testing.T, s cache.Store) bool {
	t.Helper()
	inOrder := true
	for i := range 50 {
		values, err := s.GetMany(t.Context(), fmt.Sprint(i))
		if err != nil {
			inOrder = false
			continue
		}
		if values[0] != nil && string(values[0]) != fmt.Sprint(i, strings.Repeat(" genuine", 100)) {
			t.Fatalf("a value that nobody wrote: %.40q", values[0])
		}
	}
	if err := s.Set(t.Context(), cache.Entry{Key: "new", Value: []byte("new"), TTL: time.Hour}); err != nil {
		return false
	}
	return inOrder && value(t, s, "new") == "new"
}

// A damaged file is moved aside, sooner or later, and the store is in order
// again, empty. What is read meanwhile is what was written, or an error.
func TestDamage(t *testing.T) {
	for _, injury := range injuries {
		t.Run(injury.name+" while closed", func(t *testing.T) {
			folder := t.TempDir()
			s := open(t, folder, disk.Options{})
			fill(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			hurt(t, folder, injury.change)
			var w warnings
			recovers(t, open(t, folder, disk.Options{Warn: w.add}), &w, folder)
		})
		t.Run(injury.name+" while open", func(t *testing.T) {
			folder := t.TempDir()
			var w warnings
			s := open(t, folder, disk.Options{Warn: w.add})
			fill(t, s)
			hurt(t, folder, injury.change)
			recovers(t, s, &w, folder)
		})
	}
}

func recovers(t *testing.T, s *disk.Store, w *warnings, folder string) {
	t.Helper()
	for tries := 0; !use(t, s); tries++ {
		if tries == 5 {
			t.Fatalf("the store does not recover; it warned: %q", w.text)
		}
	}
	if w.count() != 1 || !strings.Contains(w.text[0], "begins empty") || !strings.Contains(w.text[0], folder) {
		t.Errorf("warnings %q, want one that says that the store begins empty", w.text)
	}
	if _, err := os.Stat(filepath.Join(folder, "store.db.damaged")); err != nil {
		t.Errorf("the damaged file: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	again := open(t, folder, disk.Options{Warn: func(err error) { t.Errorf("after recovery: %v", err) }})
	if value(t, again, "new") != "new" {
		t.Error("what was written after the recovery is gone")
	}
}
