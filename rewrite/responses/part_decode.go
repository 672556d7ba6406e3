package responses

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// parts reads the content that a member of what stands at a path holds: a string
// is one text.
func (r reader) parts(at rewrite.Path, member string, value []byte) (parts []rewrite.Part, f *fault) {
	if splice.Null(value) {
		return nil, nil
	}
	if text, ok := splice.TextOf(value); ok {
		if !at.IsZero() {
			at = at.In(member)
		}
		return []rewrite.Part{{Path: at, Text: text}}, nil
	}
	i, w := 0, splice.Walk(value)
	if !w.Elements(func() {
		if f != nil {
			return
		}
		var part rewrite.Part
		if part, f = r.partAt(&w); f != nil {
			f = f.in("[" + strconv.Itoa(i) + "]")
			return
		}
		if !at.IsZero() {
			part.Path = at.At(member, i)
		}
		parts = append(parts, part)
		i++
	}) {
		return nil, bad("", "is neither text nor a list of parts; send one of them")
	}
	return parts, f
}

// partFields are the members of a part, of whatever kind.
type partFields struct {
	kind, text, refusal, annotations                          []byte
	imageURL, fileID, fileURL, fileData, filename, detail     []byte
	videoURL, audio, mark, data, mime, resource, uri, mcpName []byte
}

func (p *partFields) set(key, value []byte) bool {
	switch string(key) {
	case "type":
		p.kind = value
	case "text":
		p.text = value
	case "refusal":
		p.refusal = value
	case "annotations":
		p.annotations = value
	case "image_url":
		p.imageURL = value
	case "file_id":
		p.fileID = value
	case "file_url":
		p.fileURL = value
	case "file_data":
		p.fileData = value
	case "filename":
		p.filename = value
	case "detail":
		p.detail = value
	case "video_url":
		p.videoURL = value
	case "input_audio":
		p.audio = value
	case "prompt_cache_breakpoint":
		p.mark = value
	case "data":
		p.data = value
	case "mimeType":
		p.mime = value
	case "resource":
		p.resource = value
	case "uri":
		p.uri = value
	case "name":
		p.mcpName = value
	}
	return true
}

func (r reader) part(value []byte) (part rewrite.Part, f *fault) {
	w := splice.Walk(value)
	return r.partAt(&w)
}

// partAt reads the piece of content that a walker stands at. Beside the dialect's
// own kinds these are the blocks that tools answer with.
func (r reader) partAt(w *splice.Walker) (part rewrite.Part, f *fault) {
	var p partFields
	start := w.Offset()
	if !w.Fields(func(key []byte) { p.set(key, w.Value()) }) {
		return part, bad("", "is no object; send a part")
	}
	value := w.Since(start)
	part.Mark = markOf(p.mark)
	switch kind := splice.Text(p.kind); kind {
	case "input_text", "output_text", "text", "summary_text", "reasoning_text":
		part.Text, f = textOf(p.text)
		if part.MIME = splice.Text(p.mime); kind == "text" {
			part.Annotations = present(p.annotations)
		} else {
			part.Attributions = r.attributions(p.annotations, part.Text)
		}
		if kind == "summary_text" {
			part.Kind = rewrite.PartSummary
		}
		return part, f.in("text")
	case "refusal":
		part.Kind = rewrite.PartRefusal
		part.Text, f = textOf(p.refusal)
		return part, f.in("refusal")
	case "input_image":
		part.Kind = rewrite.PartImage
		locate(&part, splice.Text(p.imageURL), &p)
	case "input_file":
		part.Kind = rewrite.PartFile
		locate(&part, splice.Text(p.fileURL), &p)
	case "input_video":
		part.Kind = rewrite.PartVideo
		locate(&part, splice.Text(p.videoURL), &p)
	case "input_audio":
		part.Kind = rewrite.PartAudio
		readAudio(p.audio, &part)
	case "image", "audio", "resource", "resource_link":
		blockOf(kind, &p, &part)
	case "":
		return part, bad("type", "is missing; say what kind of part it is")
	default:
		part.Kind, part.Payload = rewrite.PartOpaque, written(kind, value)
	}
	return part, nil
}

// locate says where the bytes of a part are.
func locate(part *rewrite.Part, url string, p *partFields) {
	part.Media = rewrite.Media{
		ID: splice.Text(p.fileID), Name: splice.Text(p.filename), Detail: splice.Text(p.detail),
	}
	if url == "" {
		if url = splice.Text(p.fileData); url != "" && !strings.HasPrefix(url, "data:") {
			part.Media.Data = url
			return
		}
	}
	part.MIME, part.Media.Data, part.Media.URL = dataOf(url)
}

// dataOf takes an address apart that is itself the data.
func dataOf(address string) (mime, data, url string) {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return "", "", address
	}
	head, data, ok := strings.Cut(rest, ",")
	mime, base64 := strings.CutSuffix(head, ";base64")
	if !ok || !base64 {
		return "", "", address
	}
	return mime, data, ""
}

// readAudio reads a sound, whose format is no media type.
func readAudio(value []byte, part *rewrite.Part) {
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "data":
			part.Media.Data = splice.Text(value)
		case "format":
			if format := splice.Text(value); format != "" {
				part.MIME = "audio/" + format
			}
		}
		return true
	})
}

// blockOf reads a block as the tools of the Model Context Protocol give them.
func blockOf(kind string, p *partFields, part *rewrite.Part) {
	part.Annotations, part.MIME = present(p.annotations), splice.Text(p.mime)
	part.Media = rewrite.Media{Data: splice.Text(p.data), Name: splice.Text(p.mcpName)}
	switch kind {
	case "image":
		part.Kind = rewrite.PartImage
	case "audio":
		part.Kind = rewrite.PartAudio
	case "resource_link":
		part.Kind, part.Media.URL = rewrite.PartFile, splice.Text(p.uri)
	case "resource":
		part.Kind = rewrite.PartFile
		splice.Fields(p.resource, func(key, value []byte) bool {
			switch string(key) {
			case "text":
				part.Kind, part.Text = rewrite.PartText, splice.Text(value)
			case "blob":
				part.Media.Data = splice.Text(value)
			case "mimeType":
				part.MIME = splice.Text(value)
			case "uri":
				part.Media.Name = splice.Text(value)
			}
			return true
		})
	}
}

// markOf reads a cache breakpoint.
func markOf(value []byte) (m rewrite.Mark) {
	if splice.Null(value) {
		return m
	}
	m.Set = true
	splice.Fields(value, func(key, value []byte) bool {
		if string(key) == "ttl" {
			m.TTL = splice.Text(value)
		}
		return true
	})
	return m
}

// attributions reads the sources of a text.
func (r reader) attributions(value []byte, text string) (all []rewrite.Attribution) {
	if splice.Empty(value) {
		return nil
	}
	length := utf8.RuneCountInString(text)
	splice.Elements(value, func(element []byte) bool {
		a := r.attribution(element)
		bound(&a, length)
		all = append(all, a)
		return true
	})
	return all
}

func (r reader) attribution(value []byte) (a rewrite.Attribution) {
	var replay []byte
	var own bool
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			a.Kind = splice.Text(value)
		case "url":
			a.URL = splice.Text(value)
		case "title", "filename":
			a.Title = splice.Text(value)
		case "start_index":
			a.Start = position(value)
		case "end_index":
			a.End = position(value)
		case ownMark + "excerpt":
			a.Excerpt, own = splice.Text(value), true
		case ownMark + "incomplete":
			a.Incomplete, own = string(value) == "true", true
		case ownMark + "replay":
			replay, own = value, true
		}
		return true
	})
	if !own {
		a.Payload = r.payload("annotation", value)
		return a
	}
	// An annotation of ours stands for another provider's citation.
	a.Payload, _ = payloadOf(replay)
	return a
}

// position is a place in a text; what is no number is none.
func position(value []byte) int {
	n, ok := splice.Int(value)
	if !ok || n < 0 || n > 1<<31 {
		return -1
	}
	return int(n)
}

// bound checks a range against the text. Providers do not say whether the end is
// part of it, so one too many is forgiven; what lies elsewhere is no range.
func bound(a *rewrite.Attribution, length int) {
	if a.End == length+1 {
		a.End = length
	}
	if a.Start < 0 || a.End < a.Start || a.End > length {
		a.Start, a.End = 0, 0
	}
}

// payloadOf reads a payload of ours, as an object.
func payloadOf(value []byte) (p rewrite.Payload, ok bool) {
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "provider":
			p.Provider = splice.Text(value)
		case "format":
			p.Format = splice.Text(value)
		case "version":
			p.Version = splice.Text(value)
		case "value":
			p.Value = present(value)
		}
		return true
	})
	return p, p.Provider != "" && p.Format != "" && !p.Empty()
}
