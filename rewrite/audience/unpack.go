package audience

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Unpack gives the parts of a result with the blocks that a client has packed into
// texts, each with the annotations that the tool has given it, if some are not for
// everybody. Failed says that the tool has failed by its own account. Parts that pack
// nothing are given as they are.
func Unpack(parts []rewrite.Part) (all []rewrite.Part, failed bool) {
	for i := range parts {
		p := &parts[i]
		if p.Kind == rewrite.PartText && speaks([]byte(p.Text)) {
			f := finder{words: &Words{}, body: []byte(p.Text)}
			if blocks := f.unpack(p.Path); len(blocks) > 0 {
				all, failed = append(all, blocks...), failed || f.failed
				continue
			}
		}
		all = append(all, *p)
	}
	return all, failed
}

// unpack gives the blocks of a text that holds them and nothing else; none if all of them
// are for everybody.
func (f *finder) unpack(path rewrite.Path) []rewrite.Part {
	f.body = bytes.TrimSpace(f.body)
	if len(f.body) == 0 || splice.Valid(f.body) != nil {
		return nil
	}
	all := rewrite.Span{End: len(f.body)}
	switch f.body[0] {
	case '"':
		if f.packed++; f.packed > mostPacked {
			return nil
		}
		f.body, _ = splice.AppendText(nil, f.body)
		return f.unpack(path)
	case '[':
		return f.parts(all, path)
	case '{':
		return f.parts(f.contentOf(all), path)
	}
	return nil
}

// contentOf is the list of blocks of a result, which may stand under a name of its own;
// empty if there is none.
func (f *finder) contentOf(at rewrite.Span) (content rewrite.Span) {
	var inner rewrite.Span
	members := 0
	each(f.body, at, func(m *member) {
		members++
		switch m.name {
		case "content":
			content = m.value
		case "isError":
			f.failed = f.failed || string(f.body[m.value.Start:m.value.End]) == "true"
		case "output", "result", "error":
			inner = m.value
			f.failed = f.failed || m.name == "error"
		}
	})
	switch {
	case content.Len() > 0 || members != 1 || inner.Len() == 0:
		return content
	case f.body[inner.Start] == '{':
		return f.contentOf(inner)
	}
	return inner
}

// parts are the blocks of a list.
func (f *finder) parts(list rewrite.Span, path rewrite.Path) (parts []rewrite.Part) {
	if list.Len() == 0 || !f.allBlocks(list) {
		return nil
	}
	apart := false
	elements(f.body, list, func(at rewrite.Span) {
		var b block
		b.read(f.body, at)
		part, ok := b.part()
		if !ok {
			part = rewrite.Part{Text: string(f.body[at.Start:at.End])}
		}
		part.Path, part.Annotations = path, b.annotations
		apart = apart || !b.forProvider || !b.forUser
		parts = append(parts, part)
	})
	if !apart {
		return nil
	}
	return parts
}
