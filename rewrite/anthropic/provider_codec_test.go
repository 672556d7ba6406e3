package anthropic_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

// answered sends a conversation to the simulated API, reads the reply and adds
// it to the conversation. It gives what the reply came to.
func (s *sim) answered(t *testing.T, c *rewrite.Conversation) *rewrite.Reply {
	t.Helper()
	body, lost := encode(t, c, "home")
	if lost != "" {
		t.Errorf("lost: %s", lost)
	}
	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(body))
	r.Header.Set("X-Api-Key", "key-1")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Anthropic-Beta", changes)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("status %d: %s\nrequest: %s", w.Code, w.Body, body)
	}
	var reply *rewrite.Reply
	if c.Stream {
		reply = folded(w.Body.String())
	} else {
		var fold rewrite.Fold
		if err := anthropic.DecodeReply(w.Body.Bytes(), "home", fold.Add); err != nil {
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
// thoughts, searches and calls of the turns before it, whether they were
// streamed or not (RP-01, RP-03).
func TestProviderAcceptsConversations(t *testing.T) {
	for name, stream := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			s := newSim()
			c := &rewrite.Conversation{
				Dialect: rewrite.Responses, Model: "claude-opus-5-5", Stream: stream,
				System: []rewrite.Part{{Text: "Work with care."}},
				Tools: []rewrite.Tool{
					{Name: "read", Description: "Reads.", Schema: rewrite.JSON(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
					{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: rewrite.Payload{Format: "messages/tool", Value: rewrite.JSON(`{"type":"web_search_20250305","name":"web_search"}`)}},
				},
				Thinking: rewrite.Thinking{Effort: "high", Summary: "auto"},
			}
			var kinds []string
			for _, ask := range []string{
				"DO[think 20; say one.]", "DO[think 10; call read; then; think 5; say two.]", "DO[search go]", "DO[search go; call read; then; say done]", "DO[say bye.]",
			} {
				c.Items = append(c.Items, speech(rewrite.RoleUser, ask), speech(rewrite.RoleSystem, "Mind the time."))
				for more := true; more; {
					reply := s.answered(t, c)
					for _, item := range reply.Items {
						kinds = append(kinds, item.Kind.String())
					}
					if !reply.Usage.Known() {
						t.Errorf("nothing is told of the usage: %+v", reply)
					}
					more = reply.Stop.Reason == rewrite.StopTools || reply.Stop.Reason == rewrite.StopPause
				}
			}
			want := "reasoning message reasoning call reasoning message hosted hosted message hosted call hosted message message"
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
