package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Peek reads the model and the stream flag of a request body; see splice.Peek
// for what it refuses.
func Peek(body []byte) (rewrite.Facts, error) { return splice.Peek(body) }
