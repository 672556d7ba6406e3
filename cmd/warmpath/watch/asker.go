package watch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite/printable"
)

// Lines reads what somebody types.
type Lines struct {
	in       io.Reader
	buffered *bufio.Reader
	// fd is the terminal's, or -1, and state how it was found.
	fd    int
	state *term.State
}

// NewLines reads lines from a terminal, or from anything else.
func NewLines(in io.Reader) *Lines {
	l := &Lines{in: in, buffered: bufio.NewReader(in), fd: -1}
	if file, ok := in.(*os.File); ok && Typed(in) {
		l.fd = int(file.Fd())
		l.state, _ = term.GetState(l.fd)
	}
	return l
}

// Typed reports whether lines would come from a terminal.
func Typed(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// read reads a line; unseen, the terminal does not show it.
func (l *Lines) read(unseen bool) (string, error) {
	if unseen && l.fd >= 0 {
		line, err := term.ReadPassword(l.fd)
		return string(line), err
	}
	line, err := l.buffered.ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return line, err
}

// restore leaves the terminal as it was found, whatever is being read.
func (l *Lines) restore() {
	if l.state != nil {
		_ = term.Restore(l.fd, l.state)
	}
}

// typed is a line, or that there are none.
type typed struct {
	line string
	err  error
}

// asker asks what prompts ask, one after the other.
type asker struct {
	client *Client
	lines  *Lines
	to     io.Writer
	clean  printable.Style

	waiting  []prompt.View
	asking   *prompt.View
	dialogue *question.Dialogue
	// unseen says that the line being typed is not shown.
	unseen bool
	// reading says that a line is being read, and stale that it is not for the
	// question that is asked now.
	reading, stale bool
	typed          chan typed
	// over says that nothing more can be typed.
	over bool
}

func newAsker(c *Client, l *Lines, to io.Writer, clean printable.Style) *asker {
	return &asker{client: c, lines: l, to: to, clean: clean, typed: make(chan typed, 1)}
}

// busy reports whether somebody is being asked: nothing else is drawn until that is
// over.
func (a *asker) busy() bool { return a != nil && a.asking != nil }

// opened takes a prompt, or that one has closed.
func (a *asker) opened(o opening) {
	switch {
	case !o.closed:
		if !a.busy() || a.asking.ID != o.ID {
			a.waiting = append(a.waiting, o.View)
		}
	case a.busy() && a.asking.ID == o.ID:
		a.say("That is over: it was " + a.clean.Line(o.State) + ".")
		a.leave()
	default:
		a.waiting = slices.DeleteFunc(a.waiting, func(v prompt.View) bool { return v.ID == o.ID })
	}
	a.next()
}

func (a *asker) say(text string) { fmt.Fprintln(a.to, text) }

// leave ends the question that is asked, answered or not.
func (a *asker) leave() {
	a.asking, a.dialogue = nil, nil
	if a.reading {
		a.stale = true
		a.lines.restore()
		if len(a.waiting) > 0 {
			a.say("Press Enter to go on.")
		}
	}
}

// next asks the next prompt if nothing is asked, and the next of its questions.
func (a *asker) next() {
	for a.asking == nil && len(a.waiting) > 0 && !a.stale && !a.over {
		v := a.waiting[0]
		a.waiting = a.waiting[1:]
		questions, err := questionsOf(&v)
		if err != nil {
			a.say("There is a prompt that cannot be asked here: " + a.clean.Line(err.Error()))
			continue
		}
		a.asking, a.dialogue = &v, question.NewDialogue(questions)
		a.say("\n? " + a.clean.Text(headline(&v)))
	}
	if a.asking == nil || a.reading {
		return
	}
	text, unseen, more := a.dialogue.Next()
	if !more {
		return
	}
	fmt.Fprint(a.to, a.clean.Text(text))
	a.reading, a.unseen = true, unseen
	go func() {
		line, err := a.lines.read(unseen)
		a.typed <- typed{line, err}
	}()
}

// took takes what was typed.
func (a *asker) took(ctx context.Context, t typed) {
	a.reading = false
	if a.unseen && a.lines.fd >= 0 {
		a.say("") // Nobody has seen the line end.
	}
	if a.stale {
		a.stale = false
		a.next()
		return
	}
	switch {
	case errors.Is(t.err, io.EOF):
		// The end of a file stays; a terminal's is a key.
		a.over = a.lines.fd < 0
		a.dialogue.Decline()
	case t.err != nil:
		a.over = true
		a.dialogue.Abort()
	default:
		if again := a.dialogue.Line(t.line); again != "" {
			a.say(a.clean.Text(again))
		}
	}
	a.settle(ctx)
}

// abort ends the question that is asked, and with it the turn.
func (a *asker) abort(ctx context.Context) {
	a.dialogue.Abort()
	a.say("")
	a.settle(ctx)
}

// settle sends the answer when all is answered, and goes on.
func (a *asker) settle(ctx context.Context) {
	if _, _, more := a.dialogue.Next(); more {
		a.next()
		return
	}
	outcome, content := a.dialogue.Outcome()
	err := a.client.answer(ctx, a.asking.ID, replyTo(a.asking, outcome, content))
	var status *StatusError
	switch {
	case err == nil:
	case errors.As(err, &status) && status.Status == http.StatusUnprocessableEntity && !a.over:
		a.say("That will not do: " + a.clean.Text(status.Message))
		a.waiting = slices.Insert(a.waiting, 0, *a.asking)
	default:
		a.say("The answer was not taken: " + a.clean.Text(strings.TrimSpace(err.Error())))
	}
	a.leave()
	a.next()
}
