package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
	"warmpath/rewrite"
)

// failing is a provider that fails while it is told to.
type failing struct {
	http.Handler
	status atomic.Int64 // 0 for none
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status := f.status.Load(); status != 0 {
		w.Header().Set("X-Should-Retry", "false")
		http.Error(w, `{"error":{"message":"out of order"}}`, int(status))
		return
	}
	f.Handler.ServeHTTP(w, r)
}

// twoTargets is a gateway whose model best is one of two providers': first speaks
// Messages, second Responses.
func twoTargets(t testing.TB) (core *provider.Core, base string, first, second *failing, lines *buffer) {
	t.Helper()
	core = provider.New(provider.Options{})
	sim := providers.New(core)
	first, second = &failing{Handler: sim}, &failing{Handler: sim}
	var origins []string
	for _, f := range []*failing{first, second} {
		server := httptest.NewServer(f)
		t.Cleanup(server.Close)
		origins = append(origins, server.URL)
	}
	snapshot, problems := catalog.Build(catalog.Settings{
		Providers: map[string]catalog.Row{
			"first":  {BaseURL: origins[0] + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic"},
			"second": {BaseURL: origins[1] + "/openai", Dialects: []string{"responses"}, Key: secret.New("sk-second")},
		},
		Aliases:   map[string]string{"best": "first/claude-opus-5-5"},
		Fallbacks: map[string][]string{"best": {"second/gpt-5.5"}},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, lines = start(t, origins[0], func(cfg *config.Config) { cfg.Catalog = snapshot })
	return core, base, first, second, lines
}

// A request whose first target fails is answered by the second, and its
// conversation stays there, whose cache it is in, until that fails too.
func TestFallback(t *testing.T) {
	core, base, first, second, lines := twoTargets(t)
	for from, client := range speakers {
		t.Run(from.String(), func(t *testing.T) {
			first.status.Store(0)
			second.status.Store(0)
			conversation := func(opening string) *rewrite.Conversation {
				return &rewrite.Conversation{Dialect: from, Model: "best", Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: opening}}}}}
			}
			c := conversation("The one. DO[think 20; say Yes.]")
			goOn := func() (answeredBy string) {
				t.Helper()
				reply, _ := client.ask(t, base, c)
				c.Items = append(c.Items, reply.Items...)
				c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "Go on. DO[think 20; say Yes.]"}}})
				return lastRecord(core).Dialect
			}
			const claude, gpt = "messages", "responses"
			var got []string
			first.status.Store(503)
			got = append(got, goOn()) // falls back
			first.status.Store(0)
			got = append(got, goOn()) // stays
			client.ask(t, base, conversation("Another one."))
			got = append(got, lastRecord(core).Dialect) // is not led by the other
			second.status.Store(401)
			got = append(got, goOn()) // falls back again
			second.status.Store(0)
			got = append(got, goOn()) // stays
			if diff := cmp.Diff([]string{gpt, gpt, claude, claude, claude}, got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(lines.String(), " after first") || !strings.Contains(lines.String(), " after second") {
				t.Errorf("the lines do not tell: %s", lines)
			}
		})
	}
}

// What the request itself is to blame for goes to no other provider, and the last
// failure is the client's to hear.
func TestNoFallback(t *testing.T) {
	_, base, first, second, _ := twoTargets(t)
	client := speakers[rewrite.Messages]
	for _, tc := range []struct {
		name                  string
		first, second, status int
	}{
		{"bad request", 400, 0, 400},
		{"both fail", 503, 529, 529},
		{"too large", 413, 0, 413},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first.status.Store(int64(tc.first))
			second.status.Store(int64(tc.second))
			status, body, _ := client.send(t, base, &rewrite.Conversation{Dialect: rewrite.Messages, Model: "best", Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}})
			if status != tc.status || !strings.Contains(string(body), "out of order") {
				t.Errorf("status %d: %s", status, body)
			}
		})
	}
}

// PB-15: a conversation that another provider has answered for a while goes back to
// the first: thinking that is not its own is left out, once it was refused, and the
// next requests are not refused any more.
func TestForeignThinkingIsLeftOut(t *testing.T) {
	t.Run("PB-15 Claude, GLM, Claude", thinksElsewhere)
}

// thinksElsewhere is a conversation that Claude goes on with after GLM has answered.
func thinksElsewhere(t *testing.T) {
	core := provider.New(provider.Options{})
	claude := &failing{Handler: providers.New(core)}
	origin := httptest.NewServer(claude)
	t.Cleanup(origin.Close)
	other := newProvider(t, answerWith(`{"id":"msg_1","type":"message","role":"assistant","model":"glm-5","content":[`+
		`{"type":"thinking","thinking":"Hm.","signature":"0123456789abcdef01234567"},{"type":"text","text":"Yes."}],`+
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":3}}`))
	snapshot, problems := catalog.Build(catalog.Settings{
		Providers: map[string]catalog.Row{
			"claude": {BaseURL: origin.URL + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic"},
			"glm":    {BaseURL: other.URL, Dialects: []string{"messages"}, Key: secret.New("sk-glm")},
		},
		Aliases:   map[string]string{"best": "claude/claude-opus-5-5"},
		Fallbacks: map[string][]string{"best": {"glm/glm-5"}},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ := start(t, origin.URL, func(cfg *config.Config) { cfg.Catalog = snapshot })
	client := speakers[rewrite.Messages]
	c := &rewrite.Conversation{Dialect: rewrite.Messages, Model: "best", Thinking: rewrite.Thinking{Mode: rewrite.On}}
	ask := func() (refused int) {
		t.Helper()
		before := len(core.Log.All())
		c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "Go on. DO[think 20; say Yes.]"}}})
		reply, _ := client.ask(t, base, c)
		c.Items = append(c.Items, reply.Items...)
		return len(core.Log.All()) - before - 1
	}
	ask()
	claude.status.Store(503)
	ask() // by GLM
	claude.status.Store(0)
	before := other.count()
	ask() // stays
	if n := other.count() - before; n != 1 {
		t.Fatalf("GLM got %d requests of a conversation that is with it, want 1", n)
	}
	c.Model = "claude/claude-opus-5-5"
	if n := ask(); n != 1 {
		t.Errorf("Claude refused %d requests, want the first", n)
	}
	if n := ask(); n != 0 {
		t.Errorf("Claude refused %d requests more", n)
	}
	if seen := lastRecord(core).Body; strings.Contains(seen, "0123456789abcdef01234567") {
		t.Errorf("Claude got thinking of GLM's: %s", seen)
	}
}

// A client's own key is meant for the first provider: another one that has none of its
// own is not asked.
func TestFallbackShowsNoKeyToAnother(t *testing.T) {
	core := provider.New(provider.Options{})
	first, second := &failing{Handler: providers.New(core)}, newProvider(t, answerWith(reply))
	origin := httptest.NewServer(first)
	t.Cleanup(origin.Close)
	snapshot, problems := catalog.Build(catalog.Settings{
		Providers: map[string]catalog.Row{
			"first":  {BaseURL: origin.URL + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key"},
			"second": {BaseURL: second.URL, Dialects: []string{"messages"}},
		},
		Aliases:   map[string]string{"best": "first/claude-opus-5-5"},
		Fallbacks: map[string][]string{"best": {"second/m"}},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ := start(t, origin.URL, func(cfg *config.Config) { cfg.Catalog = snapshot })
	first.status.Store(401)
	client := speakers[rewrite.Messages]
	status, body, _ := client.send(t, base, &rewrite.Conversation{Dialect: rewrite.Messages, Model: "best", Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}})
	if status != 401 || second.count() != 0 {
		t.Errorf("status %d, and the second provider got %d requests: %s", status, second.count(), body)
	}
}
