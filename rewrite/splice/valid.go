package splice

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxDepth is how many brackets may stand open at once. Real requests stay
// under twenty; the limit keeps recursive parsers behind it from running out of
// stack.
const MaxDepth = 512

// Depth gives a *SyntaxError if more than limit brackets stand open at once
// anywhere in body. It says nothing else about the text.
func Depth(body []byte, limit int) error {
	if at := deeperThan(body, limit); at >= 0 {
		return &SyntaxError{int64(at), fmt.Sprintf("more than %d levels of nesting", limit)}
	}
	return nil
}

// deeperThan is the offset of the first bracket that opens more than limit
// levels, or -1.
func deeperThan(body []byte, limit int) int {
	depth := 0
	for i := 0; i < len(body); {
		switch body[i] {
		case '"':
			next := skipString(body, i+1)
			if next < 0 {
				return -1
			}
			i = next
			continue
		case '{', '[':
			if depth++; depth > limit {
				return i
			}
		case '}', ']':
			depth--
		}
		i++
	}
	return -1
}

// Valid gives nil if body is exactly one JSON value nested at most MaxDepth
// deep, and otherwise says where it is not.
func Valid(body []byte) *SyntaxError {
	end, deep := check(body)
	if deep {
		return &SyntaxError{int64(end), fmt.Sprintf("more than %d levels of nesting", MaxDepth)}
	}
	if end >= 0 {
		return nil
	}
	return fault(body)
}

// ValidDeep is Valid without the bound on nesting: for text that is passed on
// and read no further than Members does.
func ValidDeep(body []byte) *SyntaxError {
	end, deep := check(body)
	at := end
	if deep {
		end, _ = checkWithin(body, make([]uint64, len(body)/64+1))
	}
	if end >= 0 {
		return nil
	}
	syntax := fault(body)
	if syntax == nil || deep && strings.HasSuffix(syntax.Msg, msgDeeper) {
		return &SyntaxError{int64(at), fmt.Sprintf("more than %d levels of nesting, with a fault in them", MaxDepth)}
	}
	return syntax
}

// msgDeeper is what the slow check says when it gives up.
const msgDeeper = "exceeded max depth"

// fault finds where text is no JSON. The fast check cannot say where; the slow
// one runs only for refusals.
func fault(body []byte) *SyntaxError {
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, &raw); errors.As(err, &syntax) {
		return locate(body, syntax)
	}
	return nil
}

// locate turns a count of bytes read into the index of the byte that was wrong.
func locate(body []byte, syntax *json.SyntaxError) *SyntaxError {
	at := syntax.Offset - 1
	if syntax.Error() == "unexpected end of JSON input" {
		at = int64(len(body))
	}
	return &SyntaxError{max(at, 0), syntax.Error()}
}
