package main

import (
	"slices"
	"strings"

	"warmpath/gateway/catalog"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// otherDialect is an error about a body that is a request in another dialect.
type otherDialect struct{ file, dialect string }

// Error says what the file is and what can be explained.
func (e *otherDialect) Error() string {
	return e.file + " is a " + e.dialect + " request: only Messages requests (bodies of POST /v1/messages) can be explained so far"
}

// chatMembers and chatRoles stand in Chat Completions requests and in no
// Messages request.
var (
	chatMembers = []string{
		"frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens", "n", "parallel_tool_calls",
		"presence_penalty", "prompt_cache_key", "reasoning_effort", "response_format", "seed", "stop", "store", "stream_options", "user",
	}
	chatRoles = []string{"developer", "tool", "function"}
)

// dialectOf tells by its members in which dialect a body is, "Messages" where
// nothing says otherwise: the dialects share most of their names.
func dialectOf(body []byte) string {
	model := ""
	has := map[string]bool{}
	splice.Fields(body, func(key, value []byte) bool {
		switch name := string(key); {
		case name == "model":
			model = splice.Text(value)
		case name == "messages":
			has["messages"], has["chat"] = true, has["chat"] || chatty(value)
		case name == "tools":
			has["chat"] = has["chat"] || functions(value)
		case slices.Contains(chatMembers, name):
			has["chat"] = true
		default:
			has[name] = true
		}
		return true
	})
	switch {
	case has["messages"]:
		if has["chat"] || !(has["max_tokens"] || has["system"] || has["thinking"]) && !messagesModel(model) || strings.HasPrefix(model, "gpt-") {
			return "Chat Completions"
		}
	case has["contents"]:
		return "Gemini"
	case has["input"], has["previous_response_id"]:
		return "Responses"
	}
	return "Messages"
}

// messagesModel reports a model whose vendor speaks Messages.
func messagesModel(model string) bool {
	target, err := catalog.Default().Resolve(rewrite.Completions, model, false)
	return strings.Contains(model, "claude") || err == nil && target.Provider.Speaks(rewrite.Messages)
}

// chatty reports messages that only Chat Completions has.
func chatty(messages []byte) (found bool) {
	splice.Elements(messages, func(message []byte) bool {
		splice.Fields(message, func(key, value []byte) bool {
			switch string(key) {
			case "role":
				found = found || slices.Contains(chatRoles, splice.Text(value))
			case "tool_calls", "tool_call_id":
				found = true
			}
			return !found
		})
		return !found
	})
	return found
}

// functions reports tools of Chat Completions.
func functions(tools []byte) (found bool) {
	splice.Elements(tools, func(tool []byte) bool {
		splice.Fields(tool, func(key, value []byte) bool {
			found = found || string(key) == "type" && splice.Text(value) == "function"
			return !found
		})
		return !found
	})
	return found
}
