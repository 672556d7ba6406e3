package completions

import (
	"strings"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// readActivity notes the sources of a message, what tools the provider has run
// and on what terms it has answered. Ends says that the reply ends with this
// chunk.
func (d *document) readActivity(r *rewrite.Report, ends bool) {
	r.Terms |= tierOf(d.tier)
	if !splice.Empty(d.usage) {
		readCharges(d.usage, r)
	}
	if !splice.Empty(d.annotations) {
		// Only a whole reply has all of the text beside them.
		length := -1
		if len(d.text) > 0 && d.text[0] == '"' {
			text, _ := splice.AppendText(nil, d.text)
			length = utf8.RuneCount(text)
		}
		splice.Elements(d.annotations, func(annotation []byte) bool {
			r.Cite(1)
			if length >= 0 && misplaced(annotation, length) {
				r.Misplaced()
			}
			return true
		})
	}
	if !splice.Empty(d.executed) {
		readExecuted(d.executed, r)
	}
	if !ends {
		return
	}
	// Lists of sources come with every chunk; they are of the whole text, and of the
	// same sources.
	most := 0
	for _, list := range d.found {
		most = max(most, listed(list))
	}
	r.Cite(most)
	r.Said()
}

// readExecuted notes the tools that the server has run.
func readExecuted(list []byte, r *rewrite.Report) {
	at := 0
	splice.Elements(list, func(entry []byte) bool {
		h, _ := executed(entry, at, r.ID)
		if at++; h.State == rewrite.HostedStarted {
			r.Begin(h.ID, h.Name)
		} else {
			if r.Run(h.ID, h.Name, false); r.Activity.Citing == 0 {
				r.Cite(len(h.Sources))
			}
		}
		return true
	})
}

// misplaced reports an annotation whose range lies outside its text.
func misplaced(annotation []byte, length int) bool {
	a := (&reader{}).attribution(annotation)
	ranged := a.Start != a.End
	bound(&a, length)
	return ranged && a.Start == a.End
}

// readCharges notes what the provider's own tools were used for, and what it says
// that all of it cost.
func readCharges(usage []byte, r *rewrite.Report) {
	var cost, details []byte
	own := false
	splice.Fields(usage, func(key, value []byte) bool {
		switch string(key) {
		case "server_tool_use":
			readCalls(value, r)
		case "cost":
			cost = value
		case "cost_details":
			details = value
		case "is_byok":
			own = string(value) == "true"
		}
		return true
	})
	if cost == nil {
		return
	}
	sum, ok := rewrite.ParseDollars(cost)
	if own {
		// With the client's own key at the provider behind this one, its price is
		// not in the sum.
		splice.Fields(details, func(key, value []byte) bool {
			if string(key) == "upstream_inference_cost" {
				if more, known := rewrite.ParseDollars(value); known {
					sum += more
				}
			}
			return true
		})
	}
	if ok {
		r.Charged = sum
	}
}

// readCalls notes how often tools were run. Nothing else in this dialect shows
// that they were.
func readCalls(counters []byte, r *rewrite.Report) {
	splice.Fields(counters, func(key, value []byte) bool {
		if name, ok := strings.CutSuffix(string(key), "_requests"); ok {
			if n := splice.Count(value); n.N > 0 {
				r.Call(capability(name), n.N)
				r.End("usage", capability(name), false)
			}
		}
		return true
	})
}

// tierOf gives the terms that a service tier stands for.
func tierOf(value []byte) rewrite.Terms {
	word, _ := splice.String(value)
	switch string(word) {
	case "", "auto", "default", "standard", "on_demand":
		return 0
	case "flex":
		return rewrite.TermsFlex
	case "priority":
		return rewrite.TermsPriority
	case "fast":
		return rewrite.TermsFast
	case "batch":
		return rewrite.TermsBatch
	}
	return rewrite.TermsOther
}
