package splice

import (
	"fmt"

	"warmpath/rewrite"
)

// Peek reads the model and the stream flag from the top level of a request
// body, where every dialect that has them in the body keeps them. A value of
// the wrong type leaves its fact zero: the provider's own answer to it is better
// than ours. What it refuses is text that is not JSON, with a *SyntaxError, and
// a second model or stream, with a *rewrite.Failure, because parsers differ on
// which of the two counts.
func Peek(body []byte) (rewrite.Facts, error) {
	if i := skipSpace(body, 0); i == len(body) || body[i] != '{' {
		if err := Valid(body); err != nil {
			return rewrite.Facts{}, err
		}
		return rewrite.Facts{}, nil
	}
	var facts rewrite.Facts
	var model, stream rewrite.Span
	var twice error
	err := Members(body, func(key []byte, at, value rewrite.Span) bool {
		switch string(key) {
		case "model":
			if twice = once("model", model, at); twice != nil {
				return false
			}
			model = at
			if text, ok := String(body[value.Start:value.End]); ok {
				facts.Model, facts.ModelSpan = string(text), value
			}
		case "stream":
			if twice = once("stream", stream, at); twice != nil {
				return false
			}
			stream = at
			facts.Stream = string(body[value.Start:value.End]) == "true"
		}
		return true
	})
	if twice != nil {
		return rewrite.Facts{}, twice
	}
	if err != nil {
		return rewrite.Facts{}, err
	}
	return facts, nil
}

// once refuses a member that was seen before. A name takes at least its quotes,
// so an empty span means that it was not.
func once(name string, before, now rewrite.Span) error {
	if before.Len() == 0 {
		return nil
	}
	return &rewrite.Failure{
		Reason: rewrite.ReasonBadRequest,
		Message: fmt.Sprintf("%q stands twice in the request body, at byte %d and at byte %d; send it once",
			name, before.Start, now.Start),
	}
}

// PeekModel reads no further than the model, which most clients write first:
// for who only has to know where a request goes. The stream flag stays false,
// and nothing behind the model is looked at. Without a model, or where the text
// before it is no JSON, the facts are zero.
func PeekModel(body []byte) rewrite.Facts {
	var facts rewrite.Facts
	_ = Members(body, func(key []byte, _, value rewrite.Span) bool {
		if string(key) != "model" {
			return true
		}
		if text, ok := String(body[value.Start:value.End]); ok {
			facts.Model, facts.ModelSpan = string(text), value
		}
		return false
	})
	return facts
}
