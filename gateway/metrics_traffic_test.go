package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// counted is a reply of Messages with a use of its cache.
func counted(usage string) string {
	return strings.Replace(reply, `"input_tokens":10,"cache_read_input_tokens":900,"cache_creation_input_tokens":90`, usage, 1)
}

// ofTraffic are situations in which all is well.
var ofTraffic = map[string]func(*testing.T){
	"every dialect at every provider": func(t *testing.T) {
		_, _, base := everyProviderOf(t, gateway.Options{}, nil, nil)
		for from, client := range speakers {
			for to, model := range models {
				for _, stream := range []bool{false, true} {
					c := says("Hello. DO[slow 2ms; think 20; say Hi.]")
					c.Dialect, c.Model, c.Stream, c.Thinking = from, model, stream, rewrite.Thinking{Effort: "high"}
					if to == rewrite.Completions {
						c.Model = "chat/gpt-5.1"
					}
					client.ask(t, base, c)
				}
			}
		}
	},
	"words that the other side has not": func(t *testing.T) {
		core, base := everyProvider(t, searching)
		_ = core
		for from, client := range speakers {
			for _, model := range models {
				c := says("Hello. DO[say Hi.]")
				c.Dialect, c.Model, c.Sampling = from, model, rewrite.Sampling{Seed: rewrite.JSON("7"), TopK: rewrite.JSON("5")}
				_, _, _ = client.send(t, base, c)
			}
		}
	},
	"replies that the client has no words for": func(t *testing.T) {
		for vendor, names := range map[rewrite.Dialect][]string{
			rewrite.Messages: {"hosted", "server_tool"}, rewrite.Completions: {"cited"}, rewrite.Responses: {"hosted"}, rewrite.Gemini: {"grounding"},
		} {
			for _, name := range names {
				p := newProvider(t, streamWith(goldenStream(t, vendor, name), false))
				_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Catalog = only(t, vendor, p.URL) })
				for _, client := range onlyClients {
					asksFor(t, 200, base+client.path, client.body)
				}
			}
		}
	},
	"what passes unread": func(t *testing.T) {
		p := newProvider(t, answerWith(`{"object":"list"}`))
		_, base, _ := start(t, p.URL, nil)
		asksFor(t, 200, base+"/p/openai/v1/files", `{}`)
	},
	"a model that is renamed": func(t *testing.T) {
		p := newProvider(t, answerWith(counted(`"input_tokens":10`)))
		_, base, _ := start(t, p.URL, nil)
		asksFor(t, 200, base+"/v1/messages", strings.Replace(plain, "claude-opus-5-5", "anthropic/somebody's own", 1))
	},
	"writes of every lifetime": func(t *testing.T) {
		for _, usage := range []string{
			`"input_tokens":10,"cache_read_input_tokens":5000,"cache_creation_input_tokens":90,"cache_creation":{"ephemeral_5m_input_tokens":40,"ephemeral_1h_input_tokens":50}`,
			`"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":90`,
			`"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":0`,
		} {
			p := newProvider(t, answerWith(counted(usage)))
			_, base, _ := start(t, p.URL, nil)
			asksFor(t, 200, base+"/v1/messages", plain)
			asksFor(t, 200, base+"/v1/messages", turnTwo)
		}
		p := newProvider(t, answerWith(`{"id":"resp_1","object":"response","status":"completed","model":"gpt-5.5","output":[],"usage":{"input_tokens":100,`+
			`"input_tokens_details":{"cached_tokens":10,"cache_write_tokens":80,"cache_write_tokens_details":{"ttl_30m_tokens":40,"ttl_12h_tokens":40}},"output_tokens":5,"total_tokens":105}}`))
		_, base, _ := start(t, p.URL, nil)
		asksFor(t, 200, base+"/v1/responses", `{"model":"gpt-5.5","input":"hi"}`)
	},
	"a call that its provider prices": func(t *testing.T) {
		p := newProvider(t, answerWith(`{"id":"gen-1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi"}}],`+
			`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"cost":0.25}}`))
		_, base, _ := start(t, p.URL, nil)
		asksFor(t, 200, base+"/v1/chat/completions", `{"model":"openrouter/m","messages":[{"role":"user","content":"hi"}]}`)
	},
	"tools that providers run": hostedTools,
	"another target": func(t *testing.T) {
		_, base, first, _, _ := twoTargets(t)
		first.status.Store(503)
		client := speakers[rewrite.Messages]
		client.ask(t, base, &rewrite.Conversation{Dialect: rewrite.Messages, Model: "best", Items: says("DO[say Hi.]").Items})
	},
	"under way": func(t *testing.T) {
		goOn := make(chan struct{})
		p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
			<-goOn
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n")
			w.(http.Flusher).Flush()
			<-goOn
		})
		var kept *config.Config
		g, base, _ := start(t, p.URL, func(cfg *config.Config) { kept = cfg })
		over := make(chan struct{})
		go func() {
			defer close(over)
			send(t, "POST", base+"/v1/messages", strings.Replace(plain, "{", `{"stream":true,`, 1))
		}()
		eventually(t, func() bool { return p.count() == 1 }, func() string { return "nothing reaches the provider" })
		watchNow(g, kept)
		goOn <- struct{}{}
		eventually(t, func() bool { return strings.Contains(counts(g, false), "\nwarmpath_streams_open 1\n") }, func() string { return "no stream" })
		watchNow(g, kept)
		close(goOn)
		<-over
	},
	"what is not for the provider": func(t *testing.T) {
		_, _, base := everyProviderOf(t, gateway.Options{}, nil, nil)
		contents := []string{
			hiding("a"), `[{"type":"text","text":"b","annotations":{"audience":["auditor"]}}]`,
			`[{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"},{"type":"text","text":"x"}]`,
		}
		status, answer := sendRaw(t, base, "/v1/messages", "X-Api-Key", history(models[rewrite.Messages], contents...))
		if status != 200 {
			t.Errorf("status %d: %s", status, answer)
		}
	},
}

// onlyClients ask the model of a catalog that has one, in every dialect.
var onlyClients = map[rewrite.Dialect]struct{ path, body string }{
	rewrite.Messages:    {"/v1/messages", `{"model":"only/m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`},
	rewrite.Completions: {"/v1/chat/completions", `{"model":"only/m","stream":true,"messages":[{"role":"user","content":"hi"}]}`},
	rewrite.Responses:   {"/v1/responses", `{"model":"only/m","stream":true,"input":"hi"}`},
	rewrite.Gemini:      {"/v1beta/models/only%2Fm:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
}

// hostedTools: replies in which every kind of tool that a provider runs has been used,
// and texts whose sources are whole, cut and misplaced.
func hostedTools(t *testing.T) {
	var blocks []string
	for i, name := range []string{"web_search", "web_fetch", "code_execution", "advisor", "tool_search_tool_bm25", "something_new"} {
		blocks = append(blocks, fmt.Sprintf(`{"type":"server_tool_use","id":"srvtoolu_%d","name":%q,"input":{}}`, i, name))
	}
	blocks = append(blocks, `{"type":"mcp_tool_use","id":"mcptoolu_1","name":"x","server_name":"y","input":{}}`,
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_0","content":[]}`,
		`{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_fetch_tool_result_error","error_code":"url_not_accessible"}}`)
	replies := map[string]struct{ path, body, answer string }{
		"Messages": {"/v1/messages", plain, strings.Replace(reply, `[{"type":"text","text":"hi"}]`, "["+strings.Join(blocks, ",")+"]", 1)},
		"Responses": {"/v1/responses", `{"model":"gpt-5.5","input":"hi"}`, `{"id":"resp_1","object":"response","status":"completed","model":"gpt-5.5","output":[` +
			`{"type":"file_search_call","id":"fs_1","status":"completed","queries":[]},{"type":"image_generation_call","id":"ig_1","status":"completed","result":""},` +
			`{"type":"computer_call","id":"cu_1","call_id":"c","status":"completed"},{"type":"shell_call","id":"sh_1","call_id":"d","status":"completed"},` +
			`{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[` +
			`{"type":"url_citation","url":"https://example.test","title":"t","start_index":0,"end_index":2},{"type":"url_citation","url":"https://example.test/2","title":"t","start_index":50,"end_index":90}]}]}],` +
			`"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`},
		"Gemini": {"/v1beta/models/gemini-3.1-pro-preview:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP","groundingMetadata":{"groundingChunks":[{"maps":{"uri":"https://maps.example","title":"t","placeId":"p"}}],` +
				`"groundingSupports":[{"segment":{"startIndex":0,"endIndex":2,"text":"hi"},"groundingChunkIndices":[0]}]}}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"totalTokenCount":7}}`},
	}
	for name, c := range replies {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, answerWith(c.answer))
			_, base, _ := start(t, p.URL, nil)
			asksFor(t, 200, base+c.path, c.body)
		})
	}
}
