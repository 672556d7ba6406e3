package catalog

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/secret"
	"warmpath/rewrite"
)

func build(t testing.TB, settings Settings) *Snapshot {
	t.Helper()
	s, problems := Build(settings)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	return s
}

func TestResolve(t *testing.T) {
	plain := Default()
	configured := build(t, Settings{
		Providers: map[string]Row{
			"lab": {BaseURL: "http://127.0.0.1:9000/v1", Dialects: []string{"chat"}},
		},
		Aliases: map[string]string{
			"fast":                   "claude-haiku-5-5",
			"cheap":                  "deepseek/deepseek-chat",
			"best":                   "fast",
			"anthropic/claude-opus":  "openrouter/anthropic/claude-opus-5",
			"gpt-5":                  "openai/gpt-5",
			"local":                  "lab/qwen:7b",
			"claude-sonnet-4-5-mini": "zai/glm-5",
		},
		Defaults: map[string]string{"chat": "lab", "messages": "zai"},
	})
	type want struct {
		provider, model, base string
		renamed               bool
	}
	const (
		messages, chat, responses = rewrite.Messages, rewrite.Completions, rewrite.Responses
		openai                    = "https://api.openai.com/v1"
		anthropic                 = "https://api.anthropic.com"
		google                    = "https://generativelanguage.googleapis.com"
	)
	for _, tc := range []struct {
		name    string
		s       *Snapshot
		dialect rewrite.Dialect
		model   string
		want    want
	}{
		{"default of messages", plain, messages, "something", want{"anthropic", "something", anthropic, false}},
		{"default of chat", plain, chat, "something", want{"openai", "something", openai, false}},
		{"default of responses", plain, responses, "", want{"openai", "", openai, false}},
		{"default of gemini", plain, rewrite.Gemini, "tuned", want{"gemini", "tuned", google, false}},
		{"default of unread traffic", plain, rewrite.Opaque, "", want{"openai", "", openai, false}},
		{"default from configuration", configured, chat, "qwen", want{"lab", "qwen", "http://127.0.0.1:9000/v1", false}},

		{"family of the dialect's default", plain, messages, "claude-opus-5", want{"anthropic", "claude-opus-5", anthropic, false}},
		{"family of another provider", plain, chat, "grok-4", want{"xai", "grok-4", "https://api.x.ai/v1", false}},
		{"family with an address of its dialect", plain, messages, "glm-5", want{"zai", "glm-5", "https://api.z.ai/api/anthropic", false}},
		{"family before configured default", configured, messages, "claude-opus-5", want{"anthropic", "claude-opus-5", anthropic, false}},
		{"family whose provider does not speak the dialect", plain, chat, "claude-opus-5", want{"openai", "claude-opus-5", openai, false}},
		{"family with a vendor in front", plain, chat, "x-ai/grok-4", want{"xai", "grok-4", "https://api.x.ai/v1", true}},
		{"vendor of another family", plain, chat, "x-ai/kimi-k2", want{"openai", "x-ai/kimi-k2", openai, false}},
		{"vendor whose provider does not speak the dialect", plain, chat, "google/gemini-2.5-pro", want{"openai", "google/gemini-2.5-pro", openai, false}},
		{"open weights of a vendor", plain, chat, "deepseek-ai/DeepSeek-V3", want{"openai", "deepseek-ai/DeepSeek-V3", openai, false}},
		{"open weights served by many", configured, chat, "gpt-oss-120b", want{"lab", "gpt-oss-120b", "http://127.0.0.1:9000/v1", false}},
		{"name with a tag", configured, chat, "deepseek-r1:7b", want{"lab", "deepseek-r1:7b", "http://127.0.0.1:9000/v1", false}},
		{"fine-tuned name", configured, chat, "ft:gpt-4.1:org::id", want{"openai", "ft:gpt-4.1:org::id", openai, false}},
		{"unread traffic by family", plain, rewrite.Opaque, "claude-opus-5", want{"anthropic", "claude-opus-5", anthropic, false}},

		{"prefix", plain, messages, "anthropic/claude-opus-5", want{"anthropic", "claude-opus-5", anthropic, true}},
		{"prefix before family", plain, messages, "openrouter/anthropic/claude-opus-5", want{"openrouter", "anthropic/claude-opus-5", "https://openrouter.ai/api/v1", true}},
		{"prefix of a local server", plain, chat, "ollama/gpt-oss:20b", want{"ollama", "gpt-oss:20b", "http://127.0.0.1:11434/v1", true}},
		{"prefix of unread traffic", plain, rewrite.Opaque, "ollama/x", want{"ollama", "x", "http://127.0.0.1:11434", true}},
		{"prefix without a model", plain, chat, "anthropic/", want{"openai", "anthropic/", openai, false}},
		{"prefix that names no provider", plain, chat, "accounts/fireworks/models/x", want{"openai", "accounts/fireworks/models/x", openai, false}},

		{"alias of a model", configured, messages, "fast", want{"anthropic", "claude-haiku-5-5", anthropic, true}},
		{"alias of a provider and model", configured, messages, "cheap", want{"deepseek", "deepseek-chat", "https://api.deepseek.com/anthropic", true}},
		{"alias of an alias", configured, messages, "best", want{"anthropic", "claude-haiku-5-5", anthropic, true}},
		{"alias before prefix", configured, chat, "anthropic/claude-opus", want{"openrouter", "anthropic/claude-opus-5", "https://openrouter.ai/api/v1", true}},
		{"alias before family", configured, messages, "claude-sonnet-4-5-mini", want{"zai", "glm-5", "https://api.z.ai/api/anthropic", true}},
		{"alias that keeps the name", configured, chat, "gpt-5", want{"openai", "gpt-5", openai, false}},
		{"alias of a configured provider", configured, chat, "local", want{"lab", "qwen:7b", "http://127.0.0.1:9000/v1", true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			target, err := tc.s.Resolve(tc.dialect, tc.model, false)
			if err != nil {
				t.Fatal(err)
			}
			got := want{target.Provider.Name, target.Model, target.Base.String(), target.Renamed}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolveRefusesUnspoken(t *testing.T) {
	s := build(t, Settings{Aliases: map[string]string{"fast": "groq/llama"}})
	for _, tc := range []struct {
		name    string
		dialect rewrite.Dialect
		model   string
		want    string
	}{
		{
			"prefix", rewrite.Messages, "openai/gpt-5",
			`model "openai/gpt-5" names provider openai, which does not speak messages but chat, responses, and this kind of request is not translated; ` +
				`send it in one of these dialects, or name a provider that speaks messages ` +
				`(anthropic, deepseek, fireworks, llamacpp, moonshot, ollama, openrouter, vllm, zai)`,
		},
		{
			"alias", rewrite.Gemini, "fast",
			`model "fast" (an alias of "groq/llama") names provider groq, which does not speak gemini but chat, responses, and this kind of request is not translated; ` +
				`send it in one of these dialects, or name a provider that speaks gemini (gemini)`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := s.Resolve(tc.dialect, tc.model, false)
			var failure *rewrite.Failure
			if !errors.As(err, &failure) || failure.Reason != rewrite.ReasonBadRequest {
				t.Fatalf("got %v, want a failure for a bad request", err)
			}
			if diff := cmp.Diff(tc.want, failure.Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A request that can be translated goes wherever its model leads, but not with a
// credential that was meant for somebody else.
func TestResolveTranslates(t *testing.T) {
	keyed := build(t, Settings{
		Providers: map[string]Row{"openai": {Key: secret.New("sk-1")}, "lab": {BaseURL: "http://127.0.0.1:9000/v1", Dialects: []string{"chat"}, KeyStyle: "none"}},
		Aliases:   map[string]string{"fast": "gemini-2.5-flash"},
	})
	plain := Default()
	type want struct {
		Provider, Model string
		Dialect         rewrite.Dialect
		Withheld        string
	}
	for _, tc := range []struct {
		name    string
		s       *Snapshot
		dialect rewrite.Dialect
		model   string
		want    want
	}{
		{"provider that is named", plain, rewrite.Messages, "openai/gpt-5", want{"openai", "gpt-5", rewrite.Responses, ""}},
		{"another way round", plain, rewrite.Responses, "anthropic/claude-opus-5", want{"anthropic", "claude-opus-5", rewrite.Messages, ""}},
		{"first of its dialects", plain, rewrite.Gemini, "zai/glm-5", want{"zai", "glm-5", rewrite.Completions, ""}},
		{"dialect that it speaks", plain, rewrite.Messages, "zai/glm-5", want{"zai", "glm-5", rewrite.Messages, ""}},
		{"alias", keyed, rewrite.Messages, "fast", want{"gemini", "gemini-2.5-flash", rewrite.Gemini, ""}},
		{"server without a key", keyed, rewrite.Messages, "lab/qwen", want{"lab", "qwen", rewrite.Completions, ""}},
		{"family with a key", keyed, rewrite.Messages, "gpt-5", want{"openai", "gpt-5", rewrite.Responses, ""}},
		{"family without one", plain, rewrite.Messages, "gpt-5", want{"anthropic", "gpt-5", rewrite.Messages, "openai"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			target, err := tc.s.Resolve(tc.dialect, tc.model, true)
			if err != nil {
				t.Fatal(err)
			}
			got := want{target.Provider.Name, target.Model, target.Dialect, target.Withheld}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if target.Base != target.Provider.Bases[tc.want.Dialect] {
				t.Errorf("the address is %v", target.Base)
			}
		})
	}
}

// Behind the first target of an alias stand those that the request can be sent to.
func TestFurther(t *testing.T) {
	key := Row{Key: secret.New("k")}
	s := build(t, Settings{
		Providers: map[string]Row{"openai": key, "zai": key, "groq": key},
		Aliases:   map[string]string{"best": "claude-opus-5", "fast": "groq/llama", "keys": "claude-opus-5"},
		Fallbacks: map[string][]string{"best": {"openai/gpt-5", "zai/glm-5", "fast"}, "keys": {"xai/grok-4", "claude-opus-4-8", "ollama/x", "zai/glm-5"}},
	})
	for _, tc := range []struct {
		name         string
		model        string
		translatable bool
		want         []string
	}{
		{"translatable", "best", true, []string{"openai/gpt-5 responses", "zai/glm-5 messages", "groq/llama chat"}},
		{"not translatable", "best", false, []string{"zai/glm-5 messages"}},
		{"the client's key is not for them", "keys", true, []string{"anthropic/claude-opus-4-8 messages", "ollama/x messages", "zai/glm-5 messages"}},
		{"single", "fast", true, nil},
		{"none", "claude-opus-5", true, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, target := range s.Further(rewrite.Messages, tc.model, tc.translatable) {
				got = append(got, target.Provider.Name+"/"+target.Model+" "+target.Dialect.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolveBoundsItsMessage(t *testing.T) {
	_, err := Default().Resolve(rewrite.Messages, "openai/"+strings.Repeat("x", 1<<20), false)
	if err == nil || len(err.Error()) > 1000 {
		t.Errorf("want a short error, got %d bytes", len(err.Error()))
	}
}

// Every request resolves, so it must cost nothing beyond the lookups.
func TestResolveDoesNotAllocate(t *testing.T) {
	s := build(t, Settings{Aliases: map[string]string{"fast": "anthropic/claude-haiku-5-5"}})
	for _, model := range []string{"fast", "claude-opus-5", "anthropic/claude-opus-5", "unheard-of"} {
		if n := testing.AllocsPerRun(100, func() { _, _ = s.Resolve(rewrite.Messages, model, true) }); n != 0 {
			t.Errorf("%s: %v allocations", model, n)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	s := Default()
	for b.Loop() {
		_, _ = s.Resolve(rewrite.Completions, "zai-org/glm-5", true)
	}
}
