package anthropic

import "warmpath/rewrite"

// words are this dialect's members for the settings of the hub, and for members
// of its items and tools, where the words differ.
var words = map[string]string{
	"stop": "stop_sequences", "user": "metadata.user_id", "parallel": "tool_choice.disable_parallel_tool_use",
	"effort": "output_config.effort", "format": "output_config.format", "format.json": "output_config.format",
	"thinking.budget": "thinking.budget_tokens", "summary": "thinking.display",
	"item.arguments": "input", "item.attributions": "citations", "item.strict": "strict", "item.deferred": "defer_loading",
}

// MemberOf is what a client's request calls a setting of the hub.
func MemberOf(_ *rewrite.Conversation, setting string) string {
	if word := words[setting]; word != "" {
		return word
	}
	return setting
}
