//go:build unix

package eventlog_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"warmpath/cache/eventlog"
)

// childFolder names, in a child process, the log that it writes to.
const childFolder = "WARMPATH_TEST_EVENTLOG_FOLDER"

// child starts this test program again, to run one test function only.
func child(function, folder string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^"+function+"$", "-test.v")
	cmd.Env = append(os.Environ(), childFolder+"="+folder)
	cmd.Stderr = os.Stderr
	return cmd
}

func crashWords(i int) string { return strings.Repeat(strconv.Itoa(i), 1+i%500) }

// TestChildAppends is the child of TestKilled: it appends for ever and says so after
// each event.
func TestChildAppends(t *testing.T) {
	folder := os.Getenv(childFolder)
	if folder == "" {
		t.Skip("runs in a child process of TestKilled")
	}
	l := openDisk(t, folder, eventlog.Limits{})
	s, _ := l.Summary("c")
	for i := int(s.Last); ; i++ {
		add(t, l, "c", event(crashWords(i)))
		if _, err := fmt.Println("wrote", i); err != nil {
			return
		}
	}
}

// What was acknowledged is there after kill -9, whenever that comes, and the log goes
// on from there without a gap.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	for range 3 {
		cmd := child("TestChildAppends", folder)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first, last := -1, -1
		killed := false
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if n, ok := strings.CutPrefix(lines.Text(), "wrote "); ok {
				if last, err = strconv.Atoi(n); err != nil {
					t.Fatal(err)
				}
				if first < 0 {
					first = last
				}
			}
			if last-first >= 300 && !killed {
				killed = true
				_ = cmd.Process.Kill() // What it wrote until it died is still to be read.
			}
		}
		_ = cmd.Wait()
		if !killed {
			t.Fatalf("the child ended after %d events", last+1)
		}
		l := openDisk(t, folder, eventlog.Limits{})
		got, _ := read(t, l, "c", 0, 1<<20, 1<<30)
		if len(got) < last+1 {
			t.Fatalf("after kill -9: %d events, of %d acknowledged", len(got), last+1)
		}
		for i := range got {
			if want := fmt.Sprint(i+1, " ", crashWords(i)); got[i] != want {
				t.Fatalf("after kill -9: event %d is %.20q, want %.20q", i+1, got[i], want)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChildFillsDisk is the child of TestFullDisk. The limit on the size of a file
// stands for a disk that is full: writes fail in the same places.
func TestChildFillsDisk(t *testing.T) {
	folder := os.Getenv(childFolder)
	if folder == "" {
		t.Skip("runs in a child process of TestFullDisk")
	}
	signal.Ignore(syscall.SIGXFSZ) // So that the write fails instead of the process.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	full := limit
	full.Cur = 100 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	limits := eventlog.Limits{Bytes: 64 << 20}
	l := openDisk(t, folder, limits)
	words := strings.Repeat("x", 3000)
	stored := 0
	for ; stored < 1000; stored++ {
		if err := l.Append("c", 1, event(words)); err != nil {
			if !errors.Is(err, syscall.EFBIG) {
				t.Fatal(err)
			}
			break
		}
	}
	if stored < 20 || stored == 1000 {
		t.Fatalf("%d events were stored", stored)
	}
	if err := l.Append("new", 1, event(words)); err == nil {
		t.Error("an event fits where there is no room")
	}
	if _, ok := l.Summary("new"); ok {
		t.Error("a conversation of which nothing could be written is there")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	add(t, l, "c", event("after"))
	check := func(l *eventlog.Log) {
		got, _ := read(t, l, "c", 0, 1<<20, 1<<30)
		if len(got) != stored+1 || got[stored] != fmt.Sprint(stored+1, " after") {
			t.Errorf("%d events, want %d and one more", len(got), stored)
		}
	}
	check(l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	check(openDisk(t, folder, limits))
}

// An event that cannot be written is no part of the log, and the next one is.
func TestFullDisk(t *testing.T) {
	out, err := child("TestChildFillsDisk", t.TempDir()).Output()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestChildFillsDisk") {
		t.Errorf("%v\n%s", err, out)
	}
}
