package prompt_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter keeps what a book counts.
type counter struct {
	mu      sync.Mutex
	open    int
	done    []string
	waited  time.Duration
	failing map[string]int
}

func (c *counter) PromptOpened() { c.add(1) }
func (c *counter) PromptClosed() { c.add(-1) }

func (c *counter) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += n
}

func (c *counter) PromptDone(kind, outcome string, waited time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = append(c.done, kind+" "+outcome)
	c.waited = waited
}

func (c *counter) PromptSharingFailed(op string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failing == nil {
		c.failing = map[string]int{}
	}
	c.failing[op]++
}

func (c *counter) failures() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, count := range c.failing {
		n += count
	}
	return n
}

const (
	expiry = 50 * time.Second
	grace  = 5 * time.Second
)

// newBook makes a book that the test closes.
func newBook(t testing.TB, edit func(*prompt.Options)) (*prompt.Book, *counter) {
	t.Helper()
	c := &counter{}
	o := prompt.Options{Settings: prompt.Settings{Expiry: expiry, Grace: grace}, Counter: c, Log: slog.New(slog.DiscardHandler)}
	if edit != nil {
		edit(&o)
	}
	b := prompt.New(o)
	t.Cleanup(b.Close)
	return b, c
}

var (
	operator = prompt.Who{Operator: true}
	client   = prompt.Who{Tenant: "digest"}
	stranger = prompt.Who{Tenant: "another"}
	session  = prompt.Session{Tenant: "digest", Conversation: "c1", Turn: "1", Attended: true}
)

// asked is an Ask under way.
type asked struct {
	answer prompt.Answer
	err    error
	done   chan struct{}
}

func ask(ctx context.Context, b *prompt.Book, s prompt.Session, p prompt.Prompt) *asked {
	a := &asked{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.answer, a.err = b.Ask(ctx, s, p)
	}()
	return a
}

// wait waits for the outcome.
func (a *asked) wait() prompt.Outcome {
	<-a.done
	return a.answer.Outcome
}

// only is the one prompt that is open.
func only(t *testing.T, b *prompt.Book) prompt.View {
	t.Helper()
	synctest.Wait()
	open := b.List(prompt.Filter{Who: operator, State: "open"})
	if len(open) != 1 {
		t.Fatalf("%d prompts are open, want one: %+v", len(open), open)
	}
	return open[0]
}

func mustAnswer(t *testing.T, b *prompt.Book, who prompt.Who, id, body string) {
	t.Helper()
	if err := answer(b, who, id, body); err != nil {
		t.Fatalf("the answer %s is refused: %v", body, err)
	}
}

func answer(b *prompt.Book, who prompt.Who, id, body string) error {
	reply, err := prompt.ParseReply([]byte(body))
	if err != nil {
		return err
	}
	return b.Answer(context.Background(), who, id, reply)
}

func TestAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want prompt.Outcome
	}{
		"PR-13 accepted":  {`{"action":"accept","content":{"q1":true}}`, prompt.Answered},
		"PR-13 declined":  {`{"action":"decline"}`, prompt.Declined},
		"PR-13 cancelled": {`{"action":"cancel","content":null}`, prompt.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, c := newBook(t, nil)
				a := ask(t.Context(), b, session, asks(true, confirm))
				view := only(t, b)
				time.Sleep(3 * time.Second)
				mustAnswer(t, b, client, view.ID, tc.body)
				if got := a.wait(); got != tc.want || a.err != nil {
					t.Errorf("outcome %s, error %v", got, a.err)
				}
				if name == "PR-13 accepted" && string(a.answer.Content) != `{"q1":true}` {
					t.Errorf("content %s", a.answer.Content)
				}
				if err := answer(b, client, view.ID, tc.body); !errors.Is(err, prompt.ErrAnswered) {
					t.Errorf("a second answer gives %v", err)
				}
				closed, err := b.Get(client, view.ID)
				if err != nil || closed.State != tc.want.String() || closed.By != "client" || closed.Questions != nil {
					t.Errorf("the prompt is then %+v, %v", closed, err)
				}
				if c.open != 0 || !slices.Equal(c.done, []string{"question " + tc.want.String()}) || c.waited != 3*time.Second {
					t.Errorf("counted %+v", c)
				}
			})
		})
	}
}

// Who is notified may take its time, such as a log that writes to a disk: only its own
// session waits, and hears of the end after the beginning.
func TestASlowNotifierHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBook(t, nil)
		s := session
		var heard []string
		s.Notify = func(e prompt.Event) {
			time.Sleep(time.Second)
			_ = b.List(prompt.Filter{Who: operator}) // the book is free
			if heard = append(heard, "opened"); e.Closed {
				heard[len(heard)-1] = e.Prompt.State + " by " + e.Prompt.By
			}
		}
		began := time.Now()
		a := ask(t.Context(), b, s, asks(true, confirm))
		mustAnswer(t, b, client, only(t, b).ID, `{"action":"decline"}`)
		if took := time.Since(began); took != 0 {
			t.Errorf("the answer has waited for %s", took)
		}
		if got := a.wait(); got != prompt.Declined || time.Since(began) != 2*time.Second {
			t.Errorf("%s after %s", got, time.Since(began))
		}
		if want := []string{"opened", "declined by client"}; !slices.Equal(heard, want) {
			t.Errorf("heard %v, want %v", heard, want)
		}
	})
}

func TestWhoMayAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBook(t, nil)
		a := ask(t.Context(), b, session, asks(true, confirm))
		view := only(t, b)
		yes := `{"action":"accept","content":{"q1":true}}`
		for name, who := range map[string]prompt.Who{"a stranger": stranger, "nobody": {}} {
			if err := answer(b, who, view.ID, yes); !errors.Is(err, prompt.ErrUnknown) {
				t.Errorf("%s is told %v", name, err)
			}
			if _, err := b.Get(who, view.ID); !errors.Is(err, prompt.ErrUnknown) || len(b.List(prompt.Filter{Who: who})) > 0 {
				t.Errorf("%s sees the prompt", name)
			}
		}
		if err := answer(b, operator, "p_none", yes); !errors.Is(err, prompt.ErrUnknown) {
			t.Errorf("an unknown prompt gives %v", err)
		}
		mustAnswer(t, b, operator, view.ID, yes)
		a.wait()
		if err := answer(b, stranger, view.ID, yes); !errors.Is(err, prompt.ErrUnknown) {
			t.Errorf("a stranger is told of a prompt that is over: %v", err)
		}
	})
}

func TestInvalidAnswersLeaveAPromptOpen(t *testing.T) {
	for name, body := range map[string]string{
		"WT-05 not offered":  `{"action":"accept","content":{"q1":"c"}}`,
		"WT-05 missing":      `{"action":"accept"}`,
		"WT-05 no action":    `{"content":{"q1":"a"}}`,
		"WT-05 no JSON":      `{"action":`,
		"WT-05 no object":    `[]`,
		"WT-05 odd scope":    `{"action":"accept","scope":"ever","content":{"q1":"a"}}`,
		"WT-05 odd content":  `{"action":"accept","content":["a"]}`,
		"WT-05 wrong type":   `{"action":"accept","content":{"q1":7}}`,
		"WT-05 empty string": ``,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _ := newBook(t, nil)
				q := question.Question{Key: "q1", Kind: question.Choice, Text: "Which?", Options: []question.Option{{Value: "a", Label: "A"}, {Value: "b", Label: "B"}}}
				a := ask(t.Context(), b, session, asks(true, q))
				view := only(t, b)
				err := answer(b, client, view.ID, body)
				if problem, ok := prompt.IsInvalid(err); !ok || problem == "" {
					t.Errorf("gives %v", err)
				}
				mustAnswer(t, b, client, view.ID, `{"action":"accept","content":{"q1":"b"}}`)
				if a.wait() != prompt.Answered || string(a.answer.Content) != `{"q1":"b"}` {
					t.Errorf("then %s %s", a.answer, a.answer.Content)
				}
			})
		})
	}
}

func TestTheEndOfWaiting(t *testing.T) {
	yes := `{"action":"accept","content":{"q1":true}}`
	t.Run("WT-03 expiry is no refusal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			began := time.Now()
			a := ask(t.Context(), b, session, asks(true, confirm))
			view := only(t, b)
			if got := view.Expires.Sub(view.Opened); got != expiry {
				t.Errorf("it says that it expires after %s", got)
			}
			if a.wait() != prompt.Expired || time.Since(began) != expiry {
				t.Errorf("%s after %s", a.answer, time.Since(began))
			}
			if err := answer(b, client, view.ID, yes); !errors.Is(err, prompt.ErrGone) {
				t.Errorf("a late answer gives %v", err)
			}
		})
	})
	t.Run("a client that waits less", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			s := session
			s.Wait = 7 * time.Second
			began := time.Now()
			if a := ask(t.Context(), b, s, asks(true, confirm)); a.wait() != prompt.Expired || time.Since(began) != s.Wait {
				t.Errorf("%s after %s", a.answer, time.Since(began))
			}
		})
	})
	t.Run("PR-12 WT-04 the turn ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, c := newBook(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			a := ask(ctx, b, session, asks(true, confirm))
			view := only(t, b)
			cancel()
			if a.wait() != prompt.Cancelled {
				t.Errorf("outcome %s", a.answer)
			}
			if err := answer(b, client, view.ID, yes); !errors.Is(err, prompt.ErrGone) {
				t.Errorf("a late answer gives %v", err)
			}
			if c.open != 0 {
				t.Errorf("%d prompts are counted as open", c.open)
			}
		})
	})
	t.Run("PR-12 an answer in the same moment", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			for range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				a := ask(ctx, b, session, asks(true, confirm))
				view := only(t, b)
				_ = answer(b, client, view.ID, yes)
				cancel()
				a.wait()
				ctx2, cancel2 := context.WithCancel(t.Context())
				a = ask(ctx2, b, session, asks(true, confirm))
				view = only(t, b)
				cancel2()
				_ = answer(b, client, view.ID, yes)
				if a.wait() != prompt.Cancelled {
					t.Fatalf("answered after its turn has ended: %s", a.answer)
				}
			}
		})
	})
	t.Run("WT-12 the gateway stops", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			a := ask(t.Context(), b, session, asks(true, confirm))
			view := only(t, b)
			b.Close()
			if a.wait() != prompt.Draining || !errors.Is(a.err, prompt.ErrDraining) {
				t.Errorf("%s, %v", a.answer, a.err)
			}
			if _, err := b.Ask(t.Context(), session, asks(true, confirm)); !errors.Is(err, prompt.ErrDraining) {
				t.Errorf("asked afterwards: %v", err)
			}
			if err := answer(b, client, view.ID, yes); !errors.Is(err, prompt.ErrGone) {
				t.Errorf("a late answer gives %v", err)
			}
		})
	})
}

func TestAnswersPrintAsTheirOutcome(t *testing.T) {
	a := prompt.Answer{Content: rewrite.JSON(`{"q1":"hunter2"}`)}
	r := prompt.Reply{Action: "accept", Content: rewrite.JSON(`{"q1":"hunter2"}`)}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("PR-14", "answer", a)
	for _, said := range []string{a.String(), a.GoString(), r.String(), r.GoString(), log.String()} {
		if strings.Contains(said, "hunter2") || strings.Contains(said, "104 117") {
			t.Errorf("says %s", said)
		}
	}
}
