package gateway_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/openresponses"
	"warmpath/rewrite"
)

// eventsOf are the data of a stream's events, and the reply in the last of them.
func eventsOf(stream []byte) (events []gjson.Result, reply gjson.Result) {
	for line := range bytes.Lines(stream) {
		if data, ok := bytes.CutPrefix(line, []byte("data: {")); ok {
			events = append(events, gjson.Parse("{"+string(data)))
		}
	}
	return events, events[len(events)-1].Get("response")
}

// kindsOf are the types of events that are ours.
func kindsOf(events []gjson.Result) (own []string) {
	for _, e := range events {
		if kind := e.Get("type").Str; strings.HasPrefix(kind, "warmpath:") {
			own = append(own, kind)
		}
	}
	return own
}

const searched = `"tools":[{"type":"web_search"}],"input":[{"role":"user","content":"What erupts? DO[search io volcano 🌋; say Loki does.; then; say Yes.]"}]`

// A provider that speaks the dialect itself is told of in the same form, beside its
// own items, which come back as they were.
func TestHostedActivityOfTheVendor(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	c := caller{t, base, "sk-client"}
	head := `{"model":"` + models[rewrite.Responses] + `",`
	for name, ask := range map[string]struct{ include, header string }{
		"by name": {`"include":["warmpath:hosted_activity","warmpath:usage"],`, ""}, "by the header": {"", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			stream, _ := post(t, base+"/v1/responses", head+ask.include+`"stream":true,`+searched+`}`, "Warmpath-Events", ask.header)
			if err := (openresponses.Judge{Extended: true, Vendor: true}).Stream(stream); err != nil {
				t.Error(err)
			}
			events, reply := eventsOf(stream)
			if diff := cmp.Diff([]string{"warmpath:hosted_activity.started", "warmpath:hosted_activity.completed", "warmpath:usage"}, kindsOf(events)); diff != "" {
				t.Error(diff)
			}
			own, uniform := reply.Get(`output.#(type=="web_search_call")`), reply.Get(`output.#(type=="warmpath:hosted_activity")`)
			if own.Get("id").Str != uniform.Get("id").Str || uniform.Get("name").Str != "web_search" || uniform.Get("status").Str != "completed" || uniform.Get("payload").Exists() {
				t.Errorf("%s beside %s", uniform, own)
			}
			c := caller{t, base, "sk-client"}
			c.create(head + ask.include + strings.TrimSuffix(searched, "]") + `,` + strings.Trim(reply.Get("output").Raw, "[]") + `,{"role":"user","content":"And on?"}]}`)
			if sent := lastBody(core); !strings.Contains(sent, own.Raw) || strings.Contains(sent, "warmpath") {
				t.Errorf("sent is %s", sent)
			}
			c.create(head + ask.include + `"previous_response_id":"` + reply.Get("id").Str + `","input":"And on?"}`)
		})
	}
	// The provider's own names stay its own, and its errors as they are.
	plain := c.create(head + `"input":"Hi."}`)
	c.create(head + `"include":["warmpath:usage"],"previous_response_id":"` + plain.Get("id").Str + `","input":"And?"}`)
	if !strings.Contains(lastBody(core), plain.Get("id").Str) {
		t.Errorf("the provider is not told of its reply: %s", lastBody(core))
	}
	_, want := c.do("POST", "/v1/responses", head+`"input":"DO[status 422 No.]"}`)
	if status, got := c.do("POST", "/v1/responses", head+`"include":["warmpath:usage"],"input":"DO[status 422 No.]"}`); status != 422 || got.Raw != want.Raw {
		t.Errorf("status %d: %s, want %s", status, got, want)
	}
}

// V10, V14: results in the blocks of the Model Context Protocol reach every model,
// without what is for people alone and without what a tool says of its blocks.
func TestToolBlocksReachEveryModel(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	c := caller{t, base, "sk"}
	const blocks = `[{"type":"text","text":"For both.","annotations":{"priority":0}},{"type":"text","text":"Secret aside.","annotations":{"audience":["user"]}},` +
		`{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"A note."},"annotations":{"audience":["assistant"]}}]`
	for dialect, model := range models {
		t.Run(dialect.String(), func(t *testing.T) {
			c.t = t
			c.create(`{"model":"` + model + `","store":false,"tools":[{"type":"function","name":"n"}],"input":[{"role":"user","content":"Go. DO[say Done.]"},` +
				`{"type":"function_call","call_id":"call_1","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":` + blocks + `}]}`)
			sent := lastBody(core)
			for word, there := range map[string]bool{"For both.": true, "A note.": true, "Secret aside.": false, "audience": false, "priority": false, "annotations": false, "mimeType": false} {
				if strings.Contains(sent, word) != there {
					t.Errorf("%q is there: %v, in %s", word, !there, sent)
				}
			}
		})
	}
}
