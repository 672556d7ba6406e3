package completions_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
)

// foreignConversation is what a client of another dialect has sent.
func foreignConversation() *rewrite.Conversation {
	payload := func(format, value string) rewrite.Payload {
		return rewrite.Payload{Provider: "anthropic", Format: "messages/" + format, Version: "1", Value: rewrite.JSON(value)}
	}
	long := "toolu_" + strings.Repeat("x", 80)
	return &rewrite.Conversation{
		Dialect: rewrite.Messages, Model: "gpt-5.6", Stream: true,
		System: []rewrite.Part{{Text: "You help."}, {Text: "House rules.", Mark: rewrite.Mark{Set: true, TTL: "1h"}}},
		Tools: []rewrite.Tool{
			{Name: "orbit", Description: "Where it is.", Schema: rewrite.JSON(`{"z":1.50,"type":"object"}`), Payload: payload("tool", `{}`), Mark: rewrite.Mark{Set: true}},
			{Name: "phase", Deferred: true},
			{Name: "hidden", Deferred: true},
			{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: payload("tool", `{}`)},
			{Kind: rewrite.ToolHosted, Name: "computer", Capability: "computer", Payload: payload("tool", `{}`)},
		},
		Choice: rewrite.ToolChoice{Mode: "auto", Payload: payload("tool_choice", `{}`)}, Parallel: rewrite.Off,
		Items: []rewrite.Item{
			{Parts: []rewrite.Part{{Text: "Look."}, {Kind: rewrite.PartImage, MIME: "image/jpeg", Media: rewrite.Media{Data: "/9j/"}}, {Kind: rewrite.PartFile, MIME: "application/pdf", Media: rewrite.Media{Data: "JVBERi0="}}, {Kind: rewrite.PartOpaque, Payload: payload("new", `{}`)}}},
			{Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Text: "Hm."}}, Payload: payload("thinking", `{"type":"thinking"}`)},
			{Kind: rewrite.ItemHosted, Hosted: rewrite.Hosted{ID: "s", Name: "web_search"}, Payload: payload("server_tool_use", `{}`)},
			{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "Loki 🌋", Attributions: []rewrite.Attribution{{URL: "https://x.test", Title: "X", End: 6, Payload: payload("citation", `{}`)}}}, {Text: " is active."}}},
			{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: long, Name: "orbit", Arguments: rewrite.JSON(`{"body": "io"}`)}},
			{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "toolu_2", Name: "orbit"}},
			{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: long}, Parts: []rewrite.Part{{Text: "far"}, {Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{Data: "iVBORw0KGgo="}}}},
			{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: "toolu_2"}, Failed: true, Parts: []rewrite.Part{{Text: "no", Annotations: rewrite.JSON(`{"audience":["user"]}`)}}},
			{Role: rewrite.RoleSystem, Parts: []rewrite.Part{{Text: "From here on, phase."}}},
			{Kind: rewrite.ItemDirective, Directive: rewrite.Directive{Add: []string{"phase"}, Remove: []string{"orbit"}}},
			{Kind: rewrite.ItemOpaque, Payload: payload("compaction", `{}`)},
			{Parts: []rewrite.Part{{Text: "And now?", Mark: rewrite.Mark{Set: true}}}},
		},
		Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8"), TopK: rewrite.JSON("5"), Stop: []string{"X"}, Temperature: rewrite.JSON("1.0")},
		Thinking: rewrite.Thinking{Mode: rewrite.On, Budget: rewrite.JSON("8000")},
		User:     strings.Repeat("u", 200), Metadata: rewrite.JSON(`{"user_id":"u"}`), ServiceTier: "standard_only",
		Extra: []rewrite.Member{{Name: "container", Value: rewrite.JSON(`"c"`)}},
	}
}

// PP-01, RP-02: what another provider has made goes to nobody else, and what the
// dialect cannot say is named. The provider accepts what is left.
func TestForeignConversation(t *testing.T) {
	g := show.Load(t, "testdata/conversation.txt")
	body, losses := encode(t, foreignConversation(), "openai")
	g.Want(t, *update, "request", lines(body))
	g.Want(t, *update, "losses", losses)
	if w := ask(t, []byte(body)); w.Code != 200 {
		t.Errorf("the provider refuses it: %s", w.Body)
	}
	if again, _ := encode(t, foreignConversation(), "openai"); again != body {
		t.Errorf("the same conversation gives other bytes: %s", cmp.Diff(body, again))
	}
	if strings.Contains(body, "messages/") || strings.Contains(body, "server_tool_use") {
		t.Errorf("holds what is another's: %s", body)
	}
}

// Results come right after their calls, whatever order another dialect allows: a
// call without one is answered, and one without a call is told.
func TestResultsFollowTheirCalls(t *testing.T) {
	say := func(role rewrite.Role, text string) rewrite.Item {
		return rewrite.Item{Role: role, Parts: []rewrite.Part{{Text: text}}}
	}
	call := func(id string) rewrite.Item {
		return rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: id, Namespace: "n", Name: "f"}}
	}
	gave := func(id string) rewrite.Item {
		return rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id}, Parts: []rewrite.Part{{Text: "of " + id}}}
	}
	c := &rewrite.Conversation{Dialect: rewrite.Responses, Model: "gpt-5.6", Items: []rewrite.Item{
		say(rewrite.RoleUser, "1"), call("a"), call("b"), say(rewrite.RoleSystem, "2"), gave("b"), call("c"), gave("a"), gave("nobody"), say(rewrite.RoleUser, "3"),
	}}
	body, losses := encode(t, c, "openai")
	const text = `{"role":"tool","tool_call_id":"`
	want := `{"model":"gpt-5.6","messages":[{"role":"user","content":"1"},` +
		`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"n__f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"n__f","arguments":"{}"}}],"content":null},` +
		text + `a","content":"of a"},` + text + `b","content":"of b"},{"role":"system","content":"2"},` +
		`{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"n__f","arguments":"{}"}}],"content":null},` +
		text + `c","content":"The call was interrupted and has no result."},{"role":"user","content":"of nobody"},{"role":"user","content":"3"}]}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	if want := "items.5: a call without a result: answered as interrupted\nitems.7: a result without its call: told as a text\n"; losses != want {
		t.Errorf("lost %s", losses)
	}
	if w := ask(t, []byte(body)); w.Code != 200 {
		t.Errorf("the provider refuses it: %s", w.Body)
	}
}
