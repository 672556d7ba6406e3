package gemini_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warmpath/fixtures/provider"
	simulated "warmpath/fixtures/provider/gemini"
	"warmpath/rewrite"
	"warmpath/rewrite/gemini"
)

// answered sends a conversation to the simulated API, reads the reply and adds
// it to the conversation, with a result for every call.
func answered(t *testing.T, p *simulated.Provider, c *rewrite.Conversation) *rewrite.Reply {
	t.Helper()
	body, _ := encode(t, c, "home")
	path := "/v1beta/models/" + c.Model + ":generateContent"
	if c.Stream {
		path = "/v1beta/models/" + c.Model + ":streamGenerateContent?alt=sse"
	}
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("X-Goog-Api-Key", "key-1")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("status %d: %s\nrequest: %s", w.Code, w.Body, body)
	}
	reply := folded(w.Body.String())
	if !c.Stream {
		var fold rewrite.Fold
		if err := gemini.DecodeReply(w.Body.Bytes(), "home", fold.Add); err != nil {
			t.Fatal(err)
		}
		reply = fold.Reply()
	}
	c.Items = append(c.Items, reply.Items...)
	for _, item := range reply.Items {
		if item.Kind == rewrite.ItemCall {
			c.Items = append(c.Items, gave(item.Call.ID, "result of "+item.Call.Name))
		}
	}
	return reply
}

// A conversation of another dialect's client is accepted turn by turn, with the
// signatures of the turns before it and with calls that another model has made
// (RP-01, PB-16).
func TestProviderAcceptsConversations(t *testing.T) {
	for name, stream := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			p := simulated.New(provider.New(provider.Options{Clock: provider.NewManualClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}))
			c := &rewrite.Conversation{
				Dialect: rewrite.Messages, Model: "gemini-3.1-pro-preview", Stream: stream,
				System: []rewrite.Part{{Text: "Work with care."}},
				Tools: []rewrite.Tool{
					{Name: "read", Description: "Reads.", Schema: rewrite.JSON(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
					{Kind: rewrite.ToolHosted, Name: "googleSearch", Payload: rewrite.Payload{Format: "gemini/tool", Value: rewrite.JSON(`{"googleSearch":{}}`)}},
				},
				Thinking: rewrite.Thinking{Effort: "high", Summary: "auto"},
				Items: []rewrite.Item{
					speech(rewrite.RoleUser, "hello"), called("toolu_1", "read", `{"path":"x"}`), gave("toolu_1", "old"), speech(rewrite.RoleAssistant, "Hi."),
				},
			}
			var kinds []string
			for _, ask := range []string{
				"DO[think 20; say one.]", "DO[think 10; call read; then; think 5; say two.]", "DO[search go]", "DO[call read; call read; then; say done]",
			} {
				c.Items = append(c.Items, speech(rewrite.RoleUser, ask), speech(rewrite.RoleSystem, "Mind the time."))
				for more := true; more; {
					reply := answered(t, p, c)
					for _, item := range reply.Items {
						kinds = append(kinds, item.Kind.String())
						for _, part := range item.Parts {
							for _, a := range part.Attributions {
								if a.End > len([]rune(part.Text)) || a.URL == "" {
									t.Errorf("a source %+v of %q", a, part.Text)
								}
							}
						}
					}
					if !reply.Usage.Known() || reply.Stop.Reason == rewrite.StopUnknown {
						t.Errorf("nothing is told of the usage or the end: %+v", reply)
					}
					more = reply.Stop.Reason == rewrite.StopTools
				}
			}
			want := "reasoning message reasoning reasoning call reasoning message reasoning hosted hosted message reasoning opaque call call message reasoning"
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
