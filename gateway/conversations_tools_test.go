package gateway_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
	"warmpath/rewrite/transcript"
)

// Tools that the gateway runs are told with their calls and all that they gave. What
// they say to the user, who reads it in the reply, stands once in what users see.
func TestToolsOfTheGatewayAreLogged(t *testing.T) {
	g, _, base := everyProviderOf(t, gateway.Options{}, map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}}}, func(cfg *config.Config) {
		keepsReplies(cfg)
		cfg.Log.Events = config.KeptInMemory
	})
	for from := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, stream %v", from, to, stream), func(t *testing.T) {
					k := beginTalk(t, base, from, model)
					k.c.Stream = stream
					first := fmt.Sprintf(`%s %s %v. DO[say One.; call tell_user {"message":"**Two**"}; then; say Three.]`, from, to, stream)
					name := k.says(first).name
					if k.says("More. DO[say Four.]"); name == "" || k.name != name {
						t.Fatalf("it is called %q and %q", name, k.name)
					}
					events, _ := logged(t, g, name, "")
					var got, users []string
					for i := range events {
						if e := &events[i]; e.Kind != transcript.Reasoning && e.Type != transcript.Config {
							got = append(got, fmt.Sprint(told(e), " ", e.Runner, " ", e.Call))
						}
					}
					want := []string{
						"turn_start 1  0", "chat_request " + first + "  0", "chat_response message One.  1",
						`tool_call_request tell_user{"message":"**Two**"} gateway 1`, "tool_call_response **Two** Message shown to user. gateway 1",
						"usage  1", "chat_response message Three.  2", "usage  2", "turn_end completed  0",
						"turn_start 1  0", "chat_request More. DO[say Four.]  0", "chat_response message Four.  1", "usage  1", "turn_end completed  0",
					}
					slices.Sort(got) // texts end when something else begins
					slices.Sort(want)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Error(diff)
					}
					events, _ = logged(t, g, name, "?view=user&explicit=1")
					for i := range events {
						users = append(users, told(&events[i]))
					}
					shown := strings.Join(users, "|")
					if strings.Count(shown, "**Two**") != 2 || strings.Count(shown, "tool_call_response **Two**") != 1 || strings.Contains(shown, "Message shown") {
						t.Errorf("users see %s", shown)
					}
				})
			}
		}
	}
}

// What tools of the client's give is logged with what they say of it, though the
// provider is not shown all of it, and users see the half that is for them.
func TestResultsAreLoggedWithTheirAudience(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	const blocks = `[{"type":"text","text":"for people","annotations":{"audience":["user"]}},{"type":"text","text":"for the model","annotations":{"audience":["assistant"]}},{"type":"text","text":"for all"}]`
	for path, body := range map[string]string{
		"/v1/responses": `{"model":"` + models[rewrite.Messages] + `","input":[{"role":"user","content":"Look. DO[say I see.]"},{"type":"function_call","call_id":"call_1","name":"look","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"call_1","output":` + blocks + `}],"tools":[{"type":"function","name":"look","parameters":{"type":"object"}}]}`,
		"/v1/messages": `{"model":"` + models[rewrite.Responses] + `","max_tokens":99,"messages":[{"role":"user","content":"Look. DO[say I see.]"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":` + blocks + `}]}],"tools":[{"name":"look","input_schema":{"type":"object"}}]}`,
	} {
		t.Run(path, func(t *testing.T) {
			req, _ := http.NewRequest("POST", base+path, strings.NewReader(body))
			req.Header.Set("Authorization", "Bearer sk")
			req.Header.Set("Anthropic-Version", "2023-06-01")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Fatalf("status %d", resp.StatusCode)
			}
			find := func(query string) (texts []string) {
				events, _ := logged(t, g, resp.Header.Get("Warmpath-Conversation"), query)
				for _, e := range events {
					if e.Type == transcript.ToolCallResponse {
						for _, b := range e.Content {
							texts = append(texts, b.Text+" "+string(b.Annotations))
						}
					}
				}
				return texts
			}
			all := []string{`for people {"audience":["user"]}`, `for the model {"audience":["assistant"]}`, "for all "}
			for query, want := range map[string][]string{"": all, "?view=user": {all[0], all[2]}, "?view=user&explicit=1": {all[0]}} {
				if diff := cmp.Diff(want, find(query)); diff != "" {
					t.Errorf("%s: %s", query, diff)
				}
			}
		})
	}
}
