package audience

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// maxNesting bounds how deep blocks are looked for within content.
const maxNesting = 16

// protocol are the kinds of blocks that the Model Context Protocol has.
var protocol = []string{"text", "image", "audio", "resource", "resource_link"}

// block is a block with those of its members that matter here, as they stand.
type block struct {
	kind                                  string
	text, data, mime, resource, formatted []byte
	uri, name, title, description         []byte
	annotations                           []byte // the last that say for whom it is
	members                               []member
	forProvider, forUser, hasResource     bool
}

// read reads the block at a place.
func (b *block) read(body []byte, at rewrite.Span) {
	*b = block{forProvider: true, forUser: true, members: b.members[:0]}
	each(body, at, func(m *member) {
		b.members = append(b.members, *m)
		value := body[m.value.Start:m.value.End]
		switch m.name {
		case "type":
			b.kind = splice.Text(value)
		case "annotations":
			b.annotate(value)
		case "text":
			b.text = value
		case "data":
			b.data = value
		case "mimeType":
			b.mime = value
		case "resource":
			b.resource = value
			b.hasResource = len(value) > 0 && value[0] == '{'
		case "formatted":
			b.formatted = value
		case "uri":
			b.uri = value
		case "name":
			b.name = value
		case "title":
			b.title = value
		case "description":
			b.description = value
		}
	})
	if b.kind == "resource" {
		splice.Fields(b.resource, func(key, value []byte) bool {
			if string(key) == "annotations" {
				b.annotate(value)
			}
			return true
		})
	}
}

// annotate adds what one list of annotations says. A list is none: so some dialects
// have the sources of a text.
func (b *block) annotate(value []byte) {
	provider, user := For(value)
	if !provider || !user {
		b.annotations = value
	}
	b.forProvider, b.forUser = b.forProvider && provider, b.forUser && user
}

// isProtocol reports a block that is what the protocol calls by its kind.
func (b *block) isProtocol() bool {
	switch b.kind {
	case "text":
		return isString(b.text)
	case "image", "audio":
		return isString(b.data)
	case "resource":
		return b.hasResource
	case "resource_link":
		return isString(b.uri)
	}
	return false
}

func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// block decides about a block of a list, whatever its kind.
func (f *finder) block(at rewrite.Span) (fate, []splice.Edit) {
	if f.body[at.Start] != '{' {
		return stays, nil
	}
	var b block
	b.read(f.body, at)
	return f.decide(&b, at, 0)
}

// decide decides about a block that was read, at a depth within the content.
func (f *finder) decide(b *block, at rewrite.Span, depth int) (fate, []splice.Edit) {
	if !b.forProvider {
		f.touched = true
		if b.forUser {
			f.change.UserOnly++
		} else {
			f.change.Unknown++
		}
		return gone, nil
	}
	if (depth == 0 || f.free) && slices.Contains(f.words.Foreign, b.kind) && b.isProtocol() {
		plain, emptied := f.unpacked(b, at, depth)
		if emptied {
			return gone, nil
		}
		part, ok := plain.part()
		var text []byte
		if ok {
			text, ok = f.words.Write(nil, &part)
		}
		switch {
		case ok && part.Kind == rewrite.PartText && part.Text == "":
			f.touched = true
			return gone, nil
		case ok:
			f.touched = true
			return stays, []splice.Edit{{Span: at, Text: f.marked(text, b)}}
		case !f.free:
			f.touched = true
			f.change.Unsupported++
			return gone, nil
		}
	}
	edits, emptied := f.stripped(b, depth)
	switch {
	case emptied:
		return gone, nil
	case string(b.text) == `""` && (b.kind == "text" || b.kind == "input_text"):
		return empty, edits
	}
	return stays, edits
}

// unpacked is a block without what its texts hold for people; emptied says that nothing
// of it is left.
func (f *finder) unpacked(b *block, at rewrite.Span, depth int) (plain *block, emptied bool) {
	var edits []splice.Edit
	for i := range b.members {
		switch m := &b.members[i]; m.name {
		case "text", "resource", "formatted":
			fate, inner := f.value(m.value, depth+1)
			if fate == gone {
				return nil, true
			}
			edits = append(edits, inner...)
		}
	}
	if len(edits) == 0 {
		return b, false
	}
	for i := range edits {
		edits[i].Span = moved(edits[i].Span, -at.Start)
	}
	text := splice.Apply(nil, f.body[at.Start:at.End], edits)
	plain = new(block)
	plain.read(text, rewrite.Span{End: len(text)})
	return plain, false
}

// marked puts the marks of a block on the one that stands in its place.
func (f *finder) marked(text []byte, b *block) []byte {
	for i := range b.members {
		if m := &b.members[i]; slices.Contains(f.words.Marks, m.name) {
			text = append(text[:len(text)-1], ',')
			text = append(splice.AppendString(text, m.name), ':')
			text = append(append(text, f.body[m.value.Start:m.value.End]...), '}')
		}
	}
	return text
}

// stripped takes from a block what is not for the provider: what the tool says of it,
// and blocks within it that are for people. Emptied says that nothing of it is left.
func (f *finder) stripped(b *block, depth int) (edits []splice.Edit, emptied bool) {
	p := newPruning()
	changed := false
	for i := range b.members {
		m := &b.members[i]
		span := rewrite.Span{Start: m.key.Start, End: m.value.End}
		if f.extends(m, b.kind) {
			p.leave(span)
			changed = true
			continue
		}
		var inner []splice.Edit
		if !slices.Contains(f.words.Marks, m.name) {
			fate, edits := f.value(m.value, depth+1)
			if inner = edits; fate == gone {
				return nil, true
			}
		}
		changed = changed || len(inner) > 0
		p.keep(span, inner)
	}
	if !changed {
		return nil, false
	}
	f.touched = true
	return p.done(), false
}

// extends reports a member that tools have and no provider takes.
func (f *finder) extends(m *member, kind string) bool {
	switch m.name {
	case "annotations":
		return f.body[m.value.Start] != '['
	case "_meta":
		return true
	case "mimeType":
		return !f.free || kind == "text"
	}
	return false
}

// value looks for blocks in a value that is none itself.
func (f *finder) value(at rewrite.Span, depth int) (fate, []splice.Edit) {
	if depth > maxNesting {
		return stays, nil
	}
	switch f.body[at.Start] {
	case '[':
		return f.array(at, depth)
	case '{':
		return f.object(at, depth)
	case '"':
		return f.text(at)
	}
	return stays, nil
}

// array looks for them in an array: one of which nothing is left is gone.
func (f *finder) array(at rewrite.Span, depth int) (fate, []splice.Edit) {
	var all []found
	left, lost := false, false
	elements(f.body, at, func(element rewrite.Span) {
		fate, edits := f.value(element, depth+1)
		all = append(all, found{element, fate, edits})
		left, lost = left || fate == stays, lost || fate == gone
	})
	if lost && !left {
		return gone, nil
	}
	p := newPruning()
	for i := range all {
		if b := &all[i]; b.fate == stays || b.fate == empty && !lost {
			p.keep(b.Span, b.edits)
		} else {
			p.leave(b.Span)
		}
	}
	return stays, p.done()
}

// object looks for them in an object, which may be one itself.
func (f *finder) object(at rewrite.Span, depth int) (fate, []splice.Edit) {
	var b block
	if b.read(f.body, at); slices.Contains(protocol, b.kind) && b.isProtocol() {
		return f.decide(&b, at, depth)
	}
	before := f.change.UserOnly + f.change.Unknown
	inner := make([][]splice.Edit, len(b.members))
	for i := range b.members {
		m := &b.members[i]
		fate, edits := f.value(m.value, depth+1)
		if inner[i] = edits; fate == gone && !f.free {
			return gone, nil
		}
		if fate == gone {
			inner[i] = []splice.Edit{f.nothing(m.value)}
		}
	}
	p := newPruning()
	for i := range b.members {
		m := &b.members[i]
		span := rewrite.Span{Start: m.key.Start, End: m.value.End}
		if twin := m.name == "structuredContent" || m.name == "structured_content"; twin && f.change.UserOnly+f.change.Unknown > before {
			// It says once more what the blocks say.
			p.leave(span)
			continue
		}
		p.keep(span, inner[i])
	}
	return stays, p.done()
}
