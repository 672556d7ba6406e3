package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

// asValue compares JSON by what it says.
var asValue = cmp.Transformer("value", func(j rewrite.JSON) any {
	if len(j) == 0 || j[0] != '{' {
		return string(j)
	}
	var out any
	if err := json.Unmarshal(j, &out); err != nil {
		return string(j)
	}
	return out
})

// streamed is a reply as the stream that a client gets.
func streamed(r *rewrite.Reply, o anthropic.EncoderOptions) (stream []byte) {
	n := anthropic.NewEncoder(o)
	r.Tell(func(e *rewrite.Event) { stream = n.Append(stream, e) })
	return stream
}

// replies runs f for every golden reply.
func replies(t *testing.T, f func(t *testing.T, file *show.File, r *rewrite.Reply)) {
	t.Helper()
	show.Each(t, "testdata/replies", func(t *testing.T, file *show.File) {
		stream, _ := file.Section("stream")
		f(t, file, folded(stream))
	})
}

// What a client gets as a stream comes to what it gets as a whole, and reads as
// what the provider said.
func TestEncodedReplies(t *testing.T) {
	replies(t, func(t *testing.T, file *show.File, r *rewrite.Reply) {
		stream, _ := file.Section("stream")
		for _, provider := range []string{"home", "away"} {
			o := anthropic.EncoderOptions{Provider: provider}
			n := anthropic.NewEncoder(o)
			var got []byte
			events(stream, func(e *rewrite.Event) { got = n.Append(got, e) }, len(stream))
			file.Want(t, *update, "for a client of "+provider, string(got))
			message, last := accumulate(t, got)
			if r.Fault != nil || r.Stop.Reason == rewrite.StopUnknown {
				if want := map[bool]string{true: "error"}[r.Fault != nil]; want != "" && last != want {
					t.Errorf("ends with %s", last)
				}
				continue
			}
			if last != "message_stop" {
				t.Errorf("ends with %s", last)
			}
			whole := anthropic.EncodeReply(nil, r, o)
			if diff := cmp.Diff(object(t, whole), message); diff != "" && provider == "home" {
				t.Errorf("the stream differs from the whole: %s", diff)
			}
			told, _ := accumulate(t, streamed(r, o))
			if diff := cmp.Diff(object(t, whole), told); diff != "" {
				t.Errorf("for %s, the stream of the whole differs from it: %s", provider, diff)
			}
			if provider != "home" {
				continue
			}
			if diff := cmp.Diff(r, folded(string(got)), asValue); diff != "" {
				t.Errorf("read again: %s", diff)
			}
			var again rewrite.Fold
			if err := anthropic.DecodeReply(whole, "home", again.Add); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r, again.Reply(), asText); diff != "" {
				t.Errorf("the whole, read again: %s", diff)
			}
		}
	})
}

// RP-01: what a provider made goes through a client that knows another one, as
// a stream or as a whole, and is back at its provider byte for byte.
func TestPayloadsComeBack(t *testing.T) {
	replies(t, func(t *testing.T, file *show.File, r *rewrite.Reply) {
		whole, ok := file.Section("whole")
		if !ok {
			return
		}
		want := gjson.Get(whole, "content").Raw
		for _, provider := range []string{"home", "away"} {
			o := anthropic.EncoderOptions{Provider: provider}
			body := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":` + gjson.GetBytes(anthropic.EncodeReply(nil, r, o), "content").Raw + `}]}`
			c := decode(t, body, provider)
			home, lost := encode(t, c, "home")
			if lost != "" {
				t.Errorf("lost: %s", lost)
			}
			// Spelling is kept where the provider needs it back: not in plain text.
			got := gjson.Get(home, "messages.1.content").Raw
			if got != strings.ReplaceAll(want, `So \u00e9`, `So é`) {
				t.Errorf("for a client of %s:\ngot  %s\nwant %s", provider, got, want)
			}
		}
	})
}

// Items that are open side by side are told one after the other, parts too.
func TestEncoderHoldsBack(t *testing.T) {
	item := func(index int, kind rewrite.ItemKind) *rewrite.Event {
		return &rewrite.Event{Kind: rewrite.EventItem, Index: index, Item: &rewrite.Item{Kind: kind, Call: rewrite.Call{ID: "c", Name: "n"}}}
	}
	part := func(index, part int) *rewrite.Event {
		return &rewrite.Event{Kind: rewrite.EventPart, Index: index, PartIndex: part, Part: &rewrite.Part{}}
	}
	text := func(index, part int, text string) *rewrite.Event {
		return &rewrite.Event{Kind: rewrite.EventText, Index: index, PartIndex: part, Text: []byte(text)}
	}
	partDone := func(index, part int) *rewrite.Event {
		return &rewrite.Event{Kind: rewrite.EventPartDone, Index: index, PartIndex: part, Part: &rewrite.Part{}}
	}
	arguments := func(index int, text string) *rewrite.Event {
		return &rewrite.Event{Kind: rewrite.EventArguments, Index: index, Text: []byte(text)}
	}
	done := func(index int, kind rewrite.ItemKind) *rewrite.Event {
		return &rewrite.Event{Kind: rewrite.EventDone, Index: index, Item: &rewrite.Item{Kind: kind}}
	}
	const message, call, reasoning = rewrite.ItemMessage, rewrite.ItemCall, rewrite.ItemReasoning
	for name, c := range map[string]struct {
		events []*rewrite.Event
		want   string
	}{
		"calls": {
			[]*rewrite.Event{item(0, call), item(1, call), arguments(1, `{"b"`), arguments(0, `{"a":`), arguments(1, `:2}`), done(1, call), arguments(0, `1}`), done(0, call)},
			`a:tool_use{"a":1} a:tool_use{"b":2}`,
		},
		"three": {
			[]*rewrite.Event{item(0, message), item(1, reasoning), item(2, call), part(1, 0), text(1, 0, "hm"), done(1, reasoning), arguments(2, `{}`), done(2, call), part(0, 0), text(0, 0, "so"), partDone(0, 0), done(0, message)},
			`a:text so a:thinking hm a:tool_use{}`,
		},
		"parts": {
			[]*rewrite.Event{item(0, message), part(0, 0), part(0, 1), text(0, 1, "B"), part(0, 2), text(0, 0, "A"), text(0, 2, "C"), partDone(0, 1), partDone(0, 0), text(0, 2, "D"), partDone(0, 2), done(0, message)},
			`a:text A a:text B a:text CD`,
		},
		"thoughts": {
			[]*rewrite.Event{item(0, reasoning), part(0, 0), text(0, 0, "A"), partDone(0, 0), part(0, 1), text(0, 1, "B"), done(0, reasoning)},
			"a:thinking A\n\nB",
		},
		"never closed": {
			[]*rewrite.Event{item(0, message), part(0, 0), text(0, 0, "A"), part(0, 1), text(0, 1, "B"), item(1, call), arguments(1, `{"a"`), item(2, message), part(2, 0), text(2, 0, "C")},
			`a:text A a:text B a:tool_use"INVALID {\"a\"" a:text C`,
		},
		"nobody's": {
			[]*rewrite.Event{text(3, 0, "x"), done(3, message), item(0, message), text(0, 5, "x"), partDone(0, 5), done(0, message), arguments(0, "x")},
			``,
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := anthropic.NewEncoder(anthropic.EncoderOptions{ID: "msg_x", Model: "m"})
			stream := n.Append(nil, &rewrite.Event{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{}})
			for _, e := range c.events {
				kept := e.Keep()
				stream = n.Append(stream, &kept)
				for i := range kept.Text {
					kept.Text[i] = 'x' // it is gone
				}
			}
			stream = n.Append(stream, &rewrite.Event{Kind: rewrite.EventEnd, Stop: rewrite.Stop{Reason: rewrite.StopEnd}})
			stream = n.Append(stream, item(9, call))
			accumulate(t, stream)
			if got := strings.Join(spoken(t, stream), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// spoken is the blocks of a stream in short.
func spoken(t *testing.T, stream []byte) (blocks []string) {
	message, _ := accumulate(t, stream)
	content, _ := message["content"].([]any)
	for _, block := range content {
		b := block.(map[string]any)
		switch b["type"] {
		case "text":
			blocks = append(blocks, "a:text "+b["text"].(string))
		case "thinking":
			blocks = append(blocks, "a:thinking "+b["thinking"].(string))
		case "tool_use":
			blocks = append(blocks, "a:tool_use"+compact(b["input"]))
		}
	}
	return blocks
}

// PB-21, PB-22: what other providers say, in this dialect's words.
func TestForeignReplies(t *testing.T) {
	tokens := rewrite.Tokens
	for name, c := range map[string]struct {
		reply rewrite.Reply
		path  string
		want  string
	}{
		"PB-22 usage": {
			rewrite.Reply{Usage: rewrite.Usage{InputTotal: tokens(100), InputFresh: tokens(25), CacheRead: tokens(75), OutputTotal: tokens(9), Reasoning: tokens(4)}},
			"usage", `{"input_tokens":25,"cache_read_input_tokens":75,"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}`,
		},
		"usage without parts": {
			rewrite.Reply{Usage: rewrite.Usage{InputTotal: tokens(100), CacheRead: tokens(200)}},
			"usage", `{"input_tokens":0,"cache_read_input_tokens":200,"output_tokens":0}`,
		},
		"stop":          {rewrite.Reply{Stop: rewrite.Stop{Reason: rewrite.StopEnd, Word: "stop"}}, "stop_reason", `"end_turn"`},
		"length":        {rewrite.Reply{Stop: rewrite.Stop{Reason: rewrite.StopLength, Word: "length"}}, "stop_reason", `"max_tokens"`},
		"its own word":  {rewrite.Reply{Stop: rewrite.Stop{Reason: rewrite.StopLength, Word: "model_context_window_exceeded"}}, "stop_reason", `"model_context_window_exceeded"`},
		"filter":        {rewrite.Reply{Stop: rewrite.Stop{Reason: rewrite.StopFilter, Word: "SAFETY", Details: rewrite.JSON(`{"reason":"x"}`)}}, "stop_details", ""},
		"calls":         {rewrite.Reply{Items: []rewrite.Item{called("c", "n", `{}`)}, Stop: rewrite.Stop{Reason: rewrite.StopEnd}}, "stop_reason", `"tool_use"`},
		"cut arguments": {rewrite.Reply{Items: []rewrite.Item{called("c", "n", `{"a`)}}, "content.0.input", `{"INVALID_JSON":"{\"a"}`},
		"free text": {
			rewrite.Reply{Items: []rewrite.Item{{Kind: rewrite.ItemCall, Call: rewrite.Call{Custom: true, Arguments: rewrite.JSON("<\"é")}}}},
			"content.0.input", `{"input":"<\"é"}`,
		},
		"PB-21 a citation": {
			rewrite.Reply{Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "x", Attributions: []rewrite.Attribution{{URL: "https://ex.test", Title: "T", End: 1}}}}}}},
			"content.0.citations", `[{"type":"web_search_result_location","cited_text":"","url":"https://ex.test","title":"T","encrypted_index":"wp1.AGF0dHJpYnV0aW9uL3BsYWluAABudWxs"}]`,
		},
		"reasoning in plain text": {
			rewrite.Reply{Items: []rewrite.Item{{Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Text: "a"}, {Kind: rewrite.PartSummary, Text: "b"}}}}},
			"content.0.thinking", `"a\n\nb"`,
		},
		"a picture": {rewrite.Reply{Items: []rewrite.Item{{Parts: []rewrite.Part{{Kind: rewrite.PartImage}, {Text: "x"}}}}}, "content.#.type", `["text"]`},
		"a fault":   {rewrite.Reply{Fault: &rewrite.Fault{Type: "server_is_overloaded", Message: "m"}}, "error", `{"type":"overloaded_error","message":"m"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var losses rewrite.Losses
			whole := anthropic.EncodeReply(nil, &c.reply, anthropic.EncoderOptions{ID: "msg_x", Model: "m", Losses: &losses})
			if (len(losses.All) > 0) != (name == "a picture") {
				t.Errorf("lost %v", losses.All)
			}
			if got := gjson.GetBytes(whole, c.path).Raw; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if c.reply.Stop.Reason == rewrite.StopUnknown {
				c.reply.Stop.Reason = rewrite.StopOther
			}
			stream := streamed(&c.reply, anthropic.EncoderOptions{ID: "msg_x", Model: "m"})
			if c.reply.Fault != nil || name == "cut arguments" {
				return
			}
			message, _ := accumulate(t, stream)
			if diff := cmp.Diff(object(t, whole), message); diff != "" {
				t.Errorf("the stream differs: %s", diff)
			}
		})
	}
}

// Reasoning and sources that are nothing but text come back as that, and are not
// taken for what the provider of the next request has made (PB-15).
func TestPlainTextComesBack(t *testing.T) {
	r := &rewrite.Reply{Items: []rewrite.Item{
		{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "hm"}}},
		{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "x", Attributions: []rewrite.Attribution{{URL: "https://ex.test", Title: "T"}}}}},
	}}
	content := gjson.GetBytes(anthropic.EncodeReply(nil, r, anthropic.EncoderOptions{}), "content").Raw
	c := decode(t, `{"messages":[{"role":"assistant","content":`+content+`}]}`, "home")
	c.Items[1].Parts[0].Attributions[0].Kind = ""
	if diff := cmp.Diff(r.Items, c.Items, show.AnyPath); diff != "" {
		t.Error(diff)
	}
	body, lost := encode(t, c, "home")
	if got := gjson.Get(body, "messages.0.content").Raw; got != `[{"type":"text","text":"x"}]` || lost != "items.1.parts.0.attributions: sources that another provider has found" {
		t.Errorf("got %s, lost %s", got, lost)
	}
}

// A delta of text costs nothing.
func TestEncoderAllocations(t *testing.T) {
	n := anthropic.NewEncoder(anthropic.EncoderOptions{})
	dst := n.Append(make([]byte, 0, 4096), &rewrite.Event{Kind: rewrite.EventBegin, Reply: &rewrite.Reply{}})
	dst = n.Append(dst, &rewrite.Event{Kind: rewrite.EventItem, Item: &rewrite.Item{}})
	n.Append(dst, &rewrite.Event{Kind: rewrite.EventPart, Part: &rewrite.Part{}})
	e := &rewrite.Event{Kind: rewrite.EventText, Text: []byte("some text \n and \"more\" é")}
	dst = make([]byte, 0, 4096)
	if a := testing.AllocsPerRun(200, func() { n.Append(dst, e) }); a > 0 {
		t.Errorf("%v allocations", a)
	}
}
