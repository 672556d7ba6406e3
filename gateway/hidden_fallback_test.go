package gateway_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
)

// alternates is a gateway that runs ask_user for the model best, which is one of two
// providers': first speaks Messages, second Chat Completions.
func alternates(t *testing.T, ask tools.Tool) (core *provider.Core, base string, first *failing, second *disliking) {
	t.Helper()
	core = provider.New(provider.Options{})
	sim := providers.New(core)
	first = &failing{Handler: sim}
	second = &disliking{Handler: sim, refuse: func(string) (int, string) { return 0, "" }}
	one, two := httptest.NewServer(first), httptest.NewServer(second)
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	snapshot, problems := catalog.Build(catalog.Settings{
		Providers: map[string]catalog.Row{
			"first":  {BaseURL: one.URL + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic"},
			"second": {BaseURL: two.URL + "/openai", Dialects: []string{"chat"}, Key: secret.New("sk-second")},
		},
		Aliases:   map[string]string{"best": "first/claude-opus-5-5"},
		Fallbacks: map[string][]string{"best": {"second/gpt-5.1"}},
		Routes:    map[string]catalog.RouteRow{"best": {Builtin: []string{"ask_user"}}},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ = startWith(t, one.URL, gateway.Options{Tools: []tools.Tool{ask}}, func(cfg *config.Config) {
		keepsReplies(cfg)
		cfg.Catalog = snapshot
	})
	return core, base, first, second
}

// A conversation with hidden calls goes on at another provider when its own fails: before
// its first call, and after a turn. A reply that has begun is no other one's to end.
func TestHiddenCallsAndFallback(t *testing.T) {
	for from, client := range speakers {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("WS-05 %s, stream %v", from, stream), func(t *testing.T) {
				fails := false
				var first *failing
				core, base, first, _ := alternates(t, slowTool(func(context.Context, tools.Call) tools.Result {
					if fails {
						first.status.Store(503)
					}
					return gave("model", "user")
				}))
				c := says(`DO[say One.; call ask_user {}; then; say Two.]`)
				c.Dialect, c.Model, c.Stream = from, "best", stream
				turn := func(dialect string) {
					t.Helper()
					before := len(core.Log.All())
					reply, _ := client.ask(t, base, c)
					if got := strings.Join(strings.Fields(strings.Join(spoken(reply), "")), ""); got != "One.userTwo." {
						t.Errorf("the client reads %q", got)
					}
					records := askedSince(t, core, before)
					for _, record := range records {
						if record.Dialect != dialect || len(records) != 2 {
							t.Errorf("asked was %s, %d times, want %s twice", record.Dialect, len(records), dialect)
						}
					}
					c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "DO[say One.; call ask_user {}; then; say Two.]"}}})
				}
				turn("messages")
				first.status.Store(503)
				turn("chat")
				first.status.Store(0)
				turn("chat") // stays
				if last := lastRecord(core).Body; strings.Count(last, `"content":"model"`) != 3 {
					t.Errorf("the model is told %s", last)
				}

				// The first one fails between its calls.
				c = says(`Another. DO[say One.; call ask_user {}; then; say Two.]`)
				c.Dialect, c.Model, c.Stream = from, "best", stream
				fails = true
				status, body, _ := client.send(t, base, c)
				if stream && (status != 200 || foldedBy(&client, body).Fault == nil) || !stream && status != 503 || strings.Contains(string(body), "ask_user") {
					t.Errorf("status %d: %s", status, body)
				}
				turn("chat")
			})
		}
	}
}

// The provider that a conversation with hidden calls falls back to may take no tools: it
// gets what the client knows of the conversation.
func TestHiddenCallsAndAFallbackWithoutTools(t *testing.T) {
	for from, client := range speakers {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("WS-04 WS-06 %s, stream %v", from, stream), func(t *testing.T) {
				_, base, first, second := alternates(t, slowTool(func(context.Context, tools.Call) tools.Result { return gave("model", "user") }))
				c := says(`DO[think 20; say One.; call ask_user {}; then; think 20; say Two.]`)
				c.Dialect, c.Model, c.Stream = from, "best", stream
				c.Thinking.Effort = "high"
				reply, _ := client.ask(t, base, c)
				first.status.Store(503)
				second.got(dislikes(`"name":"ask_user"`, 400, "This model does not support tools."))
				for turn := range 2 {
					c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "DO[say Next.]"}}})
					if reply, _ = client.ask(t, base, c); strings.Join(spoken(reply), "") != "Next." {
						t.Errorf("turn %d: the client reads %q", turn, spoken(reply))
					}
					bodies := second.got(nil)
					if last := bodies[len(bodies)-1]; !strings.Contains(last, "user") || strings.Contains(last, `"name":"ask_user"`) {
						t.Errorf("turn %d: the model is told %s", turn, last)
					}
				}
			})
		}
	}
}
