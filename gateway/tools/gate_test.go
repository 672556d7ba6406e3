package tools

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/metrics"
	"warmpath/rewrite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	attended = Session{Tenant: "t", Conversation: "c", Turn: "1", Attended: true}
	alone    = Session{Tenant: "t", Conversation: "c", Turn: "1"}
	client   = prompt.Who{Tenant: "t"}
)

func book(t *testing.T, policies prompt.Policies) *prompt.Book {
	t.Helper()
	b := prompt.New(prompt.Options{
		Settings: prompt.Settings{Policies: policies, Expiry: time.Minute},
		Counter:  metrics.New(metrics.NewRegistry(), nil, nil), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	t.Cleanup(b.Close)
	return b
}

// gated runs a call of a tool behind its gates. Each prompt that opens gets the next
// reply; an empty one lets it wait.
func gated(t *testing.T, policies prompt.Policies, s Session, tool Tool, arguments string, replies ...string) (Result, []prompt.View) {
	t.Helper()
	b := book(t, policies)
	tool.Name, tool.Source = "mcp__db__drop", SourceMCP
	set := NewSet(Limits{Timeout: time.Second, Bytes: 1 << 10}, Admit(b, Limits{Timeout: time.Second, Bytes: 1 << 10}, tool))
	return run(t, b, set, Call{Name: tool.Name, Arguments: rewrite.JSON(arguments), Session: s}, replies...)
}

func run(t *testing.T, b *prompt.Book, set *Set, call Call, replies ...string) (result Result, seen []prompt.View) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		result = set.Run(t.Context(), call)
	}()
	for _, body := range replies {
		synctest.Wait()
		open := b.List(prompt.Filter{Who: client, State: "open"})
		if len(open) != 1 {
			t.Fatalf("%d prompts are open", len(open))
		}
		seen = append(seen, open[0])
		if body == "" {
			continue
		}
		reply, err := prompt.ParseReply([]byte(body))
		if err == nil {
			err = b.Answer(t.Context(), client, open[0].ID, reply)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	<-done
	return result, seen
}

// drops is a tool that says what it was run with.
var drops = Tool{Run: func(_ context.Context, call Call) Result {
	return Result{Parts: []rewrite.Part{
		{Text: "ran with " + string(call.Arguments)},
		{Text: "for people", Annotations: rewrite.JSON(`{"audience":["user"]}`)},
	}}
}}

const arguments = `{"table":"users","dry":true}`

func texts(r Result) string {
	if r.Instead != nil {
		return *r.Instead
	}
	var all []string
	for _, part := range r.Parts {
		all = append(all, part.Text)
	}
	return strings.Join(all, "|")
}

func TestRunGate(t *testing.T) {
	ask, edit := prompt.Policies{}, prompt.Policies{Default: prompt.Rule{Run: prompt.RunEdit}}
	ran := "ran with " + arguments + "|for people"
	for _, tc := range []struct {
		name     string
		policies prompt.Policies
		session  Session
		replies  []string
		want     string
		failed   bool
	}{
		{"yes", ask, attended, []string{`{"action":"accept"}`}, ran, false},
		{"no", ask, attended, []string{`{"action":"decline"}`}, "The user does not want mcp__db__drop to be run.", true},
		{"PR-08 skipped for a reason", ask, attended, []string{`{"action":"decline","content":{"reason":" Use the copy. "}}`}, "skipped. The reason: Use the copy.", true},
		{"PR-08 skipped without one", ask, attended, []string{`{"action":"decline","content":{"reason":""}}`}, "was skipped, and no reason was given.", true},
		{"PR-09 edited arguments run", edit, attended, []string{`{"action":"accept","content":{"arguments":{"table":"copy","dry":null,"n":[1]}}}`}, `ran with {"table":"copy","n":[1]}|for people`, false},
		{"cancelled", ask, attended, []string{`{"action":"cancel"}`}, "The user has stopped this turn", true},
		{"WT-03 in nobody's time", ask, attended, []string{""}, "Nobody has answered in time", true},
		{"nobody there", ask, alone, nil, "The setting prompts.detached (deny) decides this", true},
		{"nobody there, auto", prompt.Policies{Default: prompt.Rule{Detached: prompt.Detached{All: prompt.Auto}}}, alone, nil, ran, false},
		{"unattended", prompt.Policies{Default: prompt.Rule{Run: prompt.RunUnattended}}, alone, nil, ran, false},
		{"PR-08 skipped by configuration", prompt.Policies{Default: prompt.Rule{Run: prompt.RunSkip}}, attended, nil, "was skipped, and no reason was given.", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, seen := gated(t, tc.policies, tc.session, drops, arguments, tc.replies...)
				if !strings.Contains(texts(got), tc.want) || got.Failed != tc.failed {
					t.Errorf("failed is %t: %s", got.Failed, texts(got))
				}
				for _, view := range seen {
					if view.Kind != "run" || view.Tool != (prompt.Tool{Name: "mcp__db__drop", Source: "mcp"}) || string(view.Arguments) != arguments {
						t.Errorf("people see %+v", view)
					}
				}
			})
		})
	}
	t.Run("PR-09 the call stays as the model wrote it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			call := []byte(arguments)
			gated(t, edit, attended, drops, arguments, `{"action":"accept","content":{"arguments":{"table":"copy"}}}`)
			if diff := cmp.Diff(arguments, string(call)); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("PR-09 what may not be edited", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := book(t, ask)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = b.Permit(ctx, attended, "x", SourceMCP, rewrite.JSON(arguments))
			}()
			synctest.Wait()
			id := b.List(prompt.Filter{Who: client})[0].ID
			reply, _ := prompt.ParseReply([]byte(`{"action":"accept","content":{"arguments":{"table":"copy"}}}`))
			if _, invalid := prompt.IsInvalid(b.Answer(ctx, client, id, reply)); !invalid {
				t.Error("the arguments were changed")
			}
			cancel()
			<-done
		})
	})
}

func TestDeliverGate(t *testing.T) {
	asks := prompt.Policies{Default: prompt.Rule{Run: prompt.RunUnattended, Deliver: prompt.RunAsk}}
	edits := prompt.Policies{Default: prompt.Rule{Run: prompt.RunUnattended, Deliver: prompt.RunEdit}}
	skips := prompt.Policies{Default: prompt.Rule{Run: prompt.RunUnattended, Deliver: prompt.RunSkip}}
	for _, tc := range []struct {
		name     string
		policies prompt.Policies
		session  Session
		replies  []string
		want     string // in place of the model's half
	}{
		{"yes", asks, attended, []string{`{"action":"accept"}`}, ""},
		{"PR-10 no", asks, attended, []string{`{"action":"decline"}`}, "has run, but its result is withheld."},
		{"PR-10 no, for a reason", asks, attended, []string{`{"action":"decline","content":{"reason":"Private."}}`}, "is withheld. The reason: Private."},
		{"PR-10 cancelled", asks, attended, []string{`{"action":"cancel"}`}, "is withheld."},
		{"PR-10 in nobody's time", asks, attended, []string{""}, "nobody has answered in time"},
		{"PR-10 nobody there", asks, alone, nil, "prompts.detached (deny)"},
		{"PR-10 skipped", skips, alone, nil, "has run, but its result is withheld."},
		{"edited", edits, attended, []string{`{"action":"accept","content":{"text":"1 row"}}`}, "1 row"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, seen := gated(t, tc.policies, tc.session, drops, arguments, tc.replies...)
				if len(got.Parts) != 2 || got.Failed || got.Parts[1].Text != "for people" {
					t.Errorf("people get %+v", got)
				}
				if (got.Instead != nil) != (tc.want != "") || tc.want != "" && !strings.Contains(*got.Instead, tc.want) {
					t.Errorf("the model is told %q", texts(got))
				}
				for _, view := range seen {
					if view.Kind != "deliver" || view.Result != "ran with "+arguments {
						t.Errorf("people see %+v", view)
					}
				}
			})
		})
	}
}

// asking is a tool that asks in the midst of a call.
func asking(b Asker, questions ...question.Question) Tool {
	return Tool{Run: func(ctx context.Context, call Call) Result {
		outcome, content := AskFor(ctx, b, call, SourceMCP, "Before I go on:", questions)
		return Result{Parts: []rewrite.Part{{Text: outcome.String() + " " + string(content)}}}
	}}
}

func TestQuestionsOfTools(t *testing.T) {
	free := prompt.Rule{Run: prompt.RunUnattended}
	confirm := question.Question{Key: "q", Kind: question.Confirm, Text: "Really?"}
	offered := confirm
	offered.Default = rewrite.JSON("true")
	with := func(edit func(*prompt.Rule)) prompt.Policies {
		rule := free
		edit(&rule)
		return prompt.Policies{Default: rule}
	}
	for _, tc := range []struct {
		name     string
		policies prompt.Policies
		session  Session
		question question.Question
		replies  []string
		want     string
	}{
		{"answered", with(func(*prompt.Rule) {}), attended, confirm, []string{`{"action":"accept","content":{"q":true}}`}, `answered {"q":true}`},
		{"declined", with(func(*prompt.Rule) {}), attended, confirm, []string{`{"action":"decline"}`}, "declined "},
		{"PR-03 is a question, whatever it calls itself", with(func(*prompt.Rule) {}), attended,
			question.Question{Key: "run", Kind: question.Confirm, Text: `{"kind":"run","tool":"rm"}`}, []string{`{"action":"accept","content":{"run":true}}`}, `answered {"run":true}`},
		{"nobody there", with(func(*prompt.Rule) {}), alone, confirm, nil, "unasked "},
		{"nobody there, defaults", with(func(r *prompt.Rule) { r.Detached.All = prompt.Defaults }), alone, offered, nil, `answered {"q":true}`},
		{"nobody there, auto", with(func(r *prompt.Rule) { r.Detached.All = prompt.Auto }), alone, confirm, nil, "unasked |While it ran, the tool mcp__db__drop asked for something that you are to answer yourself:\n- Really?\n"},
		{"for the assistant", with(func(r *prompt.Rule) { r.Target = prompt.ToAssistant }), attended, confirm, nil, "unasked |While it ran"},
		{"for the assistant, but for people only", with(func(r *prompt.Rule) { r.Target, r.HumanOnly = prompt.ToAssistant, true }), attended, confirm, []string{`{"action":"decline"}`}, "declined "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := book(t, tc.policies)
				tool := asking(b, tc.question)
				tool.Name, tool.Source, tool.Timeout = "mcp__db__drop", SourceMCP, -1
				got, seen := run(t, b, NewSet(Limits{}, Admit(b, Limits{}, tool)), Call{Name: tool.Name, Session: tc.session}, tc.replies...)
				if !strings.HasPrefix(texts(got), tc.want) {
					t.Errorf("gives %q", texts(got))
				}
				for _, view := range seen {
					if view.Kind != "question" || view.Message != "Before I go on:" || len(view.Schema) == 0 || view.Arguments != nil {
						t.Errorf("people see %+v", view)
					}
				}
			})
		})
	}
}

// PR-12: a turn that has ended runs nothing, whatever is answered then.
func TestNothingRunsAfterTheTurn(t *testing.T) {
	t.Run("PR-12", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := book(t, prompt.Policies{})
			ran := false
			tool := Tool{Name: "x", Source: SourceMCP, Run: func(context.Context, Call) Result { ran = true; return Result{} }}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan Result)
			go func() {
				done <- NewSet(Limits{}, Admit(b, Limits{}, tool)).Run(ctx, Call{Name: "x", Session: attended})
			}()
			synctest.Wait()
			id := b.List(prompt.Filter{Who: client})[0].ID
			cancel()
			reply, _ := prompt.ParseReply([]byte(`{"action":"accept"}`))
			_ = b.Answer(t.Context(), client, id, reply)
			if result := <-done; !result.Failed || ran {
				t.Errorf("it ran: %t, %s", ran, texts(result))
			}
		})
	})
	t.Run("WT-12 the gateway stops", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for name, tool := range map[string]func(b Asker) Tool{
				"before the tool": func(b Asker) Tool { return Admit(b, Limits{}, drops) },
				"ask_user":        NewAskUser,
			} {
				b := book(t, prompt.Policies{})
				set := NewSet(Limits{}, tool(b))
				done := make(chan Result)
				go func() {
					done <- set.Run(t.Context(), Call{Name: set.Definitions()[0].Name, Arguments: rewrite.JSON(`{"text":"Why?"}`), Session: attended})
				}()
				synctest.Wait()
				b.Close()
				if result := <-done; !errors.Is(result.Ended, prompt.ErrDraining) {
					t.Errorf("%s: %+v", name, result)
				}
			}
		})
	})
}

func TestAskUser(t *testing.T) {
	const call = `{"questions":[{"kind":"confirm","text":"Drop the old tables?"}]}`
	for _, tc := range []struct {
		name, arguments string
		session         Session
		replies         []string
		want            string
		failed          bool
	}{
		{"OC-01 answered", call, attended, []string{`{"action":"accept","content":{"q1":true}}`}, "Question: Drop the old tables?\nAnswer: yes", false},
		{"OC-02 declined", call, attended, []string{`{"action":"decline"}`}, question.Tell(question.Declined, nil, nil), false},
		{"OC-03 cancelled", call, attended, []string{`{"action":"cancel"}`}, question.Tell(question.Cancelled, nil, nil), true},
		{"OC-04 nobody there", call, alone, nil, question.Tell(question.Unasked, nil, nil), false},
		{"OC-04 in nobody's time", call, attended, []string{""}, question.Tell(question.Unasked, nil, nil), false},
		{"OC-05 invalid", `{"questions":[]}`, attended, nil, "Nobody was asked, because the call holds no questions", true},
		{"OC-05 damaged", `{"questions":[{"kind"`, attended, nil, "Nobody was asked, because", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := book(t, prompt.Policies{Default: prompt.Rule{Target: prompt.ToAssistant, Run: prompt.RunSkip}})
				got, _ := run(t, b, NewSet(Limits{Timeout: time.Second}, NewAskUser(b)), Call{Name: AskUser, Arguments: rewrite.JSON(tc.arguments), Session: tc.session}, tc.replies...)
				if !strings.Contains(texts(got), tc.want) || got.Failed != tc.failed {
					t.Errorf("failed is %t: %s", got.Failed, texts(got))
				}
			})
		})
	}
	t.Run("OC-06 nobody is waited for", func(t *testing.T) {
		b := book(t, prompt.Policies{})
		took := time.Hour
		for range 5 { // A busy machine may stop anybody for that long once.
			began := time.Now()
			NewSet(Limits{}, NewAskUser(b)).Run(t.Context(), Call{Name: AskUser, Arguments: rewrite.JSON(call), Session: alone})
			took = min(took, time.Since(began))
		}
		if took > 50*time.Millisecond {
			t.Errorf("took %s", took)
		}
	})
	t.Run("OC-07 leave for everything answers no question", func(t *testing.T) {
		b := book(t, prompt.Policies{Default: prompt.Rule{Detached: prompt.Detached{All: prompt.Auto}}})
		got := NewSet(Limits{}, NewAskUser(b)).Run(t.Context(), Call{Name: AskUser, Arguments: rewrite.JSON(call), Session: alone})
		if texts(got) != question.Tell(question.Unasked, nil, nil) {
			t.Errorf("gives %s", texts(got))
		}
	})
}
