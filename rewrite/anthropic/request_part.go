package anthropic

import (
	"strings"

	"warmpath/rewrite"
)

// part writes a block of content.
func (rw *requestWriter) part(path string, part *rewrite.Part, role rewrite.Role) {
	if rw.native(&part.Payload) {
		rw.w.Raw(part.Payload.Value)
		return
	}
	if role != rewrite.RoleUser {
		switch part.Kind {
		case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
		default:
			rw.lose(path, part.Kind.String()+" is for the user's turn")
			return
		}
	}
	switch part.Kind {
	case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
		if !rw.own && strings.TrimSpace(part.Text) == "" {
			return
		}
		rw.cited(path, part)
	case rewrite.PartImage:
		rw.media(path, "image", part)
	case rewrite.PartFile:
		rw.media(path, "document", part)
	case rewrite.PartAudio, rewrite.PartVideo:
		rw.lose(path, part.Kind.String()+" cannot be read here")
	case rewrite.PartOpaque:
		rw.lose(path, "known to another provider only")
	}
}

// text writes a block of text without sources.
func (rw *requestWriter) text(part *rewrite.Part) {
	w := &rw.w
	w.Open('{')
	w.Text("type", "text")
	w.Name("text")
	w.String(part.Text)
	rw.mark(part.Mark)
	w.Close('}')
}

// cited writes a block of text with those of its sources that the provider has
// made itself: what others have found, it cannot check.
func (rw *requestWriter) cited(path string, part *rewrite.Part) {
	native := 0
	for i := range part.Attributions {
		if rw.native(&part.Attributions[i].Payload) {
			native++
		}
	}
	if native < len(part.Attributions) {
		rw.lose(path+".attributions", "sources that another provider has found")
	}
	if native == 0 {
		rw.text(part)
		return
	}
	w := &rw.w
	w.Open('{')
	w.Text("type", "text")
	w.Name("text")
	w.String(part.Text)
	w.Name("citations")
	w.Open('[')
	for i := range part.Attributions {
		if p := &part.Attributions[i].Payload; rw.native(p) {
			w.Raw(p.Value)
		}
	}
	w.Close(']')
	rw.mark(part.Mark)
	w.Close('}')
}

// media writes an image or a document.
func (rw *requestWriter) media(path, kind string, part *rewrite.Part) {
	m, w := &part.Media, &rw.w
	text, isText := "", false
	if kind == "document" && !rw.own && m.Data != "" && strings.HasPrefix(part.MIME, "text/") {
		text, isText = unpackText(m.Data)
	}
	switch {
	case m.Data == "" && m.URL == "" && m.ID == "", m.Data != "" && part.MIME == "":
		rw.lose(path, "an "+kind+" without a source and its media type")
		return
	case m.Data == "" && m.URL == "" && !rw.own:
		rw.lose(path, "a file that another provider keeps")
		return
	case kind == "document" && m.Data != "" && !isText && part.MIME != "application/pdf" && !rw.own:
		rw.lose(path, part.MIME+" cannot be read here")
		return
	}
	w.Open('{')
	w.Text("type", kind)
	w.Name("source")
	w.Open('{')
	switch {
	case isText:
		w.Text("type", "text")
		w.Text("media_type", "text/plain")
		w.Text("data", text)
	case m.Data != "":
		w.Text("type", "base64")
		w.Text("media_type", part.MIME)
		w.Text("data", m.Data)
	case m.URL != "":
		w.Text("type", "url")
		w.Text("url", m.URL)
	default:
		w.Text("type", "file")
		w.Text("file_id", m.ID)
	}
	w.Close('}')
	if kind == "document" {
		w.Text("title", m.Name)
	}
	rw.mark(part.Mark)
	w.Close('}')
}
