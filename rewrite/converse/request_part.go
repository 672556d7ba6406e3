package converse

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
)

// part writes a block of content.
func (rw *requestWriter) part(path string, part *rewrite.Part, role rewrite.Role) {
	if rw.native(&part.Payload) {
		rw.w.Raw(part.Payload.Value)
		rw.sealable = true
		return
	}
	switch part.Kind {
	case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
		rw.cited(path, part, role)
	case rewrite.PartImage, rewrite.PartAudio, rewrite.PartVideo, rewrite.PartFile:
		if role != rewrite.RoleUser {
			rw.lose(path, part.Kind.String()+" is for the user's turn")
			return
		}
		rw.media(path, part)
	case rewrite.PartOpaque:
		rw.lose(path, "known to another provider only")
	}
}

// text writes a block of text. The API refuses one without words.
func (rw *requestWriter) text(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	w := &rw.w
	w.Open('{')
	w.Text(kindText, text)
	w.Close('}')
	rw.sealable, rw.said.text = true, true
}

// cited writes a block of text with those of its sources that the provider has
// found itself: it cannot check what others have.
func (rw *requestWriter) cited(path string, part *rewrite.Part, role rewrite.Role) {
	native := 0
	for i := range part.Attributions {
		if role == rewrite.RoleAssistant && rw.native(&part.Attributions[i].Payload) {
			native++
		}
	}
	if native < len(part.Attributions) {
		rw.lose(path+".attributions", "sources that another provider has found")
	}
	if native == 0 || strings.TrimSpace(part.Text) == "" {
		rw.text(part.Text)
		return
	}
	w := &rw.w
	w.Open('{')
	w.Name(kindCited)
	w.Open('{')
	w.Name("content")
	w.Open('[')
	w.Open('{')
	w.Text(kindText, part.Text)
	w.Close('}')
	w.Close(']')
	w.Name("citations")
	w.Open('[')
	for i := range part.Attributions {
		if p := &part.Attributions[i].Payload; rw.native(p) {
			w.Raw(p.Value)
		}
	}
	w.Close(']')
	w.Close('}')
	w.Close('}')
	rw.sealable = true
}

// formats are the dialect's words for media types, by kind of block.
var formats = map[string]map[string]string{
	kindImage: {"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp"},
	kindDocument: {
		"application/pdf": "pdf", "text/csv": "csv", "application/msword": "doc", "application/vnd.ms-excel": "xls",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":       "xlsx",
		"text/html": "html", "text/plain": "txt", "text/markdown": "md",
	},
	kindVideo: {
		"video/x-matroska": "mkv", "video/quicktime": "mov", "video/mp4": "mp4", "video/webm": "webm", "video/x-flv": "flv",
		"video/mpeg": "mpeg", "video/x-ms-wmv": "wmv", "video/3gpp": "three_gp",
	},
	kindAudio: {
		"audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav", "audio/x-wav": "wav", "audio/ogg": "ogg", "audio/opus": "opus",
		"audio/aac": "aac", "audio/flac": "flac", "audio/mp4": "mp4", "audio/webm": "webm",
	},
}

// blocks are the kinds of blocks that media stand in.
var blocks = map[rewrite.PartKind]string{
	rewrite.PartImage: kindImage, rewrite.PartFile: kindDocument, rewrite.PartVideo: kindVideo, rewrite.PartAudio: kindAudio,
}

// media writes what has bytes, or an address in the provider's own storage.
func (rw *requestWriter) media(path string, part *rewrite.Part) {
	m, kind := &part.Media, blocks[part.Kind]
	mime, _, _ := strings.Cut(part.MIME, ";")
	format := formats[kind][strings.ToLower(strings.TrimSpace(mime))]
	if format == "" && kind == kindDocument && strings.HasPrefix(mime, "text/") {
		format = "txt"
	}
	stored := strings.HasPrefix(m.URL, "s3://")
	switch {
	case m.Data == "" && m.URL == "" && m.ID != "":
		rw.lose(path, "a file that another provider keeps")
		return
	case m.Data == "" && !stored:
		rw.lose(path, "only bytes can be sent here, not an address")
		return
	case format == "":
		rw.lose(path, strconv.Quote(part.MIME)+" cannot be read here")
		return
	}
	w := &rw.w
	w.Open('{')
	w.Name(kind)
	w.Open('{')
	w.Text("format", format)
	if kind == kindDocument {
		w.Text("name", rw.documentName(m.Name))
	}
	w.Name("source")
	w.Open('{')
	if m.Data != "" {
		w.Text("bytes", m.Data)
	} else {
		w.Name("s3Location")
		w.Open('{')
		w.Text("uri", m.URL)
		w.Close('}')
	}
	w.Close('}')
	w.Close('}')
	w.Close('}')
	// Behind documents that are turned into text a cache point is refused.
	rw.sealable = kind != kindDocument || format == "pdf"
	rw.said.document = rw.said.document || kind == kindDocument
}

// maxName bounds the name of a document, in bytes.
const maxName = 180

// documentName is a name as this dialect requires it: of few characters, without
// white space in a row, and no other document's.
func (rw *requestWriter) documentName(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '(', r == ')', r == '[', r == ']':
			return r
		}
		return ' '
	}, name)
	clean = strings.Join(strings.Fields(clean), " ")
	if clean = strings.TrimSpace(clean[:min(len(clean), maxName)]); clean == "" {
		clean = "Document"
	}
	unique := clean
	for n := 2; rw.names[unique]; n++ {
		unique = clean + " " + strconv.Itoa(n)
	}
	rw.names[unique] = true
	return unique
}
