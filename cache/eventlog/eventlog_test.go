package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"warmpath/cache/eventlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opener opens a log that a test can close and open again.
type opener func(t *testing.T, limits eventlog.Limits) *eventlog.Log

// both runs a test on a log of memory and on one of disk.
func both(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("memory", func(t *testing.T) {
		test(t, func(t *testing.T, limits eventlog.Limits) *eventlog.Log {
			l := eventlog.NewMemory(limits)
			t.Cleanup(func() { _ = l.Close() })
			return l
		})
	})
	t.Run("disk", func(t *testing.T) {
		folder := t.TempDir()
		test(t, func(t *testing.T, limits eventlog.Limits) *eventlog.Log { return openDisk(t, folder, limits) })
	})
}

func openDisk(t testing.TB, folder string, limits eventlog.Limits) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Open(folder, limits, func(err error) { t.Errorf("warned: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func mark(words string) (m eventlog.Mark) { copy(m[:], words); return m }

// event is an entry that says its number and its words.
func event(words string) eventlog.Entry {
	return eventlog.Entry{Event: func(dst []byte, seq int64) []byte { return fmt.Appendf(dst, "%d %s", seq, words) }}
}

func add(t testing.TB, l *eventlog.Log, id string, entries ...eventlog.Entry) {
	t.Helper()
	if err := l.Append(id, l.Begin(id), entries...); err != nil {
		t.Fatal(err)
	}
}

// read is the text of all events of a conversation after a number.
func read(t testing.TB, l *eventlog.Log, id string, after int64, limit int, most int64) (all []string, more bool) {
	t.Helper()
	events, more, err := l.Read(id, after, limit, most)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if !strings.HasPrefix(string(e.Bytes), fmt.Sprint(e.Seq, " ")) {
			t.Errorf("event %d is %q", e.Seq, e.Bytes)
		}
		all = append(all, string(e.Bytes))
	}
	return all, more
}

func TestEventsAreReadAsTheyWereAppended(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		l := open(t, eventlog.Limits{})
		add(t, l, "one", event("a\n\x00\xff"), event(""))
		add(t, l, "two", event("x"))
		add(t, l, "one", event("b"), event("c"), event("d"))
		for name, c := range map[string]struct {
			after int64
			limit int
			most  int64
			want  []string
			more  bool
		}{
			"all":                   {0, 100, 1 << 20, []string{"1 a\n\x00\xff", "2 ", "3 b", "4 c", "5 d"}, false},
			"a page":                {1, 2, 1 << 20, []string{"2 ", "3 b"}, true},
			"the last page":         {3, 2, 1 << 20, []string{"4 c", "5 d"}, false},
			"after the end":         {5, 2, 1 << 20, nil, false},
			"by bytes":              {2, 100, 6, []string{"3 b", "4 c"}, true},
			"one however long":      {0, 100, 1, []string{"1 a\n\x00\xff"}, true},
			"long after the end":    {1 << 60, 100, 1, nil, false},
			"before the beginning":  {-5, 1, 100, []string{"1 a\n\x00\xff"}, true},
			"one more than a limit": {4, 1, 100, []string{"5 d"}, false},
		} {
			got, more := read(t, l, "one", c.after, c.limit, c.most)
			if diff := cmp.Diff(c.want, got); diff != "" || more != c.more {
				t.Errorf("%s: more %v: %s", name, more, diff)
			}
		}
		if got, _ := read(t, l, "three", 0, 10, 10); got != nil {
			t.Errorf("an unknown conversation has %q", got)
		}
		s, ok := l.Summary("one")
		if !ok || s.First != 1 || s.Last != 5 || s.Turns != 2 || s.Started.IsZero() || s.Updated.Before(s.Started) || s.Bytes == 0 {
			t.Errorf("the summary is %+v, %v", s, ok)
		}
		if _, ok := l.Summary("three"); ok {
			t.Error("an unknown conversation has a summary")
		}
	})
}

func TestWhatCannotBeAppended(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		l := open(t, eventlog.Limits{})
		for name, id := range map[string]string{"no name": "", "too long a name": strings.Repeat("x", 256)} {
			if err := l.Append(id, 1, event("a")); err == nil {
				t.Errorf("%s: it was appended", name)
			}
		}
		add(t, l, strings.Repeat("x", 255), event("a"))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
		if err := l.Append("a", 1, event("a")); !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("appended to a closed log: %v", err)
		}
		if _, _, err := l.Read("a", 0, 1, 1); !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("read a closed log: %v", err)
		}
		if err := l.Wait(t.Context(), "a", 0); !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("waited for a closed log: %v", err)
		}
	})
}

func TestConversationsAreFoundAndItemsKnown(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		l := open(t, eventlog.Limits{})
		marked := func(words string, items, heads []eventlog.Mark) eventlog.Entry {
			e := event(words)
			e.Items, e.Heads = items, heads
			return e
		}
		add(t, l, "one", marked("a", []eventlog.Mark{mark("i"), mark("i"), mark("j")}, []eventlog.Mark{mark("h1")}))
		add(t, l, "two", marked("b", []eventlog.Mark{mark("i")}, []eventlog.Mark{mark("h2")}))
		add(t, l, "two", marked("c", nil, []eventlog.Mark{mark("h3")}))
		check := func(l *eventlog.Log) {
			t.Helper()
			if diff := cmp.Diff([]int{2, 1, 0}, l.Known("one", mark("i"), mark("j"), mark("k"))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]int{1, 0}, l.Known("two", mark("i"), mark("j"))); diff != "" {
				t.Error(diff)
			}
			for name, c := range map[string]struct {
				marks []eventlog.Mark
				id    string
			}{
				"one":                 {[]eventlog.Mark{mark("h1")}, "one"},
				"the first known":     {[]eventlog.Mark{mark("h9"), mark("h3"), mark("h1")}, "two"},
				"none":                {[]eventlog.Mark{mark("h9"), mark("i")}, ""},
				"nothing to look for": {nil, ""},
			} {
				id, ok := l.Find(c.marks...)
				if id != c.id || ok != (c.id != "") {
					t.Errorf("%s: %q, %v", name, id, ok)
				}
			}
		}
		check(l)
		if strings.Contains(t.Name(), "disk") {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			check(open(t, eventlog.Limits{}))
		}
	})
}

// Of several conversations with one head each goes on once; then nobody knows whose
// turn it is.
func TestSeveralConversationsWithOneHead(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		l := open(t, eventlog.Limits{})
		headed := event("x")
		headed.Heads = []eventlog.Mark{mark("h"), mark("other")}
		add(t, l, "a", headed)
		add(t, l, "b", headed)
		add(t, l, "c", headed)
		add(t, l, "c", event("it has gone on"))
		if strings.Contains(t.Name(), "disk") {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l = open(t, eventlog.Limits{})
		}
		var got []string
		for range 3 {
			id, known := l.Find(mark("nothing"), mark("h"))
			if !known {
				t.Error("the head is not known")
			}
			got = append(got, id)
		}
		if diff := cmp.Diff([]string{"a", "b", ""}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestANameIsClaimedOnce(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		l := open(t, eventlog.Limits{})
		if !l.Claim("a") || l.Claim("a") {
			t.Error("a name was not claimed, or twice")
		}
		if _, ok := l.Summary("a"); ok || len(l.List(time.Time{}, "", 10)) > 0 {
			t.Error("a conversation without events is there")
		}
		add(t, l, "a", event("x"))
		if l.Claim("a") {
			t.Error("a name in use was claimed")
		}
	})
}

func TestListHasTheNewestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := eventlog.NewMemory(eventlog.Limits{})
		defer l.Close()
		for _, id := range []string{"a", "b", "c", "d", "b"} {
			add(t, l, id, event("x"))
			time.Sleep(time.Second)
		}
		var pages [][]string
		var last eventlog.Summary
		for {
			page := l.List(last.Updated, last.ID, 3)
			if len(page) == 0 {
				break
			}
			var names []string
			for _, s := range page {
				names, last = append(names, s.ID), s
			}
			pages = append(pages, names)
		}
		if diff := cmp.Diff([][]string{{"b", "d", "c"}, {"a"}}, pages); diff != "" {
			t.Error(diff)
		}
	})
}

// The log stays within its bounds, and forgets from the oldest end.
func TestBounds(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		limits := eventlog.Limits{Bytes: 1 << 20, Conversation: 200 << 10}
		l := open(t, limits)
		words := strings.Repeat("w", 1000)
		for i := range 3000 {
			id := "many"
			if i%3 == 0 {
				id = fmt.Sprint("short ", i)
			}
			add(t, l, id, event(words))
		}
		check := func(l *eventlog.Log) (first int64) {
			t.Helper()
			total := int64(0)
			all := l.List(time.Time{}, "", 10_000)
			for _, s := range all {
				total += s.Bytes
			}
			if total > limits.Bytes || total < limits.Bytes/4 {
				t.Errorf("the log has %d bytes, of at most %d", total, limits.Bytes)
			}
			s, _ := l.Summary("many")
			if s.Bytes > limits.Conversation || s.Bytes < limits.Conversation/2 || s.Last != 2000 || s.First < 1500 {
				t.Errorf("the long conversation is %+v", s)
			}
			got, _ := read(t, l, "many", 0, 10_000, 1<<30)
			if len(got) != int(s.Last-s.First+1) || !strings.HasPrefix(got[len(got)-1], "2000 ") {
				t.Errorf("%d events, of %+v", len(got), s)
			}
			if len(l.List(time.Time{}, "", 10_000)) < 50 {
				t.Errorf("%d conversations are left", len(all))
			}
			return s.First
		}
		check(l)
		if strings.Contains(t.Name(), "disk") {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			check(open(t, limits))
		}
	})
}

func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := eventlog.NewMemory(eventlog.Limits{Age: 16 * time.Hour})
		defer l.Close()
		head := event("x")
		head.Heads = []eventlog.Mark{mark("h")}
		add(t, l, "old", head)
		time.Sleep(10 * time.Hour)
		add(t, l, "young", event("x"))
		waited := make(chan error, 1)
		go func() { waited <- l.Wait(t.Context(), "old", 1) }()
		synctest.Wait()
		time.Sleep(7 * time.Hour)
		synctest.Wait()
		select {
		case err := <-waited:
			if !errors.Is(err, eventlog.ErrUnknown) {
				t.Errorf("who waits for a conversation that is forgotten gets %v", err)
			}
		default:
			t.Error("nothing was forgotten until somebody asked")
		}
		if all := l.List(time.Time{}, "", 10); len(all) != 1 || all[0].ID != "young" {
			t.Errorf("there are %+v", all)
		}
		if _, ok := l.Find(mark("h")); ok {
			t.Error("a forgotten conversation is found")
		}
		time.Sleep(17 * time.Hour)
		if all := l.List(time.Time{}, "", 10); len(all) != 0 {
			t.Errorf("there are %+v", all)
		}
	})
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := eventlog.NewMemory(eventlog.Limits{})
		defer l.Close()
		if err := l.Wait(t.Context(), "a", 0); !errors.Is(err, eventlog.ErrUnknown) {
			t.Errorf("waited for nothing: %v", err)
		}
		add(t, l, "a", event("x"))
		if err := l.Wait(t.Context(), "a", 0); err != nil {
			t.Error(err)
		}
		done := make(chan error, 1)
		go func() { done <- l.Wait(t.Context(), "a", 1) }()
		synctest.Wait()
		add(t, l, "b", event("x"))
		synctest.Wait()
		if len(done) > 0 {
			t.Error("another conversation's event was taken for it")
		}
		add(t, l, "a", event("y"))
		if err := <-done; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.Wait(ctx, "a", 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// Many write and read at once; each sees numbers without gaps, and all see the same.
func TestManyAtOnce(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		l := open(t, eventlog.Limits{})
		const writers, each = 8, 50
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					add(t, l, fmt.Sprint("c", i%3), event(fmt.Sprint(w, " ", i)), event("more"))
				}
			})
			wg.Go(func() {
				after := int64(0)
				for range 100 {
					events, _, err := l.Read("c1", after, 7, 1<<20)
					if err != nil {
						t.Error(err)
					}
					for _, e := range events {
						if after++; e.Seq != after {
							t.Errorf("event %d follows %d", e.Seq, after-1)
						}
					}
				}
			})
		}
		wg.Wait()
		total := 0
		for _, s := range l.List(time.Time{}, "", 10) {
			first, _ := read(t, l, s.ID, 0, 10_000, 1<<30)
			again, _ := read(t, l, s.ID, 0, 10_000, 1<<30)
			if !slices.Equal(first, again) || len(first) != int(s.Last) {
				t.Errorf("%s: two readings have %d and %d events", s.ID, len(first), len(again))
			}
			total += len(first)
		}
		if total != 2*writers*each {
			t.Errorf("%d events, want %d", total, 2*writers*each)
		}
	})
}

func TestTheFolderIsForThisUserAndThisProcess(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "log")
	l := openDisk(t, folder, eventlog.Limits{})
	add(t, l, "a", event("x"))
	if _, err := eventlog.Open(folder, eventlog.Limits{}, func(error) {}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("opened twice: %v", err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if info, _ := file.Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", file.Name(), info.Mode())
		}
	}
	if info, _ := os.Stat(folder); info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has the mode %v", info.Mode())
	}
}
