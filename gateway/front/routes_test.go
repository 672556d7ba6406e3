package front

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/relay"
	"warmpath/rewrite"
)

func TestFind(t *testing.T) {
	type want struct {
		Dialect   rewrite.Dialect
		Operation relay.Operation
		Provider  string
		Path      string
		Model     string
		Found     bool
	}
	tests := []struct {
		name string
		path string
		get  bool
		who  caller
		want want
	}{
		{name: "messages", path: "/v1/messages", want: want{rewrite.Messages, relay.OpGenerate, "", "/v1/messages", "", true}},
		{name: "count tokens", path: "/v1/messages/count_tokens", want: want{rewrite.Messages, relay.OpCountTokens, "", "/v1/messages/count_tokens", "", true}},
		{name: "batches", path: "/v1/messages/batches", want: want{rewrite.Messages, relay.OpOther, "", "/v1/messages/batches", "", true}},
		{name: "batch results", path: "/v1/messages/batches/b_1/results", get: true, want: want{rewrite.Messages, relay.OpOther, "", "/v1/messages/batches/b_1/results", "", true}},
		{name: "chat", path: "/v1/chat/completions", want: want{rewrite.Completions, relay.OpGenerate, "", "/v1/chat/completions", "", true}},
		{name: "stored chat", path: "/v1/chat/completions/c_1", get: true, want: want{rewrite.Completions, relay.OpOther, "", "/v1/chat/completions/c_1", "", true}},
		{name: "responses", path: "/v1/responses", want: want{rewrite.Responses, relay.OpGenerate, "", "/v1/responses", "", true}},
		{name: "stored response", path: "/v1/responses/resp_1", get: true, want: want{rewrite.Responses, relay.OpOther, "", "/v1/responses/resp_1", "", true}},
		{name: "list is not generate", path: "/v1/responses", get: true, want: want{rewrite.Responses, relay.OpOther, "", "/v1/responses", "", true}},
		{name: "compact", path: "/v1/responses/compact", want: want{rewrite.Responses, relay.OpCompact, "", "/v1/responses/compact", "", true}},
		{name: "embeddings", path: "/v1/embeddings", want: want{rewrite.Completions, relay.OpEmbed, "", "/v1/embeddings", "", true}},
		{name: "models for openai", path: "/v1/models", get: true, want: want{rewrite.Completions, relay.OpOther, "", "/v1/models", "", true}},
		{name: "models for anthropic", path: "/v1/models", get: true, who: caller{anthropic: true}, want: want{rewrite.Messages, relay.OpOther, "", "/v1/models", "", true}},
		{name: "model for gemini", path: "/v1/models/gemini-3", get: true, who: caller{gemini: true}, want: want{rewrite.Gemini, relay.OpOther, "", "/v1/models/gemini-3", "", true}},
		{name: "gemini", path: "/v1beta/models/gemini-3-pro:generateContent", want: want{rewrite.Gemini, relay.OpGenerate, "", "/v1beta/models/gemini-3-pro:generateContent", "gemini-3-pro", true}},
		{name: "gemini stream", path: "/v1beta/models/gemini-3-pro:streamGenerateContent", want: want{rewrite.Gemini, relay.OpGenerate, "", "/v1beta/models/gemini-3-pro:streamGenerateContent", "gemini-3-pro", true}},
		{name: "gemini under v1", path: "/v1/models/gemini-3-pro:countTokens", want: want{rewrite.Gemini, relay.OpCountTokens, "", "/v1/models/gemini-3-pro:countTokens", "gemini-3-pro", true}},
		{name: "gemini model with colon and slash", path: "/v1beta/models/openrouter/x:free:generateContent", want: want{rewrite.Gemini, relay.OpGenerate, "", "/v1beta/models/openrouter/x:free:generateContent", "openrouter/x:free", true}},
		{name: "gemini model outside the collection", path: "/v1beta/openai/gpt-5.5:streamGenerateContent", want: want{rewrite.Gemini, relay.OpGenerate, "", "/v1beta/models/openai/gpt-5.5:streamGenerateContent", "openai/gpt-5.5", true}},
		{name: "gemini model outside, named provider", path: "/p/g/v1beta/lab/m:generateContent", want: want{rewrite.Gemini, relay.OpGenerate, "g", "/v1beta/models/lab/m:generateContent", "lab/m", true}},
		{name: "gemini tuned model", path: "/v1beta/tunedModels/m:generateContent", want: want{rewrite.Gemini, relay.OpOther, "", "/v1beta/tunedModels/m:generateContent", "", true}},
		{name: "gemini collection of tomorrow", path: "/v1beta/dreams/d:dreamContent", want: want{rewrite.Gemini, relay.OpOther, "", "/v1beta/dreams/d:dreamContent", "", true}},
		{name: "gemini method of tomorrow", path: "/v1beta/models/gemini-3-pro:dreamContent", want: want{rewrite.Gemini, relay.OpOther, "", "/v1beta/models/gemini-3-pro:dreamContent", "gemini-3-pro", true}},
		{name: "gemini files", path: "/v1beta/files/f1", get: true, want: want{rewrite.Gemini, relay.OpOther, "", "/v1beta/files/f1", "", true}},
		{name: "explicit prefix", path: "/anthropic/v1/messages", want: want{rewrite.Messages, relay.OpGenerate, "anthropic", "/v1/messages", "", true}},
		{name: "explicit prefix, unknown path", path: "/anthropic/v2/anything", want: want{rewrite.Opaque, relay.OpOther, "anthropic", "/v2/anything", "", true}},
		{name: "explicit prefix alone", path: "/openai", get: true, want: want{rewrite.Opaque, relay.OpOther, "openai", "/", "", true}},
		{name: "explicit prefix without version", path: "/openai/chat/completions", want: want{rewrite.Completions, relay.OpGenerate, "openai", "/chat/completions", "", true}},
		{name: "named provider", path: "/p/groq/v1/chat/completions", want: want{rewrite.Completions, relay.OpGenerate, "groq", "/v1/chat/completions", "", true}},
		{name: "named provider, gemini", path: "/p/g/v1beta/models/m:generateContent", want: want{rewrite.Gemini, relay.OpGenerate, "g", "/v1beta/models/m:generateContent", "m", true}},
		{name: "without version and prefix", path: "/chat/completions", want: want{rewrite.Completions, relay.OpGenerate, "", "/chat/completions", "", true}},
		{name: "stored response without version", path: "/responses/resp_1", get: true, want: want{rewrite.Responses, relay.OpOther, "", "/responses/resp_1", "", true}},
		{name: "models without version", path: "/models", get: true, want: want{rewrite.Completions, relay.OpOther, "", "/models", "", true}},
		{name: "unknown", path: "/v1/unknown", want: want{rewrite.Opaque, relay.OpOther, "", "/v1/unknown", "", false}},
		{name: "prefix of a prefix", path: "/anthropicx/v1/messages", want: want{rewrite.Opaque, relay.OpOther, "", "/anthropicx/v1/messages", "", false}},
		{name: "no provider name", path: "/p//v1/messages", want: want{rewrite.Messages, relay.OpGenerate, "v1", "/messages", "", true}},
		{name: "no provider name and no more", path: "/p//", want: want{rewrite.Opaque, relay.OpOther, "", "/p//", "", false}},
		{name: "a slash at the end", path: "/v1/messages/", want: want{rewrite.Messages, relay.OpGenerate, "", "/v1/messages/", "", true}},
		{name: "a letter in an escape", path: "/v1/%6dessages", want: want{rewrite.Messages, relay.OpGenerate, "", "/v1/%6dessages", "", true}},
		{name: "doubled slashes", path: "//v1//chat///completions//", want: want{rewrite.Completions, relay.OpGenerate, "", "//v1//chat///completions//", "", true}},
		{name: "a slash in an escape", path: "/v1%2Fresponses", want: want{rewrite.Responses, relay.OpGenerate, "", "/v1%2Fresponses", "", true}},
		{name: "another spelling beneath a prefix", path: "/anthropic//v1/m%65ssages/", want: want{rewrite.Messages, relay.OpGenerate, "anthropic", "//v1/m%65ssages/", "", true}},
		{name: "another spelling of a prefix", path: "//%6fpenai/v1/responses/", want: want{rewrite.Responses, relay.OpGenerate, "openai", "/v1/responses/", "", true}},
		{name: "a prefix with a slash", path: "/openai/", get: true, want: want{rewrite.Opaque, relay.OpOther, "openai", "/", "", true}},
		{name: "a named provider with more slashes", path: "/p/groq//v1/chat/completions", want: want{rewrite.Completions, relay.OpGenerate, "groq", "//v1/chat/completions", "", true}},
		{name: "gemini in escapes", path: "/v1beta/models//gemini%2D3-pro%3Agenerate%43ontent", want: want{rewrite.Gemini, relay.OpGenerate, "", "/v1beta/models//gemini%2D3-pro%3Agenerate%43ontent", "gemini-3-pro", true}},
		{name: "gemini model with an escaped slash", path: "/gemini/v1beta/models/openai%2Fgpt:generateContent", want: want{rewrite.Gemini, relay.OpGenerate, "gemini", "/v1beta/models/openai%2Fgpt:generateContent", "openai/gpt", true}},
		{name: "an escape in what is read by nobody", path: "/v1/responses/resp%5F1/", get: true, want: want{rewrite.Responses, relay.OpOther, "", "/v1/responses/resp%5F1/", "", true}},
		{name: "a conversation", path: "/openai/v1/conversations", want: want{rewrite.Responses, relay.OpOther, "openai", "/v1/conversations", "", true}},
		{name: "items of a conversation", path: "/conversations/conv_1/items", want: want{rewrite.Responses, relay.OpOther, "", "/conversations/conv_1/items", "", true}},
		{name: "messages with more", path: "/v1/messagesx", want: want{rewrite.Opaque, relay.OpOther, "", "/v1/messagesx", "", false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := find([]byte(test.path), !test.get, test.who)
			got := want{r.dialect, r.operation, r.provider, string(r.path), r.model, r.found}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			span := r.modelSpan
			if held, ok := spell(r.path[span.Start:span.End]); !ok || string(held.read) != r.model {
				t.Errorf("the model's span holds %q", r.path[span.Start:span.End])
			}
		})
	}
}

// What a provider takes for an operation is looked through, however it is spelled; or
// it is refused, where only some would.
func TestSpellingsDoNotGoRoundTheFilter(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/messages": "looked", "/v1/messages/": "looked", "/v1/%6Dess%61ges": "looked", "/v1//messages": "looked", "/%76%31/messages": "looked",
		"/anthropic/v1/messages//": "looked", "/%61nthropic/v1/messages": "looked", "/p/x/v1%2fmessages": "looked",
		"/v1/messages/batches/": "looked", "/v1/messages/b%61tches": "looked", "/messages/batches": "looked",
		"/openai/v1/conversations": "looked", "/openai/v1/conversations/": "looked", "/openai/v1/conversations/conv_1/items": "looked",
		"/openai/conversations/conv_1//items/": "looked", "/openai/v1/conversations/conv_1/%69tems": "looked",
		"/v1beta/cachedContents": "looked", "/gemini/v1/cachedContents/": "looked", "/v1beta/cached%43ontents": "looked",
		"/v1beta/models/m:batchGenerateContent": "looked", "/v1beta/models/m%3AbatchGenerateContent": "looked",
		"/v1beta/tunedModels/m:generateContent": "looked", "/p/g/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent": "looked",
		"/v1beta/dynamic/m:streamGenerateContent/": "looked",

		"/v1/%256dessages": "unknown", "/v1/messages/%2562atches": "refused", "/anthropic/v1/%25256dessages": "refused", "/anthropic/v1/Messages": "refused", "/anthropic/V1/messages": "refused",
		"/anthropic/v1/messages;a=b": "refused", "/anthropic;a/v1/messages": "unknown", "/anthropic/v1/messages%20": "refused", "/anthropic/v1/messages%00": "refused",
		"/anthropic/v1%5cmessages": "refused", "/openai/v1/Conversations": "refused", "/v1beta/models/m:generatecontent": "looked",
		"/v1beta/models/m:generateConten%2574": "refused", "/v1/mess%zzges": "refused", "/openai/v1/x%": "refused", "/openai/%6": "refused",

		"/openai/v1/files": "forwarded", "/openai/v1/threads/Thread_1/messages": "forwarded", "/openai/v1/conversations/conv_1": "forwarded",
		"/anthropic/v1/messages/batches/b_1/cancel": "forwarded", "/v1beta/models/m:embedContent": "forwarded", "/openai/v1/files/a%2520b": "forwarded",
	} {
		t.Run(path, func(t *testing.T) {
			r := find([]byte(path), true, caller{})
			got := "forwarded"
			switch {
			case r.failure != nil:
				got = "refused"
			case !r.found:
				got = "unknown"
			case r.looked():
				got = "looked"
			}
			if got != want {
				t.Errorf("it is %s, want %s", got, want)
			}
		})
	}
}

// FuzzFind reads any path: what is forwarded is an end of it, and what a plain server
// would take for an operation is looked through.
func FuzzFind(f *testing.F) {
	for _, path := range []string{"/v1/messages", "/anthropic//v1/m%65ssages/", "/p/g/v1beta/models/a%2Fb:generateContent", "/v1beta/lab/m:generateContent", "//", "/%2f/"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if path == "" || path[0] != '/' {
			return
		}
		r := find([]byte(path), true, caller{})
		if r.failure != nil || !r.found {
			return
		}
		if !strings.HasSuffix(path, string(r.path)) && string(r.path) != "/" && !strings.HasPrefix(string(r.path), "/v1beta/models/") {
			t.Errorf("%q is forwarded as %q", path, r.path)
		}
		if span := r.modelSpan; span.Start < 0 || span.End > len(r.path) || span.Start > span.End {
			t.Errorf("the model of %q stands at %v of %q", path, span, r.path)
		}
		plain, err := url.PathUnescape(path)
		if err != nil || r.looked() {
			return
		}
		for _, operation := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/messages/batches"} {
			if plain == operation || plain == "/anthropic"+operation || plain == "/p/x"+operation {
				t.Errorf("%q is not looked through", path)
			}
		}
	})
}

func TestDotted(t *testing.T) {
	for target, want := range map[string]bool{
		"/v1/messages":        false,
		"/v1/models/a.b..c":   false,
		"/v1/../admin":        true,
		"/v1/%2e%2E/admin":    true,
		"/v1/.%2e/admin":      true,
		"/v1/./messages":      true,
		"/v1/messages?a=/../": false,
		"/..":                 true,
		"/v1/a%2Fb":           false,
		"/v1/a%2F..%2Fb":      true,
		"/v1/%2e%2e%5Cb":      true,
		"/v1/a..%2Fb":         false,
	} {
		if got := dotted([]byte(target)); got != want {
			t.Errorf("dotted(%q) = %v, want %v", target, got, want)
		}
	}
}

func TestSlabClasses(t *testing.T) {
	last := -1
	for n := 1; n <= maxKeptSlab; n += 1 + n/37 {
		class, size := slabClass(n)
		if size < n || (n > 1<<minSlabBits && size-n > n/8+1) {
			t.Fatalf("a slab for %d bytes has %d", n, size)
		}
		if again, same := slabClass(size); again != class || same != size {
			t.Fatalf("the slab of %d bytes goes back to class %d of %d bytes, not %d", size, again, same, class)
		}
		if class < last || class >= len(new(slabs).classes) {
			t.Fatalf("class %d for %d bytes after class %d", class, n, last)
		}
		last = class
	}
}
