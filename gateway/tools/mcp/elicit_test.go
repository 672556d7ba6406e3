package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"warmpath/gateway/question"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
)

const form = `{"type":"object","properties":{"zone":{"type":"string","title":"Which zone?","enum":["b","a"]},"age":{"type":"integer"}},"required":["zone"]}`

// answering answers what is asked by the call's own name.
func answering(outcome question.Outcome, answers string) (Ask, func() []Asked) {
	var mu sync.Mutex
	var all []Asked
	return func(_ context.Context, asked Asked) (question.Outcome, rewrite.JSON) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, asked)
			return outcome, rewrite.JSON(strings.ReplaceAll(answers, "CALL", asked.Call.ID))
		}, func() []Asked {
			mu.Lock()
			defer mu.Unlock()
			return all
		}
}

func TestAServerAsksOnItsPipe(t *testing.T) {
	for _, tc := range []struct {
		name    string
		form    string
		outcome question.Outcome
		answers string
		want    string
		asked   string
	}{
		{"FM-08 the questions of a form", `{"message":"Where?","requestedSchema":` + form + `}`, question.Answered, `{"zone":"a","age":7}`,
			`{"action":"accept","content":{"age":7,"zone":"a"}}`, "choice zone Which zone?, text age "},
		{"FM-07 declined", `{"message":"Where?","requestedSchema":` + form + `}`, question.Declined, ``, `{"action":"decline"}`, "choice zone Which zone?, text age "},
		{"FM-07 cancelled", `{"message":"Where?","requestedSchema":` + form + `}`, question.Cancelled, ``, `{"action":"cancel"}`, "choice zone Which zone?, text age "},
		{"nobody there", `{"message":"Where?","requestedSchema":` + form + `}`, question.Unasked, ``, `{"action":"cancel"}`, "choice zone Which zone?, text age "},
		{"no fields, agreed", `{"message":"Delete it?","requestedSchema":{"type":"object","properties":{}}}`, question.Answered, `{"agreed":true}`, `{"action":"accept"}`, "confirm agreed Delete it?"},
		{"no fields, not agreed", `{"message":"Delete it?","requestedSchema":{"type":"object","properties":{}}}`, question.Answered, `{"agreed":false}`, `{"action":"decline"}`, "confirm agreed Delete it?"},
		{"FM-09 nested properties", `{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}}`, question.Answered, `{}`, "-32602", ""},
		{"an address", `{"mode":"url","message":"m","url":"http://x","elicitationId":"1"}`, question.Answered, `{}`, "-32602", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ask, asked := answering(tc.outcome, tc.answers)
			s, log := started(t, Options{Ask: ask}, program("asking", "asking"))
			got := call(t, t.Context(), s, "mcp__asking__echo", `{"form":`+tc.form+`}`)
			answer := gjson.Parse(texts(got))
			if result := answer.Get("result").Raw; answer.Get("error.code").Raw != tc.want && result != tc.want {
				t.Errorf("%s\n%s", answer, log)
			}
			var questions []string
			for _, each := range asked() {
				if each.Server != "asking" || each.Call.ID != "call_1" {
					t.Errorf("%+v", each)
				}
				for _, q := range each.Questions {
					questions = append(questions, fmt.Sprintf("%s %s %s", q.Kind, q.Key, strings.TrimPrefix(q.Text, q.Key)))
				}
			}
			if got := strings.Join(questions, ", "); got != tc.asked {
				t.Errorf("asked for %q, want %q", got, tc.asked)
			}
		})
	}
}

func TestAServerDoesNotGetWhatTheGatewayHasNot(t *testing.T) {
	for _, method := range []string{"roots/list", "sampling/createMessage"} {
		t.Run(method, func(t *testing.T) {
			s, log := started(t, Options{}, program("greedy", "greedy"))
			got := gjson.Parse(texts(call(t, t.Context(), s, "mcp__greedy__echo", `{"text":"`+method+`"}`)))
			if got.Get("id").Str != "g" || got.Get("error.code").Int() != -32601 {
				t.Errorf("%s\n%s", got, log)
			}
		})
	}
}

// asker adds a tool that asks twice before it answers: in the result of its call, or in
// the middle of it for clients of old versions.
func asker(server *protocol.Server, legacy bool) {
	server.AddTool(&protocol.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		wanted := &protocol.ElicitParams{Message: "Where?", RequestedSchema: json.RawMessage(form)}
		name := gjson.GetBytes(r.Params.Arguments, "name").Str
		if legacy {
			time.Sleep(50 * time.Millisecond) // so that calls overlap
			given, err := r.Session.Elicit(ctx, wanted)
			if err != nil {
				return nil, err
			}
			return told(fmt.Sprint(name, " ", given.Action, " ", given.Content["zone"])), nil
		}
		given, ok := r.Params.InputResponses["second"].(*protocol.ElicitResult)
		switch {
		case ok:
			return told(fmt.Sprint(name, " ", given.Action, " ", given.Content["zone"], " ", r.Params.RequestState)), nil
		case r.Params.RequestState == "":
			return &protocol.CallToolResult{InputRequests: protocol.InputRequestMap{"first": wanted}, RequestState: name + "-1"}, nil
		case r.Params.InputResponses["first"] == nil:
			return told("the answer is lost"), nil
		}
		return &protocol.CallToolResult{InputRequests: protocol.InputRequestMap{"second": wanted}, RequestState: r.Params.RequestState + "-2"}, nil
	})
}

// Of calls that a server runs at the same time, each is asked for itself.
func TestAServerAsksInEachOfManyCalls(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			server, legacy := library(t, version), version < "2026"
			asker(server, legacy)
			ask, _ := answering(question.Answered, `{"zone":"CALL"}`)
			free := func(ctx context.Context, asked Asked) (question.Outcome, rewrite.JSON) {
				outcome, answers := ask(ctx, asked)
				return outcome, rewrite.JSON(strings.Replace(string(answers), "call_", "", 1))
			}
			s, log := started(t, Options{Ask: free}, listening(t, served(server, &protocol.StreamableHTTPOptions{Stateless: !legacy})))
			set := tools.NewSet(tools.Limits{}, s.Tools(t.Context(), []string{"remote"})...)
			var all sync.WaitGroup
			for _, name := range []string{"a", "b", "a", "b"} {
				all.Go(func() {
					got := texts(set.Run(t.Context(), tools.Call{ID: "call_" + name, Name: "mcp__remote__ask", Arguments: rewrite.JSON(`{"name":"` + name + `"}`)}))
					want := name + " accept " + name
					if !legacy {
						want += " " + name + "-1-2"
					}
					if got != want {
						t.Errorf("%q, want %q\n%s", got, want, log)
					}
				})
			}
			all.Wait()
		})
	}
}

// What cannot be told apart is not guessed.
func TestAQuestionForNoCallIsCancelled(t *testing.T) {
	ask, asked := answering(question.Answered, `{"zone":"a"}`)
	s, _ := started(t, Options{Ask: ask}, program("asking", "asking"))
	s.Tools(t.Context(), []string{"asking"})
	c, err := s.named("asking").ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"1", "2"} {
		if err := c.enter(&flight{ctx: t.Context(), token: token}); err != nil {
			t.Fatal(err)
		}
	}
	if c.asker("") != nil || c.asker("3") != nil || c.asker("2") == nil {
		t.Error("a question was given to a call that it may not be for")
	}
	// From now on there is one call at a time.
	entered := make(chan struct{})
	go func() {
		_ = c.enter(&flight{ctx: t.Context(), token: "3"})
		close(entered)
	}()
	c.exit(&flight{token: "1"})
	select {
	case <-entered:
		t.Error("two calls at a time")
	case <-time.After(20 * time.Millisecond):
	}
	c.exit(&flight{token: "2"})
	<-entered
	if f := c.asker(""); f == nil || f.token != "3" || len(asked()) > 0 {
		t.Error("the only call is not asked")
	}
}

func TestAClockStandsStillWhilePeopleAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		rang := make(chan struct{})
		c := newClock(time.Minute, func() { close(rang) })
		time.Sleep(20 * time.Second)
		c.stop()
		time.Sleep(time.Hour)
		c.stop()
		c.goOn()
		time.Sleep(time.Hour)
		c.goOn()
		<-rang
		if took := time.Since(began); took != 2*time.Hour+time.Minute {
			t.Errorf("rang after %s", took)
		}
	})
}
