package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/prompt"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
)

// declared are the names of tools that a request declares, in order.
func declared(body string) (names []string) {
	for _, path := range []string{"tools", "tools.0.functionDeclarations", "toolConfig.tools"} {
		for _, tool := range gjson.Get(body, path).Array() {
			for _, name := range []string{"name", "function.name", "toolSpec.name"} {
				if at := tool.Get(name); at.Exists() {
					names = append(names, at.Str)
				}
			}
		}
	}
	return names
}

// A conversation is offered what it has begun with, whatever the route has by now.
func TestToolsStayForAConversation(t *testing.T) {
	m := newMortal(t, nil)
	for to, model := range models {
		t.Run(to.String(), func(t *testing.T) {
			client := speakers[rewrite.Completions]
			m.routes = map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}}}
			m.boot()
			c := says("To " + to.String() + `. DO[say Yes.; call clock {}]`)
			c.Dialect, c.Model = rewrite.Completions, model
			offers(c)
			reply, _ := client.ask(t, m.base, c)
			answersAll(c, reply.Items)
			if diff := cmp.Diff([]string{"clock", "tell_user"}, declared(lastRecord(m.core).Body)); diff != "" {
				t.Fatal(diff)
			}
			// Another tool comes, and one goes.
			m.routes = map[string]catalog.RouteRow{"*": {Builtin: []string{"ask_user"}}}
			m.boot()
			c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: `DO[call tell_user {"message":"lost"}; then; say Well.]`}}})
			reply, _ = client.ask(t, m.base, c)
			if got := strings.Join(spoken(reply), ""); got != "Well." {
				t.Errorf("the client reads %q", got)
			}
			last := lastRecord(m.core).Body
			if !strings.Contains(last, "not available any more") {
				t.Errorf("the model is told %s", last)
			}
			if got := declared(last); len(got) < 2 || got[0] != "clock" || got[1] != "tell_user" {
				t.Errorf("the tools are %q", got)
			}
			offered := strings.Contains(last, "ask_user")
			if offered != (to == rewrite.Messages) {
				t.Errorf("the new tool is offered: %v: %s", offered, last)
			}
			// A conversation that begins now has what there is now.
			c = says("Another to " + to.String() + `. DO[say Yes.]`)
			c.Dialect, c.Model = rewrite.Completions, model
			client.ask(t, m.base, c)
			if diff := cmp.Diff([]string{"ask_user"}, declared(lastRecord(m.core).Body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Nothing is added where nobody has asked for it, or where it would do harm.
func TestWhereNothingIsOffered(t *testing.T) {
	core, base := everyProviderRouted(t, gateway.Options{}, map[string]catalog.RouteRow{"claude/*": {Builtin: []string{"tell_user"}}, "gpt/*": {Builtin: []string{"tell_user"}}}, keepsReplies)
	for name, tc := range map[string]struct {
		from, to rewrite.Dialect
		change   func(*rewrite.Conversation)
		want     []string
	}{
		"asked for":       {rewrite.Completions, rewrite.Messages, func(*rewrite.Conversation) {}, []string{"tell_user"}},
		"a route without": {rewrite.Completions, rewrite.Gemini, func(*rewrite.Conversation) {}, nil},
		"a form": {rewrite.Completions, rewrite.Messages, func(c *rewrite.Conversation) {
			c.Format = rewrite.Format{Kind: "schema", Name: "a", Schema: rewrite.JSON(`{"type":"object","properties":{},"additionalProperties":false}`)}
		}, nil},
		"a conversation of the provider's": {rewrite.Responses, rewrite.Responses, func(c *rewrite.Conversation) {
			c.Extra = []rewrite.Member{{Name: "background", Value: rewrite.JSON("true")}}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			client := speakers[tc.from]
			c := says("hi")
			c.Dialect, c.Model = tc.from, models[tc.to]
			tc.change(c)
			client.send(t, base, c)
			if diff := cmp.Diff(tc.want, declared(lastRecord(core).Body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A client that has a tool of the name gets its calls.
func TestTheClientsToolWins(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	for from, client := range speakers {
		for to, model := range models {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				c := says(`DO[call tell_user {"message":"mine"}]`)
				c.Dialect, c.Model = from, model
				c.Tools = []rewrite.Tool{{Name: "tell_user", Description: "Mine.", Schema: rewrite.JSON(`{"type":"object"}`)}}
				reply, _ := client.ask(t, base, c)
				if last := reply.Items[len(reply.Items)-1]; last.Call.Name != "tell_user" || reply.Stop.Reason != rewrite.StopTools {
					t.Errorf("the client gets %+v", reply.Items)
				}
				if got := declared(lastRecord(core).Body); len(got) != 1 {
					t.Errorf("declared are %q", got)
				}
			})
		}
	}
}

// A model that does not stop calling is told to answer, and then made to.
func TestRoundsHaveAnEnd(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	for _, stream := range []bool{false, true} {
		for _, rounds := range []int{16, 17, 30} {
			t.Run(fmt.Sprintf("stream %v, %d rounds", stream, rounds), func(t *testing.T) {
				before := len(core.Log.All())
				client := speakers[rewrite.Messages]
				c := says("DO[" + strings.Repeat(`call tell_user {"message":"m"}; then; `, rounds) + "say End.]")
				c.Dialect, c.Model, c.Stream = rewrite.Messages, models[rewrite.Messages], stream
				reply, _ := client.ask(t, base, c)
				if reply.Stop.Reason != rewrite.StopEnd {
					t.Errorf("the reply stops for %s", reply.Stop.Reason)
				}
				if said := strings.Join(spoken(reply), ""); strings.Count(said, "m") != 16 || strings.Contains(said, "End.") != (rounds <= 17) {
					t.Errorf("the client reads %q", said)
				}
				records := askedSince(t, core, before)
				if want := min(rounds+1, 18); len(records) != want {
					t.Errorf("the provider was asked %d times, want %d", len(records), want)
				}
				answersAll(c, reply.Items)
				c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "DO[say Fine.]"}}})
				client.ask(t, base, c)
				if last := askedSince(t, core, before); !strings.HasPrefix(strings.Join(atoms(last[len(last)-1].Body), "\n"), strings.Join(atoms(records[len(records)-1].Body), "\n")) {
					t.Error("the next request does not begin like the last one")
				}
			})
		}
	}
}

// A reply that breaks off after its first call ends with an error, never as if it were
// over.
func TestSecondCallThatFails(t *testing.T) {
	_, base := withTools(t, gateway.Options{}, "tell_user")
	for from, client := range speakers {
		for to, model := range models {
			for _, script := range []string{"status 400 These words are wrong.", "text 20 events=9; cut after=5"} {
				t.Run(fmt.Sprintf("%s to %s, %s", from, to, script), func(t *testing.T) {
					c := says(`DO[say One.; call tell_user {"message":"Two."}; then; ` + script + `]`)
					c.Dialect, c.Model, c.Stream = from, model, true
					status, body, _ := client.send(t, base, c)
					reply := foldedBy(&client, body)
					if status != 200 || reply.Fault == nil || reply.Stop.Reason != rewrite.StopUnknown || !strings.Contains(string(body), "Two.") {
						t.Errorf("status %d: %s", status, body)
					}
				})
			}
		}
	}
}

// A client that has got nothing yet is told what a later call was answered with as if
// it were the first: it decides by that whether and when to ask again.
func TestStatusOfASecondCall(t *testing.T) {
	_, base := withTools(t, gateway.Options{}, "tell_user")
	for from, client := range speakers {
		for to, model := range models {
			for script, want := range map[string]int{"status 400 These words are wrong.": 400, "status 403 Not you.": 403, "status 429 Slow.": 429} {
				t.Run(fmt.Sprintf("%s to %s, %s", from, to, script), func(t *testing.T) {
					c := says(`DO[say One.; call tell_user {"message":"Two."}; then; ` + script + `]`)
					c.Dialect, c.Model = from, model
					status, body, header := client.send(t, base, c)
					_, words, _ := strings.Cut(strings.TrimPrefix(script, "status "), " ")
					if status != want || !strings.Contains(string(body), words) {
						t.Errorf("status %d: %s", status, body)
					}
					first := says("DO[" + script + "]")
					first.Dialect, first.Model = from, model
					_, _, direct := client.send(t, base, first)
					if diff := cmp.Diff(direct.Get("Retry-After"), header.Get("Retry-After")); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// A provider that names a tool in an error of a later call names one that the client has
// never heard of.
func TestErrorsOfLaterCallsNameNoHiddenTool(t *testing.T) {
	_, base := withTools(t, gateway.Options{}, "tell_user")
	for from, client := range speakers {
		for to, model := range models {
			for script, stream := range map[string]bool{
				"status 400 No tell_user here, nor clock.":                           true,
				"status 422 No tell_user here, nor clock. ":                          false,
				"text 20 events=9; error some No tell_user here, nor clock. after=5": true,
			} {
				t.Run(fmt.Sprintf("WS-04 %s to %s, %s", from, to, script), func(t *testing.T) {
					c := says(`DO[say One.; call tell_user {"message":"Two."}; then; ` + script + `]`)
					c.Dialect, c.Model, c.Stream = from, model, stream
					offers(c)
					_, body, _ := client.send(t, base, c)
					if bytes.Contains(body, []byte("tell_user")) || !bytes.Contains(body, []byte("No a tool of the gateway's here, nor clock.")) {
						t.Errorf("the client gets %s", body)
					}
				})
			}
		}
	}
}

// foldedBy is the reply that a stream comes to.
func foldedBy(s *speaker, body []byte) *rewrite.Reply {
	d := s.decoder()
	var fold rewrite.Fold
	names, data := framesOf(body)
	for i := range names {
		d.Event([]byte(names[i]), []byte(data[i].Raw), fold.Add)
	}
	d.Close(fold.Add)
	return fold.Reply()
}

// A client that goes on by the name of a reply goes on from all of it.
func TestHiddenCallsBehindNamesOfReplies(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	client := speakers[rewrite.Responses]
	for to, model := range models {
		for _, mixed := range []bool{false, true} {
			t.Run(fmt.Sprintf("to %s, mixed %v", to, mixed), func(t *testing.T) {
				before := len(core.Log.All())
				script := `DO[say One.; call tell_user {"message":"Two."}; then; say Three.]`
				if mixed {
					script = `DO[say One.; call tell_user {"message":"Two."}; call clock {}; then; say Three.]`
				}
				c := says(script)
				c.Dialect, c.Model = rewrite.Responses, model
				offers(c)
				reply, _ := client.ask(t, base, c)
				next := &rewrite.Conversation{Dialect: rewrite.Responses, Model: model, Previous: reply.ID, Tools: c.Tools}
				if n := answersAll(next, reply.Items); mixed {
					next.Items = next.Items[len(next.Items)-n:]
				} else {
					next.Items = []rewrite.Item{{Parts: []rewrite.Part{{Text: "DO[say Four.]"}}}}
				}
				reply, _ = client.ask(t, base, next)
				if got := strings.Join(spoken(reply), ""); got != map[bool]string{true: "Three.", false: "Four."}[mixed] {
					t.Errorf("the client reads %q", got)
				}
				records := askedSince(t, core, before)
				last, earlier := atoms(records[len(records)-1].Body), atoms(records[len(records)-2].Body)
				for i := range earlier {
					if i >= len(last) || last[i] != earlier[i] {
						t.Fatalf("piece %d differs: %s", i, cmp.Diff(earlier, last))
					}
				}
				if body := records[len(records)-1].Body; !strings.Contains(body, "tell_user") || !strings.Contains(body, "Message shown to user.") {
					t.Errorf("the provider is told %s", body)
				}
			})
		}
	}
}

// Whoever looks at what a model is told sees what somebody has put in its place, and a
// call in whose midst the gateway stops ends the reply.
func TestResultsThatWereChangedOrEnded(t *testing.T) {
	instead := "in its place"
	var result tools.Result
	tool := slowTool(func(context.Context, tools.Call) tools.Result { return result })
	core, base := withTools(t, gateway.Options{Tools: []tools.Tool{tool}}, "ask_user")
	client := speakers[rewrite.Messages]
	c := says(`DO[say One.; call ask_user {}; then; say Two.]`)
	c.Dialect, c.Model, c.Stream = rewrite.Messages, models[rewrite.Messages], true
	result = gave("model", "user")
	result.Instead = &instead
	reply, _ := client.ask(t, base, c)
	if last := lastRecord(core).Body; !strings.Contains(last, instead) || strings.Contains(last, `"model"}`) || !strings.Contains(strings.Join(spoken(reply), ""), "user") {
		t.Errorf("the model is told %s", last)
	}
	result = tools.Result{Failed: true, Ended: prompt.ErrDraining}
	for _, stream := range []bool{true, false} {
		c.Stream = stream
		status, body, _ := client.send(t, base, c)
		if stream && status != 200 || !stream && status != 503 || !strings.Contains(string(body), "The gateway is stopping") {
			t.Errorf("status %d: %s", status, body)
		}
	}
}

// A client that asks for our events is told what was addressed to the user as the tool
// has said it.
func TestUserMessagesAreEvents(t *testing.T) {
	_, base := withTools(t, gateway.Options{}, "tell_user")
	client := speakers[rewrite.Responses]
	for _, asks := range []bool{false, true} {
		c := says(`DO[call tell_user {"message":"**Two**"}; then; say End.]`)
		c.Dialect, c.Model, c.Stream = rewrite.Responses, models[rewrite.Messages], true
		headers := []string{"Warmpath-Events", "1"}
		_, body, _ := client.send(t, base, c, headers[:map[bool]int{true: 2}[asks]]...)
		var content []string
		names, data := framesOf(body)
		for i, name := range names {
			if name == "warmpath:user_message" {
				content = append(content, data[i].Get("content").Raw)
			}
			if got := data[i].Get("sequence_number"); got.Exists() && int(got.Int()) != i {
				t.Errorf("event %d has the number %d", i, got.Int())
			}
		}
		want := []string{`[{"type":"text","text":"**Two**","mimeType":"text/markdown","annotations":{"audience":["user"]}}]`}
		if diff := cmp.Diff(want[:map[bool]int{true: 1}[asks]], content, cmpopts.EquateEmpty()); diff != "" || strings.Contains(string(body), "tell_user") {
			t.Error(diff)
		}
	}
}

// A prompt is counted as it is asked.
func TestCountsIncludeTheGatewaysTools(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	c := says("hi")
	c.Dialect, c.Model = rewrite.Messages, models[rewrite.Messages]
	c.Sampling.MaxTokens = rewrite.JSON("100")
	speaker := speakers[rewrite.Messages]
	speaker.ask(t, base, c)
	asked := lastRecord(core)
	speaker.path = func(string, bool) string { return "/v1/messages/count_tokens" }
	speaker.encode = func(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error) {
		body, err := speakers[rewrite.Messages].encode(c, provider, losses)
		return []byte(strings.Replace(string(body), `"max_tokens":100,`, "", 1)), err
	}
	status, body, _ := speaker.send(t, base, c)
	if got := gjson.GetBytes(body, "input_tokens").Int(); status != 200 || got != asked.Charge.Total {
		t.Errorf("status %d, %d tokens, asked with %d: %s", status, got, asked.Charge.Total, body)
	}
}
