package gateway_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/cache"
	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// history is a conversation of Messages in which tools have answered several times.
func history(model string, contents ...string) string {
	var b strings.Builder
	b.WriteString(`{"model":"` + model + `","max_tokens":9000,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Look. DO[say Done.]"}`)
	for i, content := range contents {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}]}`, i, i, content)
	}
	b.WriteString(`]}`)
	return b.String()
}

// hiding is a result with a word for people alone.
func hiding(word string) string {
	return `[{"type":"text","text":"Seen."},{"type":"text","text":"` + word + `","annotations":{"audience":["user"]}}]`
}

// What was decided of a result when it was first sent is done again, whatever the route
// says later, and for the one who sent it only.
func TestWhatWasDecidedOfAResultStays(t *testing.T) {
	store := unclosed{cache.NewMemory(16 << 20)}
	var first *config.Config
	g, core, base := everyProviderOf(t, gateway.Options{Store: store}, nil, func(cfg *config.Config) { first = cfg })
	on, off := *first, *first
	off.Catalog = catalogOf(t, originOf(t, first), audienceOff)
	model := models[rewrite.Completions] // it takes no annotations, and the hub writes none

	for i, step := range []struct {
		name    string
		cfg     *config.Config
		results []string
		want    []string
	}{
		{"the first is filtered", &on, []string{"one"}, []string{}},
		{"it stays so, and a second passes", &off, []string{"one", "two"}, []string{"two"}},
		{"both stay so, and a third is filtered", &on, []string{"one", "two", "three"}, []string{"two"}},
	} {
		g.Reload(step.cfg)
		var contents []string
		for _, word := range step.results {
			contents = append(contents, hiding("WORD-"+word))
		}
		status, answer := sendRaw(t, base, "/v1/messages", "X-Api-Key", history(model, contents...))
		if status != 200 {
			t.Fatalf("%s: status %d: %s", step.name, status, answer)
		}
		var got []string
		for _, word := range step.results {
			if strings.Contains(lastBody(core), "WORD-"+word) {
				got = append(got, word)
			}
		}
		if strings.Join(got, " ") != strings.Join(step.want, " ") {
			t.Errorf("step %d, %s: %v reached the provider, want %v", i, step.name, got, step.want)
		}
	}
	t.Run("another gateway knows it", func(t *testing.T) {
		_, core, base := everyProviderOf(t, gateway.Options{Store: store}, nil, nil)
		sendRaw(t, base, "/v1/messages", "X-Api-Key", history(model, hiding("WORD-one"), hiding("WORD-two"), hiding("WORD-three")))
		if body := lastBody(core); strings.Contains(body, "WORD-one") || !strings.Contains(body, "WORD-two") || strings.Contains(body, "WORD-three") {
			t.Error(body)
		}
	})
	t.Run("another tenant does not", func(t *testing.T) {
		g.Reload(&on)
		sendRaw(t, base, "/v1/messages", "Authorization", history(model, hiding("WORD-one"), hiding("WORD-two")))
		if body := lastBody(core); strings.Contains(body, "WORD-two") {
			t.Error(body)
		}
	})
}

// What a provider has refused was never sent: its results are decided anew.
func TestARefusalDecidesNothing(t *testing.T) {
	var first *config.Config
	g, core, base := everyProviderOf(t, gateway.Options{}, nil, func(cfg *config.Config) { first = cfg })
	on, off := *first, *first
	off.Catalog = catalogOf(t, originOf(t, first), audienceOff)
	body := history(models[rewrite.Messages], hiding("WORD"))
	g.Reload(&off)
	if status, _ := sendRaw(t, base, "/v1/messages", "X-Api-Key", body); status != 400 || !strings.Contains(lastBody(core), `"audience"`) {
		t.Fatalf("status %d for %s", status, lastBody(core))
	}
	g.Reload(&on)
	if status, answer := sendRaw(t, base, "/v1/messages", "X-Api-Key", body); status != 200 || strings.Contains(lastBody(core), "WORD") {
		t.Errorf("status %d: %s for %s", status, answer, lastBody(core))
	}
}

// PH-08, AUD-11: what is sent of a result is the same in every turn, so the prefix
// stays in the cache; a client that writes its history otherwise, or is put right by
// what was first sent, brings nothing back.
func TestAPrefixOfFilteredResultsStays(t *testing.T) {
	for _, mode := range rewrite.Modes {
		t.Run(mode.String(), func(t *testing.T) {
			store := &noticed{Store: cache.NewMemory(16 << 20)}
			core, base := everyProviderWith(t, gateway.Options{Store: unclosed{store}}, func(cfg *config.Config) { cfg.Mode = mode })
			model := models[rewrite.Messages]
			respelled := `[{"text":"Seen.","type":"text"},{"annotations":{"audience":["user"]},"type":"text","text":"WORD"}]`
			var before string
			for i, contents := range [][]string{{hiding("WORD")}, {hiding("WORD"), hiding("WORD")}, {hiding("WORD"), hiding("WORD"), `[{"type":"text","text":"WORD","annotations":{"audience":["user"]}}]`}, {respelled, hiding("WORD"), `"plain"`}} {
				status, answer := sendRaw(t, base, "/v1/messages", "X-Api-Key", history(model, contents...))
				if status != 200 {
					t.Fatalf("turn %d: status %d: %s", i, status, answer)
				}
				sent := gjson.Get(lastBody(core), "messages").Raw
				if strings.Contains(sent, "WORD") {
					t.Errorf("turn %d: %s", i, sent)
				}
				if kept := strings.TrimSuffix(before, "]"); i < 3 && !strings.HasPrefix(sent, kept) {
					t.Errorf("turn %d: %s does not begin with %s", i, sent, kept)
				}
				before = sent
			}
			store.mu.Lock()
			defer store.mu.Unlock()
			if strings.Contains(store.written.String(), "WORD") {
				t.Error("the word is in the store")
			}
		})
	}
}

// AUD-12: neither does a conversation that goes on by the name of a reply, nor what is
// kept of it, not even what was kept before anything was filtered.
func TestNamedHistoriesBringNothingBack(t *testing.T) {
	store := &noticed{Store: cache.NewMemory(16 << 20)}
	var first *config.Config
	g, core, base := everyProviderOf(t, gateway.Options{Store: unclosed{store}}, nil, func(cfg *config.Config) { keepReplies(cfg); first = cfg })
	on, off := *first, *first
	off.Catalog = catalogOf(t, originOf(t, first), audienceOff)
	for to, model := range models {
		if to == rewrite.Responses {
			continue // it keeps its replies itself
		}
		t.Run(to.String(), func(t *testing.T) {
			g.Reload(&on)
			c := caller{t, base, "sk"}
			reply := c.create(strings.Replace(given(rewrite.Responses, model, "["+blockForPeople+","+forModels+"]", false, ""), `"store":false,`, "", 1))
			c.create(`{"model":"` + model + `","tools":[{"type":"function","name":"look","parameters":{"type":"object"}}],"input":"Go on. DO[say Bye.]","previous_response_id":"` + reply.Get("id").Str + `"}`)
			if leak := hidesNothing("the request", lastBody(core)); leak != "" || !strings.Contains(lastBody(core), "For the model.") {
				t.Errorf("%s in %s", leak, lastBody(core))
			}
			store.mu.Lock()
			written := store.written.String()
			store.mu.Unlock()
			if strings.Contains(written, "FOR-PEOPLE") {
				t.Error("it is in the store")
			}
			// What was passed on stays so, from the store too.
			g.Reload(&off)
			reply = c.create(strings.Replace(given(rewrite.Responses, model, "["+strings.ReplaceAll(blockForPeople, "FOR-", "PASSED-")+"]", false, ""), `"store":false,`, "", 1))
			g.Reload(&on)
			c.create(`{"model":"` + model + `","tools":[{"type":"function","name":"look","parameters":{"type":"object"}}],"input":"Go on. DO[say Bye.]","previous_response_id":"` + reply.Get("id").Str + `"}`)
			if !strings.Contains(lastBody(core), "PASSED-PEOPLE") {
				t.Errorf("a history was filtered: %s", lastBody(core))
			}
		})
	}
}

// A body that came packed goes out filtered.
func TestPackedRequestsAreFiltered(t *testing.T) {
	for _, mode := range rewrite.Modes {
		t.Run(mode.String(), func(t *testing.T) {
			core, base := everyProvider(t, func(cfg *config.Config) { cfg.Mode = mode })
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			fmt.Fprint(z, history(models[rewrite.Messages], hiding("WORD")))
			z.Close()
			req, err := http.NewRequest("POST", base+"/v1/messages", &packed)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Api-Key", "sk-client")
			req.Header.Set("Anthropic-Version", "2023-06-01")
			req.Header.Set("Content-Encoding", "gzip")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			answer, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != 200 || strings.Contains(lastBody(core), "WORD") || !strings.Contains(lastBody(core), "Seen.") {
				t.Errorf("status %d: %s for %s", resp.StatusCode, answer, lastBody(core))
			}
		})
	}
}

// In mode off the provider judges what is no JSON, but not where something in it may be
// for people alone.
func TestWhatIsNoJSONCannotBeFiltered(t *testing.T) {
	core, base := everyProvider(t, func(cfg *config.Config) { cfg.Mode = rewrite.ModeOff })
	body := history(models[rewrite.Messages], hiding("WORD"))
	if status, answer := sendRaw(t, base, "/v1/messages", "X-Api-Key", body+"}"); status != 400 || !strings.Contains(answer, "not valid JSON") {
		t.Errorf("status %d: %s", status, answer)
	}
	for _, record := range core.Log.All() {
		if strings.Contains(record.Body, "WORD") {
			t.Error("it was sent all the same")
		}
	}
}

// What is left out is counted once, when it is first sent.
func TestWithheldBlocksAreCounted(t *testing.T) {
	g, _, base := everyProviderOf(t, gateway.Options{}, nil, nil)
	sound := base64.StdEncoding.EncodeToString([]byte("RIFF"))
	contents := []string{
		hiding("a"), `[{"type":"text","text":"b","annotations":{"audience":["auditor"]}}]`,
		`[{"type":"audio","data":"` + sound + `","mimeType":"audio/wav"},{"type":"text","text":"x"}]`, hiding("a"),
	}
	for range 3 {
		if status, answer := sendRaw(t, base, "/v1/messages", "X-Api-Key", history(models[rewrite.Messages], contents...)); status != 200 {
			t.Fatalf("status %d: %s", status, answer)
		}
	}
	_, text := admin(t, g, "/metrics")
	page := string(text)
	for line, want := range map[string]string{
		`warmpath_audience_blocks_dropped_total{reason="user_only"}`: "2", `warmpath_audience_blocks_dropped_total{reason="unknown"}`: "1",
		`warmpath_audience_blocks_dropped_total{reason="unsupported"}`: "1", `warmpath_placeholders_total`: "1",
	} {
		if !strings.Contains(page, "\n"+line+" "+want+"\n") {
			t.Errorf("%s is not %s", line, want)
		}
	}
}

// AUD-02, AUD-03: the log has what the provider has not, and shows each side its own.
func TestTheLogHasWhatIsForPeople(t *testing.T) {
	blocks := "[" + blockForPeople + "," + forModels + "]"
	for name, c := range map[string]struct {
		from    rewrite.Dialect
		content string
	}{
		"messages": {rewrite.Messages, blocks}, "chat": {rewrite.Completions, blocks}, "responses": {rewrite.Responses, blocks}, "gemini": {rewrite.Gemini, blocks},
		"messages, in a text": {rewrite.Messages, quoted(`{"content":` + blocks + `}`)}, "chat, in a block": {rewrite.Completions, `[{"type":"text","text":` + quoted(blocks) + `}]`},
		"responses, in a text": {rewrite.Responses, quoted(quoted(blocks))}, "gemini, in a text": {rewrite.Gemini, quoted(`{"content":` + blocks + `}`)},
	} {
		t.Run(name, func(t *testing.T) {
			from := c.from
			g, core, base := everyProviderOf(t, gateway.Options{}, nil, func(cfg *config.Config) { cfg.Log = config.Log{Events: config.KeptInMemory} })
			body := given(from, models[rewrite.Messages], c.content, false, "")
			if name == "gemini, in a text" {
				body = strings.Replace(body, `{"content":"`, `{"output":"`, 1)
			}
			if status, answer := sendRaw(t, base, speakers[from].path(models[rewrite.Messages], false), speakers[from].key, body); status != 200 {
				t.Fatalf("status %d: %s", status, answer)
			}
			if leak := hidesNothing("the request", lastBody(core)); leak != "" {
				t.Error(leak)
			}
			_, list := admin(t, g, "/api/conversations")
			id := gjson.GetBytes(list, "conversations.0.id").Str
			_, raw := admin(t, g, "/api/conversations/"+id+"/events")
			_, user := admin(t, g, "/api/conversations/"+id+"/events?view=user")
			result := `events.#(type=="tool_call_response").content.#.text`
			if got := gjson.GetBytes(raw, result).Raw; !strings.Contains(got, "FOR-PEOPLE") || !strings.Contains(got, "For the model.") {
				t.Errorf("the log has %s of %s", got, raw)
			}
			if got := gjson.GetBytes(user, result).Raw; !strings.Contains(got, "FOR-PEOPLE") || strings.Contains(got, "For the model.") {
				t.Errorf("the user sees %s of %s", got, user)
			}
		})
	}
}

// A batch of requests is filtered like each of them.
func TestBatchesAreFiltered(t *testing.T) {
	core, base := everyProvider(t, nil)
	body := `{"requests":[{"custom_id":"a","params":` + history("claude-opus-5-5", hiding("WORD")) + `},{"custom_id":"b","params":` + history("claude-opus-5-5", `"plain"`) + `}]}`
	status, answer := sendRaw(t, base, "/p/claude/v1/messages/batches", "X-Api-Key", body)
	if sent := lastBody(core); status != 200 || strings.Contains(sent, "WORD") || !strings.Contains(sent, "Seen.") || !strings.Contains(sent, `"plain"`) {
		t.Errorf("status %d: %s for %s", status, answer, sent)
	}
	untouched := strings.Replace(body, hiding("WORD"), `"plain"`, 1)
	if sendRaw(t, base, "/p/claude/v1/messages/batches", "X-Api-Key", untouched); lastBody(core) != untouched {
		t.Errorf("%s was changed", lastBody(core))
	}
}

// What Gemini is to keep, and its batches, hold results too.
func TestWhatGeminiKeepsIsFiltered(t *testing.T) {
	core, base := everyProvider(t, nil)
	const contents = `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"content":[` +
		`{"type":"text","text":"WORD","annotations":{"audience":["user"]}},{"type":"text","text":"Seen."}]}}}]}]}`
	for path, body := range map[string]string{
		"/p/google/v1beta/cachedContents":                                       contents,
		"/p/google/v1beta/models/gemini-3.1-pro-preview:batchGenerateContent":   `{"batch":{"input_config":{"requests":{"requests":[{"request":` + contents + `},{"request":` + contents + `}]}}}}`,
		"/p/google/v1beta/models/gemini-3.1-flash-preview:batchGenerateContent": `{"batch":{"inputConfig":{"requests":{"requests":[{"request":` + contents + `}]}}}}`,
	} {
		sendRaw(t, base, path, "X-Goog-Api-Key", body)
		if sent := lastBody(core); strings.Contains(sent, "WORD") || strings.Count(sent, "Seen.") != strings.Count(body, "Seen.") {
			t.Errorf("%s gets %s", path, sent)
		}
		untouched := strings.ReplaceAll(body, `"audience":["user"]`, `"audience":[]`)
		untouched = strings.ReplaceAll(untouched, `,"annotations":{"audience":[]}`, "")
		if sendRaw(t, base, path, "X-Goog-Api-Key", untouched); lastBody(core) != untouched {
			t.Errorf("%s was changed", lastBody(core))
		}
	}
}
