package anthropic

import (
	"bytes"
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// readActivity notes a block of a tool that the provider runs.
func readActivity(block []byte, r *rewrite.Report) {
	b, ok := readBlock(block)
	if !ok {
		return
	}
	h, ok := hostedBlock(&b)
	switch {
	case !ok:
	case h.State == rewrite.HostedStarted:
		r.Begin(h.ID, h.Name)
	default:
		r.End(h.ID, h.Name, h.State == rewrite.HostedFailed)
	}
}

// readCited notes a source of a text.
func readCited(citation []byte, r *rewrite.Report) {
	if !splice.Null(citation) {
		r.Cite(1)
	}
}

// deltaHead is how the API begins a delta, up to the index of its block, and
// deltaKind what stands between that and the delta's type.
const (
	deltaHead = `{"type":"content_block_delta","index":`
	deltaKind = `,"delta":{"type":"`
)

// cites reports a delta that may be a citation. It looks at the beginning of
// those that are written as the API writes them, so that a piece of text, of which
// there are thousands, is not searched.
func cites(data []byte) bool {
	if rest, ok := bytes.CutPrefix(data, []byte(deltaHead)); ok {
		for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
			rest = rest[1:]
		}
		if kind, ok := bytes.CutPrefix(rest, []byte(deltaKind)); ok && len(kind) > 0 {
			return kind[0] == 'c'
		}
	}
	return bytes.Contains(data, []byte(`citations_delta`))
}

// readCitationDelta notes the source that a delta adds to its text.
func readCitationDelta(data []byte, r *rewrite.Report) {
	delta, ok := whole(data, "delta")
	if !ok {
		return
	}
	var kind, citation []byte
	splice.Fields(delta, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = value
		case "citation":
			citation = value
		}
		return true
	})
	if string(kind) == `"citations_delta"` {
		readCited(citation, r)
	}
}

// readTerms notes what a usage object says besides tokens: on what terms the call
// was made, how often it used the provider's tools, and what compatible servers say
// that it cost. Numbers are cumulative.
func readTerms(usage []byte, r *rewrite.Report) {
	splice.Fields(usage, func(key, value []byte) bool {
		switch string(key) {
		case "server_tool_use":
			splice.Fields(value, func(key, value []byte) bool {
				n := splice.Count(value)
				if name, ok := bytes.CutSuffix(key, []byte("_requests")); ok && (n.N > 0 || r.Activity != nil) {
					r.Call(capability(string(name)), n.N)
				}
				return true
			})
		case "service_tier":
			r.Terms |= tier(value)
		case "cost":
			if cost, ok := rewrite.ParseDollars(value); ok {
				r.Charged = cost
			}
		case "speed":
			if string(value) == `"fast"` {
				r.Terms |= rewrite.TermsFast
			}
		case "inference_geo":
			if place, ok := splice.String(value); ok && !slices.Contains(anywhere, string(place)) {
				r.Terms |= rewrite.TermsRegional
			}
		}
		return true
	})
}

// anywhere are the places that are none.
var anywhere = []string{"", "global", "not_available"}

// tier gives the terms that a service tier stands for.
func tier(value []byte) rewrite.Terms {
	word, _ := splice.String(value)
	switch string(word) {
	case "", "standard", "default", "auto":
		return 0
	case "batch":
		return rewrite.TermsBatch
	case "priority":
		return rewrite.TermsPriority
	}
	return rewrite.TermsOther
}
