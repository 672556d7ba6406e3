package gemini

import (
	"strconv"

	"warmpath/rewrite/splice"
)

// CountRequest is the request to count the tokens that a request to generate sends
// to a model.
func CountRequest(body []byte, model string) []byte {
	var w splice.Writer
	w.Open('{')
	w.Name("generateContentRequest")
	w.Open('{')
	w.Text("model", "models/"+model)
	splice.Fields(body, func(name, value []byte) bool {
		w.Value(string(name), value)
		return true
	})
	w.Close('}')
	w.Close('}')
	return w.Bytes()
}

// CountedRequest is the request whose tokens a client wants to have counted: the body
// itself, or what it wraps.
func CountedRequest(body []byte) []byte {
	counted := body
	splice.Fields(body, func(name, value []byte) bool {
		if string(name) == "generateContentRequest" {
			counted = value
		}
		return true
	})
	return counted
}

// ReadCount is the number of tokens that a provider has counted; ok is false for
// what is no answer to that.
func ReadCount(reply []byte) (n int64, ok bool) {
	splice.Fields(reply, func(name, value []byte) bool {
		if string(name) == "totalTokens" {
			n, ok = splice.Int(value)
		}
		return !ok
	})
	return n, ok
}

// AppendCount answers a client that has a prompt's tokens counted.
func AppendCount(dst []byte, n int64) []byte {
	dst = append(dst, `{"totalTokens":`...)
	return append(strconv.AppendInt(dst, n, 10), '}')
}
