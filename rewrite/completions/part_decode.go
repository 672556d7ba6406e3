package completions

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

func (r reader) part(value []byte) (part rewrite.Part, f *fault) {
	w := splice.Walk(value)
	return r.partAt(&w)
}

// partAt reads the piece of content that a walker stands at.
func (r reader) partAt(w *splice.Walker) (part rewrite.Part, f *fault) {
	var kind string
	var text, refusal, image, video, audio, file []byte
	start := w.Offset()
	if !w.Fields(func(key []byte) {
		switch value := w.Value(); string(key) {
		case "type":
			kind = splice.Text(value)
		case "text":
			text = value
		case "refusal":
			refusal = value
		case "image_url":
			image = value
		case "video_url":
			video = value
		case "input_audio":
			audio = value
		case "file":
			file = value
		case "annotations": // a tool's, where they have not been taken off
			if len(value) > 0 && value[0] == '{' {
				part.Annotations = value
			}
		case "prompt_cache_breakpoint":
			part.Mark = markOf(value)
		case "cache_control":
			part.Mark = markOf(value)
		}
	}) {
		return part, bad("", "is no object; send a part")
	}
	value := w.Since(start)
	switch kind {
	case "text":
		part.Text, f = textOf(text)
		f = f.in("text")
	case "refusal":
		part.Kind = rewrite.PartRefusal
		part.Text, f = textOf(refusal)
		f = f.in("refusal")
	case "image_url":
		part.Kind = rewrite.PartImage
		locate(&part, image)
	case "video_url":
		part.Kind = rewrite.PartVideo
		locate(&part, video)
	case "input_audio":
		part.Kind = rewrite.PartAudio
		locate(&part, audio)
	case "file":
		part.Kind = rewrite.PartFile
		locate(&part, file)
	case "":
		return part, bad("type", "is missing; say what kind of part it is")
	default:
		part.Kind, part.Payload = rewrite.PartOpaque, written("part", value)
	}
	if part.Mark.Set && part.Kind != rewrite.PartOpaque {
		// Servers have their own ways to mark a part.
		part.Payload = written("part", value)
	}
	return part, f
}

// locate says where the bytes of a part are. An image's address may stand alone.
func locate(part *rewrite.Part, value []byte) {
	url := splice.Text(value)
	splice.Fields(value, func(key, value []byte) bool {
		text := splice.Text(value)
		switch string(key) {
		case "url":
			url = text
		case "detail":
			part.Media.Detail = text
		case "data":
			part.Media.Data = text
		case "format":
			if text != "" {
				part.MIME = "audio/" + text
			}
		case "file_id":
			part.Media.ID = text
		case "filename":
			part.Media.Name = text
		case "file_data":
			if url = text; !strings.HasPrefix(text, "data:") {
				part.Media.Data, url = text, ""
			}
		}
		return true
	})
	if rest, ok := strings.CutPrefix(url, "data:"); ok {
		if head, data, ok := strings.Cut(rest, ","); ok {
			if mime, base64 := strings.CutSuffix(head, ";base64"); base64 {
				part.MIME, part.Media.Data = mime, data
				return
			}
		}
	}
	part.Media.URL = url
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

// attribution reads a source, whose members stand in an object under its kind.
func (r reader) attribution(value []byte) (a rewrite.Attribution) {
	var nested []byte
	read := func(key, value []byte) bool {
		switch string(key) {
		case "type":
			a.Kind = splice.Text(value)
		case "url":
			a.URL = splice.Text(value)
		case "title":
			a.Title = splice.Text(value)
		case "content":
			a.Excerpt = splice.Text(value)
		case "start_index":
			a.Start = position(value)
		case "end_index":
			a.End = position(value)
		case "url_citation":
			nested = value
		}
		return true
	}
	splice.Fields(value, read)
	splice.Fields(nested, read)
	a.Payload = r.payload("annotation", value)
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
