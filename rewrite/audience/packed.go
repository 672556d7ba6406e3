package audience

import (
	"bytes"
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// mostPacked bounds how many texts are looked into that stand one within the other.
const mostPacked = 4

// Packs reports a JSON string whose content may be JSON, some of which is for people. It
// allocates nothing.
func Packs(text []byte) bool {
	rest := text[min(1, len(text)):]
	for len(rest) > 0 {
		switch {
		case rest[0] == ' ':
			rest = rest[1:]
			continue
		case rest[0] == '[', rest[0] == '{', bytes.HasPrefix(rest, []byte(`\"`)), bytes.HasPrefix(rest, []byte(`\u00`)):
			return speaks(rest)
		case len(rest) > 1 && rest[0] == '\\' && bytes.IndexByte([]byte("nrt"), rest[1]) >= 0:
			rest = rest[2:]
			continue
		}
		break
	}
	return false
}

// PacksBehind is Packs for JSON that comes behind lines of the client's own.
func PacksBehind(text []byte) bool {
	return (bytes.Contains(text, []byte(`\n[{`)) || bytes.Contains(text, []byte(`\n{`))) && speaks(text)
}

// speaks reports a text that may name an audience, in escapes perhaps.
func speaks(text []byte) bool {
	return bytes.Contains(text, []byte("audience")) || bytes.Contains(text, []byte("u00"))
}

// text looks into a string. If all of its content is what the protocol calls a result
// (or an answer with one), a list of blocks or one of them, or a string with such, then
// what of it is for people is taken out, and the rest stays as it is spelled. Where
// nothing of it is for people it is a text like any other.
func (f *finder) text(at rewrite.Span) (fate, []splice.Edit) {
	value := f.body[at.Start:at.End]
	if f.packed == mostPacked || !Packs(value) {
		return stays, nil
	}
	content, ok := splice.AppendText(nil, value)
	if !ok {
		return stays, nil
	}
	fate, edits := f.within(content)
	return fate, inside(at, value, edits)
}

// within is text for content that may be JSON.
func (f *finder) within(content []byte) (fate, []splice.Edit) {
	if splice.Valid(content) != nil {
		return stays, nil
	}
	inner := finder{words: &Words{}, body: content, failed: f.failed, free: true, packed: f.packed + 1}
	all := rewrite.Span{Start: len(content) - len(bytes.TrimLeft(content, " \t\r\n")), End: len(bytes.TrimRight(content, " \t\r\n"))}
	fate, edits := inner.whole(all)
	if inner.change.UserOnly+inner.change.Unknown == 0 {
		return stays, nil
	}
	f.touched = true
	f.change.UserOnly += inner.change.UserOnly
	f.change.Unknown += inner.change.Unknown
	f.change.Placeholder = f.change.Placeholder || inner.change.Placeholder
	if fate == gone {
		f.failed = inner.failed
	}
	return fate, edits
}

// whole decides about what all of a text is.
func (f *finder) whole(at rewrite.Span) (fate, []splice.Edit) {
	switch f.body[at.Start] {
	case '"':
		return f.text(at)
	case '[':
		if f.allBlocks(at) {
			return f.array(at, 0)
		}
	case '{':
		return f.result(f.answer(at))
	}
	return stays, nil
}

// answer is the result in an answer of a server as it came over the wire; anything else
// is what it is.
func (f *finder) answer(at rewrite.Span) rewrite.Span {
	result, wired, own := at, false, false
	each(f.body, at, func(m *member) {
		switch m.name {
		case "jsonrpc":
			wired = true
		case "content":
			own = true
		case "result":
			if f.body[m.value.Start] == '{' {
				result = m.value
			}
		}
	})
	if !wired || own {
		return at
	}
	return result
}

// result decides about a result of the protocol, or one block.
func (f *finder) result(at rewrite.Span) (fate, []splice.Edit) {
	var b block
	b.read(f.body, at)
	if slices.Contains(protocol, b.kind) && b.isProtocol() {
		return f.decide(&b, at, 0)
	}
	var content rewrite.Span
	for i := range b.members {
		switch m := &b.members[i]; m.name {
		case "content":
			if content.Len() > 0 {
				return stays, nil // which of the two it is nobody knows
			}
			content = m.value
		case "isError":
			f.failed = f.failed || string(f.body[m.value.Start:m.value.End]) == "true"
		}
	}
	if content.Len() == 0 || !f.allBlocks(content) {
		return stays, nil
	}
	if fate, _ := f.array(content, 0); fate == gone {
		return gone, nil
	}
	f.change = Change{}
	return f.object(at, 0)
}

// behind takes what is for people out of JSON that comes behind lines of the client's
// own.
func (f *finder) behind(r *Result) {
	value := f.body[r.Value.Start:r.Value.End]
	content, ok := splice.AppendText(nil, value)
	at := bytes.Index(content, []byte("\n[{"))
	if at < 0 {
		at = bytes.Index(content, []byte("\n{"))
	}
	if !ok || at < 0 {
		return
	}
	at++
	fate, edits := f.within(content[at:])
	if fate == gone {
		f.change.Placeholder = true
		edits = []splice.Edit{{Span: rewrite.Span{End: len(content) - at}, Text: []byte(Placeholder(f.failed))}}
	}
	for i := range edits {
		edits[i].Span = moved(edits[i].Span, at)
	}
	f.change.Edits = inside(r.Value, value, edits)
}

// inside are edits of the content of a string as edits of the text that it stands in.
func inside(at rewrite.Span, value []byte, edits []splice.Edit) []splice.Edit {
	edits = splice.Inside(value, edits)
	for i := range edits {
		edits[i].Span = moved(edits[i].Span, at.Start)
	}
	return edits
}

// allBlocks reports a list that has blocks of the protocol and nothing else.
func (f *finder) allBlocks(list rewrite.Span) bool {
	all, some := f.body[list.Start] == '[', false
	elements(f.body, list, func(at rewrite.Span) {
		var b block
		if some = true; all && f.body[at.Start] == '{' {
			b.read(f.body, at)
			all = b.isProtocol()
		} else {
			all = false
		}
	})
	return all && some
}
