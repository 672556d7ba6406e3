package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
	"warmpath/rewrite"
)

// keyed is a gateway in front of providers that find their cache by a key.
func keyed(t testing.TB) (core *provider.Core, base string) {
	t.Helper()
	core = provider.New(provider.Options{})
	origin := httptest.NewServer(providers.New(core))
	t.Cleanup(origin.Close)
	snapshot, problems := catalog.Build(catalog.Settings{Providers: map[string]catalog.Row{
		"claude": {BaseURL: origin.URL + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic"},
		"chat":   {BaseURL: origin.URL + "/openai", Dialects: []string{"chat"}, Habits: []string{"cache_key"}},
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ = start(t, origin.URL, func(cfg *config.Config) {
		cfg.Catalog = snapshot
		keepReplies(cfg)
	})
	return core, base
}

// A conversation that goes on by name has one cache key, like any other.
func TestCacheKeysStayWithConversationsThatGoOnByName(t *testing.T) {
	core, base := keyed(t)
	c := caller{t, base, "sk-client"}
	first := c.create(`{"model":"chat/gpt-4.1","input":"One thing."}`)
	key := gjson.Get(lastBody(core), "prompt_cache_key").Str
	second := c.create(fmt.Sprintf(`{"model":"chat/gpt-4.1","input":"And more.","previous_response_id":%q}`, first.Get("id").Str))
	if again := gjson.Get(lastBody(core), "prompt_cache_key").Str; key == "" || again != key {
		t.Errorf("the keys are %q and %q", key, again)
	}
	c.create(fmt.Sprintf(`{"model":"chat/gpt-4.1","input":"And yet more.","previous_response_id":%q}`, second.Get("id").Str))
	if again := gjson.Get(lastBody(core), "prompt_cache_key").Str; again != key {
		t.Errorf("the third key is %q, want %q", again, key)
	}
}

// Keys in the query tell tenants apart as keys in header lines do.
func TestKeysInTheQueryTellTenantsApart(t *testing.T) {
	core, base := keyed(t)
	key := func(secret string) string {
		resp, err := http.Post(base+"/v1beta/models/chat%2Fgpt-4.1:generateContent?key="+secret, "application/json", strings.NewReader(`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 {
			t.Fatalf("%d: %s", resp.StatusCode, body)
		}
		return gjson.Get(lastBody(core), "prompt_cache_key").Str
	}
	one, other := key("sk-one"), key("sk-other")
	if one == other {
		t.Errorf("two tenants share %q", one)
	}
	ask := func(secret, more string) (int, string) {
		resp, err := http.Post(base+"/v1/responses?key="+secret, "application/json", strings.NewReader(`{"model":"claude/claude-opus-5-5","input":"hi"`+more+`}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body)
	}
	_, mine := ask("sk-one", "")
	id := gjson.Get(mine, "id").Str
	if status, body := ask("sk-other", `,"previous_response_id":"`+id+`"`); status != 400 && status != 404 {
		t.Errorf("another tenant goes on from %s: %d %s", id, status, body)
	}
	if status, body := ask("sk-one", `,"previous_response_id":"`+id+`"`); status != 200 {
		t.Errorf("its own tenant does not go on from %s: %d %s", id, status, body)
	}
}

// after is a provider that answers the first requests as its handler does, and the
// others otherwise.
type after struct {
	http.Handler
	n    int
	then http.HandlerFunc
}

func (a *after) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.n--; a.n < 0 {
		a.then(w, r)
		return
	}
	a.Handler.ServeHTTP(w, r)
}

// A stream is counted out whatever becomes of the calls that it goes on with.
func TestStreamsOfChainsAreCountedOut(t *testing.T) {
	for name, then := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"broken"}}`, http.StatusUnprocessableEntity)
		},
		"a whole reply": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":" and the rest."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
		},
		"no connection": func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			origin := httptest.NewServer(&after{providers.New(provider.New(provider.Options{})), 1, then})
			t.Cleanup(origin.Close)
			snapshot, problems := catalog.Build(catalog.Settings{Providers: map[string]catalog.Row{
				"claude": {BaseURL: origin.URL + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic"},
			}})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			g, base, _ := start(t, origin.URL, func(cfg *config.Config) { cfg.Catalog = snapshot })
			client := speakers[rewrite.Completions]
			_, body, _ := client.send(t, base, &rewrite.Conversation{Dialect: rewrite.Completions, Model: models[rewrite.Messages], Stream: true,
				Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Tell. DO[say It rained in Zürich, and the; stop length]"}}}}}, "Warmpath-Continue", "on")
			t.Logf("%s", body)
			_, page := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", "")
			if !strings.Contains(page, "warmpath_streams_open 0\n") {
				for line := range strings.Lines(page) {
					if strings.HasPrefix(line, "warmpath_streams_open") {
						t.Error(line)
					}
				}
			}
		})
	}
}

// A request to count tokens whose first provider fails is answered by the next.
func TestCountsFallBack(t *testing.T) {
	for name, order := range map[string][]string{
		"translated, then native": {"google/gemini-3.1-pro-preview", "claude/claude-opus-5-5"},
		"native, then translated": {"claude/claude-opus-5-5", "google/gemini-3.1-pro-preview"},
		"native, then estimated":  {"claude/claude-opus-5-5", "chat/gpt-4.1"},
	} {
		t.Run(name, func(t *testing.T) {
			good := httptest.NewServer(providers.New(provider.New(provider.Options{})))
			t.Cleanup(good.Close)
			bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{}`, http.StatusUnauthorized) }))
			t.Cleanup(bad.Close)
			at := func(name, path string) string {
				if strings.HasPrefix(order[0], name) {
					return bad.URL + path
				}
				return good.URL + path
			}
			snapshot, problems := catalog.Build(catalog.Settings{
				Providers: map[string]catalog.Row{
					"claude": {BaseURL: at("claude", "/anthropic"), Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic", Key: secret.New("k")},
					"google": {BaseURL: at("google", "/gemini"), Dialects: []string{"gemini"}, KeyStyle: "x-goog-api-key", Key: secret.New("k")},
					"chat":   {BaseURL: at("chat", "/openai"), Dialects: []string{"chat"}, Key: secret.New("k")},
				},
				Aliases: map[string]string{"best": order[0]}, Fallbacks: map[string][]string{"best": order[1:]},
			})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			_, base, lines := start(t, good.URL, func(cfg *config.Config) { cfg.Catalog = snapshot })
			req, _ := http.NewRequest("POST", base+"/v1/messages/count_tokens", strings.NewReader(`{"model":"best","messages":[{"role":"user","content":"hi there"}]}`))
			req.Header.Set("X-Api-Key", "k")
			req.Header.Set("Anthropic-Version", "2023-06-01")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if n := gjson.GetBytes(body, "input_tokens"); resp.StatusCode != 200 || n.Int() < 1 {
				t.Errorf("status %d: %s\n%s", resp.StatusCode, body, lines)
			}
		})
	}
}

// Calls of several turns that bear one name are paired with their own results.
func TestCallsOfOneNameKeepTheirResults(t *testing.T) {
	core, base := everyProvider(t, nil)
	for to, model := range models {
		if to == rewrite.Completions {
			continue
		}
		t.Run(to.String(), func(t *testing.T) {
			body := `{"model":"` + model + `","tools":[{"type":"function","function":{"name":"clock","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"hi"},` +
				`{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"clock","arguments":"{\"n\":1}"}}]},{"role":"tool","tool_call_id":"call_0","content":"result one"},` +
				`{"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"clock","arguments":"{\"n\":2}"}}]},{"role":"tool","tool_call_id":"call_0","content":"result two"}]}`
			status, reply := caller{t, base, "k"}.do("POST", "/v1/chat/completions", body)
			sent := lastBody(core)
			if status != 200 || strings.Contains(sent, "interrupted") || !strings.Contains(sent, "result two") {
				t.Errorf("%d %s\n%s", status, reply, sent)
			}
		})
	}
}

// A conversation that goes on by a name stays with the target that has answered it.
func TestConversationsThatGoOnByNameStayWithTheirTarget(t *testing.T) {
	for name, answered := range map[string]string{"translated": "messages", "native": "responses"} {
		t.Run(name, func(t *testing.T) {
			core := provider.New(provider.Options{})
			sim := providers.New(core)
			first, second := &failing{Handler: sim}, &failing{Handler: sim}
			var origins []string
			for _, f := range []*failing{first, second} {
				server := httptest.NewServer(f)
				t.Cleanup(server.Close)
				origins = append(origins, server.URL)
			}
			targets := []string{"gpt/gpt-5.5", "claude/claude-opus-5-5"}
			rows := map[string]catalog.Row{
				"claude": {BaseURL: origins[1] + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic", Key: secret.New("k")},
				"gpt":    {BaseURL: origins[0] + "/openai", Dialects: []string{"responses"}, Key: secret.New("k")},
			}
			if answered == "responses" {
				targets[0], targets[1] = targets[1], targets[0]
				rows["claude"] = catalog.Row{BaseURL: origins[0] + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic", Key: secret.New("k")}
				rows["gpt"] = catalog.Row{BaseURL: origins[1] + "/openai", Dialects: []string{"responses"}, Key: secret.New("k")}
			}
			snapshot, problems := catalog.Build(catalog.Settings{Providers: rows, Aliases: map[string]string{"best": targets[0]}, Fallbacks: map[string][]string{"best": targets[1:]}})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			_, base, _ := start(t, origins[0], func(cfg *config.Config) {
				cfg.Catalog = snapshot
				keepReplies(cfg)
			})
			c := caller{t, base, "sk-client"}
			first.status.Store(503)
			reply := c.create(`{"model":"best","input":"One thing."}`)
			first.status.Store(0)
			for _, text := range []string{"And more.", "And yet more."} {
				reply = c.create(fmt.Sprintf(`{"model":"best","input":%q,"previous_response_id":%q}`, text, reply.Get("id").Str))
				if got := lastRecord(core).Dialect; got != answered {
					t.Errorf("%q was answered in %s, want %s", text, got, answered)
				}
			}
		})
	}
}

// A login at one vendor is shown to no other.
func TestLoginsAreNotTranslated(t *testing.T) {
	core, base := everyProvider(t, nil)
	for to, model := range models {
		c := &rewrite.Conversation{Dialect: rewrite.Completions, Model: model, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
		before := len(core.Log.All())
		client := speakers[rewrite.Completions]
		client.send(t, base, c, "Authorization", "Bearer sk-ant-oat01-login")
		if to == rewrite.Completions || len(core.Log.All()) == before {
			continue
		}
		shown := false
		for _, field := range lastRecord(core).Headers {
			shown = shown || to != rewrite.Converse && field[0] == "Authorization" || field[0] == "X-Goog-Api-Key"
		}
		if shown != (to == rewrite.Messages) {
			t.Errorf("%s: shown %v", to, shown)
		}
	}
}

// What grows faster than a request is bounded: nobody keeps the gateway busy with one.
func TestManyToolsAreRefused(t *testing.T) {
	core, base := everyProvider(t, nil)
	tools := strings.Repeat(`{"type":"function","function":{"name":"f"}},`, 10_000) + `{"type":"function","function":{"name":"f"}}`
	before := len(core.Log.All())
	status, reply := caller{t, base, "k"}.do("POST", "/v1/chat/completions", `{"model":"claude/claude-opus-5-5","messages":[{"role":"user","content":"hi"}],"tools":[`+tools+`]}`)
	if status != 400 || !strings.Contains(reply.Get("error.message").Str, "10000 tools") || len(core.Log.All()) != before {
		t.Errorf("%d %s", status, reply)
	}
}
