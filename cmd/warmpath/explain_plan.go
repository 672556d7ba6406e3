package main

import (
	"encoding/json"
	"fmt"

	"warmpath/fixtures/session/report"
	"warmpath/gateway/catalog"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// planned asks the planner for the newer request, as if the older one had just
// been answered. Abilities are those of the model at its vendor's own endpoint.
func planned(older, newer []byte, olderFacts, newerFacts *continuity.Facts, c *continuity.Comparison) explainedPlan {
	if olderFacts.Model != newerFacts.Model {
		return explainedPlan{Reason: "model_changed", Does: []string{"begins a new prefix: each model has a cache of its own"}}
	}
	p, _ := catalog.Default().Provider("anthropic")
	able := p.Abilities(newerFacts.Model)
	able.Keep = true
	kept := map[continuity.Hash]string{}
	for _, section := range olderFacts.Sections {
		kept[section.Exact] = splice.Text(older[section.Text.Start:section.Text.End])
	}
	result := explainedPlan{}
	read := continuity.Reader{
		Restore: able.Text,
		Now:     func(span rewrite.Span) string { return splice.Text(newer[span.Start:span.End]) },
		Kept:    func(hash continuity.Hash) (string, bool) { text, ok := kept[hash]; return text, ok },
		Render: func(d *continuity.Directive) []byte {
			directive := anthropic.Directive{Texts: d.Texts, Remove: d.Remove, Add: d.Add, Effort: d.Effort}
			for _, span := range d.Define {
				directive.Define = append(directive.Define, anthropic.StripMark(newer[span.Start:span.End]))
			}
			rendered := anthropic.Render(directive)
			result.Directives = append(result.Directives, json.RawMessage(rendered))
			result.Tokens += tokensOf(len(rendered))
			return rendered
		},
	}
	known := recognize(olderFacts, newerFacts, able, read)
	if known.state == nil {
		return explainedPlan{Apart: true, Reason: known.reason, Does: []string{known.why}, Assumes: known.assumes}
	}
	plan := continuity.Continue(known.state, newerFacts, able, read)
	if plan.Epoch != continuity.None {
		return explainedPlan{Reason: string(plan.Epoch), Does: []string{"begins a new prefix: " + unable(able, plan.Epoch)}, Assumes: known.assumes}
	}
	result.Frozen = plan.Tools != nil || plan.Sections != nil
	result.Does = report.Does(plan)
	if !plan.Untouched() {
		result.Assumes = known.assumes
	}
	before, now := olderFacts.Params, newerFacts.Params
	if plan.Effort != nil {
		before, now = before.Without("output_config"), now.Without("output_config")
	}
	switch {
	case c.Common < len(olderFacts.Messages) && known.state.Sent < len(olderFacts.Messages):
		result.Reason = "messages_changed"
		result.Does = append(result.Does, fmt.Sprintf("leaves the history as the client wants it: what stands from messages[%d] on is read again", c.Common))
	case before != now:
		result.Reason = "params_changed"
		result.Does = append(result.Does, "leaves the parameters as they are: the messages are read again")
	default:
		result.Keeps = true
	}
	return result
}

// unable says what the model would have to accept for the prefix to stay.
func unable(able continuity.Abilities, why continuity.Reason) string {
	switch {
	case why == continuity.SystemChanged && !able.Text:
		return "the model takes no system messages among the others"
	case why == continuity.ToolsChanged && !able.Reference:
		return "the model takes no changes of tools in messages"
	case why == continuity.DirectiveTooBig:
		return "to say the change would take more than to read all again"
	}
	return string(why)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
