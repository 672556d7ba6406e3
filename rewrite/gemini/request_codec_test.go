package gemini_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/gemini"
)

var update = flag.Bool("update", false, "write the golden files anew")

// asText compares JSON by its bytes.
var asText = cmp.Transformer("text", func(j rewrite.JSON) string { return string(j) })

// decode reads a request that is one.
func decode(t testing.TB, body, provider string) *rewrite.Conversation {
	t.Helper()
	c, err := gemini.DecodeRequest([]byte(body), provider)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// encode writes a conversation and gives what was lost, a line for each.
func encode(t testing.TB, c *rewrite.Conversation, provider string) (body, lost string) {
	t.Helper()
	var losses rewrite.Losses
	out, err := gemini.EncodeRequest(c, provider, &losses)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, loss := range losses.All {
		lines = append(lines, loss.Path+": "+loss.Why)
	}
	return string(out), strings.Join(lines, "\n")
}

// What a client says goes back to its provider in the same meaning, and to
// another without what only that one can read (PP-01, RP-01, RP-02).
func TestRequestsGolden(t *testing.T) {
	show.Each(t, "testdata/requests", func(t *testing.T, f *show.File) {
		body, _ := f.Section("request")
		c := decode(t, body, "home")
		f.Want(t, *update, "conversation", show.Value(c))
		home, lost := encode(t, c, "home")
		f.Want(t, *update, "encoded", home)
		f.Want(t, *update, "losses", lost)
		if diff := cmp.Diff(c, decode(t, home, "home"), show.AnyPath, asText); diff != "" {
			t.Errorf("decoded again: %s", diff)
		}
		away, lost := encode(t, c, "away")
		if away == home {
			away = ""
		}
		f.Want(t, *update, "elsewhere", away)
		f.Want(t, *update, "losses elsewhere", lost)
	})
}

func speech(role rewrite.Role, text string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemMessage, Role: role, Parts: []rewrite.Part{{Text: text}}}
}

func called(id, name, arguments string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: id, Name: name, Arguments: rewrite.JSON(arguments)}}
}

func gave(id, text string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id}, Parts: []rewrite.Part{{Text: text}}}
}

// Clients of other dialects put things where this one does not take them.
func TestForeignConversations(t *testing.T) {
	user, model, system := rewrite.RoleUser, rewrite.RoleAssistant, rewrite.RoleSystem
	failed := gave("b", "B")
	failed.Failed = true
	for name, c := range map[string]struct {
		conversation rewrite.Conversation
		want, losses string
	}{
		"instructions": {
			rewrite.Conversation{System: []rewrite.Part{{Text: "r"}}, Items: []rewrite.Item{speech(system, "s"), speech(user, "1"), speech(model, "2"), speech(system, "t"), speech(user, "3")}},
			`{"systemInstruction":{"parts":[{"text":"r"},{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"1"}]},{"role":"model","parts":[{"text":"2"}]},{"role":"user","parts":[{"text":"3"},{"text":"<system-reminder>\nt\n</system-reminder>"}]}]}`,
			"items.3: an instruction in mid-conversation: told as the user's",
		},
		"calls": {
			rewrite.Conversation{Items: []rewrite.Item{speech(user, "1"), called("a", "f", `{"z":1,"a":2}`), called("b", "f", `{"x`), gave("x", "X"), failed, gave("a", `{"$ref":"y"}`), speech(user, "2"), called("c", "g", "")}},
			`{"contents":[{"role":"user","parts":[{"text":"1"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"z":1,"a":2}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"b","name":"f","args":{"INVALID_JSON":"{\"x"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"{\"$ref\":\"y\"}"}}},{"functionResponse":{"id":"b","name":"f","response":{"error":"B"}}},{"text":"X"},{"text":"2"}]},{"role":"model","parts":[{"functionCall":{"id":"c","name":"g","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"id":"c","name":"g","response":{"error":"The call was interrupted and has no result."}}}]}]}`,
			"items.2.arguments: not a JSON object: sent as a text\nitems.3: a result without its call: told as a text\nitems.7: a call without a result: answered as interrupted",
		},
		"settings": {
			rewrite.Conversation{
				Items: []rewrite.Item{speech(user, "1")}, Thinking: rewrite.Thinking{Effort: "max", Summary: "auto"}, User: "u", Parallel: rewrite.Off,
				Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("5"), Seed: rewrite.JSON("7"), Candidates: rewrite.JSON("3")},
				Format:   rewrite.Format{Kind: "schema", Schema: rewrite.JSON(`{"type":"object"}`)},
				Tools:    []rewrite.Tool{{Name: "f", Namespace: "n", Kind: rewrite.ToolCustom}, {Kind: rewrite.ToolHosted, Name: "advisor"}},
				Choice:   rewrite.ToolChoice{Mode: "tool", Name: "n__f"}, Extra: []rewrite.Member{{Name: "include", Value: rewrite.JSON("[]")}},
			},
			`{"tools":[{"functionDeclarations":[{"name":"n__f","parametersJsonSchema":` + rewrite.FreeTextSchema + `}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["n__f"]}},"generationConfig":{"maxOutputTokens":5,"seed":7,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"},"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}},"contents":[{"role":"user","parts":[{"text":"1"}]}]}`,
			"tools.1: this provider has no tool like advisor: the model goes on without\nparallel: the model decides how many calls it makes\ncandidates: one reply is asked for\neffort: max is high here\nuser: no such member\ninclude: no such member",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.conversation.Dialect = rewrite.Responses
			body, lost := encode(t, &c.conversation, "home")
			if diff := cmp.Diff(c.want, body); diff != "" || !gjson.Valid(body) {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.losses, lost); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRequestRefuses(t *testing.T) {
	for body, want := range map[string]string{
		`{`:                             `the request body: invalid JSON at byte 1: unexpected end of JSON input; send one JSON object`,
		`[]`:                            `the request body: not a JSON object; send one`,
		`{}`:                            `contents: a request needs an array of contents`,
		`{"contents":{}}`:               `contents: not an array; send one`,
		`{"contents":[1]}`:              `contents.0: not a content; send an object`,
		`{"contents":[{"parts":{}}]}`:   `contents.0.parts: not an array; send one`,
		`{"contents":[{"parts":[1]}]}`:  `contents.0.parts.0: not a part; send an object`,
		`{"contents":[],"tools":["x"]}`: `tools.0: not a tool; send an object`,
		`{"contents":[{"role":"x","parts":[{"text":"a"}]}]}`:      `contents.0.parts.0: stands in a content of no role; send "user" or "model"`,
		`{"contents":[],"tools":[{"functionDeclarations":[{}]}]}`: `tools.0.functionDeclarations.0.name: a function needs a name`,
		`{"contents":[],"systemInstruction":{"parts":["x"]}}`:     `systemInstruction.parts.0: not a part; send an object`,
	} {
		if _, err := gemini.DecodeRequest([]byte(body), "home"); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", body, err, want)
		}
	}
}

// Qwen Code and others leave the level to the model in the vendor's word for that,
// which is none of the hub's.
func TestUnspecifiedLevelIsTheModelsOwn(t *testing.T) {
	for config, want := range map[string]rewrite.Thinking{
		`{"thinkingLevel":"THINKING_LEVEL_UNSPECIFIED","includeThoughts":true}`: {Mode: rewrite.On, Summary: "auto"},
		`{"thinkingLevel":"HIGH"}`: {Effort: "high"},
	} {
		c := decode(t, `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"thinkingConfig":`+config+`}}`, "")
		c.Thinking.Extra = rewrite.Payload{}
		if diff := cmp.Diff(want, c.Thinking); diff != "" {
			t.Errorf("%s: %s", config, diff)
		}
	}
}
