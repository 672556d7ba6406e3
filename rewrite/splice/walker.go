package splice

import "warmpath/rewrite"

// Walker walks nested JSON text once, descending only where the caller wants to
// look. Like Members it sees structural faults only, never recurses by itself
// and allocates only for escaped names. It stands at a value at any time: the
// caller takes it with Value, enters it with Fields or Elements, or leaves it
// to be stepped over.
type Walker struct {
	text []byte
	at   int
	msg  string // what is wrong at at, once anything is
}

// Walk gives a Walker that stands at the value which text is.
func Walk(text []byte) Walker { return Walker{text: text, at: skipSpace(text, 0)} }

// OK reports whether everything so far was well-formed.
func (w *Walker) OK() bool { return w.msg == "" }

// Value takes the value and gives its text, which is nil if it is broken.
func (w *Walker) Value() []byte {
	start := w.at
	if w.skip(); w.msg != "" {
		return nil
	}
	return w.text[start:w.at]
}

// Next is the byte that the value begins with, which tells its type; zero if
// there is none.
func (w *Walker) Next() byte {
	if w.at >= len(w.text) {
		return 0
	}
	return w.text[w.at]
}

// Offset is where in the text the walker stands, for Since.
func (w *Walker) Offset() int { return w.at }

// Since is the text from an offset to where the walker stands: the whole value
// that stood there, once that is taken or left.
func (w *Walker) Since(offset int) []byte { return w.text[offset:w.at] }

// Fields enters an object: it calls yield for each member, standing at the
// member's value. It reports whether the value was an object and well-formed;
// any other value is left where it is. The key is valid during the call.
func (w *Walker) Fields(yield func(key []byte)) bool {
	if w.at >= len(w.text) || w.text[w.at] != '{' {
		return false
	}
	w.object(func(key []byte, _ rewrite.Span) bool {
		yield(key)
		return true
	})
	return w.msg == ""
}

// Elements is Fields for an array: it calls yield standing at each element.
func (w *Walker) Elements(yield func()) bool {
	if w.at >= len(w.text) || w.text[w.at] != '[' {
		return false
	}
	w.array(func() bool {
		yield()
		return true
	})
	return w.msg == ""
}

// skip steps over the value.
func (w *Walker) skip() {
	if w.msg == "" {
		w.at, w.msg = skipValue(w.text, w.at)
	}
}

// fail notes what is wrong at i.
func (w *Walker) fail(i int, msg string) { w.at, w.msg = i, msg }

// object walks the object that opens here until yield returns false, which is
// no fault but leaves the walker where it was. A value that yield has not taken
// is stepped over.
func (w *Walker) object(yield func(key []byte, span rewrite.Span) bool) {
	b, i := w.text, skipSpace(w.text, w.at+1)
	if i < len(b) && b[i] == '}' {
		w.at = i + 1
		return
	}
	for {
		if i >= len(b) || b[i] != '"' {
			w.fail(i, msgMissingName)
			return
		}
		start := i
		var escaped bool
		if i, escaped = skipName(b, i+1); i < 0 {
			w.fail(start, msgUnterminatedString)
			return
		}
		span, name := rewrite.Span{Start: start, End: i}, b[start+1:i-1]
		if escaped {
			name, _ = AppendText(nil, b[start:i])
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			w.fail(i, msgMissingColon)
			return
		}
		w.at = skipSpace(b, i+1)
		value := w.at
		if !yield(name, span) {
			return
		}
		if w.at == value {
			w.skip()
		}
		var more bool
		if i, more = w.comma('}', msgMissingComma); !more {
			return
		}
	}
}

// array is object for the array that opens here.
func (w *Walker) array(yield func() bool) {
	i := skipSpace(w.text, w.at+1)
	if i < len(w.text) && w.text[i] == ']' {
		w.at = i + 1
		return
	}
	for more := true; more; {
		w.at = i
		if !yield() {
			return
		}
		if w.at == i {
			w.skip()
		}
		i, more = w.comma(']', msgMissingElementEnd)
	}
}

// comma reads what follows a value: more, whose offset it gives, or the bracket
// that closes.
func (w *Walker) comma(closing byte, missing string) (next int, more bool) {
	if w.msg != "" {
		return 0, false
	}
	i := skipSpace(w.text, w.at)
	switch {
	case i >= len(w.text):
		w.fail(i, msgUnbalanced)
	case w.text[i] == ',':
		return skipSpace(w.text, i+1), true
	case w.text[i] == closing:
		w.at = i + 1
	default:
		w.fail(i, missing)
	}
	return 0, false
}
