package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// noted is what a provider that takes everything got last.
type noted struct {
	mu           sync.Mutex
	target, body string
}

// takeAnything starts a gateway in front of a provider that takes everything.
func takeAnything(t *testing.T, routes map[string]catalog.RouteRow) (base string, got *noted) {
	t.Helper()
	got = &noted{}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.mu.Lock()
		got.target, got.body = r.RequestURI, string(body)
		got.mu.Unlock()
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(origin.Close)
	snapshot, problems := catalog.Build(catalog.Settings{Routes: routes, Providers: everyRow(origin.URL)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ = startWith(t, origin.URL, gateway.Options{}, func(cfg *config.Config) { cfg.Catalog = snapshot })
	return base, got
}

// postTo sends a body to a target as it is written, and gives the status and the answer.
func postTo(t *testing.T, base, target, body string) (int, string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: gateway\r\nX-Api-Key: sk\r\nContent-Length: %d\r\n\r\n%s", target, len(body), body)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer)
}

// AUD-12: no spelling of a path goes round the filter. What is forwarded is spelled as
// it came.
func TestSpellingsOfPathsAreFiltered(t *testing.T) {
	base, got := takeAnything(t, nil)
	result := func(from rewrite.Dialect, model string) string { return given(from, model, hiding("WORD"), false, "") }
	messages, chat := result(rewrite.Messages, "claude-opus-5-5"), result(rewrite.Completions, "gpt-4.1")
	inputs := strings.ReplaceAll(result(rewrite.Responses, "gpt-5.5"), `"type":"text"`, `"type":"input_text"`)
	contents := result(rewrite.Gemini, "")
	items := strings.Replace(inputs, `"input":`, `"items":`, 1)
	for target, c := range map[string]struct{ body, sent string }{
		"/p/claude/v1/messages/":                                     {messages, "/anthropic/v1/messages/"},
		"/p/claude/v1/%6dessages?a=%6d":                              {messages, "/anthropic/v1/%6dessages?a=%6d"},
		"/p/claude//v1//messages":                                    {messages, "/anthropic//v1//messages"},
		"/p/%63laude/v1%2Fmessages":                                  {messages, "/anthropic/v1%2Fmessages"},
		"/p/claude/v1/messages/b%61tches":                            {`{"requests":[{"custom_id":"a","params":` + messages + `}]}`, "/anthropic/v1/messages/b%61tches"},
		"/p/chat/v1/chat//completions":                               {chat, "/openai/v1/chat//completions"},
		"/p/gpt/v1/conversations":                                    {items, "/openai/v1/conversations"},
		"/p/gpt/v1/conversations/":                                   {items, "/openai/v1/conversations/"},
		"/p/gpt/v1/conversations/conv_1/items?include=a":             {items, "/openai/v1/conversations/conv_1/items?include=a"},
		"/p/gpt/v1/conversations/conv_1/%69tems":                     {items, "/openai/v1/conversations/conv_1/%69tems"},
		"/p/google/v1beta/models/m%3AgenerateContent":                {contents, "/gemini/v1beta/models/m%3AgenerateContent"},
		"/p/google/v1beta/tunedModels/m:generateContent":             {contents, "/gemini/v1beta/tunedModels/m:generateContent"},
		"/p/google/v1/projects/p/models/m:streamGenerateContent":     {contents, "/gemini/v1/projects/p/models/m:streamGenerateContent"},
		"/p/google/v1beta/c%61chedContents/":                         {contents, "/gemini/v1beta/c%61chedContents/"},
		"/p/google/v1beta/publishers/google/models/m:countTokens":    {contents, "/gemini/v1beta/publishers/google/models/m:countTokens"},
		"/p/google/v1beta/models/m:b%61tchGenerateContent?key=other": {`{"batch":{"inputConfig":{"requests":{"requests":[{"request":` + contents + `}]}}}}`, "/gemini/v1beta/models/m:b%61tchGenerateContent?key=other"},
	} {
		t.Run(target, func(t *testing.T) {
			if !strings.Contains(c.body, "WORD") {
				t.Fatalf("nothing is hidden in %s", c.body)
			}
			status, answer := postTo(t, base, target, c.body)
			got.mu.Lock()
			defer got.mu.Unlock()
			if status >= 500 || got.target != c.sent || strings.Contains(got.body, "WORD") || !strings.Contains(got.body, "Seen.") {
				t.Errorf("status %d (%s), %s with %s", status, answer, got.target, got.body)
			}
		})
	}
	for target, word := range map[string]string{
		"/p/claude/v1/%256dessages": "/v1/messages", "/p/claude/v1/Messages": "/v1/messages", "/p/claude/v1/messages;v=1": "/v1/messages",
		"/p/claude/v1/mess%agges": "escape", "/p/claude/v1/messages%09": "/v1/messages", "/p/gpt/v1/conversations/c/ITEMS": "/items",
	} {
		t.Run("refused: "+target, func(t *testing.T) {
			got.body = ""
			if status, answer := postTo(t, base, target, messages); status != 400 || !strings.Contains(answer, word) || got.body != "" {
				t.Errorf("status %d: %s", status, answer)
			}
		})
	}
}

// Each entry of a batch is filtered as its own model's route wants it.
func TestBatchesAreFilteredByTheirModels(t *testing.T) {
	routes := map[string]catalog.RouteRow{"*": {Audience: "on"}, "claude-open*": {Audience: "off"}, "gemini-open": {Audience: "off"}}
	entry := func(model, word string) string { return history(model, hiding(word)) }
	last := func(model, word string) string { // the model behind the messages
		body := entry("", word)
		return strings.Replace(body, `"model":"",`, "", 1)[:len(body)-len(`"model":"",`)-1] + `,"model":"` + model + `"}`
	}
	gemini := func(model, word string) string {
		return strings.Replace(given(rewrite.Gemini, "", hiding(word), false, ""), "{", `{"model":"`+model+`",`, 1)
	}
	for name, c := range map[string]struct{ target, body, passed string }{
		"messages": {"/p/claude/v1/messages/batches", `{"requests":[{"params":` + entry("claude-open-1", "ONE") + `},{"params":` + entry("claude-opus-5-5", "TWO") +
			`},{"params":` + last("claude-open-2", "THREE") + `},{"params":` + last("claude-opus-5-5", "FOUR") + `}]}`, "ONE THREE"},
		"gemini": {"/p/google/v1beta/models/gemini-shut:batchGenerateContent", `{"batch":{"inputConfig":{"requests":{"requests":[{"request":` +
			gemini("models/gemini-open", "ONE") + `},{"request":` + gemini("models/gemini-shut", "TWO") + `},{"request":` + given(rewrite.Gemini, "", hiding("THREE"), false, "") + `}]}}}}`, "ONE"},
		"gemini, by the path": {"/p/google/v1beta/models/gemini-open:batchGenerateContent", `{"batch":{"inputConfig":{"requests":{"requests":[{"request":` +
			gemini("models/gemini-shut", "ONE") + `},{"request":` + given(rewrite.Gemini, "", hiding("TWO"), false, "") + `}]}}}}`, "TWO"},
		"gemini keeps": {"/p/google/v1beta/cachedContents", gemini("models/gemini-open", "ONE"), "ONE"},
	} {
		t.Run(name, func(t *testing.T) {
			base, got := takeAnything(t, routes) // what is decided of a result stays
			if status, answer := postTo(t, base, c.target, c.body); status != 200 {
				t.Fatalf("status %d: %s", status, answer)
			}
			got.mu.Lock()
			defer got.mu.Unlock()
			var passed []string
			for _, word := range []string{"ONE", "TWO", "THREE", "FOUR"} {
				if strings.Contains(got.body, word) {
					passed = append(passed, word)
				}
			}
			if diff := strings.Join(passed, " "); diff != c.passed {
				t.Errorf("%s has passed, want %s: %s", diff, c.passed, got.body)
			}
		})
	}
}
