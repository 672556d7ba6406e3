package ledger

import (
	"encoding/binary"

	"warmpath/rewrite"
)

// version is the first byte of an entry's encoding. What another version wrote is
// lost.
const version = 2

// encode writes an entry. Fields come in a fixed order; where an item stood in a
// client's request is not among them.
func encode(e *Entry) []byte {
	w := &writer{[]byte{version}}
	w.items(e.Items)
	w.items(e.Results)
	return w.out
}

// writer appends fields.
type writer struct{ out []byte }

func (w *writer) number(n int) { w.out = binary.AppendVarint(w.out, int64(n)) }

func (w *writer) text(text string) {
	w.number(len(text))
	w.out = append(w.out, text...)
}

func (w *writer) texts(texts []string) {
	w.number(len(texts))
	for _, text := range texts {
		w.text(text)
	}
}

func (w *writer) flags(flags ...bool) {
	bits := 0
	for i, flag := range flags {
		if flag {
			bits |= 1 << i
		}
	}
	w.number(bits)
}

func (w *writer) items(items []rewrite.Item) {
	w.number(len(items))
	for i := range items {
		w.item(&items[i])
	}
}

func (w *writer) item(i *rewrite.Item) {
	w.number(int(i.Kind))
	w.number(int(i.Role))
	w.flags(i.Failed, i.Incomplete, i.Call.Custom)
	w.text(i.ID)
	w.text(i.Phase)
	w.voice(&i.Voice)
	w.number(len(i.Parts))
	for j := range i.Parts {
		w.part(&i.Parts[j])
	}
	w.text(i.Call.ID)
	w.text(i.Call.Name)
	w.text(i.Call.Namespace)
	w.text(string(i.Call.Arguments))
	h := &i.Hosted
	w.text(h.ID)
	w.text(h.Name)
	w.number(int(h.State))
	w.text(string(h.Input))
	w.text(h.Summary)
	w.text(h.Error)
	w.attributions(h.Sources)
	w.texts(i.Directive.Add)
	w.texts(i.Directive.Remove)
	w.payload(&i.Payload)
	w.mark(i.Mark)
}

func (w *writer) voice(v *rewrite.Voice) {
	w.text(v.Role)
	w.text(v.Name)
	w.number(v.Message)
}

func (w *writer) part(p *rewrite.Part) {
	w.number(int(p.Kind))
	w.voice(&p.Voice)
	w.text(p.Text)
	w.text(p.MIME)
	w.text(p.Media.Data)
	w.text(p.Media.URL)
	w.text(p.Media.ID)
	w.text(p.Media.Name)
	w.text(p.Media.Detail)
	w.attributions(p.Attributions)
	w.text(string(p.Annotations))
	w.payload(&p.Payload)
	w.mark(p.Mark)
}

func (w *writer) attributions(all []rewrite.Attribution) {
	w.number(len(all))
	for i := range all {
		a := &all[i]
		w.text(a.URL)
		w.text(a.Title)
		w.number(a.Start)
		w.number(a.End)
		w.text(a.Excerpt)
		w.text(a.Kind)
		w.payload(&a.Payload)
		w.flags(a.Incomplete)
	}
}

func (w *writer) payload(p *rewrite.Payload) {
	w.text(p.Provider)
	w.text(p.Format)
	w.text(p.Version)
	w.text(string(p.Value))
}

func (w *writer) mark(m rewrite.Mark) {
	w.flags(m.Set)
	w.text(m.TTL)
}

// decode reads an entry; ok is false for what is none.
func decode(encoded []byte) (e *Entry, ok bool) {
	if len(encoded) == 0 || encoded[0] != version {
		return nil, false
	}
	r := &reader{rest: encoded[1:]}
	e = &Entry{Items: r.items(), Results: r.items()}
	return e, !r.bad && len(r.rest) == 0
}

// reader takes fields off. Once one is bad, all that follow are empty.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() int {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

// length is a number of things that take a byte each at least.
func (r *reader) length() int {
	n := r.number()
	if n < 0 || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return 0
	}
	return n
}

func (r *reader) text() string { return string(r.bytes()) }

// bytes are in memory of the reader's; nil for none.
func (r *reader) bytes() []byte {
	n := r.length()
	if n == 0 {
		return nil
	}
	text := r.rest[:n:n]
	r.rest = r.rest[n:]
	return text
}

func (r *reader) texts() (texts []string) {
	for n := r.length(); n > 0 && !r.bad; n-- {
		texts = append(texts, r.text())
	}
	return texts
}

func (r *reader) flags(flags ...*bool) {
	bits := r.number()
	for i, flag := range flags {
		*flag = bits&(1<<i) != 0
	}
}

func (r *reader) items() (items []rewrite.Item) {
	for n := r.length(); n > 0 && !r.bad; n-- {
		items = append(items, r.item())
	}
	return items
}

func (r *reader) item() (i rewrite.Item) {
	i.Kind, i.Role = rewrite.ItemKind(r.small(len(rewrite.ItemKinds))), rewrite.Role(r.small(3))
	r.flags(&i.Failed, &i.Incomplete, &i.Call.Custom)
	i.ID, i.Phase, i.Voice = r.text(), r.text(), r.voice()
	for n := r.length(); n > 0 && !r.bad; n-- {
		i.Parts = append(i.Parts, r.part())
	}
	i.Call.ID, i.Call.Name, i.Call.Namespace, i.Call.Arguments = r.text(), r.text(), r.text(), r.bytes()
	h := &i.Hosted
	h.ID, h.Name = r.text(), r.text()
	h.State = rewrite.HostedState(r.small(3))
	h.Input, h.Summary, h.Error, h.Sources = r.bytes(), r.text(), r.text(), r.attributions()
	i.Directive.Add, i.Directive.Remove = r.texts(), r.texts()
	i.Payload, i.Mark = r.payload(), r.mark()
	return i
}

// small is a number below a bound.
func (r *reader) small(below int) uint8 {
	n := r.number()
	if n < 0 || n >= below {
		r.bad, r.rest = true, nil
		return 0
	}
	return uint8(n) //nolint:gosec // it is small
}

func (r *reader) voice() rewrite.Voice {
	return rewrite.Voice{Role: r.text(), Name: r.text(), Message: r.number()}
}

func (r *reader) part() (p rewrite.Part) {
	p.Kind = rewrite.PartKind(r.small(int(rewrite.PartOpaque) + 1))
	p.Voice = r.voice()
	p.Text, p.MIME = r.text(), r.text()
	p.Media = rewrite.Media{Data: r.text(), URL: r.text(), ID: r.text(), Name: r.text(), Detail: r.text()}
	p.Attributions, p.Annotations = r.attributions(), r.bytes()
	p.Payload, p.Mark = r.payload(), r.mark()
	return p
}

func (r *reader) attributions() (all []rewrite.Attribution) {
	for n := r.length(); n > 0 && !r.bad; n-- {
		a := rewrite.Attribution{URL: r.text(), Title: r.text(), Start: r.number(), End: r.number(), Excerpt: r.text(), Kind: r.text(), Payload: r.payload()}
		r.flags(&a.Incomplete)
		all = append(all, a)
	}
	return all
}

func (r *reader) payload() rewrite.Payload {
	return rewrite.Payload{Provider: r.text(), Format: r.text(), Version: r.text(), Value: r.bytes()}
}

func (r *reader) mark() (m rewrite.Mark) {
	r.flags(&m.Set)
	m.TTL = r.text()
	return m
}
