package converse_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/bedrock"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
)

// answered sends a conversation to the simulated API, reads the reply and adds
// it to the conversation, with a result for every call.
func answered(t *testing.T, p *bedrock.Provider, c *rewrite.Conversation) *rewrite.Reply {
	t.Helper()
	body, err := converse.EncodeRequest(c, "home", nil)
	if err != nil {
		t.Fatal(err)
	}
	path := "/model/" + url.QueryEscape(c.Model) + "/converse"
	if c.Stream {
		path += "-stream"
	}
	r := httptest.NewRequest("POST", path, strings.NewReader(string(body)))
	r.Header.Set("Authorization", "Bearer key-1")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("status %d: %s\nrequest: %s", w.Code, w.Body, body)
	}
	var fold rewrite.Fold
	if c.Stream {
		err = events(w.Body.Bytes(), 100, fold.Add)
	} else {
		err = converse.DecodeReply(w.Body.Bytes(), "home", fold.Add)
	}
	if err != nil {
		t.Fatal(err)
	}
	reply := fold.Reply()
	c.Items = append(c.Items, reply.Items...)
	for _, item := range reply.Items {
		if item.Kind == rewrite.ItemCall {
			c.Items = append(c.Items, gave(item.Call.ID, "result of "+item.Call.Name))
		}
	}
	return reply
}

// A conversation of another dialect's client is accepted turn by turn, with the
// thoughts of the turns before it and with what others have said, and what it
// marks is read from the cache.
func TestProviderAcceptsConversations(t *testing.T) {
	for name, stream := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			clock := provider.NewManualClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
			p := bedrock.New(provider.New(provider.Options{Clock: clock}), bedrock.Options{})
			mark := rewrite.Mark{Set: true}
			c := &rewrite.Conversation{
				Dialect: rewrite.Messages, Model: claude + "-20260801-v1:0", Stream: stream,
				System:   []rewrite.Part{{Text: strings.Repeat("Work with care. ", 200), Mark: mark}},
				Tools:    []rewrite.Tool{{Name: "read", Description: "Reads.", Schema: rewrite.JSON(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
				Thinking: rewrite.Thinking{Effort: "high", Summary: "auto"},
				Items: []rewrite.Item{
					speech(rewrite.RoleUser, "hello"), called("call|1", "read", `{"path":"x"}`), gave("call|1", "old"), speech(rewrite.RoleAssistant, "Hi."),
				},
			}
			var kinds []string
			read := int64(0)
			for _, ask := range []string{
				"DO[think 20; say one.]", "DO[think 10; call read; then; think 5; say two.]", "DO[call read; call read; then; say done]",
			} {
				c.Items = append(c.Items, speech(rewrite.RoleUser, ask), speech(rewrite.RoleSystem, "Mind the time."))
				c.Items[len(c.Items)-2].Parts[0].Mark = mark
				for more := true; more; {
					reply := answered(t, p, c)
					for _, item := range reply.Items {
						kinds = append(kinds, item.Kind.String())
					}
					if u := reply.Usage; !u.CacheRead.Known || u.CacheRead.N < read || u.InputTotal.N != u.InputFresh.N+u.CacheRead.N+u.CacheWrite.N {
						t.Errorf("usage %+v after %d read", u, read)
					} else {
						read = u.CacheRead.N
					}
					more = reply.Stop.Reason == rewrite.StopTools
				}
			}
			want := "reasoning message reasoning call reasoning message call call message"
			if got := strings.Join(kinds, " "); got != want || read == 0 {
				t.Errorf("%d read, got %s\nwant %s", read, got, want)
			}
		})
	}
}
