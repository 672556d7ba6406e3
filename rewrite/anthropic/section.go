package anthropic

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// SectionText is the text of a section of the system prompt: a block, or the
// string that is the whole prompt. What is neither has none.
func SectionText(element []byte) string {
	if len(element) > 0 && element[0] == '"' {
		return splice.Text(element)
	}
	var text string
	splice.Fields(element, func(name, value []byte) bool {
		if string(name) == "text" {
			text = splice.Text(value)
		}
		return true
	})
	return text
}

// MarkText is the JSON object of a cache mark, of which the span covers the
// whole member and the comma that goes with it; nil for an empty span.
func MarkText(body []byte, mark rewrite.Span) []byte {
	member := body[mark.Start:mark.End]
	open, shut := bytes.IndexByte(member, '{'), bytes.LastIndexByte(member, '}')
	if open < 0 || shut < open {
		return nil
	}
	return member[open : shut+1]
}
