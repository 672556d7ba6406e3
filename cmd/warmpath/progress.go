package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// progress is a line that fills up while something long goes on, on a terminal only:
// a pipe or a file gets nothing of it. It is safe for concurrent use.
type progress struct {
	mu       sync.Mutex
	to       io.Writer
	what     string
	at, of   int
	longest  int
	finished bool
}

// barLength is how many characters the bar takes.
const barLength = 40

// newProgress begins a line about something that takes a number of steps; of one step
// or none nothing is shown. It must be ended with done before anything else is written
// to the same terminal.
func newProgress(to io.Writer, what string, of int) *progress {
	p := &progress{to: to, what: what, of: of, finished: of < 2 || !terminal(to)}
	p.draw("")
	return p
}

// step counts one more of the steps.
func (p *progress) step() { p.stepOf("") }

// stepOf counts one more of the steps, and says which comes next.
func (p *progress) stepOf(next string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at++
	p.draw(next)
}

// draw writes the line anew.
func (p *progress) draw(next string) {
	if p.finished {
		return
	}
	filled := barLength * min(p.at, p.of) / p.of
	line := fmt.Sprintf("  %s %s%s %d/%d %.30s", p.what, strings.Repeat("━", filled), strings.Repeat(" ", barLength-filled), p.at, p.of, next)
	length := len(line) - 2*filled // a piece of the bar takes three bytes
	fmt.Fprint(p.to, "\r"+line+strings.Repeat(" ", max(0, p.longest-length)))
	p.longest = max(p.longest, length)
}

// done takes the line away.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.finished {
		fmt.Fprint(p.to, "\r"+strings.Repeat(" ", p.longest)+"\r")
	}
	p.finished = true
}
