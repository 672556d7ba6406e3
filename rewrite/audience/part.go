package audience

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// part is a block of the protocol as all dialects have it; ok is false for what
// cannot be told.
func (b *block) part() (p rewrite.Part, ok bool) {
	p.MIME = splice.Text(b.mime)
	switch b.kind {
	case "text":
		p.Text = splice.Text(b.text)
	case "image", "audio":
		p.Kind, p.Media.Data = rewrite.PartImage, splice.Text(b.data)
		if b.kind == "audio" {
			p.Kind = rewrite.PartAudio
		}
		return p, p.MIME != "" && p.Media.Data != ""
	case "resource_link":
		p.Text = b.link()
	case "resource":
		return resource(b.resource, splice.Text(b.formatted))
	}
	return p, true
}

// link tells of a resource that the tool has only named: whose it is to read, the
// model may ask for it.
func (b *block) link() string {
	name := splice.Text(b.title)
	if name == "" {
		name = splice.Text(b.name)
	}
	text := splice.Text(b.uri)
	if name != "" && name != text {
		text = name + ": " + text
	}
	if about := splice.Text(b.description); about != "" {
		text += "\n" + about
	}
	return text
}

// resource is what a tool has put into its result: its text, as the tool has
// formatted it or else fenced, or its bytes.
func resource(object []byte, formatted string) (p rewrite.Part, ok bool) {
	var text, blob, uri []byte
	splice.Fields(object, func(key, value []byte) bool {
		switch string(key) {
		case "text":
			text = value
		case "blob":
			blob = value
		case "mimeType":
			p.MIME = splice.Text(value)
		case "uri":
			uri = value
		}
		return true
	})
	if formatted != "" {
		return rewrite.Part{Text: formatted}, true
	}
	if isString(text) {
		return rewrite.Part{Text: Fence(p.MIME, splice.Text(text))}, true
	}
	p.Media.Data = splice.Text(blob)
	switch kind, _, _ := strings.Cut(p.MIME, "/"); kind {
	case "image":
		p.Kind = rewrite.PartImage
	case "audio":
		p.Kind = rewrite.PartAudio
	default:
		if plain, err := base64.StdEncoding.DecodeString(p.Media.Data); err == nil && IsText(p.MIME) && utf8.Valid(plain) {
			return rewrite.Part{Text: Fence(p.MIME, string(plain))}, true
		}
		p.Kind, p.Media.Name = rewrite.PartFile, lastOf(splice.Text(uri))
	}
	return p, p.Media.Data != "" && p.MIME != ""
}

// IsText reports a media type whose bytes are text.
func IsText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || language(mime) != ""
}

// lastOf is the last step of an address, which is a file's name.
func lastOf(uri string) string { return uri[strings.LastIndexByte(uri, '/')+1:] }
