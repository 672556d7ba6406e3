package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"warmpath/rewrite"
)

// fitted are models of several generations, by the dialect of their provider.
var fitted = map[rewrite.Dialect][]string{
	rewrite.Messages: {
		"claude/claude-fable-5-2", "claude/claude-opus-5-5", "claude/claude-sonnet-5-5", "claude/claude-haiku-5-5", "claude/claude-opus-5",
		"claude/claude-fable-5", "claude/claude-opus-4-8", "claude/claude-sonnet-5", "claude/claude-opus-4-7", "claude/claude-opus-4-6",
		"claude/claude-opus-4-5", "claude/claude-haiku-4-5-20251001", "claude/claude-sonnet-4", "claude/claude-3-5-haiku",
	},
	rewrite.Completions: {"chat/gpt-4.1", "chat/gpt-5", "chat/gpt-5.1", "chat/gpt-5.6"},
	rewrite.Responses:   {"gpt/gpt-4.1", "gpt/gpt-5", "gpt/gpt-5.1", "gpt/gpt-5.5", "gpt/gpt-6.1"},
	rewrite.Converse: {
		"bedrock/eu.anthropic.claude-opus-5-5-v1:0", "bedrock/eu.anthropic.claude-opus-5-v1:0", "bedrock/us.anthropic.claude-opus-4-6-v1:0",
		"bedrock/anthropic.claude-haiku-4-5-20251001-v1:0", "bedrock/eu.amazon.nova-pro-v1:0",
	},
	rewrite.Gemini: {"google/gemini-2.0-flash", "google/gemini-2.5-pro", "google/gemini-2.5-flash", "google/gemini-3.1-pro-preview"},
}

// What a model refuses is no error for a client of another dialect, who cannot
// know of it.
func TestModelsGetWhatTheyTake(t *testing.T) {
	_, base := everyProvider(t, nil)
	tool := rewrite.Tool{Name: "clock", Schema: rewrite.JSON(`{"type":"object","properties":{}}`)}
	half := rewrite.JSON("0.5")
	for name, change := range map[string]func(c *rewrite.Conversation){
		"effort":    func(c *rewrite.Conversation) { c.Thinking.Effort = "max" },
		"minimal":   func(c *rewrite.Conversation) { c.Thinking.Effort = "minimal" },
		"no effort": func(c *rewrite.Conversation) { c.Thinking.Effort, c.Thinking.Mode = "none", rewrite.Off },
		"budget": func(c *rewrite.Conversation) {
			c.Thinking.Mode, c.Thinking.Budget, c.Sampling.MaxTokens = rewrite.On, rewrite.JSON("2048"), rewrite.JSON("1500")
		},
		"forced":   func(c *rewrite.Conversation) { c.Choice.Mode, c.Thinking.Effort = "any", "high" },
		"named":    func(c *rewrite.Conversation) { c.Choice.Mode, c.Choice.Name = "tool", "clock" },
		"sampling": func(c *rewrite.Conversation) { c.Sampling.Temperature, c.Sampling.TopP = half, half },
		"warm and reasoning": func(c *rewrite.Conversation) {
			c.Sampling.Temperature, c.Thinking.Effort = half, "high"
		},
		"begun": func(c *rewrite.Conversation) {
			c.Items = append(c.Items, rewrite.Item{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "It is"}}})
		},
		"json":   func(c *rewrite.Conversation) { c.Format.Kind = "json" },
		"schema": func(c *rewrite.Conversation) { c.Format.Kind, c.Format.Schema = "schema", tool.Schema },
		"long":   func(c *rewrite.Conversation) { c.Sampling.MaxTokens = rewrite.JSON("1000000") },
		"a loop": func(c *rewrite.Conversation) {
			c.Thinking.Effort = "high"
			c.Items = append(c.Items,
				rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: "c1", Name: "clock", Arguments: rewrite.JSON("{}")}},
				rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: "c1", Name: "clock"}, Parts: []rewrite.Part{{Text: "noon"}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for from, client := range speakers {
				for to, models := range fitted {
					if from == to {
						continue
					}
					for _, model := range models {
						c := &rewrite.Conversation{
							Dialect: from, Model: model, Tools: []rewrite.Tool{tool},
							Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: fmt.Sprintf("Go on, %s. DO[say fine]", name)}}}},
						}
						change(c)
						if status, body, _ := client.send(t, base, c); status != 200 {
							t.Errorf("%s to %s: status %d: %s", from, model, status, body)
						}
					}
				}
			}
		})
	}
}

// A client of the model's own dialect is told by the provider.
func TestModelsRefuseTheirOwnClients(t *testing.T) {
	_, base := everyProvider(t, nil)
	client := speakers[rewrite.Messages]
	c := &rewrite.Conversation{
		Dialect: rewrite.Messages, Model: "claude/claude-opus-5-5", Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}},
		Sampling: rewrite.Sampling{Temperature: rewrite.JSON("0.5")},
	}
	if status, body, header := client.send(t, base, c); status != 400 || header.Get("Warmpath-Losses") != "" {
		t.Errorf("status %d: %s", status, body)
	}
}

// Older models take no tools of the provider's own beside functions: the agent goes on
// without, and is told; one that wants no loss is, before anything is sent.
func TestHostedToolsBesideFunctions(t *testing.T) {
	core, base := everyProvider(t, nil)
	client := speakers[rewrite.Responses]
	c := &rewrite.Conversation{Dialect: rewrite.Responses, Model: "google/gemini-2.5-pro", Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
	searches(c, rewrite.Responses)
	offers(c)
	before := lastNumber(core)
	if status, body, _ := client.send(t, base, c, "Warmpath-Strict", "1"); status != 400 || !strings.Contains(string(body), "tools.0") || lastNumber(core) != before {
		t.Errorf("status %d: %s", status, body)
	}
	if status, body, header := client.send(t, base, c); status != 200 || !strings.Contains(header.Get("Warmpath-Losses"), "tools.0") {
		t.Errorf("status %d, losses %q: %s", status, header.Get("Warmpath-Losses"), body)
	}
	c.Model = "google/gemini-3.1-pro-preview"
	if status, body, _ := client.send(t, base, c); status != 200 || !strings.Contains(lastRecord(core).Body, `"googleSearch"`) {
		t.Errorf("status %d: %s", status, body)
	}
}
