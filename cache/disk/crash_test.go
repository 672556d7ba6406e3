//go:build unix

package disk_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/disk"
)

// childFolder names, in a child process, the store that it plays with.
const childFolder = "WARMPATH_TEST_DISK_FOLDER"

// child starts this test program again, to run one test function only.
func child(t *testing.T, function, folder string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+function+"$", "-test.v")
	cmd.Env = append(os.Environ(), childFolder+"="+folder)
	cmd.Stderr = os.Stderr
	return cmd
}

func crashValue(i int) string { return strings.Repeat(strconv.Itoa(i), 1+i%500) }

// TestChildWrites is the child of TestKilled: it writes for ever and says so
// after each write.
func TestChildWrites(t *testing.T) {
	folder := os.Getenv(childFolder)
	if folder == "" {
		t.Skip("runs in a child process of TestKilled")
	}
	s := open(t, folder, disk.Options{})
	for i := 0; ; i++ {
		set(t, s, time.Hour, crashValue(i), fmt.Sprint("key ", i))
		if _, err := fmt.Println("wrote", i); err != nil {
			return
		}
	}
}

// What the store has acknowledged is there after kill -9, whenever that comes.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	total := 0
	for round := range 3 {
		cmd := child(t, "TestChildWrites", folder)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last := -1
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if n, ok := strings.CutPrefix(lines.Text(), "wrote "); ok {
				if last, err = strconv.Atoi(n); err != nil {
					t.Fatal(err)
				}
			}
			if last == 300*(round+1) {
				_ = cmd.Process.Kill() // What it wrote until it died is still to be read.
			}
		}
		_ = cmd.Wait()
		if last < 300*(round+1) {
			t.Fatalf("the child ended after %d writes", last+1)
		}
		total = max(total, last+1)

		s, err := disk.Open(folder, disk.Options{Warn: func(err error) { t.Errorf("after kill -9: %v", err) }})
		if err != nil {
			t.Fatalf("after kill -9: %v", err)
		}
		for i := range total {
			if got := value(t, s, fmt.Sprint("key ", i)); got != crashValue(i) {
				t.Fatalf("after kill -9: key %d of %d acknowledged has %.20q, want %.20q", i, total, got, crashValue(i))
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChildFillsDisk is the child of TestFullDisk. The limit on the size of a
// file stands for a disk that is full: writes fail in the same places.
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
	full.Cur = 2 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	s := open(t, folder, disk.Options{})
	text := strings.Repeat("x", 20_000)
	stored := 0
	var err error
	for ; stored < 1000; stored++ {
		if err = s.Set(context.Background(), cache.Entry{Key: fmt.Sprint(stored), Value: []byte(text), TTL: time.Hour}); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("after %d writes of %d bytes within %d: error %v, want EFBIG", stored, len(text), full.Cur, err)
	}
	readAll := func(s cache.Store) {
		t.Helper()
		for i := range stored {
			if value(t, s, fmt.Sprint(i)) != text {
				t.Errorf("entry %d of %d cannot be read while the disk is full", i, stored)
			}
		}
		if value(t, s, fmt.Sprint(stored)) != "" {
			t.Error("the entry whose write failed is there")
		}
	}
	readAll(s)
	if swapped, err := s.CompareAndSwap(context.Background(), nil, cache.Entry{Key: "swap", Value: []byte(text), TTL: time.Hour}); swapped || err == nil {
		t.Errorf("swap on a full disk: %v, %v", swapped, err)
	}

	// A start on a full disk.
	if err := s.Close(); err != nil {
		t.Errorf("Close on a full disk: %v", err)
	}
	s = open(t, folder, disk.Options{Warn: func(err error) { t.Errorf("warned: %v", err) }})
	readAll(s)

	// Room again.
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	set(t, s, time.Hour, text, "later")
	if value(t, s, "later") != text {
		t.Error("a write after there is room again is not there")
	}
}

func TestFullDisk(t *testing.T) {
	out, err := child(t, "TestChildFillsDisk", t.TempDir()).Output()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestChildFillsDisk") {
		t.Errorf("%v\n%s", err, out)
	}
}
