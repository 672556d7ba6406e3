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

// result is how one is written.
var result = audience.Form{
	Kind: "type", Kinds: []string{"tool_result"}, Call: "tool_use_id", Failed: []string{"is_error"}, Content: "content", Foreign: foreign,
}

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
						all = resultsOf(&w, all)
					}
				})
			})
		}
	})
	return all
}

// resultsOf adds those in the request of a batch that a walker stands at.
func resultsOf(w *splice.Walker, all []audience.Result) []audience.Result {
	first := len(all)
	var model []byte
	w.Fields(func(name []byte) {
		switch string(name) {
		case "model":
			model = w.Value()
		case "messages":
			all = resultsIn(w, all)
		}
	})
	for i := range all[first:] {
		all[first+i].Model = model
	}
	return all
}

// resultsIn adds those in the messages that a walker stands at.
func resultsIn(w *splice.Walker, all []audience.Result) []audience.Result {
	w.Elements(func() {
		w.Fields(func(name []byte) {
			if string(name) == "content" {
				w.Elements(func() { all = result.Add(w, all) })
			}
		})
	})
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
