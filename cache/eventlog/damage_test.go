package eventlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warmpath/cache/eventlog"
)

// file is the only file of a log's folder that has events.
func file(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.events"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

// Of a damaged log everything before the damage is there, nothing that was never
// written is, and it goes on.
func TestDamage(t *testing.T) {
	for name, c := range map[string]struct {
		hurt     func(text []byte) []byte
		warnings int
		least    int // of 20 events
	}{
		"the last record is torn":     {func(b []byte) []byte { return b[:len(b)-3] }, 0, 19},
		"only a length is left of it": {func(b []byte) []byte { return append(b, 7, 0, 0, 0) }, 0, 20},
		"a byte in the middle":        {func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, 1, 9},
		"a length in the middle":      {func(b []byte) []byte { copy(b, "\xff\xff\xff\xff"); return b }, 1, 0},
		"noise at the end":            {func(b []byte) []byte { return append(b, strings.Repeat("noise", 99)...) }, 1, 20},
		"zeros at the end":            {func(b []byte) []byte { return append(b, make([]byte, 99)...) }, 1, 20},
		"nothing is left":             {func([]byte) []byte { return nil }, 0, 0},
		"a record twice":              {func(b []byte) []byte { return append(b, b...) }, 20, 20},
		"nothing is wrong":            {func(b []byte) []byte { return b }, 0, 20},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			l := openDisk(t, folder, eventlog.Limits{})
			for i := range 20 {
				add(t, l, "c", event(fmt.Sprint("words ", i)))
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file(t, folder))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file(t, folder), c.hurt(text), 0o600); err != nil {
				t.Fatal(err)
			}
			warnings := 0
			l, err = eventlog.Open(folder, eventlog.Limits{}, func(error) { warnings++ })
			if err != nil {
				t.Fatal(err)
			}
			got, _ := read(t, l, "c", 0, 100, 1<<20)
			if len(got) < c.least || len(got) > 20 || warnings != c.warnings {
				t.Errorf("%d events and %d warnings are left", len(got), warnings)
			}
			for i := range got {
				if want := fmt.Sprintf("%d words %d", i+1, i); got[i] != want {
					t.Errorf("event %d is %q", i+1, got[i])
				}
			}
			add(t, l, "c", event("after"))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l, err = eventlog.Open(folder, eventlog.Limits{}, func(error) { warnings++ })
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			again, _ := read(t, l, "c", 0, 100, 1<<20)
			if len(again) != len(got)+1 || !strings.HasSuffix(again[len(again)-1], " after") {
				t.Errorf("%d events after %d and one more", len(again), len(got))
			}
		})
	}
}

func TestAFolderThatCannotBeUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := eventlog.Open(path, eventlog.Limits{}, func(error) {}); err == nil {
		_ = l.Close()
		t.Error("a file is a folder")
	}
}

// What is not ours in the folder is left alone.
func TestOtherFilesAreLeftAlone(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"x.events", "1.events", "000000000001.events.bak", "-00000000001.events"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := openDisk(t, folder, eventlog.Limits{})
	add(t, l, "c", event("x"))
	if got, _ := read(t, l, "c", 0, 10, 100); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.events", "1.events", "000000000001.events.bak"} {
		if text, err := os.ReadFile(filepath.Join(folder, name)); string(text) != "mine" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
