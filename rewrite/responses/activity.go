package responses

import (
	"strings"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// hosted reports items of tools that the provider runs. Those that nobody knows
// yet are recognized by how their kinds end: what the client has to run is known,
// since it must be able to.
func hosted(kind string) bool {
	switch kind {
	case "function_call", "custom_tool_call", "computer_call", "shell_call", "local_shell_call", "apply_patch_call":
		return false
	case "mcp_list_tools":
		return true
	}
	return strings.HasSuffix(kind, "_call")
}

// stateOf is how far an activity has come by its status. Lists of tools have
// none; they are there or they are not.
func stateOf(status, failure []byte) rewrite.HostedState {
	switch {
	case !splice.Null(failure), string(status) == `"failed"`:
		return rewrite.HostedFailed
	case splice.Null(status), string(status) == `"completed"`, string(status) == `""`:
		return rewrite.HostedCompleted
	}
	return rewrite.HostedStarted
}

// telling is how an item is told: as one that is yet to come, as all of it, or once
// more with the whole reply.
type telling uint8

const (
	announced telling = iota
	complete
	again
)

// readHosted notes an activity: that it was announced, or how it ended. Without an
// identifier what is told again cannot be told from another one.
func readHosted(kind string, how telling, id, status, failure []byte, r *rewrite.Report) {
	name, capability := idOf(id), capability(kind)
	if how == again && name == "" {
		return
	}
	state := stateOf(status, failure)
	if how == announced || state == rewrite.HostedStarted {
		r.Begin(name, capability)
		return
	}
	r.Run(name, capability, state == rewrite.HostedFailed)
}

// readCharge notes what the provider says that the call cost.
func readCharge(usage []byte, r *rewrite.Report) {
	splice.Fields(usage, func(key, value []byte) bool {
		if string(key) == "cost" {
			if cost, ok := rewrite.ParseDollars(value); ok {
				r.Charged = cost
			}
		}
		return true
	})
}

// readParts counts the sources of a message's texts, and those of a place that
// the text does not have, and notes a refusal.
func readParts(content []byte, r *rewrite.Report) (sources, dropped int) {
	splice.Elements(content, func(part []byte) bool {
		var kind, text, annotations []byte
		splice.Fields(part, func(key, value []byte) bool {
			switch string(key) {
			case "type":
				kind = value
			case "text":
				text = value
			case "annotations":
				annotations = value
			}
			return true
		})
		switch {
		case string(kind) == `"refusal"`:
			r.Stop = rewrite.StopRefusal
		case !splice.Empty(annotations):
			length := runes(text)
			splice.Elements(annotations, func(annotation []byte) bool {
				sources++
				if misplaced(annotation, length) {
					dropped++
				}
				return true
			})
		}
		return true
	})
	return sources, dropped
}

// runes is how many characters a string has.
func runes(value []byte) int {
	text, _ := splice.AppendText(nil, value)
	return utf8.RuneCount(text)
}

// misplaced reports an annotation whose range lies outside its text.
func misplaced(annotation []byte, length int) bool {
	var a rewrite.Attribution
	splice.Fields(annotation, func(key, value []byte) bool {
		switch string(key) {
		case "start_index":
			a.Start = position(value)
		case "end_index":
			a.End = position(value)
		}
		return true
	})
	ranged := a.Start != a.End
	bound(&a, length)
	return ranged && a.Start == a.End
}

// readToolUsage notes how often the provider's tools were used.
func readToolUsage(usage []byte, r *rewrite.Report) {
	splice.Fields(usage, func(tool, value []byte) bool {
		splice.Fields(value, func(key, value []byte) bool {
			if n := splice.Count(value); string(key) == "num_requests" && (n.N > 0 || r.Activity != nil) {
				r.Call(capability(string(tool)), n.N)
			}
			return true
		})
		return true
	})
}

// tierOf gives the terms that a service tier stands for.
func tierOf(value []byte) rewrite.Terms {
	word, _ := splice.String(value)
	switch string(word) {
	case "", "auto", "default", "standard":
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
