package responses

import "warmpath/rewrite"

// words are this dialect's members for the settings of the hub, and for members
// of its items and tools, where the words differ.
var words = map[string]string{
	"max_tokens": "max_output_tokens", "user": "safety_identifier", "parallel": "parallel_tool_calls",
	"effort": "reasoning.effort", "thinking": "reasoning", "summary": "reasoning.summary",
	"format": "text.format", "format.json": "text.format", "format.verbosity": "text.verbosity", "tool_choice.allowed": "tool_choice.tools",
	"item.arguments": "arguments", "item.attributions": "annotations", "item.strict": "strict", "item.deferred": "defer_loading",
}

// MemberOf is what a client's request calls a setting of the hub.
func MemberOf(c *rewrite.Conversation, setting string) string {
	if setting == "user" && c.HasExtra(rewrite.Responses, "user") && !c.HasExtra(rewrite.Responses, "safety_identifier") {
		return setting
	}
	if word := words[setting]; word != "" {
		return word
	}
	return setting
}
