package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/gateway/config"
	"warmpath/rewrite"
	"warmpath/rewrite/completions"
)

// searchTools are the tools by which clients of each dialect have their own provider
// search the web.
var searchTools = map[rewrite.Dialect]rewrite.Payload{
	rewrite.Messages:    {Format: "messages/tool", Value: rewrite.JSON(`{"type":"web_search_20250305","name":"web_search","max_uses":5}`)},
	rewrite.Completions: {Format: "chat/web_search_options", Value: rewrite.JSON(`{}`)},
	rewrite.Responses:   {Format: "responses/web_search", Value: rewrite.JSON(`{"type":"web_search"}`)},
	rewrite.Gemini:      {Format: "gemini/tool", Value: rewrite.JSON(`{"googleSearch":{}}`)},
}

// searchers are models whose providers search, with what shows in a second turn
// that the provider got back what it had made, and in a first that it searches.
var searchers = map[rewrite.Dialect]struct{ model, tool, back string }{
	rewrite.Messages:    {"claude/claude-opus-5-5", `"type":"web_search_20250305"`, `"type":"web_search_tool_result"`},
	rewrite.Completions: {"chat/gpt-4.1", `"web_search_options":{`, ``},
	rewrite.Responses:   {"gpt/gpt-5.5", `"type":"web_search"`, `"type":"web_search_call"`},
	rewrite.Gemini:      {"google/gemini-3.1-pro-preview", `"googleSearch":{}`, ``},
	rewrite.Converse:    {"bedrock/amazon.nova-premier-v1:0", `"systemTool":{"name":"nova_grounding"}`, `"nova_grounding_result"`},
}

// searching lets the chat provider search.
func searching(cfg *config.Config) {
	chat, _ := cfg.Catalog.Provider("chat")
	chat.Habits = completions.Habits{SearchOptions: true}
}

// citedIn checks the sources of a reply and gives their number: each has an address,
// and a range lies in its text.
func citedIn(t *testing.T, r *rewrite.Reply) (n int) {
	t.Helper()
	for i := range r.Items {
		for _, part := range r.Items[i].Parts {
			length := len([]rune(part.Text))
			for _, a := range part.Attributions {
				n++
				if !strings.HasPrefix(a.URL, "https://example.test/zürich/") || a.Title == "" || a.Start < 0 || a.End > length || a.Start > a.End || a.Incomplete {
					t.Errorf("a source %+v of %d characters", a, length)
				}
			}
		}
	}
	return n
}

// A client that declares its own dialect's web search gets that of every provider
// which has one, with sources, and brings back what the provider needs.
func TestEveryDialectSearchesOnEveryProvider(t *testing.T) {
	core, base := everyProvider(t, searching)
	for from, client := range speakers {
		for to, provider := range searchers {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, stream %v", from, to, stream), func(t *testing.T) {
					c := &rewrite.Conversation{
						Dialect: from, Model: provider.model, Stream: stream,
						Tools: []rewrite.Tool{{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: searchTools[from]}},
						Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Where? DO[search zürich]"}}}},
					}
					reply, _ := client.ask(t, base, c)
					if body := lastBody(core); !strings.Contains(body, provider.tool) {
						t.Errorf("the provider is not asked to search: %s", body)
					}
					if n := citedIn(t, reply); n != 2 {
						t.Errorf("%d sources of %+v", n, reply.Items)
					}
					for i := range reply.Items {
						if reply.Items[i].Kind == rewrite.ItemCall {
							t.Errorf("the client is to run %+v", reply.Items[i].Call)
						}
					}
					if reply.Stop.Reason != rewrite.StopEnd {
						t.Errorf("the reply stopped for %s", reply.Stop.Reason)
					}
					c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "And? DO[say Done.]"}}})
					if again, _ := client.ask(t, base, c); strings.Join(spoken(again), "") != "Done." {
						t.Errorf("the model said %q", spoken(again))
					}
					// A client of Responses brings items back as they are: see below.
					if body := lastBody(core); from != rewrite.Responses && !strings.Contains(body, provider.back) {
						t.Errorf("the provider does not get back what it made: %s", body)
					}
				})
			}
		}
	}
}

// RP-01: what a provider has made of a search comes back to it byte for byte, from
// a client that is shown it as an activity and from one that knows nothing of it.
func TestHostedToolsReturnToTheirProvider(t *testing.T) {
	core, base := everyProvider(t, func(cfg *config.Config) { keepReplies(cfg); searching(cfg) })
	for to, provider := range searchers {
		for _, include := range []string{"", `"include":["warmpath:hosted_activity"],`} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("RP-01 %s, %s stream %v", to, include, stream), func(t *testing.T) {
					c := caller{t, base, "sk"}
					head := fmt.Sprintf(`{"model":%q,%s"tools":[{"type":"web_search"}],"store":false,"stream":%v,"input":[`, provider.model, include, stream)
					question := `{"role":"user","content":"Where? DO[search zürich]"}`
					first := c.create(head + question + `]}`)
					text := first.Get(`output.#(type=="message").content.0`)
					length := int64(len([]rune(text.Get("text").Str)))
					for _, a := range text.Get("annotations").Array() {
						if start, end := a.Get("start_index").Int(), a.Get("end_index").Int(); a.Get("type").Str != "url_citation" || start != 0 || end != length {
							t.Errorf("a source of a text of %d: %s", length, a)
						}
					}
					if n := text.Get("annotations.#").Int(); n != 2 {
						t.Errorf("%d sources: %s", n, text)
					}
					activities := first.Get(`output.#(type=="warmpath:hosted_activity")#`).Array()
					if to != rewrite.Completions && to != rewrite.Responses && (include != "") != (len(activities) > 0) {
						t.Errorf("the activities are %s", activities)
					}
					c.create(head + question + "," + strings.Trim(first.Get("output").Raw, "[]") + `,{"role":"user","content":"And? DO[say Done.]"}]}`)
					body := lastBody(core)
					if !strings.Contains(body, provider.back) {
						t.Errorf("the provider does not get back what it made: %s", body)
					}
					for _, a := range activities {
						// What OpenAI has made stands beside it, and Gemini wants no grounding back.
						if value := a.Get("payload.value").Raw; to != rewrite.Gemini && to != rewrite.Responses && (value == "" || !strings.Contains(body, value)) {
							t.Errorf("%s\nis not in\n%s", value, body)
						}
					}
				})
			}
		}
	}
}

// RP-07: what a provider has none of is refused before anything is sent, unless the
// client takes any loss, or has tools of its own beside it: agents offer a search
// in every request, and would else work on no model whose provider has none. They
// are told.
func TestHostedToolsThatAProviderLacksAreRefused(t *testing.T) {
	core, base := everyProvider(t, nil)
	for from, client := range speakers {
		if from == rewrite.Completions {
			continue // the provider without a search speaks it
		}
		t.Run("RP-07 "+from.String(), func(t *testing.T) {
			c := &rewrite.Conversation{
				Dialect: from, Model: models[rewrite.Completions],
				Tools: []rewrite.Tool{{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: searchTools[from]}},
				Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Where? DO[say Here.]"}}}},
			}
			asked := len(core.Log.All())
			status, body, _ := client.send(t, base, c)
			message := gjson.GetBytes(body, "error.message").Str
			if status != 400 || len(core.Log.All()) != asked || !strings.Contains(message, "tools.0") || !strings.Contains(message, "no tool like") || !strings.Contains(message, "warmpath-strict: 0") {
				t.Errorf("status %d: %s", status, body)
			}
			if status, body, _ := client.send(t, base, c, "Warmpath-Strict", "1"); status != 400 {
				t.Errorf("status %d: %s", status, body)
			}
			agent := *c
			agent.Tools = append([]rewrite.Tool{{Name: "f", Schema: rewrite.JSON(`{"type":"object"}`)}}, c.Tools...)
			if reply, header := client.ask(t, base, &agent); strings.Join(spoken(reply), "") != "Here." || !strings.Contains(header.Get("Warmpath-Losses"), "no tool like") {
				t.Errorf("an agent with tools of its own: %q with losses %q", spoken(reply), header.Get("Warmpath-Losses"))
			}
			lax := *c
			lax.Model = strings.Replace(c.Model, "chat/", "lax/", 1)
			if reply, header := client.ask(t, base, &lax); strings.Join(spoken(reply), "") != "Here." || !strings.Contains(header.Get("Warmpath-Losses"), "no tool like") {
				t.Errorf("where tools are left out: %q with losses %q", spoken(reply), header.Get("Warmpath-Losses"))
			}
			if status, body, _ := client.send(t, base, &lax, "Warmpath-Strict", "1"); status != 400 {
				t.Errorf("where tools are left out but the client is strict: status %d: %s", status, body)
			}
			reply, header := client.ask(t, base, c, "Warmpath-Strict", "0")
			if strings.Join(spoken(reply), "") != "Here." || !strings.Contains(header.Get("Warmpath-Losses"), "no tool like") {
				t.Errorf("%q with losses %q", spoken(reply), header.Get("Warmpath-Losses"))
			}
		})
	}
}

// RP-08: a call that cannot be demanded of a provider beside its own tools is
// refused, not left to the model.
func TestDemandsThatHostedToolsWouldWeakenAreRefused(t *testing.T) {
	_, base := everyProvider(t, nil)
	t.Run("RP-08", func(t *testing.T) {
		c := caller{t, base, "sk"}
		status, reply := c.do("POST", "/v1/chat/completions", `{"model":"claude/claude-sonnet-4-5","messages":[{"role":"user","content":"hi"}],"web_search_options":{},"tool_choice":"required","tools":[`+
			`{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]}`)
		if status != 400 || !strings.Contains(reply.Get("error.message").Str, "tool_choice") {
			t.Errorf("status %d: %s", status, reply)
		}
	})
}

// RP-05: a provider that pauses within its own tools is asked to go on, for clients
// whose dialect knows no pause: they get one reply.
func TestPausesWithinHostedToolsAreGoneOnFrom(t *testing.T) {
	for from, client := range speakers {
		if from == rewrite.Messages {
			continue // see TestPausesAreGoneOnFrom
		}
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("RP-05 %s, stream %v", from, stream), func(t *testing.T) {
				core, base := everyProvider(t, nil)
				c := &rewrite.Conversation{
					Dialect: from, Model: models[rewrite.Messages], Stream: stream,
					Tools: []rewrite.Tool{{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: searchTools[from]}},
					Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Where? DO[search zürich; stop pause; then; say Found.]"}}}},
				}
				reply, _ := client.ask(t, base, c)
				said := strings.Join(spoken(reply), "")
				if !strings.HasSuffix(said, "Found.") || reply.Stop.Reason != rewrite.StopEnd {
					t.Errorf("the model said %q and stopped for %s", said, reply.Stop.Reason)
				}
				records := core.Log.All()
				if len(records) != 2 || !strings.Contains(records[1].Body, `"server_tool_use"`) || !strings.Contains(records[1].Body, `"web_search_20250305"`) {
					t.Errorf("the provider was asked %d times: %s", len(records), records[len(records)-1].Body)
				}
			})
		}
	}
}
