package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/cache"
	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// keepReplies keeps them, as a gateway does that nobody configures.
func keepReplies(cfg *config.Config) { cfg.Replies = config.Replies{Keep: true, TTL: time.Hour} }

// caller is a client of the Responses API.
type caller struct {
	t    testing.TB
	base string
	key  string
}

// do makes a request and gives the status and the reply, whole or as the last event
// of a stream has it.
func (c caller) do(method, path, body string, headers ...string) (int, gjson.Result) {
	c.t.Helper()
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		for line := range bytes.Lines(answer) {
			data, _ := bytes.CutPrefix(line, []byte("data: "))
			if response := gjson.GetBytes(data, "response"); response.Exists() {
				answer = []byte(response.Raw)
			}
		}
	}
	return resp.StatusCode, gjson.ParseBytes(answer)
}

// create makes a reply, which must work.
func (c caller) create(body string) gjson.Result {
	c.t.Helper()
	status, reply := c.do("POST", "/v1/responses", body)
	if status != 200 || reply.Get("status").Str != "completed" {
		c.t.Fatalf("status %d: %s\n%s", status, reply, body)
	}
	return reply
}

// lastBody is the request that a provider got last.
func lastBody(core *provider.Core) string { return string(lastRecord(core).Body) }

// A conversation that a client continues by name reaches the provider as one whose
// history the client sends: byte for byte the same request, whole or streamed.
func TestPreviousResponse(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	const tools = `"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}}]`
	for dialect, model := range models {
		if dialect == rewrite.Responses {
			continue
		}
		for _, stream := range []string{"false", "true"} {
			t.Run(dialect.String()+", stream "+stream, func(t *testing.T) {
				c := caller{t, base, "sk-" + stream}
				head := `{"model":"` + model + `","stream":` + stream + `,` + tools + `,"reasoning":{"effort":"high"},`
				question := `{"role":"user","content":[{"type":"input_text","text":"What time is it? DO[think 9; say Let me see.; call clock {\"zone\": \"CET\"}; then; say Noon.; then; say Bye.]"}]}`
				first := c.create(head + `"instructions":"Be brief.","input":[` + question + `]}`)
				call := first.Get(`output.#(type=="function_call").call_id`).Str
				if !strings.HasPrefix(first.Get("id").Str, "resp_wp_") || !first.Get("store").Bool() || call == "" {
					t.Fatalf("got %s", first)
				}
				result := `{"type":"function_call_output","call_id":"` + call + `","output":"12:00"}`
				second := c.create(head + `"previous_response_id":"` + first.Get("id").Str + `","input":[` + result + `]}`)
				byName := lastBody(core)
				if second.Get("previous_response_id").Str != first.Get("id").Str {
					t.Errorf("the reply says that it goes on from %s", second.Get("previous_response_id"))
				}
				third := c.create(head + `"input":"Thanks.","previous_response_id":"` + second.Get("id").Str + `"}`)
				thirdByName := lastBody(core)

				items := strings.Trim(first.Get("output").Raw, "[]")
				c.create(head + `"store":false,"input":[` + question + `,` + items + `,` + result + `]}`)
				if diff := cmp.Diff(lastBody(core), byName); diff != "" {
					t.Errorf("by its history (-), by name (+): %s", diff)
				}
				c.create(head + `"store":false,"input":[` + question + `,` + items + `,` + result + `,` + strings.Trim(second.Get("output").Raw, "[]") + `,{"role":"user","content":"Thanks."}]}`)
				if diff := cmp.Diff(lastBody(core), thirdByName); diff != "" {
					t.Errorf("by its history (-), by name (+): %s", diff)
				}
				if strings.Contains(thirdByName, "Be brief.") {
					t.Error("the instructions of an earlier request are carried over")
				}
				if text := third.Get(`output.#(type=="message").content.0.text`).Str; text != "Bye." {
					t.Errorf("the model said %q", text)
				}
			})
		}
	}
}

// What a client can ask of a reply that is kept, and in which words it is refused.
func TestKeptReplies(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	c := caller{t, base, "sk-mine"}
	model := models[rewrite.Messages]
	reply := c.create(`{"model":"` + model + `","input":"Hi. DO[say Hello.]"}`)
	id := reply.Get("id").Str
	next := c.create(`{"model":"` + model + `","input":"And?","previous_response_id":"` + id + `"}`)
	asked := lastRecord(core).Number

	if status, got := c.do("GET", "/v1/responses/"+id, ""); status != 200 || got.Raw != reply.Raw {
		t.Errorf("status %d: %s, want %s", status, got, reply)
	}
	status, items := c.do("GET", "/v1/responses/"+next.Get("id").Str+"/input_items?order=asc&limit=2", "")
	if status != 200 || items.Get("data.0.content.0.text").Str != "Hi. DO[say Hello.]" || items.Get("data.1").Raw != reply.Get("output.0").Raw || !items.Get("has_more").Bool() {
		t.Errorf("status %d: %s", status, items)
	}
	// Items stand for themselves by their names, too.
	message := reply.Get("output.0.id").Str
	c.create(`{"model":"` + model + `","input":[{"role":"user","content":"Hi. DO[say Hello.]"},{"type":"item_reference","id":"` + message + `"},{"role":"user","content":"Go on."}]}`)
	if body := lastBody(core); !strings.Contains(body, "Hello.") {
		t.Errorf("the item is not in %s", body)
	}
	other := caller{t, base, "sk-other"}
	for name, r := range map[string]struct {
		who                caller
		method, path, body string
		status             int
		param, code, text  string
	}{
		"an unknown name":        {c, "POST", "", `"previous_response_id":"resp_wp_nobody","input":"x"`, 400, "previous_response_id", "previous_response_not_found", "Previous response with id 'resp_wp_nobody' not found."},
		"another tenant's name":  {other, "POST", "", `"previous_response_id":"` + id + `","input":"x"`, 400, "previous_response_id", "previous_response_not_found", "Previous response with id '" + id + "' not found."},
		"another tenant's item":  {other, "POST", "", `"input":[{"type":"item_reference","id":"` + message + `"}]`, 404, "input", "", "Item with id '" + message + "' not found."},
		"another tenant reads":   {other, "GET", "/" + id, "", 404, "", "", "Response with id '" + id + "' not found."},
		"another tenant lists":   {other, "GET", "/" + id + "/input_items", "", 404, "", "", "Response with id '" + id + "' not found."},
		"another tenant deletes": {other, "DELETE", "/" + id, "", 404, "", "", "Response with id '" + id + "' not found."},
		"a page that is none":    {c, "GET", "/" + id + "/input_items?limit=0", "", 400, "limit", "", "limit is no number"},
		"a cancellation":         {c, "POST", "/" + id + "/cancel", "{}", 400, "", "", "Cannot cancel"},
		"another method":         {c, "PUT", "/" + id, "{}", 405, "", "", "GET"},
	} {
		body := r.body
		if r.method == "POST" && r.path == "" {
			body = `{"model":"` + model + `",` + body + `}`
		}
		status, got := r.who.do(r.method, "/v1/responses"+r.path, body)
		if status != r.status || got.Get("error.param").Str != r.param || !strings.HasPrefix(got.Get("error.message").Str, r.text) && !strings.Contains(got.Get("error.message").Str, r.text) {
			t.Errorf("%s: status %d: %s", name, status, got)
		}
		if r.code != "" && got.Get("error.code").Str != r.code {
			t.Errorf("%s: %s", name, got)
		}
	}
	if now := lastRecord(core).Number; now != asked+1 {
		t.Errorf("%d of these requests reached a provider", now-asked-1)
	}
	if status, got := c.do("DELETE", "/v1/responses/"+id, ""); status != 200 || got.Raw != `{"id":"`+id+`","object":"response","deleted":true}` {
		t.Errorf("status %d: %s", status, got)
	}
	if status, _ := c.do("GET", "/v1/responses/"+id, ""); status != 404 {
		t.Errorf("status %d for a reply that was deleted", status)
	}
	// The names of a provider's own replies are the provider's to know.
	if status, _ := c.do("GET", "/p/gpt/v1/responses/resp_1", ""); status == 405 || lastRecord(core).Number != asked+2 {
		t.Errorf("status %d, and the provider was not asked", status)
	}
}

// What is not to be kept is not, and who keeps nothing says so.
func TestRepliesThatAreNotKept(t *testing.T) {
	_, base := everyProvider(t, keepReplies)
	c := caller{t, base, "sk-mine"}
	model := models[rewrite.Gemini]
	reply := c.create(`{"model":"` + model + `","input":"Hi.","store":false}`)
	if status, _ := c.do("GET", "/v1/responses/"+reply.Get("id").Str, ""); status != 404 || reply.Get("store").Bool() {
		t.Errorf("status %d: %s", status, reply)
	}
	_, base = everyProvider(t, nil)
	c.base = base
	reply = c.create(`{"model":"` + model + `","input":"Hi."}`)
	if reply.Get("store").Bool() {
		t.Errorf("got %s", reply)
	}
	status, got := c.do("POST", "/v1/responses", `{"model":"`+model+`","input":"Hi.","previous_response_id":"resp_wp_1"}`)
	if status != 400 || !strings.Contains(got.Get("error.message").Str, "replies.keep is off") || got.Get("error.param").Str != "previous_response_id" {
		t.Errorf("status %d: %s", status, got)
	}
}

// Nothing of a client's credentials is written anywhere, be they its own or for a
// tool's server.
func TestRepliesKeepNoSecrets(t *testing.T) {
	store := &noticed{Store: cache.NewMemory(64 << 20)}
	_, base := everyProviderWith(t, gateway.Options{Store: store}, keepReplies)
	c := caller{t, base, "sk-s3cret"}
	for _, stream := range []string{"false", "true"} {
		status, reply := c.do("POST", "/v1/responses", `{"model":"`+models[rewrite.Completions]+`","stream":`+stream+`,"input":"Remember the word volcano.",`+
			`"tools":[{"type":"mcp","server_label":"wiki","server_url":"https://wiki.test","authorization":"s3cret","headers":{"X":"s3cret"}}]}`, "Warmpath-Strict", "0")
		if status != 200 || reply.Get("tools.0.server_label").Str != "wiki" || strings.Contains(reply.Raw, "s3cret") {
			t.Errorf("got %s", reply)
		}
	}
	if all := store.written.String(); strings.Contains(all, "s3cret") || strings.Count(all, "Remember the word volcano.") < 2 {
		t.Errorf("written is %q", all)
	}
}

// Replies outlive the gateway, and any other one that shares the store has them; a
// store that does not answer is no reply that is unknown.
func TestRepliesAreShared(t *testing.T) {
	store := &deaf{Store: cache.NewMemory(64 << 20)}
	_, base := everyProviderWith(t, gateway.Options{Store: store}, keepReplies)
	_, second := everyProviderWith(t, gateway.Options{Store: store}, keepReplies)
	model := models[rewrite.Completions]
	first := caller{t, base, "sk"}.create(`{"model":"` + model + `","input":"a"}`)
	next := `{"model":"` + model + `","input":"b","previous_response_id":"` + first.Get("id").Str + `"}`
	caller{t, second, "sk"}.create(next)
	store.off.Store(true)
	status, got := caller{t, second, "sk"}.do("POST", "/v1/responses", next)
	if status != 503 || !strings.Contains(got.Get("error.message").Str, "does not answer") {
		t.Errorf("status %d: %s", status, got)
	}
	// Whoever needs nothing of it goes on.
	caller{t, second, "sk"}.create(`{"model":"` + model + `","input":"c"}`)
}

// A reply that cannot be kept reaches its client all the same.
func TestReplyThatCannotBeKept(t *testing.T) {
	_, base := everyProviderWith(t, gateway.Options{Store: full{cache.NewMemory(1 << 20)}}, keepReplies)
	c := caller{t, base, "sk"}
	for _, stream := range []string{"false", "true"} {
		reply := c.create(`{"model":"` + models[rewrite.Completions] + `","stream":` + stream + `,"input":"DO[say Hello.]"}`)
		if status, _ := c.do("GET", "/v1/responses/"+reply.Get("id").Str, ""); status != 404 || reply.Get("output.0.content.0.text").Str != "Hello." {
			t.Errorf("status %d: %s", status, reply)
		}
	}
}

// full is a store that takes nothing.
type full struct{ cache.Store }

func (full) Set(context.Context, ...cache.Entry) error { return errors.New("full") }

// What a small request brings along by a name takes its room among the bodies of
// requests, and gives it back.
func TestRecalledTurnsTakeRoom(t *testing.T) {
	_, base := everyProvider(t, func(cfg *config.Config) {
		keepReplies(cfg)
		cfg.Limits.BodiesInFlight = 64 << 10
	})
	c := caller{t, base, "sk"}
	ask := func(input, previous string) (int, gjson.Result) {
		return c.do("POST", "/v1/responses", `{"model":"`+models[rewrite.Completions]+`","input":"`+input+`","previous_response_id":"`+previous+`"}`)
	}
	long := strings.Repeat("long ", 8<<10)
	status, first := ask(long, "")
	if status != 200 {
		t.Fatalf("status %d: %s", status, first)
	}
	status, second := ask(long, first.Get("id").Str)
	if status != 503 || second.Get("error.code").Str != "busy" {
		t.Errorf("status %d: %s", status, second)
	}
	for range 3 {
		if status, got := ask("short", first.Get("id").Str); status != 200 {
			t.Errorf("status %d: %s", status, got)
		}
	}
}
