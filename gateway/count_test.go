package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// A prompt's tokens are counted by the provider that would get it, whatever the
// client speaks, and estimated where the provider counts none.
func TestTokensAreCountedAcrossDialects(t *testing.T) {
	core, base := everyProvider(t, nil)
	ask := func(t *testing.T, path, body string) (int, string, http.Header) {
		t.Helper()
		req, err := http.NewRequest("POST", base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", "k")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer), resp.Header
	}
	words := strings.Repeat("a few words ", 100)
	clients := map[rewrite.Dialect]struct{ path, body, count string }{
		rewrite.Messages:  {"/v1/messages/count_tokens", `{"model":"MODEL","system":"Be brief.","messages":[{"role":"user","content":"` + words + `"}]}`, "input_tokens"},
		rewrite.Responses: {"/v1/responses/input_tokens", `{"model":"MODEL","instructions":"Be brief.","input":"` + words + `"}`, "input_tokens"},
		rewrite.Gemini:    {"/v1beta/models/MODEL:countTokens", `{"generateContentRequest":{"model":"models/MODEL","systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"` + words + `"}]}]}}`, "totalTokens"},
	}
	for from, client := range clients {
		for to, model := range models {
			if from == to {
				continue
			}
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				path := strings.ReplaceAll(client.path, "MODEL", strings.ReplaceAll(model, "/", "%2F"))
				before := len(core.Log.All())
				status, answer, header := ask(t, path, strings.ReplaceAll(client.body, "MODEL", model))
				n := gjson.Get(answer, client.count).Int()
				if status != 200 || n < 250 || n > 450 {
					t.Fatalf("status %d: %s", status, answer)
				}
				counts := to != rewrite.Completions
				if asked := len(core.Log.All()) - before; counts != (asked == 1) {
					t.Errorf("the provider was asked %d times", asked)
				}
				if told := header.Get("Warmpath-Losses"); counts != (told == "") {
					t.Errorf("losses are %q", told)
				}
			})
		}
	}
}
