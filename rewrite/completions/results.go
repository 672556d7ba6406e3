package completions

import (
	"warmpath/rewrite"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/splice"
)

// Audience is how results of tools stand in a request.
var Audience = audience.Words{
	Results: results,
	Foreign: foreign,
	Write:   appendPart,
	Marks:   []string{"cache_control", "prompt_cache_breakpoint"},
}

// foreign are the kinds of blocks that this dialect writes otherwise.
var foreign = []string{"image", "audio", "resource", "resource_link"}

// result is how one is written.
var result = audience.Form{
	Kind: "role", Kinds: []string{"tool", "function"}, Call: "tool_call_id", Failed: []string{"isError", "is_error"}, Content: "content", Foreign: foreign,
}

// results are the parts of messages that answer calls.
func results(body []byte) (all []audience.Result) {
	w := splice.Walk(body)
	w.Fields(func(name []byte) {
		if string(name) == "messages" {
			w.Elements(func() { all = result.Add(&w, all) })
		}
	})
	return all
}

// appendPart writes a piece of a tool's result.
func appendPart(dst []byte, p *rewrite.Part) (part []byte, ok bool) {
	w := requestWriter{Writer: splice.WriteTo(dst)}
	w.part(p, "")
	return w.Bytes(), true
}
