package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is written of a configuration makes the same of requests when it is loaded, and
// says nothing that goes without saying.
func TestChanges(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"nothing":              {"listen: 127.0.0.1:1\ndata: /tmp\n", ""},
		"a setting":            {"retries: 0\ncontinuity: {marks: false}\n", "continuity:\n  marks: false\nretries: 0\n"},
		"a moved provider":     {"providers: {anthropic: {base_url: \"http://127.0.0.1:9\"}}\n", "providers:\n  anthropic:\n    base_url: http://127.0.0.1:9\n"},
		"a moved region":       {"providers: {bedrock: {base_url: \"http://127.0.0.1:9\", region: us-east-1}}\n", "providers:\n  bedrock:\n    base_url: http://127.0.0.1:9\n    region: us-east-1\n"},
		"keys":                 {"access_keys: [first-secret]\nadmin_token: second-secret\nproviders: {openai: {key: third-secret}}\n", "access_keys:\n- hidden12\nproviders:\n  openai:\n    key: hidden12\nadmin_token: hidden13\n"},
		"a log on disk":        {"log: {events: disk}\ndata: /tmp\n", "log:\n  events: memory\n"},
		"a route and an alias": {"routes: {\"*\": {tools: {builtin: [tell_user]}}}\naliases: {big: claude-opus-5}\n", "aliases:\n  big: claude-opus-5\nroutes:\n  \"*\":\n    tools:\n      builtin:\n      - tell_user\n    audience: \"on\"\n    events: \"on\"\nmodels:\n- big\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := loaded(t, tc.file)
			hidden := func(s string) string { return "hidden" + string(rune('0'+len(s)/10)) + string(rune('0'+len(s)%10)) }
			got, err := cfg.Changes(hidden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(string(got), "secret") {
				t.Error("a secret is shown")
			}
			again, err := loaded(t, string(got)).Changes(func(s string) string { return s })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(again)); diff != "" {
				t.Errorf("loaded again it says: %s", diff)
			}
		})
	}
}

func loaded(t *testing.T, file string) *Config {
	t.Helper()
	cfg, err := (&loader{sources: NewSources(func(string) (string, bool) { return "", false }), moved: map[string]string{}}).load([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
