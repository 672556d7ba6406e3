package gateway_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
)

// A request that goes from a provider of another dialect to one of its own goes out there
// as it came, with all that only its own dialect says.
func TestFallbackToTheClientsOwnDialect(t *testing.T) {
	core := provider.New(provider.Options{})
	sim := providers.New(core)
	first := &failing{Handler: sim}
	one, two := httptest.NewServer(first), httptest.NewServer(sim)
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	first.status.Store(503)
	row := func(dialect, path string) catalog.Row {
		return catalog.Row{BaseURL: two.URL + path, Dialects: []string{dialect}, Key: secret.New("sk-two")}
	}
	gemini := row("gemini", "/gemini")
	gemini.KeyStyle = "x-goog-api-key"
	routes := map[string]catalog.RouteRow{"tools-*": {Builtin: []string{"tell_user"}}}
	settings := catalog.Settings{
		Providers: map[string]catalog.Row{
			"first": {BaseURL: one.URL + "/anthropic", Dialects: []string{"messages"}, Key: secret.New("sk-one"), KeyStyle: "x-api-key", Endpoint: "anthropic"},
			"chat":  row("chat", "/openai"), "gpt": row("responses", "/openai"), "google": gemini,
		},
		Aliases: map[string]string{}, Fallbacks: map[string][]string{}, Routes: routes,
	}
	for name, second := range map[string]string{"chat": "chat/gpt-4.1", "gpt": "gpt/gpt-4.1", "google": "google/gemini-3.1-pro-preview"} {
		for _, kind := range []string{"tools-", "plain-"} {
			settings.Aliases[kind+name] = "first/claude-opus-5-5"
			settings.Fallbacks[kind+name] = []string{second}
		}
	}
	snapshot, problems := catalog.Build(settings)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ := start(t, one.URL, func(cfg *config.Config) {
		keepsReplies(cfg)
		cfg.Catalog = snapshot
	})
	for name, tc := range map[string]struct{ name, body, want string }{
		"several answers":    {"chat", `{"model":"%s","messages":[{"role":"user","content":"DO[say hi]"}],"n":2}`, `"index":1`},
		"likelihoods":        {"chat", `{"model":"%s","messages":[{"role":"user","content":"DO[say hi]"}],"logprobs":true}`, `"hi"`},
		"functions of old":   {"chat", `{"model":"%s","messages":[{"role":"user","content":"DO[say hi]"}],"functions":[{"name":"f","parameters":{"type":"object","properties":{}}}]}`, `"hi"`},
		"a reply's":          {"gpt", `{"model":"%s","input":"DO[say hi]","include":["message.output_text.logprobs"]}`, `"hi"`},
		"several candidates": {"google", `{"contents":[{"role":"user","parts":[{"text":"DO[say hi]"}]}],"generationConfig":{"candidateCount":2}}`, `"hi"`},
	} {
		for _, kind := range []string{"tools-", "plain-"} {
			t.Run(kind+name, func(t *testing.T) {
				model := kind + tc.name
				path := map[string]string{"chat": "/v1/chat/completions", "gpt": "/v1/responses", "google": "/v1beta/models/" + model + ":generateContent"}[tc.name]
				body := tc.body
				if strings.Contains(body, "%s") {
					body = fmt.Sprintf(body, model)
				}
				status, reply := answerOf(t, base, path, body)
				if status != 200 || !strings.Contains(reply, tc.want) {
					t.Errorf("status %d: %s", status, reply)
				}
				_, named, _ := strings.Cut(settings.Fallbacks[model][0], "/")
				if diff := cmp.Diff(strings.Replace(body, model, named, 1), lastRecord(core).Body); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
