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

// results are the parts of items that answer calls of a client's tools.
func results(body []byte) (all []audience.Result) {
	w := splice.Walk(body)
	w.Fields(func(name []byte) {
		if string(name) == "input" {
			w.Elements(func() { all = resultOf(body, &w, all) })
		}
	})
	if slices.ContainsFunc(all, packed) {
		ofServers := serverCalls(body)
		return slices.DeleteFunc(all, func(r audience.Result) bool { return r.Packed && !ofServers[splice.Text(r.Call)] })
	}
	return all
}

func packed(r audience.Result) bool { return r.Packed }

// serverTools begin the names that agents give to the tools of their servers.
const serverTools = "mcp__"

// serverCalls are the calls of tools that servers have, by their identifiers: what
// other tools give is theirs, even if it looks like blocks.
func serverCalls(body []byte) map[string]bool {
	calls := map[string]bool{}
	w := splice.Walk(body)
	w.Fields(func(name []byte) {
		if string(name) != "input" {
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

// resultOf adds the parts of the item that a walker stands at, if it answers a call.
func resultOf(body []byte, w *splice.Walker, all []audience.Result) []audience.Result {
	var r audience.Result
	var lists []rewrite.Span
	is := false
	w.Fields(func(name []byte) {
		switch string(name) {
		case "type":
			kind := w.Value()
			is = is || audience.Is(kind, "function_call_output") || audience.Is(kind, "custom_tool_call_output")
		case "call_id":
			r.Call = w.Value()
		case "isError", "is_error":
			r.Failed = string(w.Value()) == "true"
		case "output":
			switch start := w.Offset(); {
			case w.Next() == '"' && audience.Packs(w.Value()), w.Next() == '[' && audience.Skim(w, foreign):
				lists = append(lists, rewrite.Span{Start: start, End: w.Offset()})
			}
		}
	})
	if is {
		for _, r.Value = range lists {
			r.Packed = body[r.Value.Start] == '"'
			all = append(all, r)
		}
	}
	return all
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
