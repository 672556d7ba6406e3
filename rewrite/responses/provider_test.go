package responses_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/openai"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

// A conversation of another dialect's client is accepted turn by turn: the
// reasoning of the turns before it is taken as what was sent, and the prefix is
// found in the cache.
func TestProviderAcceptsConversations(t *testing.T) {
	for name, stream := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			core := provider.New(provider.Options{Clock: provider.NewManualClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))})
			api := openai.New(core)
			c := &rewrite.Conversation{
				Dialect: rewrite.Messages, Model: "gpt-6.2", Stream: stream,
				System: []rewrite.Part{{Text: strings.Repeat("Work with care. ", 400)}},
				Tools: []rewrite.Tool{
					{Name: "read", Description: "Reads.", Schema: rewrite.JSON(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
					{Name: "late", Deferred: true, Schema: rewrite.JSON(`{"type":"object"}`)},
					{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search"},
				},
				Thinking: rewrite.Thinking{Effort: "high", Summary: "auto"},
			}
			send := func() *rewrite.Reply {
				body, lost := encode(t, c, "openai")
				if lost != "" {
					t.Errorf("lost: %s", lost)
				}
				r := httptest.NewRequest("POST", "/v1/responses", strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer key-1")
				w := httptest.NewRecorder()
				api.ServeHTTP(w, r)
				if w.Code != 200 || strings.Contains(w.Body.String(), `"input_transformations":[{`) {
					t.Fatalf("status %d: %s\nrequest: %s", w.Code, w.Body, lines(body))
				}
				if stream {
					return folded(w.Body.String())
				}
				var f rewrite.Fold
				if err := responses.DecodeReply(w.Body.Bytes(), "openai", f.Add); err != nil {
					t.Fatal(err)
				}
				return f.Reply()
			}
			var kinds []string
			for turn, ask := range []string{"DO[think 20; say one]", "DO[think 10; call read; then; think 5; say two]", "DO[search io]", "DO[think 5; call late; then; say done]"} {
				c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: ask}}}, rewrite.Item{Role: rewrite.RoleSystem, Parts: []rewrite.Part{{Text: "Mind the time."}}})
				if turn == 2 {
					c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemDirective, Directive: rewrite.Directive{Add: []string{"late"}}})
				}
				for more := true; more; {
					reply := send()
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
			want := "reasoning message reasoning call reasoning message hosted message reasoning call message"
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if last, ok := core.Log.Last(); !ok || !strings.Contains(string(toolsOf(last)), "late") {
				t.Error("the model never saw the late tool")
			}
		})
	}
}

// toolsOf is what the model saw of the tools.
func toolsOf(r provider.Record) (all []byte) {
	if r.Seen != nil {
		for _, tool := range r.Seen.Tools {
			all = append(all, gjson.GetBytes(tool.Definition, "name").Str+" "...)
		}
	}
	return all
}
