package converse

import (
	"slices"
	"strconv"
	"strings"

	"warmpath/rewrite/splice"
)

// ofPrompt are the members of a request that belong to its prompt, which are all
// that a request to count its tokens takes.
var ofPrompt = []string{"messages", "system", "toolConfig", "additionalModelRequestFields"}

// CountRequest is the request to count the tokens that a request to generate sends.
func CountRequest(body []byte) []byte {
	var w splice.Writer
	w.Open('{')
	w.Name("input")
	w.Open('{')
	w.Name("converse")
	w.Open('{')
	splice.Fields(body, func(name, value []byte) bool {
		if slices.Contains(ofPrompt, string(name)) {
			w.Value(string(name), value)
		}
		return true
	})
	w.Close('}')
	w.Close('}')
	w.Close('}')
	return w.Bytes()
}

// CountModel is the model that counts for one that is served from several regions:
// counting is asked of the model itself.
func CountModel(model string) string {
	if region, rest, ok := strings.Cut(model, "."); ok && slices.Contains(regions, region) {
		return rest
	}
	return model
}

// ReadCount is the number of tokens that a provider has counted; ok is false for
// what is no answer to that.
func ReadCount(reply []byte) (n int64, ok bool) {
	splice.Fields(reply, func(name, value []byte) bool {
		if string(name) == "inputTokens" {
			var err error
			n, err = strconv.ParseInt(string(value), 10, 64)
			ok = err == nil && n >= 0
		}
		return true
	})
	return n, ok
}
