package splice

import (
	"fmt"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// SyntaxError is JSON text that is not JSON. Offset is the index of the byte
// where it went wrong, which is the length of the text when it ends too early.
type SyntaxError struct {
	Offset int64
	Msg    string
}

// Error says what is wrong and where.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Msg)
}

// Members calls yield for each member of the JSON object in body, in order,
// until yield returns false. The key is unescaped and valid during the call
// only; keySpan covers it as written, quotes included, and value covers the
// member's value.
//
// It is one pass without recursion that allocates only for an escaped key, and
// it looks no further into a value than to find its end: the error is a
// *SyntaxError and names structural faults only. Whether the rest is JSON is
// what Valid answers. A walk that yield has stopped is not checked to the end.
func Members(body []byte, yield func(key []byte, keySpan, value rewrite.Span) bool) error {
	i := skipSpace(body, 0)
	if i == len(body) || body[i] != '{' {
		return &SyntaxError{int64(i), msgNotObject}
	}
	end, msg := walkObject(body, i, yield)
	if msg == "" && end < len(body) {
		if end = skipSpace(body, end); end < len(body) {
			msg = msgTrailing
		}
	}
	if msg != "" {
		return &SyntaxError{int64(end), msg}
	}
	return nil
}

// Fields is Members for a value found inside a body that was already walked:
// it yields the value's own text and reports only whether the walk went well.
// Anything but an object has no fields.
func Fields(object []byte, yield func(key, value []byte) bool) bool {
	i := skipSpace(object, 0)
	if i == len(object) || object[i] != '{' {
		return false
	}
	_, msg := walkObject(object, i, func(key []byte, _, value rewrite.Span) bool {
		return yield(key, object[value.Start:value.End])
	})
	return msg == ""
}

// Elements calls yield with the text of each element of a JSON array until
// yield returns false, and reports whether the walk went well. Anything but an
// array has no elements.
func Elements(array []byte, yield func(value []byte) bool) bool {
	i := skipSpace(array, 0)
	if i == len(array) || array[i] != '[' {
		return false
	}
	_, msg := walkArray(array, i, yield)
	return msg == ""
}

// walkObject walks the object that opens at i. It gives the offset after the
// closing brace, or len(b) once yield stopped it; on failure msg is not empty
// and the offset is where it failed.
func walkObject(b []byte, i int, yield func(key []byte, keySpan, value rewrite.Span) bool) (end int, msg string) {
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, ""
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, msgMissingName
		}
		key := rewrite.Span{Start: i}
		var escaped bool
		if i, escaped = skipName(b, i+1); i < 0 {
			return key.Start, msgUnterminatedString
		}
		key.End = i
		name := b[key.Start+1 : key.End-1]
		if escaped {
			name = unescape(b[key.Start:key.End])
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return i, msgMissingColon
		}
		value := rewrite.Span{Start: skipSpace(b, i+1)}
		if value.End, msg = skipValue(b, value.Start); msg != "" {
			return value.End, msg
		}
		if !yield(name, key, value) {
			return len(b), ""
		}
		if i = skipSpace(b, value.End); i >= len(b) {
			return i, msgUnbalanced
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case '}':
			return i + 1, ""
		default:
			return i, msgMissingComma
		}
	}
}

// walkArray is walkObject for the array that opens at i.
func walkArray(b []byte, i int, yield func(value []byte) bool) (end int, msg string) {
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, ""
	}
	for {
		start := i
		if i, msg = skipValue(b, i); msg != "" {
			return i, msg
		}
		if !yield(b[start:i]) {
			return len(b), ""
		}
		if i = skipSpace(b, i); i >= len(b) {
			return i, msgUnbalanced
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case ']':
			return i + 1, ""
		default:
			return i, msgMissingElementEnd
		}
	}
}

// unescape gives the content of a JSON string that has escapes in it.
func unescape(quoted []byte) []byte {
	return []byte(gjson.ParseBytes(quoted).String())
}
