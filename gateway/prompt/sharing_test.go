package prompt_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"warmpath/gateway/prompt"
)

// server is a board of memory, as several gateways share it. It keeps all that was
// ever pinned.
type server struct {
	mu       sync.Mutex
	pinned   map[string]pin
	history  []string
	deaf     bool // calls are lost
	down     bool
	cut      map[string]bool // what cannot be pinned any more, as if who pins it was dead
	listener map[chan struct{}]bool
}

type pin struct {
	value []byte
	until time.Time
}

func newServer() *server {
	return &server{pinned: map[string]pin{}, listener: map[chan struct{}]bool{}}
}

var errDown = errors.New("the server is down")

func (s *server) Pin(_ context.Context, kind, name string, value []byte, life time.Duration, once bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := kind + " " + name
	now := time.Now()
	switch before, there := s.pinned[key]; {
	case s.down:
		return false, errDown
	case s.cut[key]:
	case once && there && now.Before(before.until):
		return false, nil
	case life <= 0:
		delete(s.pinned, key)
	default:
		s.pinned[key] = pin{value, now.Add(life)}
		s.history = append(s.history, string(value))
	}
	return true, nil
}

func (s *server) Pinned(_ context.Context, kind string) (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errDown
	}
	values := map[string][]byte{}
	for key, pin := range s.pinned {
		if name, ok := strings.CutPrefix(key, kind+" "); ok && time.Now().Before(pin.until) {
			values[name] = pin.value
		}
	}
	return values, nil
}

func (s *server) Call(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return errDown
	}
	for calls := range s.listener {
		if !s.deaf {
			select {
			case calls <- struct{}{}:
			default:
			}
		}
	}
	return nil
}

func (s *server) Listen(ctx context.Context) <-chan struct{} {
	calls := make(chan struct{}, 1)
	s.mu.Lock()
	s.listener[calls] = true
	s.mu.Unlock()
	go func() {
		<-ctx.Done()
		s.mu.Lock()
		delete(s.listener, calls)
		s.mu.Unlock()
		close(calls)
	}()
	return calls
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// nodes are two gateways with a server.
func nodes(t *testing.T, s *server) (here, there *prompt.Book, counted *counter) {
	t.Helper()
	on := func(o *prompt.Options) { o.Board = s }
	here, counted = newBook(t, on)
	there, _ = newBook(t, on)
	return here, there, counted
}

func TestAnswersFromElsewhere(t *testing.T) {
	secret := `{"action":"accept","content":{"q1":"hunter2"}}`
	for name, tc := range map[string]struct {
		deaf   bool
		within time.Duration
	}{
		"WT-02 PR-14 by a call":               {false, 10 * time.Millisecond},
		"WT-02 PR-14 although calls are lost": {true, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.deaf = tc.deaf
				here, there, _ := nodes(t, s)
				a := ask(t.Context(), here, session, asks(true, password))
				only(t, here)
				time.Sleep(5 * time.Second)
				view := only(t, there)
				if view.Tool.Name != "mcp__db__migrate" || len(view.Schema) == 0 || view.Conversation != "c1" {
					t.Errorf("the other gateway shows %+v", view)
				}
				for body, want := range map[string]string{
					`{"action":"accept","content":{"q1":7}}`: "invalid",
					`{"action":"accept"}`:                    "invalid",
				} {
					if _, ok := prompt.IsInvalid(answer(there, client, view.ID, body)); !ok {
						t.Errorf("%s is not %s", body, want)
					}
				}
				if err := answer(there, stranger, view.ID, secret); !errors.Is(err, prompt.ErrUnknown) {
					t.Errorf("a stranger is told %v", err)
				}
				began := time.Now()
				mustAnswer(t, there, client, view.ID, secret)
				if err := answer(there, client, view.ID, secret); !errors.Is(err, prompt.ErrAnswered) {
					t.Errorf("PR-13: the second answer gives %v", err)
				}
				if err := answer(here, client, view.ID, secret); !errors.Is(err, prompt.ErrAnswered) {
					t.Errorf("PR-13: the third answer gives %v", err)
				}
				if a.wait() != prompt.Answered || string(a.answer.Content) != `{"q1":"hunter2"}` {
					t.Errorf("%s %s", a.answer, a.answer.Content)
				}
				if took := time.Since(began); took > tc.within {
					t.Errorf("it took %s", took)
				}
				time.Sleep(5 * time.Second)
				if err := answer(there, client, view.ID, secret); !errors.Is(err, prompt.ErrAnswered) {
					t.Errorf("PR-13: a late answer gives %v", err)
				}
				if closed, err := there.Get(client, view.ID); err != nil || closed.State != "answered" || closed.By != "client" {
					t.Errorf("there it is %+v, %v", closed, err)
				}
				for _, value := range s.history {
					if strings.Contains(value, "hunter2") {
						t.Errorf("the server was told %s", value)
					}
				}
			})
		})
	}
}

func TestLeasesElsewhere(t *testing.T) {
	alone := session
	alone.Attended = false
	synctest.Test(t, func(t *testing.T) {
		here, there, _ := nodes(t, newServer())
		lease := there.Subscribe(prompt.Filter{Who: operator})
		synctest.Wait()
		a := ask(t.Context(), here, alone, asks(true, confirm))
		e := <-lease.Events
		if e.Closed || e.Prompt.Kind != "question" {
			t.Errorf("the console elsewhere is told %+v", e)
		}
		time.Sleep(20 * time.Second)
		mustAnswer(t, there, operator, e.Prompt.ID, `{"action":"decline"}`)
		if a.wait() != prompt.Declined {
			t.Errorf("outcome %s", a.answer)
		}
		if e := <-lease.Events; !e.Closed || e.Prompt.State != "declined" || e.Prompt.By != "operator" {
			t.Errorf("then it is told %+v", e)
		}
		a = ask(t.Context(), here, alone, asks(true, confirm))
		only(t, here)
		lease.Close()
		if a.wait() != prompt.Nobody {
			t.Errorf("with the console gone: %s", a.answer)
		}
	})
}

func TestNodesThatFall(t *testing.T) {
	alone := session
	alone.Attended = false
	yes := `{"action":"accept","content":{"q1":true}}`
	t.Run("a gateway with a console dies", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			here, _ := newBook(t, func(o *prompt.Options) { o.Board = s })
			s.set(func() { s.pinned["lease x"] = pin{[]byte(`{"operator":true}`), time.Now().Add(12 * time.Second)} })
			time.Sleep(5 * time.Second)
			a := ask(t.Context(), here, alone, asks(true, confirm))
			only(t, here)
			began := time.Now()
			if a.wait() != prompt.Nobody || time.Since(began) > 12*time.Second {
				t.Errorf("%s after %s", a.answer, time.Since(began))
			}
		})
	})
	t.Run("a gateway with a prompt dies", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			here, there, _ := nodes(t, s)
			console := there.Subscribe(prompt.Filter{Who: operator})
			defer console.Close()
			ctx, cancel := context.WithCancel(t.Context())
			a := ask(ctx, here, session, asks(true, confirm))
			opened := <-console.Events
			time.Sleep(20 * time.Second)
			only(t, there) // as long as its gateway lives
			s.set(func() { s.cut = map[string]bool{"prompt " + opened.Prompt.ID: true} })
			cancel()
			a.wait()
			time.Sleep(13 * time.Second)
			if open := there.List(prompt.Filter{Who: operator, State: "open"}); len(open) != 0 {
				t.Errorf("nobody waits any more for %+v", open)
			}
			if err := answer(there, operator, opened.Prompt.ID, yes); !errors.Is(err, prompt.ErrUnknown) {
				t.Errorf("an answer for nobody gives %v", err)
			}
			select {
			case e := <-console.Events:
				if !e.Closed || e.Prompt.ID != opened.Prompt.ID {
					t.Errorf("the console is told %+v", e)
				}
			default:
				t.Error("the console is told nothing")
			}
		})
	})
	t.Run("gateways that always have something to tell", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			here, there, _ := nodes(t, s)
			console := there.Subscribe(prompt.Filter{Who: operator})
			defer console.Close()
			for range 100 {
				time.Sleep(200 * time.Millisecond)
				if err := s.Call(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			a := ask(t.Context(), here, alone, asks(true, confirm))
			time.Sleep(time.Second)
			for _, open := range there.List(prompt.Filter{Who: operator, State: "open"}) {
				mustAnswer(t, there, operator, open.ID, yes)
			}
			if a.wait() != prompt.Answered {
				t.Errorf("with a console that is there: %s", a.answer)
			}
		})
	})
	t.Run("the server is down", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			here, there, counted := nodes(t, s)
			console := there.Subscribe(prompt.Filter{Who: operator})
			defer console.Close()
			synctest.Wait()
			s.set(func() { s.down = true })
			a := ask(t.Context(), here, session, asks(true, confirm))
			view := only(t, here)
			mustAnswer(t, here, client, view.ID, yes)
			if a.wait() != prompt.Answered || counted.failures() == 0 {
				t.Errorf("%s with %d failures counted", a.answer, counted.failures())
			}
			time.Sleep(time.Minute)
			if a, _ := here.Ask(t.Context(), alone, asks(true, confirm)); a.Outcome != prompt.Nobody {
				t.Errorf("a console that nobody hears of counts: %s", a)
			}
			a = ask(t.Context(), here, session, asks(true, confirm))
			view = only(t, here)
			if err := answer(there, client, view.ID, yes); !errors.Is(err, prompt.ErrUnreachable) {
				t.Errorf("an answer elsewhere gives %v", err)
			}
			s.set(func() { s.down = false })
			time.Sleep(5 * time.Second)
			mustAnswer(t, there, client, view.ID, yes)
			if a.wait() != prompt.Answered {
				t.Errorf("when it is up again: %s", a.answer)
			}
		})
	})
	t.Run("an answer and the end at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.deaf = true
			here, there, _ := nodes(t, s)
			a := ask(t.Context(), here, session, asks(true, confirm))
			only(t, here)
			time.Sleep(expiry - 10*time.Millisecond)
			view := only(t, there)
			mustAnswer(t, there, client, view.ID, yes)
			if a.wait() != prompt.Answered {
				t.Errorf("what was accepted elsewhere ends as %s", a.answer)
			}
			b := ask(t.Context(), here, session, asks(true, confirm))
			only(t, here)
			time.Sleep(5 * time.Second)
			view = only(t, there)
			b.wait()
			if err := answer(there, client, view.ID, yes); !errors.Is(err, prompt.ErrGone) {
				t.Errorf("a late answer gives %v", err)
			}
		})
	})
	t.Run("somebody writes to the server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			here, _ := newBook(t, func(o *prompt.Options) { o.Board = s })
			a := ask(t.Context(), here, session, asks(true, confirm))
			view := only(t, here)
			for _, forged := range []string{`{"action":"accept","content":{"q1":true}}`, "-", strings.Repeat("x", 100), ""} {
				s.set(func() {
					s.pinned["answer "+view.ID] = pin{[]byte(forged), time.Now().Add(time.Hour)}
					maps.Copy(s.pinned, map[string]pin{"lease y": {[]byte("{"), time.Now().Add(time.Hour)}, "prompt z": {[]byte(`{"questions":7}`), time.Now().Add(time.Hour)}})
				})
				time.Sleep(5 * time.Second)
				if len(here.List(prompt.Filter{Who: operator, State: "open"})) != 1 {
					t.Fatalf("%q closes a prompt", forged)
				}
			}
			if a.wait() != prompt.Expired {
				t.Errorf("outcome %s", a.answer)
			}
		})
	})
}
