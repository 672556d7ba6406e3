package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
	"warmpath/rewrite/sse"
)

// A reply that says fine, in the words of each provider.
var fineWhole = map[rewrite.Dialect]string{
	rewrite.Messages:    `{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"fine"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
	rewrite.Completions: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
	rewrite.Responses:   `{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"fine","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`,
	rewrite.Gemini:      `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"fine"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"m","responseId":"r"}`,
}

var fineStream = map[rewrite.Dialect]string{
	rewrite.Messages: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"fine\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	rewrite.Completions: "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"fine\"},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
	rewrite.Gemini:      "data: " + fineWhole[rewrite.Gemini] + "\n\n",
	rewrite.Responses:   "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"model\":\"m\",\"created_at\":1}}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"assistant\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"fine\",\"annotations\":[]}]}}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + fineWhole[rewrite.Responses] + "}\n\n",
}

// wayward is how a provider answers.
type wayward struct {
	status int
	header []string
	body   func(d rewrite.Dialect, stream bool) string
	good   bool
	cut    int // bytes missing of Content-Length
}

// mediaType is what a reply comes as.
func mediaType(stream bool) string {
	if stream {
		return "text/event-stream"
	}
	return "application/json"
}

// waywards are answers that providers are not to give, and some that they may.
func waywards() map[string]wayward {
	zip := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, s)
		_ = w.Close()
		return b.String()
	}
	right := func(d rewrite.Dialect, stream bool) string {
		if stream {
			return fineStream[d]
		}
		return fineWhole[d]
	}
	fixed := func(s string) func(rewrite.Dialect, bool) string {
		return func(rewrite.Dialect, bool) string { return s }
	}
	return map[string]wayward{
		"right":             {200, nil, right, true, 0},
		"whole as stream":   {200, []string{"Content-Type", "application/json"}, func(d rewrite.Dialect, _ bool) string { return fineWhole[d] }, true, 0},
		"stream as whole":   {200, []string{"Content-Type", "text/event-stream"}, func(d rewrite.Dialect, _ bool) string { return fineStream[d] }, true, 0},
		"charset":           {200, []string{"Content-Type", "text/event-stream; charset=utf-8"}, func(d rewrite.Dialect, _ bool) string { return fineStream[d] }, true, 0},
		"capitals":          {200, []string{"Content-Type", "TEXT/EVENT-STREAM"}, func(d rewrite.Dialect, _ bool) string { return fineStream[d] }, true, 0},
		"crlf":              {200, nil, func(d rewrite.Dialect, s bool) string { return strings.ReplaceAll(right(d, s), "\n", "\r\n") }, true, 0},
		"gzip":              {200, []string{"Content-Encoding", "gzip"}, func(d rewrite.Dialect, s bool) string { return zip(right(d, s)) }, true, 0},
		"bad gzip":          {200, []string{"Content-Encoding", "gzip"}, right, false, 0},
		"unknown encoding":  {200, []string{"Content-Encoding", "snappy"}, right, false, 0},
		"html":              {200, []string{"Content-Type", "text/html"}, fixed("<html><body>Log in</body></html>"), false, 0},
		"empty":             {200, nil, fixed(""), false, 0},
		"null":              {200, nil, fixed("null"), false, 0},
		"array":             {200, nil, fixed("[]"), false, 0},
		"object":            {200, nil, fixed("{}"), false, 0},
		"number":            {200, nil, fixed("7"), false, 0},
		"error in 200":      {200, []string{"Content-Type", "application/json"}, fixed(`{"error":{"message":"no quota","type":"insufficient_quota","code":429}}`), false, 0},
		"error text in 200": {200, []string{"Content-Type", "application/json"}, fixed(`{"error":"no quota"}`), false, 0},
		"204":               {204, nil, fixed(""), false, 0},
		"302":               {302, []string{"Location", "http://127.0.0.1:1/"}, fixed(""), false, 0},
		"201":               {201, nil, right, false, 0},
		"500 html":          {500, []string{"Content-Type", "text/html"}, fixed("<html>\x00\xff</html>"), false, 0},
		"400 empty":         {400, nil, fixed(""), false, 0},
		"400 null":          {400, nil, fixed("null"), false, 0},
		"400 odd":           {400, nil, fixed(`{"error":{"message":{"a":1},"code":null}}`), false, 0},
		"cut":               {200, nil, right, false, 37},
		"done only":         {200, []string{"Content-Type", "text/event-stream"}, fixed("data: [DONE]\n\n"), false, 0},
		"comments only":     {200, []string{"Content-Type", "text/event-stream"}, fixed(": hi\n\n"), false, 0},
		"garbage stream":    {200, []string{"Content-Type", "text/event-stream"}, fixed("data: {not json\n\ndata: 7\n\ndata: null\n\nevent: error\ndata: {}\n\n"), false, 0},
		"error event":       {200, []string{"Content-Type", "text/event-stream"}, fixed("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n"), false, 0},
		"bare error event":  {200, []string{"Content-Type", "text/event-stream"}, fixed("data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\n"), false, 0},
	}
}

// What a provider answers, right or wrong, is a reply to its client or an error that
// says why in the client's shape, and never half a reply that looks like a whole one.
func TestWaywardProviders(t *testing.T) {
	var now wayward
	var speaks rewrite.Dialect
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		stream := gjson.GetBytes(body, "stream").Bool() || strings.Contains(r.URL.Path, "stream")
		w.Header().Set("Content-Type", mediaType(stream))
		for i := 0; i+1 < len(now.header); i += 2 {
			w.Header().Set(now.header[i], now.header[i+1])
		}
		w.Header().Set("X-Should-Retry", "false")
		text := now.body(speaks, stream)
		if now.cut > 0 {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			text = text[:len(text)-now.cut]
		}
		w.WriteHeader(now.status)
		_, _ = io.WriteString(w, text)
	})
	snapshot, problems := catalog.Build(catalog.Settings{Providers: map[string]catalog.Row{
		"claude": {BaseURL: p.URL, Dialects: []string{"messages"}, KeyStyle: "x-api-key"},
		"chat":   {BaseURL: p.URL, Dialects: []string{"chat"}},
		"gpt":    {BaseURL: p.URL, Dialects: []string{"responses"}},
		"google": {BaseURL: p.URL, Dialects: []string{"gemini"}, KeyStyle: "x-goog-api-key"},
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Catalog, cfg.Retries = snapshot, 0 })
	for name, answer := range waywards() {
		now = answer
		for to := range fineWhole {
			speaks = to
			for from, client := range speakers {
				for _, stream := range []bool{false, true} {
					if from == to {
						continue
					}
					c := &rewrite.Conversation{Dialect: from, Model: models[to], Stream: stream, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
					status, body, header := client.send(t, base, c)
					if fault := answer.judge(from, stream, status, body, header); fault != "" {
						t.Errorf("%s, %s to %s, stream %v: %s", name, from, to, stream, fault)
					}
				}
			}
		}
	}
}

// judge says what is wrong with what the client got; nothing if it is right.
func (w *wayward) judge(from rewrite.Dialect, stream bool, status int, body []byte, header http.Header) string {
	if status != 200 {
		message := gjson.GetBytes(body, "error.message").Str
		if w.good || !gjson.ValidBytes(body) || message == "" || from == rewrite.Messages && gjson.GetBytes(body, "type").Str != "error" {
			return fmt.Sprintf("status %d: %s", status, body)
		}
		return ""
	}
	client := speakers[from]
	var fold rewrite.Fold
	if stream {
		d := client.decoder()
		var split sse.Splitter
		take := func(e sse.Event) { d.Event(e.Name, e.Data, fold.Add) }
		split.Feed(body, take)
		split.Close(take)
		d.Close(fold.Add)
	} else if err := client.whole(body, "", fold.Add); err != nil {
		return err.Error()
	}
	reply := fold.Reply()
	good := reply.Fault == nil && reply.Stop.Reason != rewrite.StopUnknown && strings.Join(spoken(reply), "") == "fine"
	if good != w.good || !good && reply.Fault == nil || !strings.HasPrefix(header.Get("Content-Type"), mediaType(stream)) {
		return fmt.Sprintf("%s: %s", header.Get("Content-Type"), body)
	}
	return ""
}
