package anthropic

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/splice"
)

// Audience is how results of tools stand in a request.
var Audience = audience.Words{
	Results: results,
	Foreign: foreign,
	Write:   appendBlock,
	Marks:   []string{"cache_control"},
}

// foreign are the kinds of blocks that this dialect writes otherwise.
var foreign = []string{"image", "audio", "resource", "resource_link"}

// results are the blocks of results of a client's tools, in a request or in a batch of
// them.
func results(body []byte) (all []audience.Result) {
	w := splice.Walk(body)
	w.Fields(func(name []byte) {
		switch string(name) {
		case "messages":
			all = resultsIn(&w, all)
		case "requests":
			w.Elements(func() {
				w.Fields(func(name []byte) {
					if string(name) == "params" {
						w.Fields(func(name []byte) {
							if string(name) == "messages" {
								all = resultsIn(&w, all)
							}
						})
					}
				})
			})
		}
	})
	return all
}

// resultsIn adds those in the messages that a walker stands at.
func resultsIn(w *splice.Walker, all []audience.Result) []audience.Result {
	w.Elements(func() {
		w.Fields(func(name []byte) {
			if string(name) == "content" {
				w.Elements(func() { all = result(w, all) })
			}
		})
	})
	return all
}

// result adds the blocks of the block that a walker stands at, if it is a result.
func result(w *splice.Walker, all []audience.Result) []audience.Result {
	var r audience.Result
	var lists []rewrite.Span
	is := false
	w.Fields(func(name []byte) {
		switch string(name) {
		case "type":
			is = is || audience.Is(w.Value(), "tool_result")
		case "tool_use_id":
			r.Call = w.Value()
		case "is_error":
			r.Failed = string(w.Value()) == "true"
		case "content":
			if start := w.Offset(); w.Next() == '[' && audience.Skim(w, foreign) {
				lists = append(lists, rewrite.Span{Start: start, End: w.Offset()})
			}
		}
	})
	if is {
		for _, r.Value = range lists {
			all = append(all, r)
		}
	}
	return all
}

// pictures are the media types of images that models read.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// appendBlock writes a piece of a tool's result; ok is false for what has no place
// there.
func appendBlock(dst []byte, p *rewrite.Part) (block []byte, ok bool) {
	rw := requestWriter{w: splice.WriteTo(dst)}
	switch {
	case p.Kind == rewrite.PartText:
		rw.text(p)
	case p.Kind == rewrite.PartImage && slices.Contains(pictures, p.MIME):
		rw.media("", "image", p)
	case p.Kind == rewrite.PartFile && p.MIME == "application/pdf":
		rw.media("", "document", p)
	default:
		return dst, false
	}
	return rw.w.Bytes(), true
}
