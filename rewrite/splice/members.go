package splice

import (
	"fmt"
	"slices"

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
	w := Walk(body)
	if w.at == len(body) || body[w.at] != '{' {
		return &SyntaxError{int64(w.at), msgNotObject}
	}
	stopped := false
	w.object(func(key []byte, span rewrite.Span) bool {
		start := w.at
		if w.skip(); w.msg != "" {
			return true
		}
		stopped = !yield(key, span, rewrite.Span{Start: start, End: w.at})
		return !stopped
	})
	if w.msg == "" && !stopped {
		if w.at = skipSpace(body, w.at); w.at < len(body) {
			w.msg = msgTrailing
		}
	}
	if w.msg != "" {
		return &SyntaxError{int64(w.at), w.msg}
	}
	return nil
}

// Fields is Members for a value found inside a body that was already walked:
// it yields the value's own text and reports only whether the walk went well.
// Anything but an object has no fields.
func Fields(object []byte, yield func(key, value []byte) bool) bool {
	w := Walk(object)
	if w.at == len(object) || object[w.at] != '{' {
		return false
	}
	w.object(func(key []byte, _ rewrite.Span) bool {
		value := w.Value()
		return w.msg != "" || yield(key, value)
	})
	return w.msg == ""
}

// Elements calls yield with the text of each element of a JSON array until
// yield returns false, and reports whether the walk went well. Anything but an
// array has no elements.
func Elements(array []byte, yield func(value []byte) bool) bool {
	w := Walk(array)
	if w.at == len(array) || array[w.at] != '[' {
		return false
	}
	w.array(func() bool {
		value := w.Value()
		return w.msg != "" || yield(value)
	})
	return w.msg == ""
}

// Texts are the texts of an array.
func Texts(array []byte) (all []string) {
	Elements(array, func(value []byte) bool {
		all = append(all, Text(value))
		return true
	})
	return all
}

// Only gives an object with some of its members, as they stand in it.
func Only(object []byte, names ...string) []byte {
	var w Writer
	w.Open('{')
	Fields(object, func(name, value []byte) bool {
		if slices.Contains(names, string(name)) {
			w.Value(string(name), value)
		}
		return true
	})
	w.Close('}')
	return w.Bytes()
}
