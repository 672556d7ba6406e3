package anthropic

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Without gives a reply, or an event of a stream, without a member that the
// client has not asked for: at the top, and in the message or the delta that an
// event carries. Text that has none, or is no JSON object, is returned as it is.
func Without(text []byte, name string) []byte {
	if !bytes.Contains(text, []byte(`"`+name+`"`)) {
		return text
	}
	edits := cutMember(nil, text, 0, name)
	if len(edits) == 0 {
		return text
	}
	return splice.Apply(nil, text, edits)
}

// cutMember adds the edits that cut a member out of an object, with the comma
// that goes with it. The base is the object's place.
func cutMember(edits []splice.Edit, object []byte, base int, name string) []splice.Edit {
	// The end of the member before, and the cut that still needs to know where
	// the next begins.
	before, open := -1, -1
	whole := edits
	err := splice.Members(object, func(key []byte, keySpan, value rewrite.Span) bool {
		if open >= 0 {
			edits[open].End, open = base+keySpan.Start, -1
		}
		switch {
		case string(key) != name:
			if (string(key) == "message" || string(key) == "delta") && object[value.Start] == '{' {
				edits = cutMember(edits, object[value.Start:value.End], base+value.Start, name)
			}
			before = value.End
		case before >= 0:
			edits = append(edits, splice.Edit{Span: rewrite.Span{Start: base + before, End: base + value.End}})
			before = value.End
		default:
			edits = append(edits, splice.Edit{Span: rewrite.Span{Start: base + keySpan.Start, End: base + value.End}})
			open = len(edits) - 1
		}
		return true
	})
	if err != nil {
		return whole
	}
	return edits
}
