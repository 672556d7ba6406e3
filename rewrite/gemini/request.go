package gemini

import (
	"errors"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Peek checks the structure of a request body. The model and the choice between
// whole and streamed stand in the path of this dialect, so the facts are empty;
// whoever matched the path sets them. What is not JSON is refused with a
// *splice.SyntaxError.
func Peek(body []byte) (rewrite.Facts, error) {
	if _, err := splice.Peek(body); err != nil {
		if _, ok := errors.AsType[*rewrite.Failure](err); !ok {
			return rewrite.Facts{}, err
		}
	}
	return rewrite.Facts{}, nil
}
