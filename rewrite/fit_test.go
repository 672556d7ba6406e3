package rewrite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// What a model refuses becomes what is next to it, and is listed.
func TestFit(t *testing.T) {
	old := &rewrite.Limits{
		MostTokens: 8192, UsualTokens: 8192, Reasons: rewrite.ReasoningIfAsked, Asked: "budget", LeastBudget: 1024, Within: true, Resumes: true,
		Refused: []string{"json", "both"}, RefusedReasoning: []string{"forced", "top_k"},
	}
	always := &rewrite.Limits{
		Reasons: rewrite.ReasoningAlways, Asked: "effort", Efforts: []string{"low", "high"},
		Refused: []string{"temperature", "top_p", "top_k", "stop", "forced", "prefill", "logprobs", "top_logprobs", "schema"},
	}
	never := &rewrite.Limits{Reasons: rewrite.ReasoningNever}
	pair := &rewrite.Limits{Reasons: rewrite.ReasoningAlways, Asked: "budget", LeastBudget: 128, MostBudget: 32768}
	thinking := func(t rewrite.Thinking) rewrite.Conversation { return rewrite.Conversation{Thinking: t} }
	call := rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: "1"}}
	result := rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: "1"}}
	own := rewrite.Item{Kind: rewrite.ItemReasoning, Payload: rewrite.Payload{Provider: "home", Format: "messages/thinking", Value: rewrite.JSON("{}")}}
	for name, c := range map[string]struct {
		limits *rewrite.Limits
		c      rewrite.Conversation
		want   rewrite.Conversation
		losses string
	}{
		"nothing is known": {
			&rewrite.Limits{}, thinking(rewrite.Thinking{Effort: "max", Budget: rewrite.JSON("7")}), thinking(rewrite.Thinking{Effort: "max", Budget: rewrite.JSON("7")}), "",
		},
		"a bound where none is given": {
			old, rewrite.Conversation{}, rewrite.Conversation{Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8192")}}, "",
		},
		"too high a bound": {
			old, rewrite.Conversation{Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("9000")}},
			rewrite.Conversation{Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8192")}}, "max_tokens: this model gives 8192 at most",
		},
		"an effort as a budget that the reply has room for": {
			old, thinking(rewrite.Thinking{Effort: "high"}),
			rewrite.Conversation{Thinking: rewrite.Thinking{Mode: rewrite.On, Budget: rewrite.JSON("4096")}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8192")}},
			"effort: sent as a budget of 4096 tokens",
		},
		"no room": {
			old, rewrite.Conversation{Thinking: rewrite.Thinking{Effort: "low"}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("500")}},
			rewrite.Conversation{Thinking: rewrite.Thinking{Mode: rewrite.Off}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("500")}},
			"effort: the reply has no room for reasoning",
		},
		"a call that another model has made": {
			old, rewrite.Conversation{Thinking: rewrite.Thinking{Mode: rewrite.On}, Items: []rewrite.Item{{}, call, result}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8000")}},
			rewrite.Conversation{Thinking: rewrite.Thinking{Mode: rewrite.Off}, Items: []rewrite.Item{{}, call, result}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8000")}},
			"thinking: this model cannot go on from a call that another has made, and reason",
		},
		"its own call": {
			old, rewrite.Conversation{Thinking: rewrite.Thinking{Mode: rewrite.On}, Items: []rewrite.Item{{}, own, call, result}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8000")}},
			rewrite.Conversation{Thinking: rewrite.Thinking{Mode: rewrite.On, Budget: rewrite.JSON("4096")}, Items: []rewrite.Item{{}, own, call, result}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8000")}}, "",
		},
		"a forced choice beside reasoning": {
			old, rewrite.Conversation{Thinking: rewrite.Thinking{Budget: rewrite.JSON("1024")}, Choice: rewrite.ToolChoice{Mode: "tool", Name: "f"}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8000"), TopK: rewrite.JSON("4")}},
			rewrite.Conversation{Thinking: rewrite.Thinking{Mode: rewrite.On, Budget: rewrite.JSON("1024")}, Choice: rewrite.ToolChoice{Mode: "auto"}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("8000")}},
			"top_k: not while this model reasons\ntool_choice: not while this model reasons: sent as auto",
		},
		"two ways to sample, and JSON": {
			old, rewrite.Conversation{Format: rewrite.Format{Kind: "json"}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("1"), Temperature: rewrite.JSON("0.5"), TopP: rewrite.JSON("0.5")}},
			rewrite.Conversation{System: []rewrite.Part{{Text: "Answer with one JSON object and nothing else."}}, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("1"), Temperature: rewrite.JSON("0.5")}},
			"top_p: this model does not take it beside a temperature\nformat.json: told as an instruction",
		},
		"JSON that nobody speaks of": {
			&rewrite.Limits{NamesJSON: true}, rewrite.Conversation{Format: rewrite.Format{Kind: "json"}, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}},
			rewrite.Conversation{Format: rewrite.Format{Kind: "json"}, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}, System: []rewrite.Part{{Text: "Answer in JSON."}}},
			"format.json: an instruction speaks of it, without which it is refused",
		},
		"JSON that is spoken of": {
			&rewrite.Limits{NamesJSON: true}, rewrite.Conversation{Format: rewrite.Format{Kind: "json"}, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "as Json"}}}}},
			rewrite.Conversation{Format: rewrite.Format{Kind: "json"}, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "as Json"}}}}}, "",
		},
		"a budget as an effort": {
			always, thinking(rewrite.Thinking{Mode: rewrite.On, Budget: rewrite.JSON("9000")}), thinking(rewrite.Thinking{Mode: rewrite.On, Effort: "low"}),
			"thinking.budget: sent as effort medium\neffort: medium is low here",
		},
		"no reasoning of a model that always does": {
			always, thinking(rewrite.Thinking{Mode: rewrite.Off, Effort: "none"}), thinking(rewrite.Thinking{Effort: "low"}), "effort: this model always reasons",
		},
		"the same by a budget": {
			pair, thinking(rewrite.Thinking{Mode: rewrite.Off}), thinking(rewrite.Thinking{Mode: rewrite.On, Budget: rewrite.JSON("128")}), "thinking: this model always reasons",
		},
		"what the client has said in its own words": {
			never, thinking(rewrite.Thinking{Mode: rewrite.On, Extra: rewrite.Payload{Format: "messages/thinking_config", Value: rewrite.JSON("{}")}}), thinking(rewrite.Thinking{}),
			"thinking: this model does not reason",
		},
		"too high a budget": {
			pair, thinking(rewrite.Thinking{Mode: rewrite.On, Budget: rewrite.JSON("99999")}), thinking(rewrite.Thinking{Mode: rewrite.On, Budget: rewrite.JSON("32768")}),
			"thinking.budget: sent as a budget of 32768 tokens",
		},
		"reasoning of a model that never does": {
			never, thinking(rewrite.Thinking{Effort: "high", Summary: "auto"}), thinking(rewrite.Thinking{}), "effort: this model does not reason",
		},
		"all that is refused": {
			always, rewrite.Conversation{
				Items:  []rewrite.Item{{Parts: []rewrite.Part{{Text: "a"}}}, {Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "b"}}}},
				Choice: rewrite.ToolChoice{Mode: "any"}, Format: rewrite.Format{Kind: "schema", Schema: rewrite.JSON(`{"a":1}`)},
				Sampling: rewrite.Sampling{Temperature: rewrite.JSON("1.0"), TopP: rewrite.JSON("0.5"), TopK: rewrite.JSON("1"), Stop: []string{"x"}, LogProbs: rewrite.On, TopLogProbs: rewrite.JSON("0")},
			},
			rewrite.Conversation{
				System: []rewrite.Part{{Text: "Answer with one JSON value and nothing else. It has to be valid by this JSON Schema:\n{\"a\":1}"}},
				Items: []rewrite.Item{
					{Parts: []rewrite.Part{{Text: "a"}}}, {Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "b"}}},
					{Parts: []rewrite.Part{{Text: "Go on exactly where your message ends."}}},
				},
				Choice: rewrite.ToolChoice{Mode: "auto"},
			},
			`top_p: this model does not take it
top_k: this model does not take it
stop: this model does not take it
logprobs: this model does not take it
tool_choice: this model does not take it: sent as auto
format: told as an instruction
items.1: this model begins its replies itself: asked to go on`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var losses rewrite.Losses
			c.c.Fit(c.limits, "home", &losses)
			if diff := cmp.Diff(c.want, c.c); diff != "" {
				t.Error(diff)
			}
			var lines []string
			for _, loss := range losses.All {
				lines = append(lines, loss.Path+": "+loss.Why)
			}
			if diff := cmp.Diff(c.losses, strings.Join(lines, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
