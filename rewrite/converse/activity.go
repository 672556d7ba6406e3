package converse

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// readTool notes a call, or what came of one that the provider has answered.
func readTool(kind string, value []byte, r *rewrite.Report) {
	m, _ := readMembers(value)
	id := splice.Text(m.id)
	switch {
	case kind == kindResult:
		r.End(id, nameOf(id, r), splice.Text(m.status) == "error")
	case splice.Text(m.kind) == serverTool:
		r.Begin(id, capability(splice.Text(m.name)))
	default:
		r.ToolCall = true
	}
}

// nameOf is the capability of an activity that has begun; its result does not say.
func nameOf(id string, r *rewrite.Report) string {
	if r.Activity != nil {
		for i := range r.Activity.Hosted {
			if h := &r.Activity.Hosted[i]; h.ID == id {
				return h.Name
			}
		}
	}
	return "other"
}

// deltaHead is how the API begins a delta, up to the index of its block, and
// deltaKind what stands between that and the delta's kind.
const (
	deltaHead = `{"contentBlockIndex":`
	deltaKind = `,"delta":{"`
)

// cites reports a delta that may be a source. It looks at the beginning of those
// that are written as the API writes them, so that pieces of text are not
// searched.
func cites(data []byte) bool {
	if rest, ok := bytes.CutPrefix(data, []byte(deltaHead)); ok {
		for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
			rest = rest[1:]
		}
		if kind, ok := bytes.CutPrefix(rest, []byte(deltaKind)); ok && len(kind) > 0 {
			return kind[0] == kindCitation[0]
		}
	}
	return bytes.Contains(data, []byte(`"`+kindCitation+`"`))
}

// readCited notes the source that a delta may add to its text.
func readCited(data []byte, r *rewrite.Report) {
	if _, delta, ok := atIndex(data, "delta"); ok {
		if kind, _ := only(delta); kind == kindCitation {
			r.Cite(1)
		}
	}
}

// readSources notes those of a whole text.
func readSources(value []byte, r *rewrite.Report) {
	m, _ := readMembers(value)
	splice.Elements(m.citations, func([]byte) bool {
		r.Cite(1)
		return true
	})
	r.Said()
}

// tierOf gives the terms that a service tier stands for.
func tierOf(tier []byte) (terms rewrite.Terms) {
	splice.Fields(tier, func(name, value []byte) bool {
		if string(name) != "type" {
			return true
		}
		word, _ := splice.String(value)
		switch string(word) {
		case "", "default", "standard", "reserved":
		case "flex":
			terms = rewrite.TermsFlex
		case "priority":
			terms = rewrite.TermsPriority
		default:
			terms = rewrite.TermsOther
		}
		return false
	})
	return terms
}
