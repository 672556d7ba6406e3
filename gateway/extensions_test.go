package gateway_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/openresponses"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
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

// HA-01: what a provider's own tool does is told in the one form, to those who ask
// for it, in the way in which they ask.
func TestHostedActivityIsToldToWhoAsks(t *testing.T) {
	_, base := everyProvider(t, keepReplies)
	started, completed := "warmpath:hosted_activity.started", "warmpath:hosted_activity.completed"
	for name, c := range map[string]struct {
		include, header string
		events          []string
		items           bool
	}{
		"nobody":             {},
		"activities":         {include: `"warmpath:hosted_activity"`, events: []string{started, completed}, items: true},
		"usage":              {include: `"warmpath:usage"`, events: []string{"warmpath:usage"}},
		"continuity":         {include: `"warmpath:continuity"`, events: []string{"warmpath:continuity"}},
		"all, by the header": {header: "1", events: []string{"warmpath:continuity", started, completed, "warmpath:usage"}, items: true},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"model":"` + models[rewrite.Messages] + `","stream":true,"include":[` + c.include + `],` + searched + `}`
			stream, _ := post(t, base+"/v1/responses", body, "Warmpath-Events", c.header)
			judge := openresponses.Judge{Extended: c.events != nil, Vendor: true}
			if err := judge.Stream(stream); err != nil {
				t.Error(err)
			}
			events, reply := eventsOf(stream)
			if diff := cmp.Diff(c.events, kindsOf(events)); diff != "" {
				t.Error(diff)
			}
			if got := reply.Get(`output.#(type=="warmpath:hosted_activity")#.status`).Raw; c.items && got != `["in_progress","completed"]` || !c.items && got != "[]" {
				t.Errorf("items are %s", got)
			}
		})
	}
}

// RP-01, PP-01: whether the client knows our items or not, goes on by its history
// or by name, the provider gets its own blocks back byte for byte; another one
// gets none of them.
func TestHostedActivityReturnsToItsProvider(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	for name, include := range map[string]string{"known": `"warmpath:hosted_activity"`, "unknown": ""} {
		t.Run(name, func(t *testing.T) {
			c := caller{t, base, "sk"}
			head := `{"model":"` + models[rewrite.Messages] + `","include":[` + include + `],`
			first := c.create(head + searched + `}`)
			output := strings.Trim(first.Get("output").Raw, "[]")
			blocks := ownBlocks(t, output)
			if len(blocks) != 2 {
				t.Fatalf("of its own are %q in %s", blocks, output)
			}
			c.create(head + `"input":"And on?","tools":[{"type":"web_search"}],"previous_response_id":"` + first.Get("id").Str + `"}`)
			byName := lastBody(core)
			history := strings.TrimSuffix(searched, "]") + `,` + output + `,{"role":"user","content":"And on?"}]`
			c.create(head + history + `}`)
			if diff := cmp.Diff(lastBody(core), byName); diff != "" {
				t.Error(diff)
			}
			// It searches for nobody, which the client takes.
			if status, reply := c.do("POST", "/v1/responses", `{"model":"`+models[rewrite.Completions]+`",`+history+`}`, "Warmpath-Strict", "0"); status != 200 {
				t.Fatalf("status %d: %s", status, reply)
			}
			other := lastBody(core)
			for _, block := range blocks {
				if !strings.Contains(byName, block) {
					t.Errorf("%s\nis not in\n%s", block, byName)
				}
				if strings.Contains(other, block) || !strings.Contains(other, "Loki does.") {
					t.Errorf("another provider gets %s", other)
				}
			}
		})
	}
}

// ownBlocks are the activities in a reply's items as their provider has made them.
func ownBlocks(t *testing.T, output string) (blocks []string) {
	t.Helper()
	c, err := responses.DecodeRequest([]byte(`{"model":"m","input":[`+output+`]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Items {
		if item := &c.Items[i]; item.Kind == rewrite.ItemHosted && item.Payload.Format != "gemini/grounding" {
			blocks = append(blocks, string(item.Payload.Value))
		}
	}
	return blocks
}

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

// RG-08: every source is of a range of the text, in code points, whoever has made
// it; a client that asks gets what the provider wants back of it.
func TestSourcesOfEveryProvider(t *testing.T) {
	_, base := everyProvider(t, keepReplies)
	for _, dialect := range []rewrite.Dialect{rewrite.Messages, rewrite.Gemini} {
		for _, stream := range []bool{false, true} {
			body := `{"model":"` + models[dialect] + `","include":["warmpath:hosted_activity"],` + strings.Replace(searched, "say Loki does.", "say Loki 🌋 döes.", 1)
			if stream {
				body += `,"stream":true`
			}
			answer, _ := post(t, base+"/v1/responses", body+"}")
			reply := gjson.ParseBytes(answer)
			if stream {
				_, reply = eventsOf(answer)
			}
			sources := 0
			for _, part := range reply.Get(`output.#(type=="message")#.content|@flatten`).Array() {
				text := part.Get("text").Str
				for _, a := range part.Get("annotations").Array() {
					sources++
					from, to := a.Get("start_index").Int(), a.Get("end_index").Int()
					if a.Get("type").Str != "url_citation" || a.Get("url").Str == "" || from < 0 || to <= from || int(to) > utf8.RuneCountInString(text) {
						t.Errorf("%s, stream %v: %s of %q", dialect, stream, a, text)
					}
					if dialect == rewrite.Messages && !a.Get("warmpath:replay.value.encrypted_index").Exists() {
						t.Errorf("nothing to bring back in %s", a)
					}
				}
			}
			if sources == 0 {
				t.Errorf("%s, stream %v: no sources in %s", dialect, stream, reply.Get("output"))
			}
		}
	}
}
