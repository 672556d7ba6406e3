package responses

import (
	"strings"

	"warmpath/rewrite"
)

// part writes a piece of content of anybody but the assistant.
func (w *requestWriter) part(p *rewrite.Part, path string) {
	if raw := w.native(&p.Payload); raw != nil && p.Payload.Format != formats+"instructions" {
		w.Raw(raw)
		return
	}
	switch p.Kind {
	case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
		w.Open('{')
		w.Literal(`"type":"input_text"`)
		w.Name("text")
		w.String(p.Text)
	case rewrite.PartImage:
		w.Open('{')
		w.Literal(`"type":"input_image"`)
		w.Text("detail", p.Media.Detail)
		w.media(p, "image_url", "image_url")
	case rewrite.PartFile:
		w.Open('{')
		w.Literal(`"type":"input_file"`)
		w.Text("filename", nameOfFile(p))
		w.media(p, "file_url", "file_data")
	case rewrite.PartAudio, rewrite.PartVideo, rewrite.PartOpaque:
		w.losses.Add(path, "the dialect has no place for "+p.Kind.String()+" here")
		return
	}
	if w.marked(p) {
		w.Literal(`"prompt_cache_breakpoint":{"mode":"explicit"`)
		w.Text("ttl", lifetime(p.Mark.TTL))
		w.Close('}')
	}
	w.Close('}')
}

// marked says that a cache breakpoint is due on a part.
func (w *requestWriter) marked(p *rewrite.Part) bool { return p.Mark.Set && w.marks }

// lifetime is a time that the dialect knows; empty is its own.
func lifetime(ttl string) string {
	if ttl == "30m" || ttl == "12h" {
		return ttl
	}
	return ""
}

// media writes where the bytes are: the member for addresses, or the one for
// data, which is an address too.
func (w *requestWriter) media(p *rewrite.Part, url, data string) {
	w.Text("file_id", p.Media.ID)
	w.Text(url, p.Media.URL)
	if p.Media.Data == "" {
		return
	}
	mime := p.MIME
	if mime == "" {
		mime = "application/octet-stream"
		if p.Kind == rewrite.PartImage {
			mime = "image/png"
		}
	}
	w.Text(data, "data:"+mime+";base64,"+p.Media.Data)
}

// nameOfFile is the name of a file; one that comes as data has to have one.
func nameOfFile(p *rewrite.Part) string {
	if p.Media.Name != "" || p.Media.Data == "" {
		return p.Media.Name
	}
	if _, kind, ok := strings.Cut(p.MIME, "/"); ok && kind != "" && !strings.ContainsAny(kind, ".+;") {
		return "file." + kind
	}
	return "file"
}

// said writes a piece of what the assistant has said.
func (w *requestWriter) said(p *rewrite.Part, path string) {
	if raw := w.native(&p.Payload); raw != nil {
		w.Raw(raw)
		return
	}
	switch p.Kind {
	case rewrite.PartText, rewrite.PartSummary:
		w.Open('{')
		w.Literal(`"type":"output_text"`)
		w.Name("text")
		w.String(p.Text)
		w.sources(p.Attributions)
		w.Close('}')
	case rewrite.PartRefusal:
		w.Open('{')
		w.Literal(`"type":"refusal"`)
		w.Name("refusal")
		w.String(p.Text)
		w.Close('}')
	case rewrite.PartImage, rewrite.PartAudio, rewrite.PartVideo, rewrite.PartFile, rewrite.PartOpaque:
		w.losses.Add(path, "the dialect has no place for "+p.Kind.String()+" that the model made")
	}
}

// sources writes the sources of a text.
func (w *requestWriter) sources(all []rewrite.Attribution) {
	start := w.Size()
	w.Name("annotations")
	w.Open('[')
	before := w.Size()
	for i := range all {
		a := &all[i]
		if raw := w.native(&a.Payload); raw != nil {
			w.Raw(raw)
		} else if a.URL != "" {
			w.Literal(`{"type":"url_citation"`)
			w.Text("url", a.URL)
			w.Name("title")
			w.String(a.Title)
			w.Name("start_index")
			w.Int(int64(a.Start))
			w.Name("end_index")
			w.Int(int64(a.End))
			w.Close('}')
		}
	}
	if w.Size() == before {
		w.Cut(start)
		return
	}
	w.Close(']')
}
