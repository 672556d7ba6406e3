package responses

import (
	"slices"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/splice"
)

// Audience is how results of tools stand in a request.
var Audience = audience.Words{
	Results: results,
	Foreign: foreign,
	Write:   appendPart,
	Marks:   []string{"prompt_cache_breakpoint"},
}

// foreign are the kinds of blocks that this dialect writes otherwise.
var foreign = []string{"text", "image", "audio", "resource", "resource_link"}

// result is how one is written. Agents that give the model lines of their own with what
// a server's tool has given put them in front.
var result = audience.Form{
	Kind: "type", Kinds: []string{"function_call_output", "custom_tool_call_output"}, Call: "call_id",
	Failed: []string{"isError", "is_error"}, Content: "output", Foreign: foreign, Behind: true,
}

// results are the parts of items that answer calls of a client's tools, in a request or
// in what is to be kept of a conversation.
func results(body []byte) (all []audience.Result) {
	w := splice.Walk(body)
	w.Fields(func(name []byte) {
		switch string(name) {
		case "input", "items":
			w.Elements(func() { all = result.Add(&w, all) })
		}
	})
	if slices.ContainsFunc(all, behind) {
		ofServers := serverCalls(body)
		return slices.DeleteFunc(all, func(r audience.Result) bool { return r.Behind && !ofServers[splice.Text(r.Call)] })
	}
	return all
}

func behind(r audience.Result) bool { return r.Behind }

// serverTools begin the names that agents give to the tools of their servers.
const serverTools = "mcp__"

// serverCalls are the calls of tools that servers have, by their identifiers: what
// stands behind lines that other tools give is theirs, even if it looks like blocks.
func serverCalls(body []byte) map[string]bool {
	calls := map[string]bool{}
	w := splice.Walk(body)
	w.Fields(func(name []byte) {
		if string(name) != "input" && string(name) != "items" {
			return
		}
		w.Elements(func() {
			var id, kind, named, space []byte
			w.Fields(func(name []byte) {
				switch string(name) {
				case "type":
					kind = w.Value()
				case "call_id":
					id = w.Value()
				case "name":
					named = w.Value()
				case "namespace":
					space = w.Value()
				}
			})
			if audience.Is(kind, "function_call") && (strings.HasPrefix(splice.Text(named), serverTools) || strings.HasPrefix(splice.Text(space), serverTools)) {
				calls[splice.Text(id)] = true
			}
		})
	})
	return calls
}

// appendPart writes a piece of a tool's result; ok is false for what has no place
// there.
func appendPart(dst []byte, p *rewrite.Part) (part []byte, ok bool) {
	switch p.Kind {
	case rewrite.PartText, rewrite.PartImage, rewrite.PartFile:
	case rewrite.PartSummary, rewrite.PartRefusal, rewrite.PartAudio, rewrite.PartVideo, rewrite.PartOpaque:
		return dst, false
	}
	w := requestWriter{Writer: splice.WriteTo(dst)}
	w.part(p, "")
	return w.Bytes(), true
}
