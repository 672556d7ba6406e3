package responses

import (
	"strconv"

	"warmpath/rewrite/splice"
)

// CountRequest is the request to count the tokens that a request to generate sends:
// what of it belongs to the prompt, which is all that it may hold.
func CountRequest(body []byte) []byte {
	return splice.Only(body, "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation", "previous_response_id", "conversation")
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
	dst = append(dst, `{"object":"response.input_tokens","input_tokens":`...)
	return append(strconv.AppendInt(dst, n, 10), '}')
}
