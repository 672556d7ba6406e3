package gateway_test

import (
	"fmt"
	"strings"
	"testing"
)

// A client that says itself what it changes reaches every model: as directives
// where the model takes them, otherwise as what holds at the end.
func TestDeclaredChangesReachEveryModel(t *testing.T) {
	core, base := everyProvider(t, keepReplies)
	c := caller{t, base, "sk"}
	const directive = `{"type":"warmpath:directive","blocks":[{"type":"text","text":"Answer in French."},{"type":"tool_removal","name":"beta"},{"type":"tool_addition","name":"gamma"}]}`
	for _, model := range []string{"claude/claude-opus-5-5", "claude/claude-sonnet-4-5", "chat/gpt-4.1", "gpt/gpt-5.5", "google/gemini-3.1-pro-preview"} {
		t.Run(model, func(t *testing.T) {
			var tools []string
			for _, name := range []string{"alpha", "beta", "gamma"} {
				tools = append(tools, fmt.Sprintf(`{"type":"function","name":%q,"description":"The %s.","parameters":{"type":"object","properties":{}}}`, name, name))
			}
			head := `{"model":"` + model + `","tools":[` + strings.Join(tools, ",") + `],"warmpath":{"offered":["alpha","beta"]},"store":false,"input":[`
			question := `{"role":"user","content":"Hi. DO[say Hello.; then; call gamma {}; then; say Oui.]"}`
			first := c.create(head + question + `]}`)
			t.Log(lastBody(core))
			items := strings.Trim(first.Get("output").Raw, "[]")
			second := c.create(head + question + `,` + items + `,{"role":"user","content":"Go on."},` + directive + `]}`)
			t.Log(lastBody(core))
			if second.Get(`output.#(type=="function_call").name`).Str != "gamma" {
				t.Errorf("got %s", second.Get("output"))
			}
			call := second.Get(`output.#(type=="function_call").call_id`).Str
			c.create(head + question + `,` + items + `,{"role":"user","content":"Go on."},` + directive + `,` + strings.Trim(second.Get("output").Raw, "[]") +
				`,{"type":"function_call_output","call_id":"` + call + `","output":"r"}]}`)
			t.Log(lastBody(core))
		})
	}
}
