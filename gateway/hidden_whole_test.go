package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/gateway"
	"warmpath/rewrite"
)

// answerOf posts a body and gives what its client gets.
func answerOf(t *testing.T, base, path, body string) (status int, reply string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-client")
	req.Header.Set("X-Goog-Api-Key", "sk-client")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// What a reply that is put together anew does not say goes out as it came, on routes
// with tools too, and so does what may have none.
func TestRequestsBeyondTools(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	const chat, replies, one = "/v1/chat/completions", "/v1/responses", `{"contents":[{"role":"user","parts":[{"text":"DO[say hi]"}]}],`
	gemini := "/v1beta/models/" + strings.ReplaceAll(models[rewrite.Gemini], "/", "%2F") + ":generateContent"
	asks := func(members string) string {
		return `{"model":"` + models[rewrite.Completions] + `","messages":[{"role":"user","content":"DO[say hi]"}]` + members + `}`
	}
	for name, tc := range map[string]struct {
		path, body string
		// want is in the reply; offered says that tools are.
		want    string
		offered bool
	}{
		"nothing":                 {chat, asks(""), `"content":"hi"`, true},
		"one answer":              {chat, asks(`,"n":1`), `"content":"hi"`, true},
		"two answers":             {chat, asks(`,"n":2`), `"index":1`, false},
		"likelihoods":             {chat, asks(`,"logprobs":true,"top_logprobs":2`), `"hi"`, false},
		"functions of old":        {chat, asks(`,"functions":[{"name":"f","parameters":{"type":"object","properties":{}}}]`), `"hi"`, false},
		"likelihoods of a reply":  {replies, `{"model":"` + models[rewrite.Responses] + `","input":"DO[say hi]","include":["message.output_text.logprobs"]}`, `"hi"`, false},
		"a reply":                 {replies, `{"model":"` + models[rewrite.Responses] + `","input":"DO[say hi]"}`, `"hi"`, true},
		"two candidates":          {gemini, one + `"generationConfig":{"candidateCount":2}}`, `"hi"`, false},
		"two candidates, written": {gemini, one + `"generation_config":{"candidate_count":2}}`, `"hi"`, false},
		"what is cached":          {gemini, one + `"cachedContent":"cachedContents/none"}`, `CachedContent not found`, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, reply := answerOf(t, base, tc.path, tc.body)
			if !strings.Contains(reply, tc.want) {
				t.Errorf("the client gets %s", reply)
			}
			sent := lastRecord(core).Body
			if got := strings.Contains(sent, "tell_user"); got != tc.offered {
				t.Errorf("sent is %s", sent)
			}
			model := gjson.Get(tc.body, "model").Str
			if plain := strings.Replace(tc.body, `"`+model+`"`, `"`+gjson.Get(sent, "model").Str+`"`, 1); !tc.offered && sent != plain {
				t.Error(cmp.Diff(plain, sent))
			}
		})
	}
}

// OpenAI takes 128 tools: who has them all gets none beside.
func TestNoToolTooMany(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	for own, want := range map[int]int{126: 127, 127: 128, 128: 128} {
		for _, to := range []rewrite.Dialect{rewrite.Completions, rewrite.Responses, rewrite.Messages} {
			c := says("hi")
			c.Dialect, c.Model = rewrite.Completions, models[to]
			for i := range own {
				c.Tools = append(c.Tools, rewrite.Tool{Name: fmt.Sprintf("t%d", i), Schema: rewrite.JSON(`{"type":"object"}`)})
			}
			client := speakers[c.Dialect]
			client.send(t, base, c)
			if to == rewrite.Messages {
				want = own + 1
			}
			if got := len(declared(lastRecord(core).Body)); got != want {
				t.Errorf("%d tools become %d for %s, want %d", own, got, to, want)
			}
		}
	}
}

// A request that is written anew for its own dialect goes where its client has sent it.
func TestQueriesStay(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	chat := `{"model":"` + models[rewrite.Completions] + `","messages":[{"role":"user","content":"DO[say hi]"}]}`
	gemini, model := `{"contents":[{"role":"user","parts":[{"text":"DO[say hi]"}]}]}`, strings.ReplaceAll(models[rewrite.Gemini], "/", "%2F")
	there := "/models/" + models[rewrite.Gemini][strings.Index(models[rewrite.Gemini], "/")+1:]
	for name, tc := range map[string]struct{ path, body, want string }{
		"a version":        {"/v1/chat/completions?api-version=2024-10-21", chat, "/v1/chat/completions?api-version=2024-10-21"},
		"another version":  {"/v1/models/" + model + ":generateContent", gemini, "/v1" + there + ":generateContent"},
		"fields":           {"/v1beta/models/" + model + ":generateContent?fields=candidates", gemini, "/v1beta" + there + ":generateContent?fields=candidates"},
		"a stream":         {"/v1beta/models/" + model + ":streamGenerateContent?alt=sse&x=1", gemini, "/v1beta" + there + ":streamGenerateContent?alt=sse&x=1"},
		"an array":         {"/v1beta/models/" + model + ":streamGenerateContent", gemini, "/v1beta" + there + ":streamGenerateContent?alt=sse"},
		"an array, fields": {"/v1beta/models/" + model + ":streamGenerateContent?alt=json&x=1", gemini, "/v1beta" + there + ":streamGenerateContent?alt=sse&x=1"},
		"a count":          {"/v1beta/models/" + model + ":countTokens?x=1", gemini, "/v1beta" + there + ":countTokens?x=1"},
	} {
		t.Run(name, func(t *testing.T) {
			if status, reply := answerOf(t, base, tc.path, tc.body); status != http.StatusOK {
				t.Fatalf("%d: %s", status, reply)
			}
			if got := lastRecord(core).URL; got != tc.want || !strings.Contains(lastRecord(core).Body, "tell_user") {
				t.Errorf("it goes to %s, want %s", got, tc.want)
			}
		})
	}
}
