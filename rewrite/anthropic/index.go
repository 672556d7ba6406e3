package anthropic

import (
	"bytes"
	"slices"
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// MapIndex gives text of a provider with the indexes of messages in it turned
// back to the client's numbering: those in the error of an error body or event,
// and in the paths of input_transformations in a reply or event. Text that is no
// JSON object is the text of an error. Nothing else is touched, least of all
// what the model has said. An index for which back gives a negative number, as
// it does for a message that the client does not have, stays as it is.
func MapIndex(text []byte, back func(upstreamIndex int) int) []byte {
	if !bytes.Contains(text, []byte(indexed)) {
		return text
	}
	spans, ok := indexedSpans(nil, text, 0)
	if !ok {
		spans = []rewrite.Span{{Start: 0, End: len(text)}}
	}
	var edits []splice.Edit
	for _, span := range spans {
		edits = mapIn(edits, text, span, back)
	}
	if len(edits) == 0 {
		return text
	}
	slices.SortFunc(edits, func(a, b splice.Edit) int { return a.Start - b.Start })
	return splice.Apply(nil, text, edits)
}

const indexed = "messages."

// indexedSpans adds the values of an object in which indexes count messages:
// the object is a reply, an event, or what an event carries. It is false if the
// text is no object.
func indexedSpans(spans []rewrite.Span, text []byte, base int) ([]rewrite.Span, bool) {
	err := splice.Members(text, func(key []byte, _, value rewrite.Span) bool {
		at := rewrite.Span{Start: base + value.Start, End: base + value.End}
		switch string(key) {
		case "error", "input_transformations":
			spans = append(spans, at)
		case "message", "delta":
			spans, _ = indexedSpans(spans, text[value.Start:value.End], at.Start)
		}
		return true
	})
	return spans, err == nil
}

// mapIn adds the edits of one span.
func mapIn(edits []splice.Edit, text []byte, span rewrite.Span, back func(int) int) []splice.Edit {
	for at := span.Start; ; {
		i := bytes.Index(text[at:span.End], []byte(indexed))
		if i < 0 {
			return edits
		}
		start := at + i + len(indexed)
		end := start
		for end < span.End && '0' <= text[end] && text[end] <= '9' {
			end++
		}
		whole := (end == span.End || !wordByte(text[end])) && startsWord(text[span.Start:at+i])
		at = end
		n, err := strconv.Atoi(string(text[start:end]))
		if err != nil || !whole {
			continue
		}
		if to := back(n); to >= 0 && to != n {
			edits = append(edits, splice.Edit{Span: rewrite.Span{Start: start, End: end}, Text: strconv.AppendInt(nil, int64(to), 10)})
		}
	}
}

// startsWord reports whether a word can start behind the given text. The letter
// of an escape belongs to no word.
func startsWord(before []byte) bool {
	last := len(before) - 1
	if last < 0 || !wordByte(before[last]) && before[last] != '.' {
		return true
	}
	slashes := 0
	for i := last - 1; i >= 0 && before[i] == '\\'; i-- {
		slashes++
	}
	return slashes%2 == 1
}

func wordByte(c byte) bool {
	lower := c | 0x20
	return c == '_' || '0' <= c && c <= '9' || 'a' <= lower && lower <= 'z'
}
