package anthropic

import (
	"bytes"
	"slices"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// StripMark gives a tool, a block or a message without its cache marks, those
// of nested blocks included. An element without any is returned as it is, and
// so is text that does not read as an element.
func StripMark(element []byte) []byte {
	if !bytes.Contains(element, []byte("cache_control")) && !bytes.Contains(element, []byte(`\u`)) {
		// Without escapes nothing else can be a mark's name.
		return element
	}
	edits := markEdits(nil, element, 0, nil)
	if len(edits) == 0 {
		return element
	}
	return splice.Apply(nil, element, edits)
}

// WithMark gives a tool, a block or a message with a cache mark, which is the
// mark's JSON object: on the element itself, or on the last block of a message
// that can carry one, in place of the mark that it has. What can carry none is
// returned as it is: deferred tools, thinking, empty text, messages that end
// with the next turn, content that is a plain string.
func WithMark(element, mark []byte) []byte {
	edits := markEdits(nil, element, 0, mark)
	if len(edits) == 0 {
		return element
	}
	return splice.Apply(nil, element, edits)
}

// AsDeferred gives a tool as a deferred entry, which is no part of the prefix.
// It loses its mark: the API refuses both on one tool.
func AsDeferred(tool []byte) []byte {
	var loading rewrite.Span
	tool = StripMark(tool)
	if splice.Members(tool, func(key []byte, _, value rewrite.Span) bool {
		if string(key) == "defer_loading" {
			loading = value
		}
		return true
	}) != nil {
		return tool
	}
	if loading.Len() > 0 {
		return splice.Apply(nil, tool, []splice.Edit{{Span: loading, Text: []byte("true")}})
	}
	return splice.Apply(nil, tool, []splice.Edit{insertMember(tool, 0, `"defer_loading":true`)})
}

// insertMember adds a member behind the last of an object, directly, so that
// cutting it gives back the bytes there were. The base is the object's place.
func insertMember(object []byte, base int, member string) splice.Edit {
	end := base + len(bytes.TrimRight(object[:len(object)-1], " \t\r\n"))
	return splice.Edit{Span: rewrite.Span{Start: end, End: end}, Text: []byte("," + member)}
}

// markEdits adds the edits that set the mark of an element at base, or that
// take all of its marks away if mark is nil.
func markEdits(edits []splice.Edit, element []byte, base int, mark []byte) []splice.Edit {
	f := borrow(element)
	defer f.release()
	target, own := f.markable()
	if f.msg != "" || f.at < len(element) {
		return edits
	}
	shift := func(s rewrite.Span) rewrite.Span { return rewrite.Span{Start: base + s.Start, End: base + s.End} }
	if mark == nil {
		for _, s := range f.cuts {
			edits = append(edits, splice.Edit{Span: shift(s)})
		}
		return edits
	}
	if target.Len() == 0 {
		return edits
	}
	if own.Len() > 0 {
		edits = append(edits, splice.Edit{Span: shift(own)})
	}
	return append(edits, insertMember(element[target.Start:target.End], base+target.Start, `"cache_control":`+string(mark)))
}

// markable reads an element of any kind and gives the span of what would carry
// its mark, empty for nothing, and the mark that it has.
func (f *form) markable() (target, own rewrite.Span) {
	if kind, message := f.peek(); !message && isTool(kind) {
		var tool continuity.Tool
		start := f.at
		if f.tool(&tool); !tool.Deferred {
			target, own = rewrite.Span{Start: start, End: f.at}, f.own
		}
		return target, own
	} else if !message {
		b := f.block()
		if b.markable() {
			target, own = b.span, b.mark
		}
		return target, own
	}
	var m continuity.Message
	f.message(&m, func(b block) {
		if b.markable() {
			target, own = b.span, b.mark
		}
	})
	if m.Scoped {
		return rewrite.Span{}, rewrite.Span{}
	}
	return target, own
}

// peek looks ahead for what tells the kinds of elements apart.
func (f *form) peek() (kind string, message bool) {
	splice.Fields(f.text[f.at:], func(name, value []byte) bool {
		switch string(name) {
		case "type":
			kind = splice.Text(value)
		case "role":
			message = true
		}
		return true
	})
	return kind, message
}

// isTool reports the type of a tool, which a client's own may lack.
func isTool(kind string) bool {
	return kind == "" || kind == "custom" || family([]byte(kind)) != kind || isToolset(kind) || kind == mcpToolset ||
		strings.HasPrefix(kind, "tool_search_tool_") && !strings.HasSuffix(kind, "_result")
}

// marked are the blocks that may carry a cache mark, beside the results of
// hosted tools. Thinking may not, and what is not known is not tried.
var marked = []string{
	"text", "image", "document", "search_result", "tool_use", "tool_result", "server_tool_use", "mcp_tool_use",
	"container_upload", "compaction", "tool_addition", "tool_removal",
}

func (b *block) markable() bool {
	if string(b.kind) == "text" && b.text.Len() <= len(`""`) {
		return false
	}
	return b.hostedResult() || slices.Contains(marked, string(b.kind))
}
