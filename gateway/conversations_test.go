package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite"
	"warmpath/rewrite/transcript"
)

// logging is a gateway in front of all simulated providers, with the log on.
func logging(t testing.TB, where config.Kept, change func(*config.Config)) (g *gateway.Gateway, base string) {
	t.Helper()
	g, _, base = everyProviderOf(t, gateway.Options{}, nil, func(cfg *config.Config) {
		cfg.Log = config.Log{Events: where}
		if change != nil {
			change(cfg)
		}
	})
	return g, base
}

// admin asks the admin address.
func admin(t testing.TB, g *gateway.Gateway, path string) (status int, body []byte) {
	t.Helper()
	resp, err := http.Get("http://" + g.AdminAddr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// logged are the events of a conversation.
func logged(t testing.TB, g *gateway.Gateway, id, query string) (events []transcript.Event, raw []json.RawMessage) {
	t.Helper()
	status, body := admin(t, g, "/api/conversations/"+id+"/events"+query)
	if status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	var page struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for i, event := range page.Events {
		e, err := transcript.Parse(event)
		if err != nil {
			t.Fatal(err)
		}
		if query == "" && e.Seq != int64(i+1) {
			t.Errorf("event %d has the number %d", i+1, e.Seq)
		}
		events = append(events, *e)
	}
	return events, page.Events
}

// told is an event in a line.
func told(e *transcript.Event) string {
	line := e.Type
	switch e.Type {
	case transcript.TurnStart:
		line += fmt.Sprintf(" %d", e.New)
	case transcript.TurnEnd:
		line += " " + e.Outcome
	case transcript.ChatResponse:
		line += " " + e.Kind
	case transcript.ToolCallRequest:
		line += " " + e.Name + string(e.Arguments)
	case transcript.HostedActivity:
		line += " " + e.Name + " " + e.State
	case transcript.Error:
		line += " " + e.Reason
	case transcript.Config:
		line += " " + strings.Join(e.Tools, ",")
	}
	for _, b := range e.Content {
		line += " " + b.Text
	}
	if e.Incomplete {
		line += " incomplete"
	}
	return line
}

// A conversation has one name and one log, whatever client and provider speak, whole
// and streamed; what the client sends again is written once.
func TestEveryDialectIsLogged(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, stream %v", from, to, stream), func(t *testing.T) {
					c := &rewrite.Conversation{
						Dialect: from, Model: model, Stream: stream,
						System: []rewrite.Part{{Text: "You are careful."}},
						Items:  []rewrite.Item{{Parts: []rewrite.Part{{Text: `Go on. DO[call weather {"city":"Bern"}; then; say It is noon.]`}}}},
						Tools: []rewrite.Tool{{
							Name: "weather", Description: "Tells.", Schema: rewrite.JSON(`{"type":"object","properties":{"city":{"type":"string"}}}`),
						}},
					}
					if from == rewrite.Completions && stream {
						c.Extra = []rewrite.Member{{Name: "stream_options", Value: rewrite.JSON(`{"include_usage":true}`)}}
					}
					names := map[string]bool{}
					ask := func() *rewrite.Reply {
						reply, header := client.ask(t, base, c)
						names[header.Get("Warmpath-Conversation")] = true
						c.Items = append(c.Items, reply.Items...)
						return reply
					}
					reply := ask()
					for i := range reply.Items {
						if call := reply.Items[i].Call; reply.Items[i].Kind == rewrite.ItemCall {
							c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: call.ID, Name: call.Name}, Parts: []rewrite.Part{{Text: "fine"}}})
						}
					}
					ask()
					c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "Once more. DO[say Still noon.]"}}})
					ask()
					if len(names) != 1 || names[""] {
						t.Fatalf("the conversation is called %v", names)
					}
					var id string
					for id = range names {
					}
					events, _ := logged(t, g, id, "")
					var got []string
					for i := range events {
						if events[i].Kind != transcript.Reasoning { // some models sign their calls
							got = append(got, told(&events[i]))
						}
					}
					want := []string{
						"turn_start 1", "config weather You are careful.", `chat_request Go on. DO[call weather {"city":"Bern"}; then; say It is noon.]`,
						`tool_call_request weather{"city":"Bern"}`, "usage", "turn_end completed",
						"turn_start 1", "tool_call_response fine", "chat_response message It is noon.", "usage", "turn_end completed",
						"turn_start 1", "chat_request Once more. DO[say Still noon.]", "chat_response message Still noon.", "usage", "turn_end completed",
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
	_, list := admin(t, g, "/api/conversations?limit=1000")
	if n := len(gjson.GetBytes(list, "conversations").Array()); n != len(speakers)*len(models)*2 {
		t.Errorf("%d conversations, want %d", n, len(speakers)*len(models)*2)
	}
}
