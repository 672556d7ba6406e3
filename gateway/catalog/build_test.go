package catalog

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/gateway/secret"
	"warmpath/rewrite"
)

func TestEmbeddedData(t *testing.T) {
	s := Default()
	want := []string{
		"anthropic", "bedrock", "deepseek", "fireworks", "gemini", "groq", "llamacpp", "mistral", "moonshot",
		"ollama", "openai", "openrouter", "together", "vllm", "xai", "zai",
	}
	if diff := cmp.Diff(want, s.Providers()); diff != "" {
		t.Error(diff)
	}
	for _, name := range s.Providers() {
		p, ok := s.Provider(name)
		if !ok || p.Label == "" || p.Name != name {
			t.Errorf("%s: no label or another name: %+v", name, p)
		}
		if p.Bases[rewrite.Opaque] == nil {
			t.Errorf("%s: no address for unread traffic", name)
		}
	}
	for _, d := range rewrite.Dialects {
		if p := s.For(d); p == nil || !p.Speaks(d) {
			t.Errorf("%s: the default does not speak it", d)
		}
	}
	seen := map[string]bool{}
	for _, f := range s.families {
		if _, ok := s.Provider(f.Provider); !ok && f.Provider != "" {
			t.Errorf("family of unknown provider %s", f.Provider)
		}
		for _, start := range append(slices.Clone(f.Starts), f.Vendors...) {
			if start == "" || seen[start] {
				t.Errorf("start or vendor %q is empty or there twice", start)
			}
			seen[start] = true
		}
		for _, vendor := range f.Vendors {
			if _, ok := s.Provider(vendor); ok {
				t.Errorf("vendor %s is also a provider, whose prefix comes first", vendor)
			}
		}
		for _, m := range f.Models {
			if seen[m.ID] {
				t.Errorf("model %s is there twice", m.ID)
			}
			seen[m.ID] = true
			if p, _ := s.owner(m.ID); p == nil || p.Name != f.Provider {
				t.Errorf("model %s does not match its own family", m.ID)
			}
		}
	}
}

func TestFamilies(t *testing.T) {
	s := Default()
	for model, want := range map[string]string{
		"claude-opus-4-5-20251101": "anthropic",
		"claude-opus-99":           "anthropic",
		"gpt-6.2-sol":              "openai",
		"o1":                       "openai",
		"o3-mini":                  "openai",
		"o4-mini":                  "openai",
		"chatgpt-4o-latest":        "openai",
		"codex-mini-latest":        "openai",
		"text-embedding-3-small":   "openai",
		"gemini-4-argon":           "gemini",
		"gemma-3-27b-it":           "gemini",
		"grok-code-fast-1":         "xai",
		"deepseek-chat":            "deepseek",
		"mistral-large-latest":     "mistral",
		"magistral-medium-latest":  "mistral",
		"codestral-2508":           "mistral",
		"devstral-small":           "mistral",
		"ministral-8b":             "mistral",
		"pixtral-large-latest":     "mistral",
		"mistralai/mistral-small":  "mistral",
		"kimi-k3":                  "moonshot",
		"moonshot-v1-8k":           "moonshot",
		"moonshotai/kimi-k3":       "moonshot",
		"glm-5.3":                  "zai",
		"z-ai/glm-5.3":             "zai",
		"google/gemini-2.5-pro":    "gemini",
		"gpt-oss-120b":             "",
		"llama3:8b":                "",
		"gemma3:4b":                "",
		"Claude-opus-5":            "",
		"my-claude-opus":           "",
		"":                         "",
		"/":                        "",
	} {
		got := ""
		if p, _ := s.owner(model); p != nil {
			got = p.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", model, got, want)
		}
	}
}

func TestModels(t *testing.T) {
	s := build(t, Settings{
		Aliases: map[string]string{
			"fast": "openrouter/vendor/small", "plain": "unheard-of", "vendor": "x-ai/grok-9", "chained": "fast",
		},
		Models: []string{"gpt-7", "gpt-5"},
	})
	added := slices.DeleteFunc(slices.Clone(s.Models()), func(id string) bool {
		_, embedded := s.Model(id)
		return embedded
	})
	want := []string{"chained", "fast", "gpt-7", "grok-9", "plain", "unheard-of", "vendor", "vendor/small"}
	if diff := cmp.Diff(want, added); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSorted(s.Models()) || len(slices.Compact(slices.Clone(s.Models()))) != len(s.Models()) {
		t.Error("not in order, or with repetitions")
	}
	if m, ok := s.Model("claude-opus-4-8"); !ok || m.MinCacheTokens != 1024 {
		t.Errorf("claude-opus-4-8: %+v", m)
	}
}

func TestRowsMerge(t *testing.T) {
	key := secret.New("k")
	type view struct {
		Label    string
		Dialects []rewrite.Dialect
		Bases    map[rewrite.Dialect]string
		Style    KeyStyle
		Key      string
	}
	const local, other = "http://127.0.0.1:9000", "http://127.0.0.1:9001/v1"
	official := map[rewrite.Dialect]string{
		rewrite.Opaque: "https://api.deepseek.com", rewrite.Completions: "https://api.deepseek.com",
		rewrite.Messages: "https://api.deepseek.com/anthropic",
	}
	both := []rewrite.Dialect{rewrite.Messages, rewrite.Completions}
	for _, tc := range []struct {
		name     string
		provider string
		settings Settings
		want     view
	}{
		{
			"nothing", "deepseek", Settings{},
			view{"DeepSeek", both, official, KeyBearer, ""},
		},
		{
			"a key", "deepseek", Settings{Providers: map[string]Row{"deepseek": {Key: key}}},
			view{"DeepSeek", both, official, KeyBearer, "k"},
		},
		{
			"an address moves all dialects", "deepseek",
			Settings{Providers: map[string]Row{"deepseek": {BaseURL: local}}},
			view{"DeepSeek", both, map[rewrite.Dialect]string{
				rewrite.Opaque: local, rewrite.Completions: local, rewrite.Messages: local,
			}, KeyBearer, ""},
		},
		{
			"an address of one dialect", "deepseek",
			Settings{Providers: map[string]Row{"deepseek": {Bases: map[string]string{"chat": other}}}},
			view{"DeepSeek", both, map[rewrite.Dialect]string{
				rewrite.Opaque: "https://api.deepseek.com", rewrite.Completions: other,
				rewrite.Messages: "https://api.deepseek.com/anthropic",
			}, KeyBearer, ""},
		},
		{
			"fewer dialects", "deepseek",
			Settings{Providers: map[string]Row{"deepseek": {Dialects: []string{"chat"}}}},
			view{"DeepSeek", both[1:], map[rewrite.Dialect]string{
				rewrite.Opaque: "https://api.deepseek.com", rewrite.Completions: "https://api.deepseek.com",
			}, KeyBearer, ""},
		},
		{
			"an address from outside wins and changes nothing else", "deepseek",
			Settings{
				Providers: map[string]Row{"deepseek": {BaseURL: other, Bases: map[string]string{"chat": other}, Key: key, KeyStyle: "api-key"}},
				Addresses: map[string]string{"deepseek": local},
			},
			view{"DeepSeek", both, map[rewrite.Dialect]string{
				rewrite.Opaque: local, rewrite.Completions: local, rewrite.Messages: local,
			}, KeyAzure, "k"},
		},
		{
			"a new provider", "lab",
			Settings{Providers: map[string]Row{"lab": {BaseURL: local, Dialects: []string{"responses", "chat", "chat"}}}},
			view{"lab", []rewrite.Dialect{rewrite.Completions, rewrite.Responses}, map[rewrite.Dialect]string{
				rewrite.Opaque: local, rewrite.Completions: local, rewrite.Responses: local,
			}, KeyBearer, ""},
		},
		{
			"a new provider with addresses by dialect only", "lab",
			Settings{Providers: map[string]Row{"lab": {
				Dialects: []string{"messages", "chat"}, Bases: map[string]string{"chat": local, "messages": other},
			}}},
			view{"lab", both, map[rewrite.Dialect]string{
				rewrite.Opaque: other, rewrite.Completions: local, rewrite.Messages: other,
			}, KeyBearer, ""},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, _ := build(t, tc.settings).Provider(tc.provider)
			got := view{p.Label, p.Dialects, map[rewrite.Dialect]string{}, p.KeyStyle, p.Key.Reveal()}
			for d, base := range p.Bases {
				got.Bases[d] = base.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	row := func(r Row) Settings { return Settings{Providers: map[string]Row{"lab": r}} }
	ok := Row{BaseURL: "http://127.0.0.1:1", Dialects: []string{"chat"}}
	with := func(change func(*Row)) Settings {
		r := ok
		change(&r)
		return row(r)
	}
	for _, tc := range []struct {
		name     string
		settings Settings
		want     []string
	}{
		{"name of a provider", Settings{Providers: map[string]Row{"La b": ok}}, []string{
			"providers.La b is not a name for a provider; use lower-case letters, digits, - and _",
		}},
		{"name that metrics keep", Settings{Providers: map[string]Row{"other": ok}}, []string{
			"providers.other is not a name for a provider; use lower-case letters, digits, - and _",
		}},
		{"new provider without anything", row(Row{}), []string{
			"providers.lab.dialects is needed for a new provider; list what it speaks: messages, chat, responses, gemini, converse",
		}},
		{"new provider without an address", row(Row{Dialects: []string{"chat"}}), []string{
			"providers.lab.base_url is needed, because chat has no address in bases",
		}},
		{"unknown dialects", with(func(r *Row) { r.Dialects = []string{"chat", "opaque", "x"} }), []string{
			`providers.lab.dialects has an unknown dialect "opaque"; write messages, chat, responses, gemini or converse`,
			`providers.lab.dialects has an unknown dialect "x"; write messages, chat, responses, gemini or converse`,
		}},
		{"address", with(func(r *Row) { r.BaseURL = "x" }), []string{
			"providers.lab.base_url must begin with https:// or http://",
		}},
		{"addresses by dialect", with(func(r *Row) {
			r.Bases = map[string]string{"chat": "x", "gemini": "http://127.0.0.1:1", "y": "http://127.0.0.1:1"}
		}), []string{
			"providers.lab.bases.chat must begin with https:// or http://",
			"providers.lab.bases.gemini is an address for a dialect that dialects does not list; add it there",
			"providers.lab.bases.y is not a dialect; write messages, chat, responses, gemini, converse or opaque",
		}},
		{"key style", with(func(r *Row) { r.KeyStyle = "basic" }), []string{
			"providers.lab.key_style is not a key style; write none, bearer, x-api-key, x-goog-api-key, api-key or sigv4",
		}},
		{"key that is never sent", Settings{Providers: map[string]Row{"ollama": {Key: secret.New("k")}}}, []string{
			"providers.ollama.key is set, but the key style is none, so it would never be sent; set key_style too, for example bearer",
		}},
		{"address of an unknown provider", Settings{Addresses: map[string]string{"lab": "http://x"}}, []string{
			"upstream.lab is not a provider; name one of anthropic, bedrock, deepseek, fireworks, gemini, groq, llamacpp, mistral, " +
				"moonshot, ollama, openai, openrouter, together, vllm, xai, zai",
		}},
		{"address from outside", Settings{Addresses: map[string]string{"openai": "http://u:p@x"}}, []string{
			"upstream.openai must not hold a user name or password; put the credential into key",
		}},
		{"aliases", Settings{Aliases: map[string]string{
			"": "x", "self": "self", "a": "b", "b": "a", "one": "two", "two": "three", "three": "four", "empty": "", "bare": "openai/",
		}}, []string{
			"aliases has an empty name; give the alias a name",
			"aliases.a leads back to an alias that it came from; name a model",
			"aliases.b leads back to an alias that it came from; name a model",
			"aliases.bare names no model; write model or provider/model",
			"aliases.empty names no model; write model or provider/model",
			`aliases.one is an alias of an alias of an alias; name "four" at once`,
			"aliases.self leads back to an alias that it came from; name a model",
		}},
		{"fallbacks", Settings{
			Aliases: map[string]string{"best": "claude-opus-5", "fast": "gpt-5", "more": "m", "twice": "a"},
			Fallbacks: map[string][]string{
				"best": {"openai/", "fast", "gpt-5", "more"}, "more": {"n"}, "twice": {"a"},
			},
		}, []string{
			`aliases.best lists "openai/", which names no model; write model or provider/model`,
			`aliases.best lists "gpt-5" twice; name each model once`,
			`aliases.best lists "more", which is an alias of more than a model; name models`,
			`aliases.twice lists "a" twice; name each model once`,
		}},
		{"loop of three", Settings{Aliases: map[string]string{"a": "b", "b": "c", "c": "a"}}, []string{
			"aliases.a leads back to an alias that it came from; name a model",
			"aliases.b leads back to an alias that it came from; name a model",
			"aliases.c leads back to an alias that it came from; name a model",
		}},
		{"defaults", Settings{Defaults: map[string]string{"chat": "anthropic", "messages": "nobody", "soap": "openai", "converse": "openai"}}, []string{
			"defaults.chat names anthropic, which does not speak chat but messages",
			"defaults.converse is not a dialect of clients; write opaque, messages, chat, responses or gemini",
			`defaults.messages names an unknown provider "nobody"; name one of anthropic, bedrock, deepseek, fireworks, gemini, groq, ` +
				"llamacpp, mistral, moonshot, ollama, openai, openrouter, together, vllm, xai, zai",
			"defaults.soap is not a dialect of clients; write opaque, messages, chat, responses or gemini",
		}},
		{"a default that lost its dialect", Settings{Providers: map[string]Row{"openai": {Dialects: []string{"chat"}}}}, []string{
			"defaults.responses is needed: openai no longer speaks responses",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, problems := Build(tc.settings)
			if s != nil {
				t.Error("got a snapshot besides the problems")
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
