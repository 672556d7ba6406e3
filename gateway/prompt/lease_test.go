package prompt_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
)

func TestNobody(t *testing.T) {
	alone := session
	alone.Attended = false
	t.Run("WT-07 OC-06 is told at once", func(t *testing.T) {
		b, c := newBook(t, nil)
		var a prompt.Answer
		var err error
		took := time.Hour
		for range 5 { // A busy machine may stop anybody for that long once.
			began := time.Now()
			a, err = b.Ask(t.Context(), alone, asks(true, confirm))
			took = min(took, time.Since(began))
		}
		if took > 50*time.Millisecond {
			t.Errorf("took %s", took)
		}
		if a.Outcome != prompt.Nobody || err != nil || a.Setting != "prompts.detached" || a.Policy != prompt.Deny {
			t.Errorf("%+v, %v", a.Outcome, err)
		}
		if c.open != 0 || !slices.Equal(slices.Compact(c.done), []string{"question nobody"}) {
			t.Errorf("counted %+v", c)
		}
	})
	t.Run("a whole reply cannot wait", func(t *testing.T) {
		b, _ := newBook(t, nil)
		s := session
		s.Wait = -1
		if a, _ := b.Ask(t.Context(), s, asks(true, confirm)); a.Outcome != prompt.Nobody {
			t.Errorf("outcome %s", a)
		}
	})
	t.Run("policies", func(t *testing.T) {
		b, _ := newBook(t, func(o *prompt.Options) {
			o.Settings.Policies.Default.Detached.All = prompt.Defaults
			o.Settings.Policies.Tools = map[string]prompt.Rule{"free": {Detached: prompt.Detached{All: prompt.Auto}}}
		})
		if a, _ := b.Ask(t.Context(), alone, asks(true, defaulty)); a.Outcome != prompt.Defaulted || string(a.Content) != `{"q1":false}` || !a.Has() {
			t.Errorf("defaults give %s %s", a, a.Content)
		}
		if a, _ := b.Permit(t.Context(), alone, "free", "mcp", nil); !a.Yes() || a.Outcome != prompt.Approved {
			t.Errorf("auto gives %s", a)
		}
		if a, _ := b.Permit(t.Context(), alone, "other", "mcp", nil); a.Yes() || a.Setting != "prompts.detached" {
			t.Errorf("defaults let a tool run: %s", a)
		}
		if a, _ := b.Ask(t.Context(), alone, prompt.NewToolQuestion("free", "mcp", []question.Question{confirm}, false)); a.Outcome != prompt.Model {
			t.Errorf("auto gives %s", a)
		}
	})
	t.Run("a question for the model", func(t *testing.T) {
		b, _ := newBook(t, func(o *prompt.Options) { o.Settings.Policies.Default.Target = prompt.ToAssistant })
		if a, _ := b.Ask(t.Context(), session, asks(false, confirm)); a.Outcome != prompt.Model {
			t.Errorf("outcome %s", a)
		}
		if a, _ := b.Ask(t.Context(), alone, asks(true, confirm)); a.Outcome != prompt.Nobody {
			t.Errorf("a question for people goes to the model: %s", a)
		}
	})
}

func TestLeases(t *testing.T) {
	alone := session
	alone.Attended = false
	t.Run("WT-06 a console that is lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, c := newBook(t, nil)
			lease := b.Subscribe(prompt.Filter{Who: operator})
			a := ask(t.Context(), b, alone, asks(true, confirm))
			if e := <-lease.Events; e.Closed || e.Prompt.Tool.Name != "mcp__db__migrate" {
				t.Errorf("the console is told %+v", e)
			}
			time.Sleep(10 * time.Second)
			lease.Close()
			lost := time.Now()
			if a.wait() != prompt.Nobody || time.Since(lost) != grace {
				t.Errorf("%s after %s", a.answer, time.Since(lost))
			}
			if !slices.Equal(c.done, []string{"question nobody"}) {
				t.Errorf("counted %v", c.done)
			}
		})
	})
	t.Run("WT-06 a console that comes back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			lease := b.Subscribe(prompt.Filter{Who: operator})
			a := ask(t.Context(), b, alone, asks(true, confirm))
			view := only(t, b)
			lease.Close()
			time.Sleep(grace - time.Second)
			back := b.Subscribe(prompt.Filter{Who: operator})
			defer back.Close()
			if e := <-back.Events; e.Prompt.ID != view.ID {
				t.Errorf("it is told of %+v", e)
			}
			time.Sleep(2 * grace)
			mustAnswer(t, b, operator, view.ID, `{"action":"accept","content":{"q1":true}}`)
			if a.wait() != prompt.Answered {
				t.Errorf("outcome %s", a.answer)
			}
			if e := <-back.Events; !e.Closed || e.Prompt.State != "answered" {
				t.Errorf("then it is told of %+v", e)
			}
		})
	})
	t.Run("of others", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, nil)
			for _, f := range []prompt.Filter{{Who: stranger}, {Who: client, Conversation: "c2"}, {Who: prompt.Who{}}} {
				lease := b.Subscribe(f)
				defer lease.Close()
			}
			if a, _ := b.Ask(t.Context(), alone, asks(true, confirm)); a.Outcome != prompt.Nobody {
				t.Errorf("outcome %s", a)
			}
		})
	})
	t.Run("that nobody reads", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newBook(t, func(o *prompt.Options) { o.Settings.Grace = 0 })
			lease := b.Subscribe(prompt.Filter{Who: operator})
			for range 200 {
				a := ask(t.Context(), b, session, asks(true, confirm))
				mustAnswer(t, b, operator, only(t, b).ID, `{"action":"cancel"}`)
				a.wait()
			}
			if a, _ := b.Ask(t.Context(), alone, asks(true, confirm)); a.Outcome != prompt.Nobody {
				t.Errorf("outcome %s", a)
			}
			lease.Close()
		})
	})
}
