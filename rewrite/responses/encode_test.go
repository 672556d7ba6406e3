package responses_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/sse"
)

// retold writes a stream again for a client.
func retold(stream string, o responses.EncoderOptions) string {
	e := responses.NewEncoder(o)
	var out []byte
	told(stream, 1<<20, func(event *rewrite.Event) { out = e.Append(out, event) })
	return string(out)
}

// streamOf is a reply as a stream for a client.
func streamOf(r *rewrite.Reply, o responses.EncoderOptions) string {
	e := responses.NewEncoder(o)
	var out []byte
	r.Tell(func(event *rewrite.Event) { out = e.Append(out, event) })
	return string(out)
}

// checkGrammar asks of a stream what the vendor's own library does: numbers
// without gaps, names that agree, items and parts that are open while something
// happens in them, and a last event that repeats the items.
func checkGrammar(t *testing.T, stream string) (last gjson.Result) {
	t.Helper()
	return checkStream(t, stream, true)
}

// checkStream leaves out, for providers that contradict themselves, whether the
// pieces of a text are its whole.
func checkStream(t *testing.T, stream string, sums bool) (last gjson.Result) {
	t.Helper()
	type item struct {
		open  bool
		parts map[string]string
		args  string
		raw   string
	}
	items := map[int64]*item{}
	number, ended := int64(0), false
	var s sse.Splitter
	s.Feed([]byte(stream), func(e sse.Event) {
		if string(e.Data) == "[DONE]" {
			ended = true
			return
		}
		data := gjson.ParseBytes(append([]byte(nil), e.Data...))
		if !json.Valid(e.Data) || ended {
			t.Fatalf("%s %s", e.Name, e.Data)
		}
		kind := data.Get("type").Str
		if kind != string(e.Name) || data.Get("sequence_number").Int() != number {
			t.Errorf("event %d: %s %s", number, e.Name, e.Data)
		}
		number++
		at := data.Get("output_index").Int()
		it := items[at]
		part := data.Get("content_index").Raw
		if v := data.Get("summary_index"); v.Exists() {
			part = "s" + v.Raw
		}
		if data.Get("item_id").Exists() && (it == nil || !it.open) {
			t.Fatalf("event %d is of no open item: %s", number-1, e.Data)
		}
		switch {
		case kind == "response.output_item.added":
			if it != nil || at != int64(len(items)) {
				t.Fatalf("opened twice, or out of order: %s", e.Data)
			}
			items[at] = &item{open: true, parts: map[string]string{}}
		case kind == "response.output_item.done":
			it.open, it.raw = false, data.Get("item").Raw
			if args := data.Get("item.arguments"); args.Exists() && args.Str != it.args && it.args != "" && sums {
				t.Errorf("arguments %q, told %q", args.Str, it.args)
			}
		case kind == "response.content_part.added", kind == "response.reasoning_summary_part.added":
			it.parts[part] = ""
		case strings.HasPrefix(kind, "response.function_call_arguments"), strings.HasPrefix(kind, "response.custom_tool"):
			it.args += data.Get("delta").Str
		case strings.HasSuffix(kind, ".delta"):
			if _, open := it.parts[part]; !open {
				t.Fatalf("text of no open part: %s", e.Data)
			}
			it.parts[part] += data.Get("delta").Str
		case strings.HasSuffix(kind, "_text.done"), kind == "response.refusal.done":
			if text := data.Get("text").Str + data.Get("refusal").Str; text != it.parts[part] && sums {
				t.Errorf("the whole is %q, told was %q", text, it.parts[part])
			}
		case kind == "response.completed", kind == "response.incomplete", kind == "response.failed":
			last = data.Get("response")
		}
	})
	if !ended && last.Exists() {
		t.Error("no [DONE]")
	}
	n := 0
	for at := int64(0); at < int64(len(items)); at++ {
		if items[at].raw == "" {
			continue
		}
		if got := last.Get(fmt.Sprintf("output.%d", n)).Raw; last.Exists() && got != items[at].raw {
			t.Errorf("item %d is %s at the end", at, got)
		}
		n++
	}
	return last
}

// A stream that goes from this dialect to this dialect keeps its meaning, and its
// items byte for byte.
func TestStreamsAgain(t *testing.T) {
	all := map[string]string{}
	for _, g := range streams(t) {
		all[g.Path] = g.Text("stream")
	}
	for _, script := range scripts {
		all[script] = simulated(t, script, true)
	}
	for name, stream := range all {
		t.Run(name, func(t *testing.T) {
			again := retold(stream, responses.EncoderOptions{Provider: "openai"})
			checkGrammar(t, again)
			want, got := folded(stream), folded(again)
			for i := range want.Items {
				if want.Items[i].Incomplete && !got.Items[i].Incomplete {
					// What the provider has left open is closed here, and is whole then.
					want.Items[i].Incomplete = false
					want.Items[i].Payload = got.Items[i].Payload
				}
			}
			if !strings.HasPrefix(want.ID, "resp_") {
				got.ID = want.ID
			}
			if want.Fault != nil && got.Fault != nil {
				// What is told twice, as type and as code, is told once.
				want.Fault.Type = got.Fault.Type
				if want.Fault.Code == "" {
					want.Fault.Code = got.Fault.Code
				}
			}
			// Lifetimes of cache writes are for those that ask for more.
			u := &want.Usage
			u.CacheWrite5m, u.CacheWrite30m, u.CacheWrite1h, u.CacheWrite12h = rewrite.Count{}, rewrite.Count{}, rewrite.Count{}, rewrite.Count{}
			if diff := cmp.Diff(show.Shared(want), show.Shared(got)); diff != "" {
				t.Errorf("-was +is: %s", diff)
			}
			more := folded(retold(stream, responses.EncoderOptions{Provider: "openai", Events: true})).Usage
			if whole := folded(stream).Usage; want.Fault == nil && more != whole {
				t.Errorf("who asks for more gets %+v of %+v", more, whole)
			}
		})
	}
}

func TestGoldenStreamsAgain(t *testing.T) {
	show.Each(t, "testdata/streams", func(t *testing.T, g *show.File) {
		g.Want(t, *update, "to a client", retold(g.Text("stream"), responses.EncoderOptions{Provider: "openai", Model: "as-named"}))
	})
}

// A whole reply is what its stream adds up to.
func TestEncodeReply(t *testing.T) {
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) {
			stream := simulated(t, script, true)
			last := checkGrammar(t, retold(stream, responses.EncoderOptions{Provider: "openai"}))
			whole := responses.EncodeReply([]byte("kept"), folded(stream), responses.EncoderOptions{Provider: "openai"})
			if diff := cmp.Diff("kept"+last.Raw, string(whole)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// foreign is a reply of a provider of another dialect, with all that it needs
// back.
func foreign() *rewrite.Reply {
	payload := func(format, value string) rewrite.Payload {
		return rewrite.Payload{Provider: "anthropic", Format: "messages/" + format, Version: "1", Value: rewrite.JSON(value)}
	}
	return &rewrite.Reply{
		ID: "msg_01", Model: "claude-opus-5-5",
		Items: []rewrite.Item{
			{Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Text: "Let me see."}}, Payload: payload("thinking", `{"type":"thinking","thinking":"Let me see.","signature":"EqQ="}`)},
			{Kind: rewrite.ItemHosted, Hosted: rewrite.Hosted{ID: "srvtoolu_1", Name: "web_search", Input: rewrite.JSON(`{"query": "io"}`)}, Payload: payload("server_tool_use", `{"type":"server_tool_use","id":"srvtoolu_1"}`)},
			{Kind: rewrite.ItemHosted, Hosted: rewrite.Hosted{ID: "srvtoolu_1", Name: "web_search", State: rewrite.HostedCompleted, Summary: "two\nfound\x1b"}, Payload: payload("web_search_tool_result", "{\"encrypted_content\":\"x\",\n\"z\":1.50}")},
			{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{
				{Text: "Loki 🌋", Attributions: []rewrite.Attribution{{URL: "https://x.test/l", Title: "Loki", Excerpt: "Loki is…", Payload: payload("citation", `{"encrypted_index":"i"}`)}}},
				{Text: "is active."},
			}},
			{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "toolu_1", Name: "orbit", Arguments: rewrite.JSON(`{"body":"io"}`)}, Payload: payload("part", `{"thoughtSignature":"s"}`)},
			{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "toolu_2", Name: "patch", Arguments: rewrite.WrapFreeText([]byte("*** \"é\""))}},
			{Kind: rewrite.ItemOpaque, Payload: payload("new_block", `{"type":"new_block"}`)},
		},
		Usage: rewrite.Usage{InputTotal: rewrite.Tokens(1000), InputFresh: rewrite.Tokens(10), CacheRead: rewrite.Tokens(900), CacheWrite: rewrite.Tokens(90), CacheWrite1h: rewrite.Tokens(90), OutputTotal: rewrite.Tokens(20)},
		Stop:  rewrite.Stop{Reason: rewrite.StopTools, Word: "tool_use"},
	}
}

func request(t *testing.T, extensions ...string) *rewrite.Conversation {
	c := decode(t, `{"model":"m","input":"hi","temperature":0.30,"metadata":{"a":"b"},"prompt_cache_key":"k","tools":[{"type":"namespace","name":"sky","tools":[{"type":"function","name":"orbit","parameters":{"type":"object"}}]},{"type":"custom","name":"patch"}],"reasoning":{"effort":"high"}}`, "openai")
	c.Extensions = extensions
	return c
}

// PB-18, PB-19, RP-01: what a client brings back of another provider's reply has
// everything that the provider needs, whether the client knows our extensions or
// not.
func TestForeignReplyComesBack(t *testing.T) {
	for name, extensions := range map[string][]string{"a plain client": nil, "one that asks for activities": {"warmpath:hosted_activity"}} {
		t.Run(name, func(t *testing.T) {
			o := responses.EncoderOptions{Provider: "openai", Request: request(t, extensions...), Model: "alias"}
			stream := streamOf(foreign(), o)
			last := checkGrammar(t, stream)
			if plain := strings.Contains(stream, "warmpath:"); plain != (extensions != nil) {
				t.Errorf("extensions are told: %v", plain)
			}
			if whole := responses.EncodeReply(nil, foreign(), o); string(whole) != last.Raw {
				t.Errorf("whole and streamed differ: %s", cmp.Diff(last.Raw, string(whole)))
			}
			c := decode(t, `{"model":"m","input":`+last.Get("output").Raw+`}`, "openai")
			want := foreign().Items
			want[0].Parts[0].Kind = rewrite.PartSummary
			want[4].Call.Namespace = "sky"
			want[5].Call.Custom, want[5].Call.Arguments = true, rewrite.JSON("*** \"é\"")
			// A range that the provider has not given spans the whole text; what is
			// known to one provider only is reasoning to this dialect.
			want[3].Parts[0].Attributions[0].End = 6
			want[3].Parts[0].Attributions[0].Kind = "url_citation"
			want[6].Kind = rewrite.ItemReasoning
			want[2].Hosted.Summary = "twofound"
			if extensions == nil {
				want[3].Parts[0].Attributions[0].Excerpt = ""
				want[3].Parts[0].Attributions[0].Payload = rewrite.Payload{Provider: "openai", Format: "responses/annotation", Value: rewrite.JSON(last.Get("output.3.content.0.annotations.0").Raw)}
			} else {
				// Line breaks between the tokens do not survive a stream.
				want[2].Payload.Value = rewrite.JSON(`{"encrypted_content":"x", "z":1.50}`)
			}
			if diff := cmp.Diff(want, c.Items, show.AnyPath); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// HA-01, HA-02: each step of an activity has an event of its own.
func TestActivityEvents(t *testing.T) {
	stream := streamOf(foreign(), responses.EncoderOptions{Provider: "openai", Request: request(t), Events: true})
	checkGrammar(t, stream)
	for _, want := range []string{"event: warmpath:hosted_activity.started\n", "event: warmpath:hosted_activity.completed\n", "event: warmpath:usage\n"} {
		if strings.Count(stream, want) != 1 {
			t.Errorf("%q stands %d times in %s", want, strings.Count(stream, want), stream)
		}
	}
}

// between is the part of a text from a beginning to an end.
func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	part, _, _ := strings.Cut(rest, to)
	return part
}

// The counters that the provider reports go before those of what was told, and a
// reply that fails tells of its use too.
func TestUsageEvent(t *testing.T) {
	report := &rewrite.Report{}
	report.Call("web_search", 3)
	usage := rewrite.Usage{
		InputTotal: rewrite.Tokens(100), CacheRead: rewrite.Tokens(60), CacheWrite: rewrite.Tokens(30),
		CacheWrite5m: rewrite.Tokens(10), CacheWrite1h: rewrite.Tokens(20), OutputTotal: rewrite.Tokens(9), Reasoning: rewrite.Tokens(4),
	}
	e := responses.NewEncoder(responses.EncoderOptions{Events: true, Report: report, Call: 3})
	var out []byte
	for _, event := range []rewrite.Event{
		{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{ID: "r"}},
		{Kind: rewrite.EventUsage, Usage: &usage},
		{Kind: rewrite.EventError, Fault: &rewrite.Fault{Message: "m"}},
	} {
		out = e.Append(out, &event)
	}
	checkGrammar(t, string(out))
	want := `data: {"type":"warmpath:usage","sequence_number":2,"call":3,"stop_reason":"error",` +
		`"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30,"cache_write_tokens_details":{"ttl_5m_tokens":10,"ttl_1h_tokens":20}},` +
		`"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":109},"hosted":{"web_search":3}}`
	if got := between(string(out), "event: warmpath:usage\n", "\n\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGoldenForeign(t *testing.T) {
	g := show.Load(t, "testdata/foreign.txt")
	g.Want(t, *update, "to a client", streamOf(foreign(), responses.EncoderOptions{Provider: "openai", Request: request(t)}))
	g.Want(t, *update, "to one that asks for everything", streamOf(foreign(), responses.EncoderOptions{
		Provider: "openai", Request: request(t), Events: true,
		Continuity: []rewrite.Member{{Name: "conversation", Value: rewrite.JSON(`"conv_1"`)}, {Name: "epoch", Value: rewrite.JSON("0")}, {Name: "edits", Value: rewrite.JSON("2")}},
	}))
	stream := streamOf(foreign(), responses.EncoderOptions{Provider: "openai", Request: request(t, "warmpath:usage"), Call: 2})
	g.Want(t, *update, "what was used, to one that asks", between(stream, "event: warmpath:usage\n", "\n\n"))
}

// ST-02: items side by side, and a reply that ends while one of them is open.
func TestEncodeItemsSideBySide(t *testing.T) {
	e := responses.NewEncoder(responses.EncoderOptions{Provider: "openai"})
	var out []byte
	message := &rewrite.Item{Role: rewrite.RoleAssistant}
	for _, event := range []rewrite.Event{
		{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{ID: "r"}},
		{Kind: rewrite.EventItem, Index: 0, Item: message},
		{Kind: rewrite.EventPart, Index: 0, Part: &rewrite.Part{}},
		{Kind: rewrite.EventText, Index: 0, Text: []byte("he")},
		{Kind: rewrite.EventItem, Index: 1, Item: &rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "c", Name: "n"}}},
		{Kind: rewrite.EventText, Index: 0, Text: []byte("llo")},
		{Kind: rewrite.EventDone, Index: 1},
		{Kind: rewrite.EventText, Index: 7, Text: []byte("nobody's")},
		{Kind: rewrite.EventArguments, Index: 1, Text: []byte("too late")},
		{Kind: rewrite.EventEnd, Stop: rewrite.Stop{Reason: rewrite.StopLength}},
		{Kind: rewrite.EventText, Index: 0, Text: []byte("after the end")},
	} {
		out = e.Append(out, &event)
	}
	last := checkGrammar(t, string(out))
	for path, want := range map[string]string{
		"status": "incomplete", "incomplete_details.reason": "max_output_tokens", "output.0.status": "incomplete",
		"output.0.content.0.text": "hello", "output.1.arguments": "{}", "output.1.status": "completed",
	} {
		if got := last.Get(path).Str; got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// PB-26: a fault ends the stream as one, before it has begun and after.
func TestEncodeFaults(t *testing.T) {
	fault := &rewrite.Fault{Type: "overloaded_error", Message: "a \"b\""}
	early := responses.NewEncoder(responses.EncoderOptions{Provider: "openai"}).Append(nil, &rewrite.Event{Kind: rewrite.EventError, Fault: fault})
	if want := "event: error\ndata: {\"type\":\"error\",\"sequence_number\":0,\"code\":\"overloaded_error\",\"message\":\"a \\\"b\\\"\",\"param\":null," +
		"\"error\":{\"type\":\"overloaded_error\",\"code\":\"overloaded_error\",\"message\":\"a \\\"b\\\"\",\"param\":null}}\n\ndata: [DONE]\n\n"; string(early) != want {
		t.Errorf("got %s", early)
	}
	r := foreign()
	r.Fault = fault
	last := checkGrammar(t, streamOf(r, responses.EncoderOptions{Provider: "openai"}))
	if last.Get("status").Str != "failed" || last.Get("error.code").Str != "overloaded_error" {
		t.Errorf("got %s", last)
	}
}

// FuzzEncoder asks that whatever a stream tells can be told again.
func FuzzEncoder(f *testing.F) {
	for _, g := range streams(f) {
		f.Add(g.Text("stream"))
	}
	f.Fuzz(func(t *testing.T, stream string) {
		again := retold(stream, responses.EncoderOptions{Provider: "openai", Events: true})
		checkStream(t, again, false)
		if second := retold(again, responses.EncoderOptions{Provider: "openai", Events: true}); len(again) > 0 && len(second) == 0 {
			t.Errorf("%q reads as nothing", again)
		}
	})
}

// PB-15: what another provider of this dialect has made does not come back as the
// client's own provider's.
func TestOtherProviderOfTheDialect(t *testing.T) {
	for _, script := range []string{"think 3; say Well; call orbit {}", "search io"} {
		reply := folded(simulated(t, script, true))
		o := responses.EncoderOptions{Provider: "another", Request: request(t)}
		last := checkGrammar(t, streamOf(reply, o))
		if whole := responses.EncodeReply(nil, reply, o); string(whole) != last.Raw {
			t.Errorf("%s: whole and streamed differ: %s", script, cmp.Diff(last.Raw, string(whole)))
		}
		c := decode(t, `{"model":"m","input":`+last.Get("output").Raw+`}`, "another")
		own := 0
		for _, item := range c.Items {
			switch {
			case item.Payload.Provider == "another":
				t.Errorf("%s: taken for its own: %+v", script, item)
			case item.Payload.Provider == "openai":
				own++
			}
		}
		if own != len(reply.Items) {
			t.Errorf("%s: of %d items %d came back: %s", script, len(reply.Items), own, last.Get("output").Raw)
		}
		body, _ := encode(t, c, "openai")
		for _, item := range reply.Items {
			if !strings.Contains(body, string(item.Payload.Value)) {
				t.Errorf("%s: not sent back: %s", script, item.Payload.Value)
			}
		}
	}
}

// A reply that is kept has the name that it is kept under, and is all of what the
// stream has told.
func TestKeptReply(t *testing.T) {
	o := responses.EncoderOptions{Provider: "openai", Request: request(t), ID: "resp_wp_own", Keep: true}
	e := responses.NewEncoder(o)
	var stream []byte
	foreign().Tell(func(event *rewrite.Event) {
		if e.Response() != nil {
			t.Error("it is kept before it has ended")
		}
		stream = e.Append(stream, event)
	})
	last := checkGrammar(t, string(stream))
	if string(e.Response()) != last.Raw || string(responses.EncodeReply(nil, foreign(), o)) != last.Raw {
		t.Errorf("kept is %s", e.Response())
	}
	if last.Get("id").Str != "resp_wp_own" || !last.Get("store").Bool() {
		t.Errorf("got %s", last)
	}
	for _, item := range last.Get("output").Array() {
		if id := item.Get("id").Str; responses.ReplyOf(id) != "resp_wp_own" || string(responses.Item(e.Response(), id)) != item.Raw {
			t.Errorf("%s is not found by its name", item)
		}
	}
	failed := foreign()
	failed.Fault = &rewrite.Fault{Message: "no"}
	e = responses.NewEncoder(o)
	failed.Tell(func(event *rewrite.Event) { stream = e.Append(stream, event) })
	if e.Response() != nil {
		t.Error("a reply that has failed is kept")
	}
}

// Credentials that a client has sent for a server of its own stand in no reply.
func TestReplyRepeatsNoCredentials(t *testing.T) {
	c := decode(t, `{"model":"m","input":"hi","tools":[{"type":"mcp","server_label":"wiki","server_url":"https://wiki.test","authorization":"s3cret","headers":{"X-Key":"s3cret"}}]}`, "openai")
	whole := string(responses.EncodeReply(nil, foreign(), responses.EncoderOptions{Provider: "openai", Request: c}))
	if strings.Contains(whole, "s3cret") || gjson.Get(whole, "tools.0.server_label").Str != "wiki" {
		t.Errorf("got %s", gjson.Get(whole, "tools"))
	}
}
