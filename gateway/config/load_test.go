package config

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/gateway/prompt"
	"warmpath/gateway/secret"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// given is one set of sources for a test.
type given struct {
	file string
	env  map[string]string
	args []string
}

// load reads the sources as the program does, but the file from memory.
func (g given) load(t testing.TB) (*Config, error) {
	t.Helper()
	s := NewSources(func(name string) (string, bool) {
		value, ok := g.env[name]
		return value, ok
	})
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	s.Bind(set)
	if err := set.Parse(g.args); err != nil {
		t.Fatal(err)
	}
	l := &loader{sources: s, moved: map[string]string{}}
	l.name = "warmpath.yaml"
	return l.load([]byte(g.file))
}

func (g given) mustLoad(t testing.TB) *Config {
	t.Helper()
	c, err := g.load(t)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	got := given{env: map[string]string{"HOME": "/home/me"}}.mustLoad(t)
	want := &Config{
		Listen:     "127.0.0.1:8787",
		Admin:      "127.0.0.1:9464",
		Mode:       rewrite.ModeOn,
		Data:       "/home/me/.local/share/warmpath",
		Continuity: Continuity{EarlyBetas: true, Marks: true, Echoes: true, ColdWait: 2 * time.Second, Diagnostics: continuity.AskEdited},
		Replies:    Replies{Keep: true, TTL: 30 * 24 * time.Hour},
		Log:        Log{Size: 256 << 20, Age: 7 * 24 * time.Hour},
		Prompts: prompt.Settings{Expiry: 50 * time.Second, Grace: 5 * time.Second, Policies: prompt.Policies{
			Default: prompt.Rule{Run: prompt.RunAsk, Deliver: prompt.RunUnattended, Target: prompt.ToUser, Detached: prompt.Detached{All: prompt.Deny}},
			Tools:   map[string]prompt.Rule{},
		}},
		Tools: tools.Limits{Bytes: 1 << 20, Timeout: time.Minute},
		Limits: Limits{
			Body: 64 << 20, DecodedBody: 64 << 20, Headers: 8 << 10, Connections: 10000,
		},
		Timeouts: Timeouts{
			Header: 10 * time.Second, Body: time.Minute, Idle: 2 * time.Minute, Write: time.Minute,
			UpstreamConnect: 10 * time.Second, UpstreamHeader: 10 * time.Minute, UpstreamIdle: 5 * time.Minute,
			Store: 50 * time.Millisecond, Heartbeat: 15 * time.Second, Drain: 30 * time.Second,
		},
		Retries: 2,
	}
	ignored := cmpopts.IgnoreFields(Config{}, "Catalog", "Limits.BodiesInFlight")
	if diff := cmp.Diff(want, got, ignored, cmp.Comparer(sameSecret)); diff != "" {
		t.Error(diff)
	}
	if got.Limits.BodiesInFlight < got.Limits.Body {
		t.Errorf("bodies in flight: %d, less than one body", got.Limits.BodiesInFlight)
	}
	if got.Catalog.For(rewrite.Messages).Name != "anthropic" {
		t.Error("no catalog")
	}
}

func sameSecret(a, b secret.String) bool { return a.Reveal() == b.Reveal() }

func TestEverySettingFromFile(t *testing.T) {
	got := given{file: `
listen: 0.0.0.0:1
admin: "[::1]:2"
mode: observe
data: memory
quiet: true
access_keys: [one, two]
admin_token: three
continuity: {early_betas: false, marks: false, echoes: false, cold_wait: 0s, diagnostics: never}
replies: {keep: false, ttl: 36h}
prompts:
  expiry: 20s
  grace: 0s
  run: edit
  deliver: ask
  target: assistant
  human_only: true
  detached: {run: auto, tool: defaults}
  tools:
    mcp__files__*: {run: unattended, deliver: skip}
    mcp__web__get: {target: user, detached: auto}
explain: {context: true}
log: {events: memory, size: 5MiB, age: 2h}
tools: {bytes: 64KiB, timeout: 9s}
limits: {body: 1MiB, bodies_in_flight: 2MiB, headers: 16KiB, decoded_body: 3MiB, connections: 7}
timeouts:
  header: 1s
  body: 2s
  idle: 3s
  write: 4s
  upstream_connect: 5s
  upstream_header: 6s
  upstream_idle: 7s
  store: 8s
  heartbeat: 0s
  drain: 1m30s
retries: 0
`}.mustLoad(t)
	want := &Config{
		Listen: "0.0.0.0:1", Admin: "[::1]:2", Mode: rewrite.ModeObserve, Data: DataMemory, Quiet: true,
		AccessKeys: []secret.String{secret.New("one"), secret.New("two")},
		AdminToken: secret.New("three"),
		Replies:    Replies{TTL: 36 * time.Hour},
		Records:    Records{Context: true},
		Tools:      tools.Limits{Bytes: 64 << 10, Timeout: 9 * time.Second},
		Log:        Log{Events: KeptInMemory, Size: 5 << 20, Age: 2 * time.Hour},
		Limits:     Limits{Body: 1 << 20, BodiesInFlight: 2 << 20, DecodedBody: 3 << 20, Headers: 16 << 10, Connections: 7},
		Prompts: prompt.Settings{Expiry: 20 * time.Second, Policies: prompt.Policies{
			Default: prompt.Rule{
				Run: prompt.RunEdit, Deliver: prompt.RunAsk, Target: prompt.ToAssistant, HumanOnly: true,
				Detached: prompt.Detached{All: prompt.Deny, Each: [3]prompt.Policy{prompt.Run: prompt.Auto, prompt.Question: prompt.Defaults}},
			},
			Tools: map[string]prompt.Rule{
				"mcp__files__*": {Run: prompt.RunUnattended, Deliver: prompt.RunSkip},
				"mcp__web__get": {Target: prompt.ToUser, Detached: prompt.Detached{All: prompt.Auto}},
			},
		}},
		Timeouts: Timeouts{
			Header: time.Second, Body: 2 * time.Second, Idle: 3 * time.Second, Write: 4 * time.Second,
			UpstreamConnect: 5 * time.Second, UpstreamHeader: 6 * time.Second, UpstreamIdle: 7 * time.Second,
			Store: 8 * time.Second, Drain: 90 * time.Second,
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Config{}, "Catalog"), cmp.Comparer(sameSecret)); diff != "" {
		t.Error(diff)
	}
}

func TestPrecedence(t *testing.T) {
	const file = "listen: 127.0.0.1:1"
	env := map[string]string{"WARMPATH_LISTEN": "127.0.0.1:2"}
	args := []string{"--listen", "127.0.0.1:3"}
	for _, tc := range []struct {
		name  string
		given given
		want  string
	}{
		{"default", given{}, "127.0.0.1:8787"},
		{"file over default", given{file: file}, "127.0.0.1:1"},
		{"environment over file", given{file: file, env: env}, "127.0.0.1:2"},
		{"flag over environment", given{file: file, env: env, args: args}, "127.0.0.1:3"},
		{"flag over file", given{file: file, args: args}, "127.0.0.1:3"},
		{"empty variable is not set", given{file: file, env: map[string]string{"WARMPATH_LISTEN": ""}}, "127.0.0.1:1"},
		{"null is not set", given{file: "listen:"}, "127.0.0.1:8787"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.given.mustLoad(t).Listen; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// Every setting with a flag has a variable, and each of them reaches the field.
func TestFlagsAndVariables(t *testing.T) {
	written := map[string]string{
		"listen": "127.0.0.1:5", "admin": "127.0.0.1:6", "mode": "off", "data": "/d", "quiet": "true", "events": "/e.jsonl",
		"timeouts.drain": "7s", "retries": "1", "admin_token": "t",
		"continuity.early_betas": "false", "continuity.marks": "false", "continuity.echoes": "false", "continuity.cold_wait": "3s",
		"continuity.diagnostics": "always", "explain.context": "true",
		"log.events": "memory", "log.size": "3MiB", "log.age": "3h",
		"replies.keep": "false", "replies.ttl": "48h", "prompts.expiry": "30s",
	}
	text := func(c *Config, s setting) string {
		if s.secret {
			return c.AdminToken.Reveal()
		}
		return s.field(c).text()
	}
	for _, s := range settings {
		if s.flag != "" && (s.env == "" || s.help == "") {
			t.Errorf("%s: a flag without a variable or without help", s.key)
		}
		if s.env != "" {
			c := given{env: map[string]string{s.env: written[s.key]}}.mustLoad(t)
			if got := text(c, s); got != written[s.key] {
				t.Errorf("%s: got %q", s.env, got)
			}
		}
		if s.flag != "" {
			c := given{args: []string{"--" + s.flag + "=" + written[s.key]}}.mustLoad(t)
			if got := text(c, s); got != written[s.key] {
				t.Errorf("--%s: got %q", s.flag, got)
			}
		}
	}
	if !(given{args: []string{"--quiet"}}).mustLoad(t).Quiet {
		t.Error("--quiet needs a value")
	}
}

func TestUpstreams(t *testing.T) {
	const file = "providers: {openai: {base_url: http://127.0.0.1:1, key: k}}"
	for _, tc := range []struct {
		name  string
		given given
		want  string
	}{
		{"file", given{file: file}, "http://127.0.0.1:1"},
		{"variable over file", given{file: file, env: map[string]string{"WARMPATH_UPSTREAM": "openai=http://127.0.0.1:2, xai=http://127.0.0.1:9,"}}, "http://127.0.0.1:2"},
		{"flag over variable", given{
			file: file, env: map[string]string{"WARMPATH_UPSTREAM": "openai=http://127.0.0.1:2"},
			args: []string{"--upstream", "xai=http://127.0.0.1:9", "--upstream", "openai=http://127.0.0.1:3/x=y"},
		}, "http://127.0.0.1:3/x=y"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := tc.given.mustLoad(t)
			p, _ := c.Catalog.Provider("openai")
			for d, base := range p.Bases {
				if base.String() != tc.want {
					t.Errorf("%s: got %s, want %s", d, base, tc.want)
				}
			}
			if p.Key.Reveal() != "k" {
				t.Error("the key is gone")
			}
			if p, _ := c.Catalog.Provider("xai"); len(tc.given.file) > 0 && tc.name != "file" && p.Bases[rewrite.Responses].Address != "127.0.0.1:9" {
				t.Error("xai has not moved")
			}
		})
	}
}

func TestDataFolder(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given given
		want  string
	}{
		{"data home", given{env: map[string]string{"HOME": "/home/me", "XDG_DATA_HOME": "/data"}}, "/data/warmpath"},
		{"relative data home does not count", given{env: map[string]string{"HOME": "/home/me", "XDG_DATA_HOME": "data"}}, "/home/me/.local/share/warmpath"},
		{"no home", given{}, "memory"},
		{"memory", given{file: "data: memory", env: map[string]string{"HOME": "/home/me"}}, "memory"},
		{"tilde", given{file: "data: ~/warm", env: map[string]string{"HOME": "/home/me"}}, "/home/me/warm"},
		{"path", given{args: []string{"--data", "/srv/warm"}}, "/srv/warm"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.given.mustLoad(t).Data; got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestSecretReferences(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "key")
	if err := os.WriteFile(path, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "warmpath.yaml")
	text := "access_keys: [literal, env:ACCESS, file:key, 'file:" + path + "']\n" +
		"admin_token: file:key\n" +
		"providers: {openai: {key: env:OPENAI_API_KEY}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"ACCESS": "from-env", "OPENAI_API_KEY": "sk-1", "WARMPATH_CONFIG": file}
	s := NewSources(func(name string) (string, bool) { value, ok := env[name]; return value, ok })
	reveal := func() []string {
		t.Helper()
		c, err := Load(s)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := c.Catalog.Provider("openai")
		all := []string{c.AdminToken.Reveal(), p.Key.Reveal()}
		for _, key := range c.AccessKeys {
			all = append(all, key.Reveal())
		}
		return all
	}
	if diff := cmp.Diff([]string{"from-file", "sk-1", "literal", "from-env", "from-file", "from-file"}, reveal()); diff != "" {
		t.Error(diff)
	}

	// A reload reads what is referred to anew.
	if err := os.WriteFile(path, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	env["OPENAI_API_KEY"] = "sk-2"
	env["WARMPATH_ACCESS_KEYS"] = "a, env:ACCESS"
	if diff := cmp.Diff([]string{"changed", "sk-2", "a", "from-env"}, reveal()); diff != "" {
		t.Error(diff)
	}
}

func TestLoadSaysWhichFileIsMissing(t *testing.T) {
	s := NewSources(func(string) (string, bool) { return "", false })
	s.File = filepath.Join(t.TempDir(), "absent.yaml")
	if _, err := Load(s); err == nil || !strings.Contains(err.Error(), s.File) {
		t.Errorf("got %v", err)
	}
}

func TestScalarsKeepTheirSpelling(t *testing.T) {
	c := given{file: `
access_keys: [0123, 1.10, true, "quoted-\u0041", 'single', 1e3, 0x1F, ~a]
admin_token: |
  block
`}.mustLoad(t)
	var got []string
	for _, key := range append(c.AccessKeys, c.AdminToken) {
		got = append(got, key.Reveal())
	}
	want := []string{"0123", "1.10", "true", "quoted-A", "single", "1e3", "0x1F", "~a", "block"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWarnings(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given given
		want  []string
	}{
		{"local only", given{file: "providers: {openai: {key: k}}"}, nil},
		{"reachable with access keys", given{file: "{listen: ':1', access_keys: [a], providers: {openai: {key: k}}}"}, nil},
		{"reachable without keys to spend", given{file: "listen: ':1'"}, nil},
		{
			"reachable without access keys", given{file: "{listen: '0.0.0.0:1', providers: {openai: {key: k}}}"},
			[]string{"listen is reachable from other machines and there are no access_keys: whoever can connect spends the key of openai"},
		},
		{
			"key in the clear", given{file: "providers: {openai: {key: k, base_url: 'http://proxy.example.com:8080'}}"},
			[]string{"the key of openai goes to proxy.example.com:8080 without encryption: use https in its address"},
		},
		{
			"aliases of models that no provider is named for", given{file: "aliases: {a: grok/llama, b: [openai/gpt-5.5, openai/gpt-5, meta/x], c: zai-org/glm-5, d: some-model}"},
			[]string{
				"an alias stands for grok/llama, which begins with the name of no provider: it goes to the default provider of the client's dialect",
				"an alias stands for meta/x, which begins with the name of no provider: it goes to the default provider of the client's dialect",
			},
		},
		{
			"fallbacks that nobody has a key for", given{file: "providers: {xai: {key: k}}\naliases: {a: [claude-opus-5, gpt-5.5, xai/grok-4, anthropic/claude-opus-4-8, ollama/x]}"},
			[]string{"an alias falls back to gpt-5.5, whose provider has no key in the configuration: it is never asked, since a client's own key is meant for the first provider"},
		},
		{"key in the clear on this machine", given{file: "providers: {openai: {key: k, base_url: 'http://localhost:8080'}}"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.given.mustLoad(t).Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}
