package prompt

import "warmpath/rewrite"

// Only the book makes these outside of tests.

// NewRunTool is the prompt that Permit opens.
func NewRunTool(tool, source string, arguments rewrite.JSON) Prompt {
	return RunTool{tool: tool, from: source, arguments: arguments}
}

// NewDeliverToolResult is the prompt that Release opens.
func NewDeliverToolResult(tool, source, result string) Prompt {
	return DeliverToolResult{tool: tool, from: source, result: result}
}

// Preview is what is shown of arguments.
func Preview(arguments rewrite.JSON) string { return string(preview(arguments)) }
