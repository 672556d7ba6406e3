package anthropic

import (
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
