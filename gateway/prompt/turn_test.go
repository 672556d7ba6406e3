package prompt_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite"
)

func TestScopes(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		yes  bool
	}{
		"PR-06 yes for the turn": {`{"action":"accept","scope":"turn"}`, true},
		"PR-07 no for the turn":  {`{"action":"decline","scope":"turn"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _ := newBook(t, nil)
				permit := func(s prompt.Session, tool string, reply string) (prompt.Answer, bool) {
					var a prompt.Answer
					done := make(chan struct{})
					go func() {
						defer close(done)
						a, _ = b.Permit(t.Context(), s, tool, "mcp", rewrite.JSON(`{}`))
					}()
					synctest.Wait()
					open := b.List(prompt.Filter{Who: operator, State: "open"})
					if len(open) > 0 {
						mustAnswer(t, b, client, open[0].ID, reply)
					}
					<-done
					return a, len(open) > 0
				}
				next, elsewhere := session, session
				next.Turn = "2"
				elsewhere.Conversation = "c2"
				once := `{"action":"accept"}`
				for i, step := range []struct {
					s     prompt.Session
					tool  string
					asked bool
				}{{session, "a", true}, {session, "a", false}, {session, "b", true}, {next, "a", true}, {elsewhere, "a", true}, {session, "a", false}} {
					reply := once
					if i == 0 {
						reply = tc.body
					}
					a, wasAsked := permit(step.s, step.tool, reply)
					if wasAsked != step.asked {
						t.Errorf("step %d: asked is %t", i, wasAsked)
					}
					if yes := i != 0 && step.asked || tc.yes; a.Yes() != yes {
						t.Errorf("step %d: %s", i, a)
					}
				}
			})
		})
	}
	t.Run("of a question", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			a := ask(t.Context(), b, session, asks(true, confirm))
			mustAnswer(t, b, client, only(t, b).ID, `{"action":"accept","content":{"q1":true},"scope":"turn"}`)
			a.wait()
			if a, _ := b.Ask(t.Context(), session, asks(true, confirm)); string(a.Content) != `{"q1":true}` {
				t.Errorf("the second time: %s %s", a, a.Content)
			}
			other := confirm
			other.Text = "Drop the indexes?"
			c := ask(t.Context(), b, session, asks(true, other))
			mustAnswer(t, b, client, only(t, b).ID, `{"action":"decline"}`)
			c.wait()
		})
	})
	t.Run("PR-14 of a secret", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			for range 2 {
				a := ask(t.Context(), b, session, asks(true, password))
				mustAnswer(t, b, client, only(t, b).ID, `{"action":"accept","content":{"q1":"hunter2"},"scope":"turn"}`)
				a.wait()
			}
		})
	})
}

func TestParallelCallsAreAskedOneAtATime(t *testing.T) {
	t.Run("PR-11 in call order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			var all []*asked
			for _, order := range []int{1, 4, 2, 3} {
				s := session
				s.Order = order
				q := confirm
				q.Text = strings.Repeat("x", order)
				all = append(all, ask(t.Context(), b, s, asks(true, q)))
				synctest.Wait()
			}
			var seen []int
			for range all {
				view := only(t, b)
				questions, err := question.Decode([]byte(view.Questions))
				if err != nil {
					t.Fatal(err)
				}
				seen = append(seen, len(questions[0].Text))
				mustAnswer(t, b, client, view.ID, `{"action":"accept","content":{"q1":true}}`)
				synctest.Wait()
			}
			for _, a := range all {
				if a.wait() != prompt.Answered {
					t.Errorf("outcome %s", a.answer)
				}
			}
			if !slices.Equal(seen, []int{1, 2, 3, 4}) {
				t.Errorf("asked in the order %v", seen)
			}
		})
	})
	t.Run("PR-11 those that wait end with their turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			first := ask(t.Context(), b, session, asks(true, confirm))
			synctest.Wait()
			second := ask(ctx, b, session, asks(true, confirm))
			third := ask(t.Context(), b, session, asks(true, confirm))
			synctest.Wait()
			cancel()
			if second.wait() != prompt.Cancelled {
				t.Errorf("outcome %s", second.answer)
			}
			for _, a := range []*asked{first, third} {
				mustAnswer(t, b, client, only(t, b).ID, `{"action":"decline"}`)
				if a.wait() != prompt.Declined {
					t.Errorf("outcome %s", a.answer)
				}
			}
		})
	})
	t.Run("other agents are asked beside", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			child := session
			child.Path = []string{"homer"}
			ctx, cancel := context.WithCancel(t.Context())
			all := []*asked{ask(ctx, b, session, asks(true, confirm)), ask(ctx, b, child, asks(true, confirm))}
			synctest.Wait()
			if open := b.List(prompt.Filter{Who: client}); len(open) != 2 {
				t.Errorf("%d prompts are open", len(open))
			}
			cancel()
			for _, a := range all {
				a.wait()
			}
		})
	})
}

func TestCalledAgents(t *testing.T) {
	for name, tc := range map[string]struct {
		tenant, conversation, parent, agent string
		root, path                          string
	}{
		"WT-08 a child":         {"digest", "child2", "root", "marge", "root", "marge"},
		"WT-08 its child":       {"digest", "grandchild", "child", "bart\u202e\x1b[2J", "root", "homer/bart[2J"},
		"WT-08 somebody else's": {"another", "theirs", "child", "nelson", "child", "nelson"},
		"WT-08 a path as told":  {"digest", "grandchild", "main", "homer/ bart", "main", "homer/bart"},
		"WT-08 no parent":       {"digest", "own", "", "marge", "own", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := newBook(t, nil)
			child := prompt.Session{Tenant: "digest", Conversation: "child", Turn: "1"}
			b.Adopt(&child, []byte("root"), []byte("homer"))
			s := prompt.Session{Tenant: tc.tenant, Conversation: tc.conversation}
			b.Adopt(&s, []byte(tc.parent), []byte(tc.agent))
			if s.Conversation != tc.root || strings.Join(s.Path, "/") != tc.path {
				t.Errorf("root %s, path %q", s.Conversation, s.Path)
			}
		})
	}
	t.Run("WT-08 only the root answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			lease := b.Subscribe(prompt.Filter{Who: client, Conversation: "root"})
			defer lease.Close()
			child := prompt.Session{Tenant: "digest", Conversation: "child", Turn: "1"}
			b.Adopt(&child, []byte("root"), []byte("homer"))
			foreign := prompt.Session{Tenant: "another", Conversation: "theirs"}
			b.Adopt(&foreign, []byte("root"), []byte("nelson"))
			a := ask(t.Context(), b, child, asks(true, confirm))
			view := only(t, b)
			if view.Conversation != "root" || !slices.Equal(view.Path, []string{"homer"}) {
				t.Errorf("the prompt has %s %q", view.Conversation, view.Path)
			}
			if err := answer(b, stranger, view.ID, `{"action":"cancel"}`); !errors.Is(err, prompt.ErrUnknown) {
				t.Errorf("a stranger is told %v", err)
			}
			mustAnswer(t, b, client, view.ID, `{"action":"accept","content":{"q1":true}}`)
			if a.wait() != prompt.Answered {
				t.Errorf("outcome %s", a.answer)
			}
			if a, _ := b.Ask(t.Context(), foreign, asks(true, confirm)); a.Outcome != prompt.Nobody {
				t.Errorf("somebody else's child is heard: %s", a)
			}
		})
	})
}
