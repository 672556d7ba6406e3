package completions

import "warmpath/rewrite"

// words are this dialect's members for the settings of the hub, and for members
// of its items and tools, where the words differ.
var words = map[string]string{
	"max_tokens": "max_completion_tokens", "candidates": "n", "user": "safety_identifier",
	"parallel": "parallel_tool_calls", "effort": "reasoning_effort", "thinking.budget": "reasoning.max_tokens",
	"format": "response_format", "format.json": "response_format", "format.verbosity": "verbosity", "tool_choice.allowed": "tool_choice.allowed_tools",
	"item.arguments": "function.arguments", "item.attributions": "annotations", "item.strict": "function.strict",
}

// MemberOf is what a client's request calls a setting of the hub.
func MemberOf(c *rewrite.Conversation, setting string) string {
	wrote := func(name string) bool { return c.HasExtra(rewrite.Completions, name) }
	switch {
	case setting == "max_tokens" && wrote("max_tokens"),
		setting == "user" && wrote("user") && !wrote("safety_identifier"):
		return setting
	case setting == "effort" && !wrote("reasoning_effort") && wrote("reasoning"):
		return "reasoning.effort"
	case setting == "thinking.budget" && wrote("thinking") && !wrote("reasoning"):
		return "thinking.budget_tokens"
	case setting == "thinking" && !wrote("thinking"):
		if wrote("reasoning") {
			return "reasoning"
		}
		return "reasoning_effort"
	}
	if word := words[setting]; word != "" {
		return word
	}
	return setting
}
