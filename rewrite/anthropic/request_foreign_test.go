package anthropic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

func speech(role rewrite.Role, text string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemMessage, Role: role, Parts: []rewrite.Part{{Text: text}}}
}

func called(id, name, arguments string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: id, Name: name, Arguments: rewrite.JSON(arguments)}}
}

func gave(id, text string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id}, Parts: []rewrite.Part{{Text: text}}}
}

// inShort is the messages of a request in short: the first letter of the role,
// and for each block its text, its call or its result.
func inShort(body string) string {
	var messages []string
	for _, message := range gjson.Get(body, "messages").Array() {
		var blocks []string
		for _, b := range message.Get("content").Array() {
			switch b.Get("type").String() {
			case "text":
				blocks = append(blocks, b.Get("text").String())
			case "tool_use":
				blocks = append(blocks, b.Get("id").String()+b.Get("input").Raw)
			case "tool_result":
				text := b.Get("content").String()
				if c := b.Get("content.0.text"); c.Exists() {
					text = c.String()
				}
				blocks = append(blocks, b.Get("tool_use_id").String()+"="+text)
			default:
				blocks = append(blocks, b.Get("type").String())
			}
		}
		messages = append(messages, message.Get("role").String()[:1]+"["+strings.Join(blocks, "|")+"]")
	}
	return strings.Join(messages, " ")
}

// Clients of other dialects put things where this one does not take them. What
// they said is said where it may stand, and again so when the conversation grows.
func TestForeignConversations(t *testing.T) {
	user, model, system := rewrite.RoleUser, rewrite.RoleAssistant, rewrite.RoleSystem
	for name, c := range map[string]struct {
		items        []rewrite.Item
		want, losses string
	}{
		"instructions open": {
			items: []rewrite.Item{speech(system, "s"), speech(user, "u")},
			want:  "u[u]",
		},
		"an instruction before the user": {
			items: []rewrite.Item{speech(user, "1"), speech(model, "2"), speech(system, "s"), speech(user, "3"), speech(model, "4"), speech(user, "5")},
			want:  "u[1] a[2] u[3] s[s] a[4] u[5]",
		},
		"an instruction between turns of the model": {
			items:  []rewrite.Item{speech(user, "1"), speech(model, "2"), speech(system, "s"), speech(model, "3"), speech(user, "4")},
			want:   "u[1] a[2] u[<system-reminder>\ns\n</system-reminder>] a[3] u[4]",
			losses: "items.2: an instruction between two turns of the model: told as the user's",
		},
		"results late and in another order": {
			items: []rewrite.Item{speech(user, "1"), called("a", "f", ``), called("b", "f", `{"x":1}`), speech(user, "2"), gave("b", "B"), speech(system, "s"), gave("a", "A"), speech(model, "3"), speech(user, "4")},
			want:  "u[1] a[a{}|b{\"x\":1}] u[a=A|b=B|2] s[s] a[3] u[4]",
		},
		"a call without a result": {
			items:  []rewrite.Item{speech(user, "1"), called("a", "f", `{}`), speech(user, "2")},
			want:   "u[1] a[a{}] u[a=The call was interrupted and has no result.|2]",
			losses: "items.1: a call without a result: answered as interrupted",
		},
		"a call at the end": {
			items:  []rewrite.Item{speech(user, "1"), called("a b/c", "f", `{}`)},
			want:   "u[1] a[a_b_c{}] u[a_b_c=The call was interrupted and has no result.]",
			losses: "items.1: a call without a result: answered as interrupted",
		},
		"a result without a call": {
			items:  []rewrite.Item{speech(user, "1"), speech(model, "2"), gave("x", "X")},
			want:   "u[1] a[2] u[X]",
			losses: "items.2: a result without its call: told as a text",
		},
		"arguments that were cut": {
			items:  []rewrite.Item{speech(user, "1"), called("a", "f", `{"x":"é"`), gave("a", "A")},
			want:   `u[1] a[a{"INVALID_JSON":"{\"x\":\"é\""}] u[a=A]`,
			losses: "items.1.arguments: not a JSON object: sent as a text",
		},
		"free text": {
			items: []rewrite.Item{speech(user, "1"), {Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "a", Name: "patch", Custom: true, Arguments: rewrite.JSON("<x>")}}, gave("a", "A")},
			want:  `u[1] a[a{"input":"\u003cx\u003e"}] u[a=A]`,
		},
		"the model begins": {
			items: []rewrite.Item{speech(model, "hello"), speech(user, "1")},
			want:  "u[(The conversation begins.)] a[hello] u[1]",
		},
		"empty texts": {
			items: []rewrite.Item{speech(user, "1"), speech(model, " \n"), speech(user, "2")},
			want:  "u[1] u[2]",
		},
		"what others made": {
			items: []rewrite.Item{
				speech(user, "1"),
				{Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Text: "hm"}}, Payload: rewrite.Payload{Provider: "openai", Format: "responses/reasoning", Value: rewrite.JSON(`{}`)}},
				{Kind: rewrite.ItemHosted, Hosted: rewrite.Hosted{Name: "web_search"}},
				{Kind: rewrite.ItemMessage, Role: model, Parts: []rewrite.Part{{Text: "so", Attributions: []rewrite.Attribution{{URL: "u"}}}, {Kind: rewrite.PartImage, Media: rewrite.Media{Data: "AA"}}}},
				{Kind: rewrite.ItemMessage, Role: user, Parts: []rewrite.Part{{Kind: rewrite.PartAudio}, {Kind: rewrite.PartFile, Media: rewrite.Media{ID: "file-1"}}, {Kind: rewrite.PartFile, MIME: "text/csv", Media: rewrite.Media{Data: "YSxi"}}}},
			},
			want: "u[1] a[so] u[document]",
			losses: `items.1: reasoning that this provider cannot read
items.2: web_search that another provider ran
items.3.parts.0.attributions: sources that another provider has found
items.3.parts.1: image is for the user's turn
items.4.parts.0: audio cannot be read here
items.4.parts.1: a file that another provider keeps`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			body, lost := encode(t, &rewrite.Conversation{Model: "m", Dialect: rewrite.Responses, Items: c.items}, "home")
			if got := inShort(body); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if diff := cmp.Diff(c.losses, lost); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The beginning of a conversation is written the same however far it has got,
// because the cache hangs on it.
func TestForeignPrefixStays(t *testing.T) {
	user, model, system := rewrite.RoleUser, rewrite.RoleAssistant, rewrite.RoleSystem
	items := []rewrite.Item{
		speech(user, "1"), speech(system, "s"), speech(model, "2"), speech(system, "t"), speech(user, "3"),
		called("a", "f", `{}`), gave("a", "A"), speech(model, "4"), speech(user, "5"),
	}
	var before string
	for _, n := range []int{2, 5, 7, 9} {
		body, _ := encode(t, &rewrite.Conversation{Model: "m", Dialect: rewrite.Completions, Items: items[:n]}, "home")
		if !strings.HasPrefix(body, strings.TrimSuffix(before, "]}")) {
			t.Errorf("%d items begin otherwise:\n%s\n%s", n, before, body)
		}
		before = body
	}
}

func TestForeignSettings(t *testing.T) {
	number := func(text string) rewrite.JSON { return rewrite.JSON(text) }
	for name, c := range map[string]struct {
		conversation rewrite.Conversation
		want, losses string
	}{
		"nothing": {want: `"max_tokens":32000`},
		"effort": {
			rewrite.Conversation{Thinking: rewrite.Thinking{Effort: "minimal", Summary: "concise"}},
			`"max_tokens":32000,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}`,
			"effort: minimal is low here",
		},
		"no thinking": {
			rewrite.Conversation{Thinking: rewrite.Thinking{Effort: "none"}},
			`"max_tokens":32000,"thinking":{"type":"disabled"}`, "",
		},
		"a budget": {
			rewrite.Conversation{Thinking: rewrite.Thinking{Mode: rewrite.On, Budget: number("2048")}, Sampling: rewrite.Sampling{Temperature: number("0.5")}},
			`"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":2048}`,
			"temperature: a model that thinks has none",
		},
		"sampling": {
			rewrite.Conversation{Sampling: rewrite.Sampling{MaxTokens: number("5"), Temperature: number("1.5"), TopP: number("0.90"), Seed: number("7"), Candidates: number("2"), LogProbs: rewrite.On, Stop: []string{"x"}}},
			`"max_tokens":5,"temperature":1,"top_p":0.90,"stop_sequences":["x"]`,
			"temperature: the highest is 1 here\nseed: no such member\nlogprobs: no such member\ncandidates: there is one reply to a request",
		},
		"a schema": {
			rewrite.Conversation{Format: rewrite.Format{Kind: "schema", Name: "n", Schema: number(`{"b":1,"a":2}`), Verbosity: "low"}},
			`"max_tokens":32000,"output_config":{"format":{"type":"json_schema","schema":{"b":1,"a":2}}}`,
			"format.verbosity: no such member",
		},
		"JSON": {rewrite.Conversation{Format: rewrite.Format{Kind: "json"}}, `"max_tokens":32000`, "format: only a schema can be asked for"},
		"tools": {
			rewrite.Conversation{
				Choice: rewrite.ToolChoice{Mode: "any", Allowed: []string{"f"}}, Parallel: rewrite.Off,
				Tools: []rewrite.Tool{
					{Name: "f", Schema: number(`{"type":"object"}`), Strict: rewrite.Off},
					{Name: "g", Namespace: "n", Kind: rewrite.ToolCustom},
					{Kind: rewrite.ToolHosted, Capability: "maps", Name: "googleMaps"},
				},
			},
			`"max_tokens":32000,"tool_choice":{"type":"any","disable_parallel_tool_use":true},"tools":[{"name":"f","input_schema":{"type":"object"}},{"name":"n__g","input_schema":` + rewrite.FreeTextSchema + `}]`,
			"tool_choice.allowed: all tools are offered\ntools.2: this provider has no tool like googleMaps: the model goes on without",
		},
		"a choice that goes without saying": {
			rewrite.Conversation{
				Choice: rewrite.ToolChoice{Mode: "auto"}, Parallel: rewrite.On,
				Tools: []rewrite.Tool{{Name: "f", Schema: number(`{"type":"object"}`)}},
			},
			`"max_tokens":32000,"tools":[{"name":"f","input_schema":{"type":"object"}}]`, "",
		},
		"the rest": {
			rewrite.Conversation{User: "u", Metadata: number(`{"k":"v"}`), ServiceTier: "flex", Store: rewrite.On, Extra: []rewrite.Member{{Name: "include", Value: number("[]")}}},
			`"max_tokens":32000,"metadata":{"user_id":"u"}`,
			"metadata: no such member\nservice_tier: no such tier\nstore: replies are not kept\ninclude: no such member",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.conversation.Model, c.conversation.Dialect = "m", rewrite.Responses
			c.conversation.Items = []rewrite.Item{speech(rewrite.RoleUser, "u")}
			body, lost := encode(t, &c.conversation, "home")
			want := `{"model":"m",` + c.want + `,"messages":[{"role":"user","content":[{"type":"text","text":"u"}]}]}`
			if body != want {
				t.Errorf("got  %s\nwant %s", body, want)
			}
			if diff := cmp.Diff(c.losses, lost); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The last four marks stay, and none is longer than the one before it.
func TestForeignMarks(t *testing.T) {
	marked := func(ttl string) rewrite.Item {
		item := speech(rewrite.RoleUser, "u")
		item.Parts[0].Mark = rewrite.Mark{Set: true, TTL: ttl}
		return item
	}
	c := &rewrite.Conversation{Dialect: rewrite.Responses, Items: []rewrite.Item{marked("1h"), marked("1h"), marked("1h"), marked("30m"), marked("1h"), marked("24h")}}
	body, _ := encode(t, c, "home")
	var got []string
	for _, block := range gjson.Get(body, "messages.0.content").Array() {
		got = append(got, block.Get("cache_control.ttl").String()+block.Get("cache_control.type").String())
	}
	if diff := cmp.Diff([]string{"", "", "1hephemeral", "ephemeral", "ephemeral", "ephemeral"}, got); diff != "" {
		t.Error(diff)
	}
}

// PB-18: a conversation that another provider keeps is not gone on with as if it
// were whole.
func TestForeignPrevious(t *testing.T) {
	_, err := anthropic.EncodeRequest(&rewrite.Conversation{Previous: "resp_1", Items: []rewrite.Item{speech(rewrite.RoleUser, "u")}}, "home", nil)
	if err == nil || !strings.Contains(err.Error(), "resp_1") {
		t.Errorf("got %v", err)
	}
	if _, err := anthropic.EncodeRequest(&rewrite.Conversation{}, "home", nil); err == nil {
		t.Error("a conversation without a message is written")
	}
}
