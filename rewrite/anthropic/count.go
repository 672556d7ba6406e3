package anthropic

import (
	"strconv"

	"warmpath/rewrite/splice"
)

// CountRequest is the request to count the tokens that a request to generate sends:
// what of it belongs to the prompt, which is all that it may hold.
func CountRequest(body []byte) []byte {
	return splice.Only(body, "model", "system", "messages", "tools", "tool_choice", "thinking", "output_config", "cache_control", "mcp_servers")
}

// ReadCount is the number of tokens that a provider has counted; ok is false for
// what is no answer to that.
func ReadCount(reply []byte) (n int64, ok bool) {
	splice.Fields(reply, func(name, value []byte) bool {
		if string(name) == "input_tokens" {
			n, ok = splice.Int(value)
		}
		return !ok
	})
	return n, ok
}

// AppendCount answers a client that has a prompt's tokens counted.
func AppendCount(dst []byte, n int64) []byte {
	dst = append(dst, `{"input_tokens":`...)
	return append(strconv.AppendInt(dst, n, 10), '}')
}
