package gateway_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/cache"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// toolUsers are clients that send back what a tool gave: a request of each dialect in
// which MODEL, ASKED, CONTENT and, at its end, MORE stand for what they say.
var toolUsers = map[rewrite.Dialect]struct{ body, failed, again, answer string }{
	rewrite.Messages: {
		body: `{"model":"MODEL","max_tokens":9000,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"ASKED"},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{"message":"for whom"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":CONTENT}]}MORE]}`,
		failed: `"content":CONTENT,"is_error":true`,
		again:  `,{"role":"assistant","content":[{"type":"text","text":"Done."}]},{"role":"user","content":"Go on. DO[say Bye.]"}`,
	},
	rewrite.Completions: {
		body: `{"model":"MODEL","tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"ASKED"},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"message\":\"for whom\"}"}}]},` +
			`{"role":"tool","tool_call_id":"call_1","content":CONTENT}MORE]}`,
		again: `,{"role":"assistant","content":"Done."},{"role":"user","content":"Go on. DO[say Bye.]"}`,
	},
	rewrite.Responses: {
		body: `{"model":"MODEL","store":false,"tools":[{"type":"function","name":"look","parameters":{"type":"object"}}],"input":[{"role":"user","content":"ASKED"},` +
			`{"type":"function_call","call_id":"call_1","name":"look","arguments":"{\"message\":\"for whom\"}"},` +
			`{"type":"function_call_output","call_id":"call_1","output":CONTENT}MORE]}`,
		again: `,{"role":"assistant","content":"Done."},{"role":"user","content":"Go on. DO[say Bye.]"}`,
	},
	rewrite.Gemini: {
		body: `{"tools":[{"functionDeclarations":[{"name":"look","parameters":{"type":"OBJECT"}}]}],"contents":[{"role":"user","parts":[{"text":"ASKED"}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"look","args":{"message":"for whom"}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"look","response":{"content":CONTENT}}}]}MORE]}`,
		failed: `"response":{"isError":true,"content":CONTENT}`,
		again:  `,{"role":"model","parts":[{"text":"Done."}]},{"role":"user","parts":[{"text":"Go on. DO[say Bye.]"}]}`,
	},
}

// given is a request of one dialect after a tool has given its result.
func given(from rewrite.Dialect, model, content string, failed bool, more string) string {
	user := toolUsers[from]
	body := user.body
	if failed && user.failed != "" {
		from := strings.Index(body, `"content":CONTENT`)
		if response := strings.Index(body, `"response":{`); response >= 0 {
			body = strings.Replace(body, `"response":{"content":CONTENT}`, user.failed, 1)
		} else {
			body = body[:from] + user.failed + body[from+len(`"content":CONTENT`):]
		}
	}
	return strings.NewReplacer("MODEL", model, "ASKED", "Look. DO[say Done.]", "CONTENT", content, "MORE", more).Replace(body)
}

// sendRaw sends a body as a client of a dialect and gives status and answer.
func sendRaw(t *testing.T, base, path, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("POST", base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	value := "sk-client"
	if key == "Authorization" {
		value = "Bearer " + value
	}
	req.Header.Set(key, value)
	if key == "X-Api-Key" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// The secret of a tool, as text, as JSON within a text, and as the bytes of an image.
const peopleOnly = "FOR-PEOPLE-ALONE <é>"

func hidesNothing(where, text string) string {
	for _, form := range []string{"FOR-PEOPLE-ALONE", base64.StdEncoding.EncodeToString([]byte(peopleOnly))[:20], `annotations`, `audience`} {
		if strings.Contains(text, form) {
			return fmt.Sprintf("%q is in %s: %s", form, where, text)
		}
	}
	return ""
}

var (
	blockForPeople = `{"type":"text","text":"` + peopleOnly + `","annotations":{"audience":["user"]}}`
	inEscapes      = `{"type":"text","text":"FOR\u002dPEOPLE-ALONE","\u0061nnotations":{"audience":"user"}}`
	asJSON         = `{"type":"text","text":"{\"a\":\"` + peopleOnly + `\"}","mimeType":"application/json","annotations":{"audience":["user"],"priority":1}}`
	asImage        = `{"type":"image","data":"` + base64.StdEncoding.EncodeToString([]byte(peopleOnly)) + `","mimeType":"image/png","annotations":{"audience":["user"]}}`
	asResource     = `{"type":"resource","resource":{"uri":"file:///secret","mimeType":"text/plain","text":"` + peopleOnly + `"},"annotations":{"audience":["user"]}}`
	forModels      = `{"type":"text","text":"For the model.","annotations":{"audience":["assistant"],"priority":0.5},"mimeType":"text/markdown"}`
)

// quoted is a text as a JSON string.
func quoted(text string) string { return string(splice.AppendString(nil, text)) }

// kindOfText is what a dialect calls a block of text in a result.
func kindOfText(d rewrite.Dialect) string {
	if d == rewrite.Responses {
		return "input_text"
	}
	return "text"
}

// AUD-12: what a tool has meant for people alone is in no byte that reaches a provider
// or a store, whoever asks whom: in the request itself, in the turns after it, and when
// its tokens are counted. The strict providers accept what is sent.
func TestNothingForPeopleReachesAProvider(t *testing.T) {
	store := &noticed{Store: cache.NewMemory(64 << 20)}
	core, base := everyProviderWith(t, gateway.Options{Store: unclosed{store}}, keepReplies)
	for from, user := range toolUsers {
		for to, model := range models {
			client := speakers[from]
			path := func(stream bool) string { return client.path(model, stream) }
			all := "[" + strings.Join([]string{blockForPeople, forModels, inEscapes, asJSON, asImage, asResource}, ",") + "]"
			none := "[" + strings.Join([]string{blockForPeople, asImage}, ",") + "]"
			for name, c := range map[string]struct {
				content string
				failed  bool
				want    string
			}{
				"AUD-12 some is for the model":    {all, false, "For the model."},
				"AUD-12 as JSON in a text":        {quoted(`{"content":` + all + `}`), false, "For the model."},
				"AUD-12 as JSON in JSON":          {quoted(quoted(`{"content":` + all + `}`)), false, "For the model."},
				"AUD-12 as JSON in a block":       {`[{"type":"` + kindOfText(from) + `","text":` + quoted(all) + `}]`, false, "For the model."},
				"PH-01 nothing in a text is":      {quoted(`{"content":` + none + `}`), false, "Tool executed successfully."},
				"PH-05 what is left has no place": {"[" + blockForPeople + `,{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"}]`, false, "Tool executed successfully."},
				"PH-01 nothing is":                {none, false, "Tool executed successfully."},
				"PH-02 nothing is, and failed":    {none, true, "Tool failed."},
				"PH-04 nothing was there":         {"[]", false, "Tool executed successfully."},
				"PH-06 an empty text is":          {"[" + blockForPeople + `,{"type":"text","text":"","annotations":{"audience":["assistant"]}}]`, false, "Tool executed successfully."},
			} {
				t.Run(fmt.Sprintf("%s/%s to %s", name, from, to), func(t *testing.T) {
					switch {
					case c.failed && user.failed == "", from == rewrite.Gemini && c.content == "[]":
						t.Skip("the dialect cannot say that")
					case strings.Contains(c.content, "audio") && (from == rewrite.Gemini || from == rewrite.Completions):
						t.Skip("it has a place there")
					}
					for _, more := range []string{"", user.again} {
						body := given(from, model, c.content, c.failed, more)
						if from != rewrite.Gemini && more != "" {
							body = strings.Replace(body, "{", `{"stream":true,`, 1)
						}
						status, answer := sendRaw(t, base, path(more != ""), client.key, body)
						if status != 200 {
							t.Fatalf("status %d: %s for %s", status, answer, lastBody(core))
						}
						sent := lastBody(core)
						if leak := hidesNothing("the request", sent); leak != "" {
							t.Error(leak)
						}
						if !strings.Contains(sent, c.want) {
							t.Errorf("%q is not in %s", c.want, sent)
						}
						// PH-03, AUD-13: the pair and what the model has asked for are as they were.
						if !strings.Contains(sent, "for whom") || !strings.Contains(sent, "look") {
							t.Errorf("the call is not in %s", sent)
						}
						if strings.Contains(answer, "FOR-PEOPLE") {
							t.Errorf("it came back: %s", answer)
						}
					}
				})
			}
		}
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	for _, form := range []string{"FOR-PEOPLE", base64.StdEncoding.EncodeToString([]byte(peopleOnly))[:20]} {
		if strings.Contains(store.written.String(), form) {
			t.Errorf("%q is in the store", form)
		}
	}
}

// AUD-11, PH-02: the flag of a failure stays, and counting tokens sees what is sent.
func TestWithheldResultsAreCountedAsTheyAreSent(t *testing.T) {
	core, base := everyProvider(t, nil)
	for from, path := range map[rewrite.Dialect]string{
		rewrite.Messages: "/v1/messages/count_tokens", rewrite.Responses: "/v1/responses/input_tokens", rewrite.Gemini: "/v1beta/models/MODEL:countTokens",
	} {
		for to, model := range models {
			if to == rewrite.Completions {
				continue // it counts nothing
			}
			t.Run(fmt.Sprintf("AUD-11 %s to %s", from, to), func(t *testing.T) {
				body := given(from, model, "["+blockForPeople+","+forModels+"]", false, "")
				switch from {
				case rewrite.Messages:
					body = strings.Replace(body, `"max_tokens":9000,`, "", 1)
				case rewrite.Responses:
					body = strings.Replace(body, `"store":false,`, "", 1)
				case rewrite.Gemini:
					body = `{"generateContentRequest":` + strings.Replace(body, "{", `{"model":"models/`+strings.TrimPrefix(model, "google/")+`",`, 1) + `}`
				}
				at := strings.Replace(path, "MODEL", strings.ReplaceAll(model, "/", "%2F"), 1)
				if status, answer := sendRaw(t, base, at, speakers[from].key, body); status != 200 {
					t.Fatalf("status %d: %s for %s", status, answer, lastBody(core))
				}
				sent := lastBody(core)
				if leak := hidesNothing("the request", sent); leak != "" || !strings.Contains(unwrapped(sent), "For the model.") {
					t.Errorf("%s in %s", leak, sent)
				}
			})
		}
	}
}

// unwrapped is a body with what Bedrock has wrapped in base64.
func unwrapped(body string) string {
	if inner, err := base64.StdEncoding.DecodeString(gjson.Get(body, "input.invokeModel.body").Str); err == nil && len(inner) > 0 {
		return string(inner)
	}
	return body
}

// The providers refuse what tools say of their blocks, so that the tests above prove
// something.
func TestProvidersRefuseAnnotations(t *testing.T) {
	core, base := everyProviderRouted(t, gateway.Options{}, audienceOff, nil)
	for from, model := range map[rewrite.Dialect]string{
		rewrite.Messages: models[rewrite.Messages], rewrite.Completions: models[rewrite.Completions], rewrite.Responses: models[rewrite.Responses],
	} {
		for name, block := range map[string]string{
			"annotations": `{"type":"text","text":"x","annotations":{"audience":["user"]}}`, "mimeType": `{"type":"text","text":"x","mimeType":"text/plain"}`,
			"_meta": `{"type":"text","text":"x","_meta":{}}`, "a resource": `{"type":"resource","resource":{"uri":"a:b","text":"x"}}`,
		} {
			if from == rewrite.Responses {
				if name == "a resource" {
					continue // the gateway takes it, as what is its own
				}
				block = strings.Replace(block, `"type":"text"`, `"type":"input_text"`, 1)
			}
			t.Run(name+", "+from.String(), func(t *testing.T) {
				body := given(from, model, "["+block+"]", false, "")
				status, answer := sendRaw(t, base, speakers[from].path(model, false), speakers[from].key, body)
				if status != 400 || from != rewrite.Responses && !strings.Contains(lastBody(core), block) {
					t.Errorf("status %d: %s for %s", status, answer, lastBody(core))
				}
			})
		}
	}
}

// audienceOff are routes on which results pass as they come.
var audienceOff = map[string]catalog.RouteRow{"*": {Audience: "off"}}

// originOf is where the simulated providers of a configuration are.
func originOf(t testing.TB, cfg *config.Config) string {
	t.Helper()
	p, ok := cfg.Catalog.Provider("claude")
	if !ok {
		t.Fatal("the providers are not the simulated ones")
	}
	return p.Bases[rewrite.Messages].Origin()
}

// catalogOf has all simulated providers of an origin, with routes.
func catalogOf(t testing.TB, origin string, routes map[string]catalog.RouteRow) *catalog.Snapshot {
	t.Helper()
	snapshot, problems := catalog.Build(catalog.Settings{Routes: routes, Providers: everyRow(origin)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return snapshot
}
