package anthropic

import (
	"slices"
	"strconv"

	"warmpath/rewrite/splice"
)

// ofPrompt are the members of a request that belong to its prompt, which are all
// that a request to count its tokens takes.
var ofPrompt = []string{"model", "system", "messages", "tools", "tool_choice", "thinking", "output_config", "cache_control", "mcp_servers"}

// CountRequest is the request to count the tokens that a request to generate sends.
func CountRequest(body []byte) []byte {
	var w splice.Writer
	w.Open('{')
	splice.Fields(body, func(name, value []byte) bool {
		if slices.Contains(ofPrompt, string(name)) {
			w.Value(string(name), value)
		}
		return true
	})
	w.Close('}')
	return w.Bytes()
}

// ReadCount is the number of tokens that a provider has counted; ok is false for
// what is no answer to that.
func ReadCount(reply []byte) (n int64, ok bool) {
	splice.Fields(reply, func(name, value []byte) bool {
		if string(name) == "input_tokens" {
			var err error
			n, err = strconv.ParseInt(string(value), 10, 64)
			ok = err == nil && n >= 0
		}
		return true
	})
	return n, ok
}

// AppendCount answers a client that has a prompt's tokens counted.
func AppendCount(dst []byte, n int64) []byte {
	dst = append(dst, `{"input_tokens":`...)
	return append(strconv.AppendInt(dst, n, 10), '}')
}
