package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/transcript"
)

func TestEventsAreWrittenAsTheyStand(t *testing.T) {
	after, n := 3, int64(7)
	at := time.Date(2026, 11, 30, 8, 0, 0, 120_000_000, time.FixedZone("CET", 3600))
	for name, c := range map[string]struct {
		event transcript.Event
		want  string
	}{
		"the beginning of a turn": {
			transcript.Event{Type: transcript.TurnStart, Dialect: "chat", Model: "m", Stream: true, Items: 3, New: 1},
			`"type":"turn_start","dialect":"chat","model":"m","stream":true,"items":3,"new":1}`,
		},
		"a text that is empty, of a tool that gave nothing": {
			transcript.Event{Type: transcript.ToolCallResponse, CallID: "c", Failed: true, Content: []transcript.Block{{Type: "text"}}},
			`"type":"tool_call_response","call_id":"c","failed":true,"content":[{"type":"text","text":""}]}`,
		},
		"no content of a tool": {transcript.Event{Type: transcript.ToolCallResponse, CallID: "c"}, `"type":"tool_call_response","call_id":"c","content":[]}`},
		"arguments byte for byte": {
			transcript.Event{Type: transcript.ToolCallRequest, Name: "f", Arguments: json.RawMessage("{ \"b\" : 1.0,\n\"a\":\"\\u00e9\" }")},
			"\"type\":\"tool_call_request\",\"name\":\"f\",\"arguments\":{ \"b\" : 1.0,\n\"a\":\"\\u00e9\" }}",
		},
		"arguments that were cut": {
			transcript.Event{Type: transcript.ToolCallRequest, Name: "f", Incomplete: true, Arguments: json.RawMessage(`{"a":"b`)},
			`"type":"tool_call_request","name":"f","arguments":"{\"a\":\"b","incomplete":true}`,
		},
		"a directive": {
			transcript.Event{Type: transcript.Directive, Texts: []string{"x"}, Added: []string{"a"}, Removed: []string{"b"}, Defined: 1, After: &after},
			`"type":"directive","texts":["x"],"added":["a"],"removed":["b"],"defined":1,"after":3}`,
		},
		"what was not reported": {transcript.Event{Type: transcript.Usage, Call: 1, Tokens: &transcript.Tokens{Input: &n}}, `"type":"usage","tokens":{"input":7}}`},
		"text that is no text":  {transcript.Event{Type: transcript.Error, Message: "a\xff\x00\n"}, "\"type\":\"error\",\"message\":\"a\uFFFD\\u0000\\n\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			c.event.Seq, c.event.Turn, c.event.Time = 5, 2, at
			got := string(transcript.Append([]byte("before"), &c.event))
			head := `before{"seq":5,"turn":2,`
			if c.event.Call > 0 {
				head += `"call":1,`
			}
			if want := head + `"time":"2026-11-30T07:00:00.12Z",` + c.want; got != want {
				t.Error(cmp.Diff(want, got))
			}
			if _, err := transcript.Parse([]byte(strings.TrimPrefix(got, "before"))); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := transcript.Parse([]byte(`{"seq":`)); err == nil {
		t.Error("half an event is read")
	}
}

// What is too long is left out, which is said; what stands is still JSON.
func TestWhatIsTooLongIsLeftOut(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for name, c := range map[string]struct {
		event transcript.Event
		check func(e *transcript.Event) bool
		most  int
	}{
		"a text": {
			transcript.Event{Content: []transcript.Block{{Type: "text", Text: "x" + long}}},
			func(e *transcript.Event) bool {
				b := e.Content[0]
				return len(b.Text)+b.Omitted == len(long)+1 && strings.HasPrefix("x"+long, b.Text) && b.Text != ""
			}, 600 << 10,
		},
		"an image": {
			transcript.Event{Content: []transcript.Block{{Type: "image", MIME: "image/png", Data: strings.Repeat("A", 2<<20)}}},
			func(e *transcript.Event) bool {
				return e.Content[0].Data == "" && e.Content[0].Omitted == 2<<20 && e.Content[0].MIME == "image/png"
			}, 1 << 10,
		},
		"a link that is an image": {
			transcript.Event{Content: []transcript.Block{{Type: "image", URL: "data:image/png;base64," + strings.Repeat("A", 2<<20)}}},
			func(e *transcript.Event) bool { return e.Content[0].URL == "" && e.Content[0].Omitted > 2<<20 }, 1 << 10,
		},
		"a payload": {
			transcript.Event{Payload: &transcript.Payload{Format: "x/y", Value: json.RawMessage(`"` + long + `"`)}},
			func(e *transcript.Event) bool { return e.Payload.Format == "x/y" && e.Payload.Value == nil }, 1 << 10,
		},
		"many texts": {
			transcript.Event{Type: transcript.ChatRequest, Name: strings.Repeat("n", 1000), Content: []transcript.Block{
				{Type: "text", Text: long}, {Type: "text", Text: long}, {Type: "text", Text: long}, {Type: "text", Text: long}, {Type: "text", Text: long},
				{Type: "text", Text: long}, {Type: "text", Text: long}, {Type: "text", Text: long}, {Type: "text", Text: long}, {Type: "text", Text: long},
			}},
			func(e *transcript.Event) bool {
				return len(e.Content) == 0 && e.Omitted > 4<<20 && e.Type == transcript.ChatRequest && len(e.Name) == 256
			}, 1 << 10,
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := transcript.Append(nil, &c.event)
			e, err := transcript.Parse(text)
			if err != nil || len(text) > c.most || !c.check(e) {
				t.Errorf("%d bytes, %v: %.300s", len(text), err, text)
			}
		})
	}
}

func said(role rewrite.Role, words ...string) rewrite.Item {
	i := rewrite.Item{Role: role}
	for _, w := range words {
		i.Parts = append(i.Parts, rewrite.Part{Text: w})
	}
	return i
}

func call(id, name, arguments string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: id, Name: name, Arguments: rewrite.JSON(arguments)}}
}

func result(id, words string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id}, Parts: []rewrite.Part{{Text: words}}}
}

const (
	user      = rewrite.RoleUser
	assistant = rewrite.RoleAssistant
)

// head is where a history stands at its end.
func head(who string, items ...rewrite.Item) transcript.Mark {
	l := transcript.Line{Who: who}
	l.Steps(items)
	return l.Head()
}

// A history is the same however a client writes it again, and another where something
// else was said.
func TestHistories(t *testing.T) {
	history := []rewrite.Item{said(user, "Hello"), said(assistant, "Hi ", "there."), call("c1", "f", `{"a":1}`), call("c2", "g", `{}`), result("c1", "r")}
	same := head("me", append(history, said(assistant, "Done."))...)
	for name, c := range map[string]struct {
		who   string
		items []rewrite.Item
		same  bool
	}{
		"as it was":                       {"me", append(history[:5:5], said(assistant, "Done.")), true},
		"texts put together, and trimmed": {"me", []rewrite.Item{said(user, "Hello"), said(assistant, "Hi there.\n"), history[2], history[3], history[4], said(assistant, "Done.")}, true},
		"calls before the text":           {"me", []rewrite.Item{history[0], history[3], history[2], history[1], history[4], said(assistant, "Done.")}, true},
		"arguments spelled otherwise":     {"me", []rewrite.Item{history[0], history[1], call("c1", "f", `{ "a" : 1.0 }`), history[3], history[4], said(assistant, "Done.")}, true},
		"a result that was shortened":     {"me", []rewrite.Item{history[0], history[1], history[2], history[3], result("c1", "[cleared]"), said(assistant, "Done.")}, true},
		"with reasoning":                  {"me", append(append([]rewrite.Item{history[0], {Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Text: "hm"}}}}, history[1:]...), said(assistant, "Done.")), true},
		"with instructions in between":    {"me", append(append([]rewrite.Item{history[0], said(rewrite.RoleSystem, "be quick")}, history[1:]...), said(assistant, "Done.")), true},
		"somebody else's":                 {"you", append(history[:5:5], said(assistant, "Done.")), false},
		"another question":                {"me", append(append([]rewrite.Item{said(user, "Bye")}, history[1:]...), said(assistant, "Done.")), false},
		"another answer":                  {"me", append(history[:5:5], said(assistant, "Failed.")), false},
		"another call":                    {"me", []rewrite.Item{history[0], history[1], call("c3", "f", `{"a":1}`), history[3], history[4], said(assistant, "Done.")}, false},
		"less":                            {"me", history, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := head(c.who, c.items...) == same; got != c.same {
				t.Errorf("it is the same: %v", got)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	reasoning := rewrite.Item{Kind: rewrite.ItemReasoning}
	items := []rewrite.Item{
		said(user, "one"), said(user, "two"), reasoning, said(assistant, "three"), call("c", "f", "{}"), result("c", "r"),
		reasoning, said(assistant, "four"), said(user, "one"), reasoning,
	}
	var l transcript.Line
	steps := l.Steps(items)
	type span struct {
		from, to int
		model    bool
	}
	var got []span
	for _, s := range steps {
		got = append(got, span{s.From, s.To, s.Model})
		if s.Model == (s.Head == transcript.Mark{}) {
			t.Errorf("the head of %d to %d is %x", s.From, s.To, s.Head)
		}
	}
	want := []span{{0, 1, false}, {1, 2, false}, {2, 5, true}, {5, 6, false}, {6, 8, true}, {8, 9, false}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(span{})); diff != "" {
		t.Error(diff)
	}
	if steps[0].Mark != steps[5].Mark || steps[0].Mark == steps[1].Mark {
		t.Error("the same words have two marks, or two words one")
	}
}

// A reply that is told item by item ends where the history ends that has it.
func TestARepliesEndIsItsHistorys(t *testing.T) {
	asked := []rewrite.Item{said(user, "one")}
	reply := []rewrite.Item{{Kind: rewrite.ItemReasoning}, said(assistant, "two"), call("c", "f", "{}")}
	l := transcript.Line{Who: "me"}
	l.Steps(asked)
	for i := range reply {
		l.Add(&reply[i])
	}
	if _, spoke := l.Reply(); !spoke || l.Head() != head("me", append(asked, reply...)...) {
		t.Error("the reply ends elsewhere")
	}
	if _, spoke := l.Reply(); spoke {
		t.Error("a reply of nothing has said something")
	}
}

func TestItemsAsEvents(t *testing.T) {
	for name, c := range map[string]struct {
		item rewrite.Item
		want string // type, kind or role; empty for none
	}{
		"a question":         {said(user, "x"), "chat_request user"},
		"a question of none": {said(user), ""},
		"an instruction":     {said(rewrite.RoleSystem, "x"), "directive system"},
		"an answer":          {said(assistant, "x"), "chat_response message"},
		"an answer of none":  {said(assistant), ""},
		"a thought":          {rewrite.Item{Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Text: "x"}}}, "chat_response reasoning"},
		"a sealed thought":   {rewrite.Item{Kind: rewrite.ItemReasoning, Payload: rewrite.Payload{Value: rewrite.JSON(`1`)}}, "chat_response reasoning"},
		"a call":             {call("c", "f", "{}"), "tool_call_request "},
		"a result":           {result("c", "r"), "tool_call_response "},
		"an activity":        {rewrite.Item{Kind: rewrite.ItemHosted, Hosted: rewrite.Hosted{ID: "h", Name: "web_search"}}, "hosted_activity "},
		"a change of tools":  {rewrite.Item{Kind: rewrite.ItemDirective, Directive: rewrite.Directive{Add: []string{"f"}}}, "directive "},
		"what nobody reads":  {rewrite.Item{Kind: rewrite.ItemOpaque, Payload: rewrite.Payload{Value: rewrite.JSON(`1`)}}, "opaque "},
		"nothing":            {rewrite.Item{Kind: rewrite.ItemOpaque}, ""},
	} {
		e, ok := transcript.Of(&c.item, transcript.FromReply, false)
		got := ""
		if ok {
			got = e.Type + " " + e.Kind + e.Role
		}
		if got != c.want {
			t.Errorf("%s is %q, want %q", name, got, c.want)
		}
	}
	free := rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "c", Name: "f", Custom: true, Arguments: rewrite.JSON("say \"hi\"")}}
	if e, _ := transcript.Of(&free, transcript.FromReply, false); string(e.Arguments) != `"say \"hi\""` || !e.Custom {
		t.Errorf("free text is %s", e.Arguments)
	}
}
