package eventlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzLoad opens a log of any bytes: it is never more than what was written to it, is
// appended to, and is the same when it is opened again.
func FuzzLoad(f *testing.F) {
	record := func(id string, seq int64, text string) []byte {
		h := head{id: id, seq: seq, turn: 1, at: time.UnixMilli(1_800_000_000_000), items: []Mark{{1}}, heads: []Mark{{2}, {3}}}
		return appendRecord(nil, &h, func(dst []byte, _ int64) []byte { return append(dst, text...) })
	}
	two := append(record("c", 1, "a"), record("d", 1, "")...)
	f.Add([]byte{})
	f.Add(two)
	f.Add(append(two, record("c", 1, "again")...))
	f.Add(append(two, record("c", 7, "a gap")...))
	f.Add(two[:len(two)-1])
	f.Add(append(two, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, text []byte) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, segmentName(3)), text, 0o600); err != nil {
			t.Fatal(err)
		}
		open := func() *Log {
			l, err := Open(folder, Limits{Age: 200 * 365 * 24 * time.Hour}, func(error) {})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		all := func(l *Log) (lines []string) {
			for _, s := range l.List(time.Time{}, "", 1000) {
				events, _, err := l.Read(s.ID, 0, 1000, 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				last := int64(0)
				for _, e := range events {
					if e.Seq <= last || !bytes.Contains(text, e.Bytes) && s.ID != "new" {
						t.Errorf("event %d after %d is %q, which nobody wrote", e.Seq, last, e.Bytes)
					}
					last = e.Seq
					lines = append(lines, fmt.Sprintf("%q %d %q", s.ID, e.Seq, e.Bytes))
				}
			}
			return lines
		}
		l := open()
		before := all(l)
		if err := l.Append("new", l.Begin("new"), Entry{Event: func(dst []byte, seq int64) []byte { return fmt.Append(dst, "mine ", seq) }}); err != nil {
			t.Fatal(err)
		}
		after := all(l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = open()
		defer l.Close()
		if again := all(l); len(after) != len(before)+1 || fmt.Sprint(again) != fmt.Sprint(after) {
			t.Errorf("there are\n%s\nand were\n%s\nbefore\n%s", again, after, before)
		}
	})
}

// BenchmarkAppend is one event of 1 KB with its marks.
func BenchmarkAppend(b *testing.B) {
	for _, where := range []string{"memory", "disk"} {
		b.Run(where, func(b *testing.B) {
			l := NewMemory(Limits{})
			if where == "disk" {
				var err error
				if l, err = Open(b.TempDir(), Limits{}, func(err error) { b.Error(err) }); err != nil {
					b.Fatal(err)
				}
			}
			defer l.Close()
			text := bytes.Repeat([]byte("w"), 1000)
			entry := Entry{Items: []Mark{{1}}, Event: func(dst []byte, _ int64) []byte { return append(dst, text...) }}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := l.Append("c", 1, entry); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen is a log of 64 MiB that is read when the gateway starts.
func BenchmarkOpen(b *testing.B) {
	folder := b.TempDir()
	l, err := Open(folder, Limits{}, func(err error) { b.Error(err) })
	if err != nil {
		b.Fatal(err)
	}
	text := bytes.Repeat([]byte("w"), 1000)
	for i := range 60_000 {
		if err := l.Append(fmt.Sprint("c", i%1000), 1, Entry{Items: []Mark{{byte(i)}}, Event: func(dst []byte, _ int64) []byte { return append(dst, text...) }}); err != nil {
			b.Fatal(err)
		}
	}
	_ = l.Close()
	for b.Loop() {
		l, err := Open(folder, Limits{}, func(err error) { b.Error(err) })
		if err != nil {
			b.Fatal(err)
		}
		_ = l.Close()
	}
}
