package completions

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// The groups of members of a reply that only clients of this dialect can read: of its
// choice, and of the message in it.
const (
	ofChoice  = "choice:"
	ofMessage = "message:"
)

// The members of a usage that the hub has fields for, and of objects within it.
var (
	usageMembers = []string{"prompt_tokens", "completion_tokens", "total_tokens"}
	usageDetails = map[string][]string{
		"prompt_tokens_details": {"cached_tokens", "cache_write_tokens"}, "completion_tokens_details": {"reasoning_tokens"},
	}
)

// ownOf reads a chunk's members that have no field.
func (d *Decoder) ownOf(key, value []byte) {
	switch string(key) {
	case "id", "object", "created", "model", "choices", "error", "citations", "search_results", "web_search":
	case "obfuscation": // padding
	case "usage":
		if besides := splice.Besides(value, usageMembers, usageDetails); besides != nil {
			d.own.Add("", key, besides)
		}
	default:
		d.own.Add("", key, value)
	}
}

// ownOfChoice reads the members of the choice and its message that have no field.
func (d *Decoder) ownOfChoice(choice []byte) {
	splice.Fields(choice, func(key, value []byte) bool {
		switch string(key) {
		case "index", "delta", "text", "finish_reason", "logprobs":
		case "message":
			splice.Fields(value, func(key, value []byte) bool {
				switch string(key) {
				case "annotations":
					if string(value) == "[]" {
						d.own.Add(ofMessage, key, value)
					}
				case "audio", "function_call":
					if splice.Null(value) {
						d.own.Add(ofMessage, key, value)
					}
				case "provider_specific_fields":
					d.own.Add(ofMessage, key, value)
				}
				return true
			})
		default:
			d.own.Add(ofChoice, key, value)
		}
		return true
	})
}

// writeOwn writes the members of a group that were not written yet.
func writeOwn(w *splice.Writer, extra []rewrite.Member, group string) {
	rewrite.Completions.EachOwned(extra, group, func(name string, value rewrite.JSON) {
		if group != "" || name != "usage" {
			w.Value(name, value)
		}
	})
}

// cites reports texts with sources.
func cites(items []rewrite.Item) bool {
	return slices.ContainsFunc(items, func(item rewrite.Item) bool {
		return slices.ContainsFunc(item.Parts, func(part rewrite.Part) bool { return len(part.Attributions) > 0 })
	})
}
