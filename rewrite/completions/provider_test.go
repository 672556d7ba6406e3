package completions_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/openai"
	"warmpath/rewrite"
	"warmpath/rewrite/completions"
)

// A conversation of another dialect's client is accepted turn by turn, and its
// prefix is found in the cache.
func TestProviderAcceptsConversations(t *testing.T) {
	for name, stream := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			core := provider.New(provider.Options{Clock: provider.NewManualClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))})
			api := openai.New(core)
			c := &rewrite.Conversation{
				Dialect: rewrite.Messages, Model: "gpt-5.5", Stream: stream,
				System: []rewrite.Part{{Text: strings.Repeat("Work with care. ", 400)}},
				Tools: []rewrite.Tool{
					{Name: "read", Description: "Reads.", Schema: rewrite.JSON(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
					{Kind: rewrite.ToolCustom, Name: "patch"},
				},
			}
			var kinds []string
			for turn, ask := range []string{"DO[say one]", "DO[say I read.; call read; call patch; then; say two]", "DO[say no; stop refusal]", "DO[search io]"} {
				c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: ask}}}, rewrite.Item{Role: rewrite.RoleSystem, Parts: []rewrite.Part{{Text: "Mind the time."}}})
				for more := true; more; {
					body, lost := encode(t, c, "openai")
					if lost != "" {
						t.Errorf("lost: %s", lost)
					}
					r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body))
					r.Header.Set("Authorization", "Bearer key-1")
					w := httptest.NewRecorder()
					api.ServeHTTP(w, r)
					if w.Code != 200 {
						t.Fatalf("status %d: %s\nrequest: %s", w.Code, w.Body, lines(body))
					}
					reply := folded(w.Body.String())
					if !stream {
						var f rewrite.Fold
						if err := completions.DecodeReply(w.Body.Bytes(), "openai", f.Add); err != nil {
							t.Fatal(err)
						}
						reply = f.Reply()
					}
					if turn > 0 && reply.Usage.CacheRead.N == 0 {
						t.Errorf("turn %d found nothing in the cache: %+v", turn, reply.Usage)
					}
					c.Items = append(c.Items, reply.Items...)
					for _, item := range reply.Items {
						kinds = append(kinds, item.Kind.String())
						if item.Kind == rewrite.ItemCall {
							c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: item.Call.ID}, Parts: []rewrite.Part{{Text: "r"}}})
						}
					}
					more = reply.Stop.Reason == rewrite.StopTools
				}
			}
			want := "message message call call message message message"
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
