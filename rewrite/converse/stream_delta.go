package converse

import (
	"encoding/base64"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// delta reads what comes for a block. The first piece of a text or a thought
// opens it.
func (d *Decoder) delta(at int64, delta []byte) {
	kind, value := only(delta)
	b := d.open[at]
	if b == nil {
		switch kind {
		case kindText, kindCitation:
			b = d.startPart(at, kindText, rewrite.Part{})
		case kindReasoning:
			b = &block{kind: kind, item: rewrite.Item{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Payload: payload(d.provider, kind, nil)}}
			d.startItem(at, b)
		default:
			return
		}
	}
	switch {
	case kind == kindText && b.kind == kindText:
		d.write(b, value)
	case kind == kindCitation && b.kind == kindText:
		source := readCitation(d.provider, value)
		d.yield(&rewrite.Event{Kind: rewrite.EventAttribution, Index: b.index, PartIndex: b.part, Attribution: &source})
	case kind == kindReasoning && b.kind == kindReasoning:
		d.reason(b, value)
	case kind == kindCall && b.kind == kindCall:
		m, _ := readMembers(value)
		d.argue(b, m.input)
	case kind == kindResult && b.kind == kindResult:
		b.gather(value)
	case kind == kindImage && b.kind == kindImage:
		m, _ := readMembers(value)
		source, _ := readMembers(m.source)
		b.data = appendDecoded(b.data, source.bytes)
	default:
		b.spoiled = true
	}
}

// write goes on with a block of text.
func (d *Decoder) write(b *block, value []byte) {
	if d.text, _ = splice.AppendText(d.text[:0], value); len(d.text) > 0 {
		d.tell(rewrite.EventText, b, d.text)
	}
}

// reason goes on with a thought. One that shows nothing has no part.
func (d *Decoder) reason(b *block, value []byte) {
	m, _ := readMembers(value)
	b.signature = append(b.signature, inside(m.signature)...)
	b.redacted = appendDecoded(b.redacted, m.redacted)
	d.reasonText(b, m.text)
}

// reasonText goes on with what is shown of a thought.
func (d *Decoder) reasonText(b *block, value []byte) {
	if d.text, _ = splice.AppendText(d.text[:0], value); len(d.text) == 0 {
		return
	}
	if b.part < 0 {
		b.part = 0
		d.yield(&rewrite.Event{Kind: rewrite.EventPart, Index: b.index, Part: &rewrite.Part{}})
	}
	b.text = append(b.text, inside(value)...)
	d.tell(rewrite.EventText, b, d.text)
}

// argue goes on with the input of a call.
func (d *Decoder) argue(b *block, value []byte) {
	if d.text, _ = splice.AppendText(d.text[:0], value); len(d.text) == 0 {
		return
	}
	b.argued = true
	if b.item.Kind != rewrite.ItemCall {
		b.input = append(b.input, d.text...)
	}
	d.tell(rewrite.EventArguments, b, d.text)
}

// inside is what stands between the quotes of a string.
func inside(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// piece is something in a result of the provider's: text, as the inside of a JSON
// string, or a block.
type piece struct{ text, raw []byte }

// gather goes on with a result. Texts that follow one another are one.
func (b *block) gather(deltas []byte) {
	splice.Elements(deltas, func(delta []byte) bool {
		kind, value := only(delta)
		last := len(b.content) - 1
		switch {
		case kind == kindText && last >= 0 && b.content[last].raw == nil:
			b.content[last].text = append(b.content[last].text, inside(value)...)
		case kind == kindText:
			b.content = append(b.content, piece{text: append([]byte{}, inside(value)...)})
		default:
			b.content = append(b.content, piece{raw: append([]byte(nil), delta...)})
		}
		return true
	})
}

// appendDecoded adds the bytes of a base64 string.
func appendDecoded(dst, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	plain, err := base64.StdEncoding.DecodeString(splice.Text(value))
	if err != nil {
		return dst
	}
	return append(dst, plain...)
}

func encoded(plain []byte) string { return base64.StdEncoding.EncodeToString(plain) }

// whole is the block with all that came for it; nil if that is not to be told.
func (b *block) whole() []byte {
	if b.raw != nil {
		return b.raw
	}
	if b.spoiled || len(b.input) > 0 && splice.Valid(b.input) != nil {
		return nil
	}
	w := splice.WriteTo(nil)
	w.Open('{')
	w.Name(b.kind)
	w.Open('{')
	switch b.kind {
	case kindReasoning:
		b.wholeThought(&w)
	case kindCall:
		b.identity(&w)
		w.Value("type", b.start.kind)
		if len(b.input) == 0 {
			b.input = []byte("{}")
		}
		w.Value("input", b.input)
	case kindResult:
		b.identity(&w)
		w.Value("type", b.start.kind)
		w.Name("content")
		w.Open('[')
		for _, p := range b.content {
			if p.raw != nil {
				w.Raw(p.raw)
				continue
			}
			w.Open('{')
			w.Name(kindText)
			w.Raw(quoted(p.text))
			w.Close('}')
		}
		w.Close(']')
		w.Value("status", b.start.status)
	}
	w.Close('}')
	w.Close('}')
	return w.Bytes()
}

func (b *block) identity(w *splice.Writer) {
	w.Value("toolUseId", b.start.id)
	w.Value("name", b.start.name)
}

func (b *block) wholeThought(w *splice.Writer) {
	if len(b.redacted) > 0 {
		w.Text("redactedContent", encoded(b.redacted))
		return
	}
	w.Name("reasoningText")
	w.Open('{')
	w.Name("text")
	w.Raw(quoted(b.text))
	if len(b.signature) > 0 {
		w.Name("signature")
		w.Raw(quoted(b.signature))
	}
	w.Close('}')
}

// quoted is a JSON string by its inside.
func quoted(inside []byte) []byte {
	return append(append([]byte{'"'}, inside...), '"')
}
