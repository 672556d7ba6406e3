package audience

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Packs reports a text that may be a list of blocks some of which are for people. It
// allocates nothing.
func Packs(text []byte) bool {
	listed := bytes.HasPrefix(text, []byte(`"[{`)) || bytes.Contains(text, []byte(`\n[{`))
	return listed && (bytes.Contains(text, []byte("audience")) || bytes.Contains(text, []byte(`u00`)))
}

// packed takes what is for people out of a list of blocks that was written as a text,
// behind lines of the client's own perhaps. A list without such stays as it is: to a
// provider it is a text like any other.
func (f *finder) packed(r *Result) {
	text, ok := splice.AppendText(nil, f.body[r.Value.Start:r.Value.End])
	if !ok {
		return
	}
	var before []byte
	if at := bytes.Index(text, []byte("\n[{")); at >= 0 && text[0] != '[' {
		before, text = text[:at+1], text[at+1:]
	}
	if splice.Valid(text) != nil {
		return
	}
	inner := finder{words: &Words{}, body: text, failed: r.Failed, free: true}
	whole := rewrite.Span{End: len(text)}
	if !inner.allBlocks(whole) {
		return
	}
	fate, edits := inner.array(whole, 0)
	if inner.change.UserOnly+inner.change.Unknown == 0 {
		return
	}
	f.touched, f.change = true, inner.change
	if fate == gone {
		f.change.Placeholder = true
		text, edits = []byte(Placeholder(r.Failed)), nil
	}
	left := splice.AppendString(nil, append(before[:len(before):len(before)], splice.Apply(nil, text, edits)...))
	f.change.Edits = []splice.Edit{{Span: r.Value, Text: left}}
}

// allBlocks reports a list that has nothing but blocks of the protocol.
func (f *finder) allBlocks(list rewrite.Span) bool {
	all := f.body[list.Start] == '['
	elements(f.body, list, func(at rewrite.Span) {
		var b block
		if all = all && f.body[at.Start] == '{'; all {
			b.read(f.body, at)
			all = b.isProtocol()
		}
	})
	return all
}
