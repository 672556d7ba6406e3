package completions_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/sse"
)

// retold writes a stream again for a client.
func retold(stream string, o completions.EncoderOptions) string {
	e := completions.NewEncoder(o)
	var out []byte
	told(stream, 1<<20, func(event *rewrite.Event) { out = e.Append(out, event) })
	return string(out)
}

// streamOf is a reply as a stream for a client.
func streamOf(r *rewrite.Reply, o completions.EncoderOptions) string {
	e := completions.NewEncoder(o)
	var out []byte
	r.Tell(func(event *rewrite.Event) { out = e.Append(out, event) })
	return string(out)
}

// added is what a client adds up of a stream: the message of a whole reply.
type added struct {
	Role, Content, Refusal, Reasoning, Finish string
	Calls                                     []string
	Details, Annotations                      []string
	Usage                                     string
	Done                                      bool
	Error                                     string
}

// accumulate adds a stream up as the vendor's own library does, and asks that
// every chunk is JSON, that calls begin with who is called, in order, and that
// nothing follows the end.
func accumulate(t *testing.T, stream string) (m added) {
	t.Helper()
	var args []string
	var s sse.Splitter
	s.Feed([]byte(stream), func(e sse.Event) {
		if m.Done || m.Error != "" {
			t.Errorf("after the end: %s", e.Data)
		}
		if string(e.Data) == "[DONE]" {
			m.Done = true
			return
		}
		if !json.Valid(e.Data) {
			t.Fatalf("no JSON: %s", e.Data)
		}
		data := gjson.ParseBytes(append([]byte(nil), e.Data...))
		if data.Get("error").Exists() {
			m.Error = data.Get("error").Raw
			return
		}
		delta := data.Get("choices.0.delta")
		m.Role += delta.Get("role").Str
		m.Content += delta.Get("content").Str
		m.Refusal += delta.Get("refusal").Str
		m.Reasoning += delta.Get("reasoning_content").Str
		m.Finish += data.Get("choices.0.finish_reason").Str
		m.Usage += data.Get("usage").Raw
		for _, d := range delta.Get("reasoning_details").Array() {
			m.Details = append(m.Details, d.Raw)
		}
		for _, a := range delta.Get("annotations").Array() {
			m.Annotations = append(m.Annotations, a.Raw)
		}
		for _, c := range delta.Get("tool_calls").Array() {
			i := int(c.Get("index").Int())
			if i == len(m.Calls) {
				m.Calls = append(m.Calls, c.Get("type").Str+" "+c.Get("id").Str+" "+c.Get("function.name").Str+c.Get("custom.name").Str)
				args = append(args, "")
			} else if i > len(m.Calls) || c.Get("id").Exists() {
				t.Errorf("a call out of order: %s", e.Data)
				return
			}
			args[i] += c.Get("function.arguments").Str + c.Get("custom.input").Str
		}
	})
	for i := range m.Calls {
		m.Calls[i] += " " + args[i]
	}
	return m
}

// message reads a whole reply as the same.
func message(reply string) (m added) {
	data := gjson.Parse(reply)
	msg := data.Get("choices.0.message")
	m = added{
		Role: msg.Get("role").Str, Content: msg.Get("content").Str, Refusal: msg.Get("refusal").Str,
		Reasoning: msg.Get("reasoning_content").Str, Finish: data.Get("choices.0.finish_reason").Str, Usage: data.Get("usage").Raw, Done: true,
	}
	for _, d := range msg.Get("reasoning_details").Array() {
		m.Details = append(m.Details, d.Raw)
	}
	for _, a := range msg.Get("annotations").Array() {
		m.Annotations = append(m.Annotations, a.Raw)
	}
	for _, c := range msg.Get("tool_calls").Array() {
		m.Calls = append(m.Calls, fmt.Sprint(c.Get("type").Str, " ", c.Get("id").Str, " ", c.Get("function.name").Str, c.Get("custom.name").Str, " ", c.Get("function.arguments").Str, c.Get("custom.input").Str))
	}
	return m
}

func request(t *testing.T) *rewrite.Conversation {
	return decode(t, `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"orbit"}},{"type":"custom","custom":{"name":"patch"}}]}`, "openai")
}

// A stream that goes from this dialect to this dialect keeps its meaning, and a
// whole reply is what its stream adds up to.
func TestStreamsAgain(t *testing.T) {
	all := map[string]string{}
	for _, g := range streams(t) {
		if stream := g.Text("stream"); stream != "" {
			all[g.Path] = stream
		}
	}
	for _, script := range scripts {
		all[script] = simulated(t, script, true)
	}
	o := completions.EncoderOptions{Provider: "openai", Request: request(t)}
	for name, stream := range all {
		t.Run(name, func(t *testing.T) {
			want := folded(stream)
			again := retold(stream, o)
			m := accumulate(t, again)
			if m.Done != (want.Stop.Reason != rewrite.StopUnknown) || (m.Error != "") != (want.Fault != nil) {
				t.Fatalf("ended %v, failed %q: %s", m.Done, m.Error, again)
			}
			if want.Fault != nil || !m.Done {
				return
			}
			got := folded(again)
			for _, r := range []*rewrite.Reply{want, got} {
				for i := range r.Items {
					for j := range r.Items[i].Parts {
						for k := range r.Items[i].Parts[j].Attributions {
							a := &r.Items[i].Parts[j].Attributions[k]
							// A source without a range is one of the whole text, and is written
							// in the vendor's form.
							if a.Payload, a.Excerpt, a.Kind = (rewrite.Payload{}), "", ""; a.End == 0 {
								a.End = utf8.RuneCountInString(r.Items[i].Parts[j].Text)
							}
						}
					}
				}
				// Reasoning has one name here, whatever it came as, and the lifetimes of
				// the cache none.
				for i := range r.Items {
					r.Items[i].Payload = rewrite.Payload{}
				}
				r.Stop.Word = ""
				u := &r.Usage
				u.CacheWrite5m, u.CacheWrite30m, u.CacheWrite1h, u.CacheWrite12h = rewrite.Count{}, rewrite.Count{}, rewrite.Count{}, rewrite.Count{}
				if u.CacheRead.N == 0 {
					u.CacheRead = rewrite.Count{}
				}
			}
			if diff := cmp.Diff(show.Shared(want), show.Shared(got)); diff != "" {
				t.Errorf("-was +is: %s", diff)
			}
			whole := completions.EncodeReply([]byte("kept"), folded(stream), o)
			reply, kept := strings.CutPrefix(string(whole), "kept")
			if !kept || !json.Valid([]byte(reply)) {
				t.Fatalf("%s", whole)
			}
			if diff := cmp.Diff(m, message(reply)); diff != "" {
				t.Errorf("stream (-) and reply (+) differ: %s", diff)
			}
		})
	}
}

func TestGoldenStreamsAgain(t *testing.T) {
	show.Each(t, "testdata/streams", func(t *testing.T, g *show.File) {
		g.Want(t, *update, "to a client", retold(g.Text("stream"), completions.EncoderOptions{Provider: "openai", Request: request(t), Model: "as-named"}))
	})
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

// PB-18, PB-19, RP-01: what a client brings back of another provider's reply has
// everything that the provider needs.
func TestForeignReplyComesBack(t *testing.T) {
	o := completions.EncoderOptions{Provider: "openai", Request: request(t), Model: "alias"}
	m := accumulate(t, streamOf(foreign(), o))
	whole := completions.EncodeReply(nil, foreign(), o)
	if diff := cmp.Diff(m, message(string(whole))); diff != "" {
		t.Errorf("stream (-) and reply (+) differ: %s", diff)
	}
	c := decode(t, `{"model":"m","messages":[{"role":"user","content":"hi"},`+gjson.GetBytes(whole, "choices.0.message").Raw+`]}`, "openai")
	f := foreign().Items
	want := []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}, f[0], f[1], f[2], f[6], f[3], f[4], f[5]}
	want[3].Hosted.Summary = "two\nfound\x1b"
	// What is known to one provider only is reasoning to this dialect, which has one
	// text and one place for its sources.
	want[4].Kind = rewrite.ItemReasoning
	want[5].Parts = []rewrite.Part{{Text: "Loki 🌋is active.", Attributions: []rewrite.Attribution{{
		URL: "https://x.test/l", Title: "Loki", End: 6, Kind: "url_citation",
		Payload: rewrite.Payload{Provider: "openai", Format: "chat/annotation", Value: rewrite.JSON(m.Annotations[0])},
	}}}}
	want[7].Call.Custom, want[7].Call.Arguments = true, rewrite.JSON("*** \"é\"")
	if diff := cmp.Diff(want, c.Items, show.AnyPath); diff != "" {
		t.Error(diff)
	}
}

func TestGoldenForeign(t *testing.T) {
	g := show.Load(t, "testdata/foreign.txt")
	o := completions.EncoderOptions{Provider: "openai", Request: request(t)}
	g.Want(t, *update, "to a client", streamOf(foreign(), o))
	g.Want(t, *update, "as a whole", string(completions.EncodeReply(nil, foreign(), o)))
}

// A client that has not asked for the usage of a stream does not get it.
func TestUsageIsAskedFor(t *testing.T) {
	if m := accumulate(t, streamOf(foreign(), completions.EncoderOptions{Provider: "openai"})); m.Usage != "" || !m.Done {
		t.Errorf("got %+v", m)
	}
}

// PB-26: a fault ends the stream without [DONE].
func TestEncodeFaults(t *testing.T) {
	fault := &rewrite.Fault{Type: "overloaded_error", Message: "a \"b\""}
	want := `{"message":"a \"b\"","type":"overloaded_error","param":null,"code":null}`
	r := foreign()
	r.Fault = fault
	for _, reply := range []*rewrite.Reply{{Fault: fault}, r} {
		if m := accumulate(t, streamOf(reply, completions.EncoderOptions{Provider: "openai"})); m.Done || m.Error != want {
			t.Errorf("got %+v", m)
		}
		if whole := completions.EncodeReply(nil, reply, completions.EncoderOptions{Provider: "openai"}); string(whole) != `{"error":`+want+`}` {
			t.Errorf("got %s", whole)
		}
	}
}

// FuzzEncoder asks that whatever a stream tells can be told again.
func FuzzEncoder(f *testing.F) {
	for _, g := range streams(f) {
		f.Add(g.Text("stream"))
	}
	f.Fuzz(func(t *testing.T, stream string) {
		accumulate(t, retold(stream, completions.EncoderOptions{Provider: "openai"}))
	})
}
