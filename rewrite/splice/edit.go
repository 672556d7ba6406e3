package splice

import (
	"fmt"
	"unicode/utf8"

	"warmpath/rewrite"
)

// Edit replaces the bytes of its span by Text. An empty span inserts, an empty
// text deletes.
type Edit struct {
	rewrite.Span
	Text []byte
}

// Apply appends body with the edits made to dst and returns it, growing dst at
// most once. The edits are in ascending order and do not overlap; insertions at
// one place happen in the order given. Anything else is a bug of the caller and
// panics, because bytes would reach a provider that nobody asked for. The dst
// must not share memory with body or the edits.
func Apply(dst, body []byte, edits []Edit) []byte {
	size, at := len(body), 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(body) {
			panic(fmt.Sprintf("BUG: edit [%d,%d) after byte %d of %d", e.Start, e.End, at, len(body)))
		}
		at = e.End
		size += len(e.Text) - e.Len()
	}
	if cap(dst)-len(dst) < size {
		dst = append(make([]byte, 0, len(dst)+size), dst...)
	}
	at = 0
	for _, e := range edits {
		dst = append(dst, body[at:e.Start]...)
		dst = append(dst, e.Text...)
		at = e.End
	}
	return append(dst, body[at:]...)
}

// Inside turns edits of the content of a JSON string into edits of the string, whose
// other characters keep their spelling. The texts are escaped. Edits that do not stand
// between characters are widened to their ends.
func Inside(value []byte, edits []Edit) []Edit {
	text, _ := inner(value)
	at, content := 0, 0
	place := func(offset int) int {
		for content < offset && at < len(text) {
			switch {
			case text[at] != '\\' || at+1 == len(text):
				at, content = at+1, content+1
			case text[at+1] != 'u':
				at, content = at+2, content+1
			default:
				r, n := unicodeEscape(text[at:])
				at, content = at+n, content+utf8.RuneLen(r)
			}
		}
		return at + 1 // behind the quote
	}
	all := make([]Edit, len(edits))
	for i, e := range edits {
		all[i].Start = place(e.Start)
		all[i].End = place(e.End)
		if len(e.Text) > 0 {
			quoted := AppendString(nil, e.Text)
			all[i].Text = quoted[1 : len(quoted)-1]
		}
	}
	return all
}
