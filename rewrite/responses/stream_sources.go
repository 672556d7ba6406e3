package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// source adds a source to a part: at once if its range is known. A range of text
// that is still to come is checked when it is there.
func (e *Encoder) source(dst []byte, item *outItem, part *outPart, a *rewrite.Attribution) []byte {
	part.heard++
	if (a.End <= a.Start || a.End > part.runes) && e.kindOf(&a.Payload) == "" {
		kept := *a
		kept.Payload.Value = clone(a.Payload.Value)
		part.whole = append(part.whole, kept)
		return dst
	}
	return e.annotate(dst, item, part, a)
}

// annotate tells a source.
func (e *Encoder) annotate(dst []byte, item *outItem, part *outPart, a *rewrite.Attribution) []byte {
	value := e.annotation(a)
	if value == nil {
		return dst
	}
	part.sources = append(part.sources, value)
	if part.position < 0 || item.head.Kind != rewrite.ItemMessage || part.kind != rewrite.PartText {
		return dst
	}
	w := e.start(dst, "response.output_text.annotation.added")
	place(&w, item, part)
	w.Name("annotation_index")
	w.Int(int64(len(part.sources) - 1))
	w.Value("annotation", value)
	return finish(&w)
}

// annotation writes a source; nil for one that the dialect cannot say.
func (e *Encoder) annotation(a *rewrite.Attribution) []byte {
	if e.kindOf(&a.Payload) != "" {
		return clone(a.Payload.Value)
	}
	if a.URL == "" {
		e.o.Losses.Add("output", "a source without an address")
		return nil
	}
	var w splice.Writer
	w.Literal(`{"type":"url_citation"`)
	w.Text("url", a.URL)
	w.Name("title")
	w.String(a.Title)
	w.Name("start_index")
	w.Int(int64(a.Start))
	w.Name("end_index")
	w.Int(int64(a.End))
	if e.extended() {
		w.Text(ownMark+"excerpt", a.Excerpt)
		if !a.Payload.Empty() {
			w.Name(ownMark + "replay")
			writePayload(&w, &a.Payload)
		}
		if a.Incomplete {
			w.Name(ownMark + "incomplete")
			w.Bool(true)
		}
	}
	w.Close('}')
	return w.Bytes()
}
