package watch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"warmpath/rewrite/printable"
	"warmpath/rewrite/transcript"
)

// Session shows one conversation.
type Session struct {
	Log    *Log
	Drawer *Drawer
	// Follow goes on with what happens when all is drawn that has happened.
	Follow bool
	// Lines, if there are any, answer prompts.
	Lines *Lines
	// Interrupts stop the turn whose prompt is asked, or end the session. Nil for
	// none.
	Interrupts <-chan os.Signal
	// ComeBack is how long a session that has lost the gateway waits before it tries
	// again; 0 is a second.
	ComeBack time.Duration
}

// mostTries is how often in a row a session comes back to a gateway that is not there.
const mostTries = 10

// Run shows the conversation until it is all drawn or, if it follows, until the
// context ends or an interrupt comes. The error says why the log cannot be read.
func (s *Session) Run(ctx context.Context) error {
	after, err := s.Log.Replay(ctx, 0, s.Drawer.Draw)
	if err != nil || !s.Follow {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, ended := make(chan *transcript.Event), make(chan error, 1)
	go func() { ended <- s.follow(ctx, after, events) }()
	var a *asker
	var prompts chan opening
	var lines chan typed
	if s.Lines != nil {
		a = newAsker(s.Log.Client, s.Lines, s.Drawer.terminal.Err, printable.Style{Mode: s.Drawer.settings.Controls})
		prompts, lines = make(chan opening), a.typed
		go s.prompts(ctx, prompts)
		defer s.Lines.restore()
	}
	var held []*transcript.Event
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		case e := <-events:
			held = append(held, e)
		case o := <-prompts:
			a.opened(o)
		case t := <-lines:
			a.took(ctx, t)
		case <-s.Interrupts:
			if !a.busy() {
				return nil
			}
			a.abort(ctx)
		}
		if !a.busy() {
			for _, e := range held {
				s.Drawer.Draw(e)
			}
			held = nil
		}
	}
}

// follow hands on events until the context ends, and comes back when the gateway was
// away.
func (s *Session) follow(ctx context.Context, after int64, events chan<- *transcript.Event) error {
	for tries := 0; ; tries++ {
		last, err := s.Log.Follow(ctx, after, func(e *transcript.Event) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
		if last > after {
			after, tries = last, 0
		}
		if err = s.lasting(ctx, err, tries); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// lasting gives an error that stays, or waits a while.
func (s *Session) lasting(ctx context.Context, err error, tries int) error {
	var status *StatusError
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &status) && status.Status != http.StatusServiceUnavailable, tries == mostTries && !errors.Is(err, io.EOF):
		return err
	}
	wait := time.NewTimer(cmp.Or(s.ComeBack, time.Second))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
	return nil
}

// prompts hands on prompts until the context ends, or the gateway says that it has
// none.
func (s *Session) prompts(ctx context.Context, to chan<- opening) {
	open := map[string]bool{}
	for tries := 0; ; tries++ {
		err := s.Log.Client.prompts(ctx, s.Log.Conversation, func(o opening) {
			if !o.closed && open[o.ID] {
				return // The stream has come back, and tells of it again.
			}
			open[o.ID] = !o.closed
			select {
			case to <- o:
			case <-ctx.Done():
			}
		})
		if s.lasting(ctx, err, tries) != nil || ctx.Err() != nil {
			return
		}
	}
}
