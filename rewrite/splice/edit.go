package splice

import (
	"fmt"

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
