package rewrite_test

import (
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/bedrock"
	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
)

// Whatever a client of another dialect asks for, Bedrock takes what is made of it.
func TestBedrockTakesRequestsOfEveryDialect(t *testing.T) {
	const model = "eu.anthropic.claude-opus-5-5-v1:0"
	sim := bedrock.New(provider.New(provider.Options{}), bedrock.Options{})
	taken := 0
	for dialect, folder := range map[rewrite.Dialect]string{
		rewrite.Messages: "anthropic", rewrite.Completions: "completions", rewrite.Responses: "responses", rewrite.Gemini: "gemini",
	} {
		paths, err := filepath.Glob(folder + "/testdata/requests/*.txt")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d, %v", folder, len(paths), err)
		}
		for _, path := range paths {
			t.Run(dialect.String()+"/"+filepath.Base(path), func(t *testing.T) {
				request, _ := show.Load(t, path).Section("request")
				c, err := codecs[dialect].decodeRequest([]byte(request), "away")
				if err != nil {
					t.Skip(err)
				}
				c.Model, c.Previous = model, ""
				var losses rewrite.Losses
				body, err := converse.EncodeRequest(c, "home", &losses)
				if err != nil {
					t.Fatal(err)
				}
				r := httptest.NewRequest("POST", "/model/"+url.QueryEscape(model)+"/converse", strings.NewReader(string(body)))
				r.Header.Set("Authorization", "Bearer key")
				w := httptest.NewRecorder()
				if sim.ServeHTTP(w, r); w.Code != 200 {
					t.Errorf("status %d: %s\n%s\n%v", w.Code, w.Body, body, losses.All)
				}
				taken++
			})
		}
	}
	if taken < 18 {
		t.Errorf("only %d requests", taken)
	}
}
