package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// A pipe gets nothing, and a terminal a line that is gone in the end.
func TestProgress(t *testing.T) {
	var piped bytes.Buffer
	p := newProgress(&piped, "playing", 3)
	p.step()
	p.done()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	newProgress(file, "playing", 3).step()
	if info, err := file.Stat(); err != nil || info.Size() > 0 || piped.Len() > 0 {
		t.Errorf("a file got %v bytes, a pipe %q, %v", info.Size(), &piped, err)
	}
	var shown bytes.Buffer
	p = &progress{to: &shown, what: "playing", of: 4}
	for _, next := range []string{"one", "two", "a tape with a name that is longer than the line would bear", ""} {
		p.stepOf(next)
	}
	p.done()
	p.step() // and after that it says nothing
	frames := strings.Split(shown.String(), "\r")
	if got := frames[4]; !strings.HasPrefix(got, "  playing "+strings.Repeat("━", barLength)+" 4/4") {
		t.Errorf("full, it is %q", got)
	}
	if got := frames[5]; strings.TrimSpace(got) != "" || len(got) < len([]rune(frames[3])) || frames[6] != "" || len(frames) != 7 {
		t.Errorf("gone, it is %q", frames[5:])
	}
	if n := len([]rune(frames[3])); n > 100 {
		t.Errorf("a line has %d characters", n)
	}
}
