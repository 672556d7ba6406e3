package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// names are the strings at a path, joined.
func names(body, path string) string {
	var all []string
	for _, name := range gjson.Get(body, path).Array() {
		all = append(all, name.Str)
	}
	return strings.Join(all, " ")
}

// A client that says itself what it changes reaches every model: by directives
// where the model takes them, which stay where they are and leave what was sent
// before as it was, otherwise by what holds at the end.
func TestDeclaredChangesReachEveryModel(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	const directive = `{"type":"warmpath:directive","blocks":[{"type":"text","text":"Answer in French."},{"type":"tool_removal","name":"beta"},{"type":"tool_addition","name":"gamma"}]}`
	for model, want := range map[string]struct {
		tools, change string
		says          string // the directive as the model gets it
		prefix        bool   // what was sent before is the beginning of what is sent
	}{
		"claude/claude-opus-5-5": {
			"tools.#.name", "alpha beta gamma",
			`{"role":"system","content":[{"type":"text","text":"Answer in French."},{"type":"tool_removal","tool":{"type":"tool_reference","name":"beta"}},{"type":"tool_addition","tool":{"type":"tool_reference","name":"gamma"}}]}`, true,
		},
		"claude/claude-sonnet-4-5": {"tools.#.name", "alpha gamma", `Answer in French.`, false},
		"chat/gpt-4.1":             {"tool_choice.allowed_tools.tools.#.function.name", "alpha gamma", `{"role":"system","content":"Answer in French."}`, false},
		"gpt/gpt-5.5": {
			"tool_choice.tools.#.name", "alpha gamma",
			`{"type":"message","role":"developer","content":[{"type":"input_text","text":"Answer in French."}]},{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"gamma"`, true,
		},
		"google/gemini-3.1-pro-preview": {"tools.0.functionDeclarations.#.name", "alpha gamma", `Answer in French.`, false},
	} {
		t.Run(model, func(t *testing.T) {
			c := caller{t, base, "sk"}
			var tools []string
			for _, name := range []string{"alpha", "beta", "gamma"} {
				tools = append(tools, fmt.Sprintf(`{"type":"function","name":%q,"description":"The %s.","parameters":{"type":"object","properties":{}}}`, name, name))
			}
			head := `{"model":"` + model + `","tools":[` + strings.Join(tools, ",") + `],"warmpath":{"offered":["alpha","beta"]},"store":false,"input":[`
			question := `{"role":"user","content":"Hi. DO[say Hello.; then; call gamma {}; then; say Oui.]"}`
			first := c.create(head + question + `]}`)
			items := strings.Trim(first.Get("output").Raw, "[]")
			second := c.create(head + question + `,` + items + `,{"role":"user","content":"Go on."},` + directive + `]}`)
			told := lastBody(core)
			call := second.Get(`output.#(type=="function_call")`)
			if call.Get("name").Str != "gamma" {
				t.Fatalf("got %s", second.Get("output"))
			}
			if got := names(told, want.tools); got != want.change || !strings.Contains(told, want.says) {
				t.Errorf("offered are %s: %s", got, told)
			}
			c.create(head + question + `,` + items + `,{"role":"user","content":"Go on."},` + directive + `,` + strings.Trim(second.Get("output").Raw, "[]") +
				`,{"type":"function_call_output","call_id":"` + call.Get("call_id").Str + `","output":"r"}]}`)
			if want.prefix {
				sent, _, _ := strings.Cut(told, `"cache_control"`)
				sent, _, _ = strings.Cut(sent, `],"tools"`)
				if sent = strings.TrimRight(sent, `],`); !strings.HasPrefix(lastBody(core), sent) {
					t.Errorf("what was sent has changed: %s", cmp.Diff(told, lastBody(core)))
				}
			}
		})
	}
}

// Changes may stand anywhere in a history, and of any tool: every model takes what
// it gets, whatever the gateway itself may do to it.
func TestDeclaredChangesAnywhere(t *testing.T) {
	const directive = `{"type":"warmpath:directive","blocks":[{"type":"text","text":"x"},{"type":"tool_addition","name":"beta"}]}`
	for _, mode := range []rewrite.Mode{rewrite.ModeOff, rewrite.ModeOn} {
		core, base := everyProvider(t, func(cfg *config.Config) { keepReplies(cfg); cfg.Mode = mode })
		for name, history := range map[string]string{
			"none offered":            `"warmpath":{"offered":[]},"input":[{"role":"user","content":"hi"}]`,
			"none offered, one added": `"warmpath":{"offered":[]},"input":[{"role":"user","content":"hi"},` + directive + `]`,
			"in front":                `"warmpath":{"offered":["alpha"]},"input":[` + directive + `,{"role":"user","content":"hi"}]`,
			"within a call":           `"warmpath":{"offered":["alpha"]},"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c","name":"alpha","arguments":"{}"},` + directive + `,{"type":"function_call_output","call_id":"c","output":"r"}]`,
			"behind a reply":          `"warmpath":{"offered":["alpha"]},"input":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},` + directive + `,{"role":"user","content":"on"}]`,
			"all taken away":          `"warmpath":{"offered":["alpha"]},"input":[{"role":"user","content":"hi"},` + directive + `,{"role":"assistant","content":"hello"},{"role":"user","content":"on"},{"type":"warmpath:directive","blocks":[{"type":"tool_removal","name":"beta"},{"type":"tool_removal","name":"alpha"}]}]`,
			"a tool of nobody's":      `"warmpath":{"offered":["alpha"]},"input":[{"role":"user","content":"hi"},{"type":"warmpath:directive","blocks":[{"type":"tool_removal","name":"nobody"}]}]`,
		} {
			for _, model := range models {
				t.Run(mode.String()+", "+name+", "+model, func(t *testing.T) {
					status, got := caller{t, base, "sk"}.do("POST", "/v1/responses",
						`{"model":"`+model+`","store":false,"tools":[{"type":"function","name":"alpha"},{"type":"function","name":"beta"}],`+history+`}`)
					if status != 200 {
						t.Errorf("status %d: %s\n%s", status, got, lastBody(core))
					}
				})
			}
		}
	}
}

// A call of a tool that is not offered cannot be demanded: the provider is not
// asked.
func TestWithheldToolIsNotDemanded(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	c := caller{t, base, "sk"}
	for dialect, model := range models {
		if dialect == rewrite.Responses {
			continue
		}
		body := `{"model":"` + model + `","tools":[{"type":"function","name":"alpha"},{"type":"function","name":"beta"}],"warmpath":{"offered":["alpha"]},"tool_choice":{"type":"function","name":"beta"},"input":"hi"}`
		before := len(core.Log.All())
		status, got := c.do("POST", "/v1/responses", body)
		if status != 400 || got.Get("error.param").Str != "tool_choice" || len(core.Log.All()) != before {
			t.Errorf("%s: status %d: %s", dialect, status, got)
		}
	}
}

// A conversation that one provider has begun goes on with one that speaks the
// dialect itself: by name, and by its history.
func TestConversationsGoOnElsewhere(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	c := caller{t, base, "sk"}
	first := c.create(`{"model":"` + models[rewrite.Messages] + `","input":"Hi. DO[think 5; say Hello.; then; say Bye.]","reasoning":{"effort":"high"}}`)
	if first.Get(`output.#(type=="reasoning").encrypted_content`).Str == "" {
		t.Fatalf("no thinking: %s", first)
	}
	for name, body := range map[string]string{
		"by name":         `"previous_response_id":"` + first.Get("id").Str + `","input":"Go on."`,
		"by its history":  `"input":[{"role":"user","content":"Hi. DO[think 5; say Hello.; then; say Bye.]"},` + strings.Trim(first.Get("output").Raw, "[]") + `,{"role":"user","content":"Go on."}]`,
		"by names of its": `"input":[{"role":"user","content":"Hi. DO[think 5; say Hello.; then; say Bye.]"},{"type":"item_reference","id":"` + first.Get(`output.#(type=="message").id`).Str + `"},{"role":"user","content":"Go on."}]`,
	} {
		t.Run(name, func(t *testing.T) {
			c := caller{t, base, "sk"}
			reply := c.create(`{"model":"` + models[rewrite.Responses] + `",` + body + `}`)
			sent := lastBody(core)
			if text := reply.Get(`output.#(type=="message").content.0.text`).Str; text != "Bye." || strings.Contains(sent, "_wp_") || !strings.Contains(sent, "Hello.") {
				t.Errorf("%q, %s", text, sent)
			}
			// From here on the names are the provider's.
			if id := reply.Get("id").Str; strings.Contains(id, "_wp_") {
				t.Errorf("the reply is named %s", id)
			}
			c.create(`{"model":"` + models[rewrite.Responses] + `","previous_response_id":"` + reply.Get("id").Str + `","input":"And on."}`)
		})
	}
	status, got := c.do("POST", "/v1/responses", `{"model":"`+models[rewrite.Responses]+`","previous_response_id":"resp_wp_nobody","input":"x"}`)
	if status != 400 || got.Get("error.code").Str != "previous_response_not_found" {
		t.Errorf("status %d: %s", status, got)
	}
}
