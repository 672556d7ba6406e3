package anthropic

import (
	"bytes"
	"errors"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// errNothingElse says that a reply would be empty without its thinking.
var errNothingElse = errors.New("a reply holds nothing but thinking")

// StripThinking gives an assistant's message without its thinking. All other
// bytes stay. An error means that nothing would be left, or that it does not
// read as a message.
func StripThinking(message []byte) ([]byte, error) {
	var content rewrite.Span
	if err := splice.Members(message, func(key []byte, _, value rewrite.Span) bool {
		if string(key) == "content" {
			content = value
		}
		return true
	}); err != nil {
		return nil, err
	}
	out := append([]byte(nil), message[:content.Start]...)
	out = append(out, '[')
	left := 0
	splice.Elements(message[content.Start:content.End], func(block []byte) bool {
		switch kind := typeOf(block); kind {
		case "thinking", "redacted_thinking", "connector_text":
			return true
		}
		if left++; left > 1 {
			out = append(out, ',')
		}
		out = append(out, block...)
		return true
	})
	if left == 0 {
		return nil, errNothingElse
	}
	return append(append(out, ']'), message[content.End:]...), nil
}

// typeOf is the type of a block.
func typeOf(block []byte) (kind string) {
	splice.Fields(block, func(name, value []byte) bool {
		if string(name) == "type" {
			kind = splice.Text(value)
		}
		return true
	})
	return kind
}

// Disown leaves thinking out of a request that holds some with a foreign signature:
// out of every reply that has one, and nothing else of it. It gives the body itself
// where there is none, or where a reply would be empty.
func Disown(body []byte, foreign func(signature string) bool) []byte {
	var edits []splice.Edit
	_ = splice.Members(body, func(key []byte, _, value rewrite.Span) bool {
		if string(key) != "messages" {
			return true
		}
		at := value.Start
		splice.Elements(body[value.Start:value.End], func(message []byte) bool {
			start := at + bytes.Index(body[at:value.End], message)
			at = start + len(message)
			if !anySignature(message, foreign) {
				return true
			}
			if stripped, err := StripThinking(message); err == nil {
				edits = append(edits, splice.Edit{Span: rewrite.Span{Start: start, End: at}, Text: stripped})
			}
			return true
		})
		return false
	})
	if len(edits) == 0 {
		return body
	}
	return splice.Apply(nil, body, edits)
}

// Signatures are those of the thinking in a request.
func Signatures(body []byte) (signatures []string) {
	splice.Fields(body, func(name, value []byte) bool {
		if string(name) == "messages" {
			splice.Elements(value, func(message []byte) bool {
				anySignature(message, func(signature string) bool {
					signatures = append(signatures, signature)
					return false
				})
				return true
			})
		}
		return true
	})
	return signatures
}

// anySignature reports whether the thinking of a message has a signature that is
// looked for.
func anySignature(message []byte, wanted func(signature string) bool) (found bool) {
	if !bytes.Contains(message, []byte("thinking")) {
		return false
	}
	splice.Fields(message, func(name, value []byte) bool {
		if string(name) != "content" {
			return true
		}
		splice.Elements(value, func(block []byte) bool {
			var kind, signature string
			splice.Fields(block, func(name, value []byte) bool {
				switch string(name) {
				case "type":
					kind = splice.Text(value)
				case "signature", "data":
					signature = splice.Text(value)
				}
				return true
			})
			if kind == "thinking" || kind == "redacted_thinking" {
				found = found || wanted(signature)
			}
			return true
		})
		return true
	})
	return found
}
