package responses

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// known are the members of a reply that the hub has a field for, or that say what the
// client has asked: its provider may have been asked something else.
var known = []string{
	"id", "object", "created_at", "status", "error", "incomplete_details", "model", "output",
	"instructions", "tools", "tool_choice", "previous_response_id", "store", "metadata", "input",
}

// The members of a usage that the hub has fields for, and of objects within it.
var (
	usageMembers = []string{"input_tokens", "output_tokens", "total_tokens"}
	usageDetails = map[string][]string{
		"input_tokens_details": {"cached_tokens", "cache_write_tokens", "cache_write_tokens_details"}, "output_tokens_details": {"reasoning_tokens"},
	}
)

// owned are the members of a response that only clients of this dialect can read.
func owned(response []byte) (members []rewrite.Member) {
	splice.Fields(response, func(key, value []byte) bool {
		if string(key) == "usage" {
			value = splice.Besides(value, usageMembers, usageDetails)
		}
		if len(value) > 0 && !slices.Contains(known, string(key)) {
			members = append(members, rewrite.Member{Name: rewrite.Responses.Own(string(key)), Value: clone(value)})
		}
		return true
	})
	return members
}

// writeEcho writes what the reply repeats of its request. Where its provider has said
// something of its own, that is what holds.
func (e *Encoder) writeEcho(w *splice.Writer) {
	var object splice.Writer
	object.Open('{')
	object.Raw(e.echo) // members, without their object
	object.Close('}')
	written := []string{"usage", "completed_at"}
	splice.Fields(object.Bytes(), func(key, value []byte) bool {
		name := string(key)
		if own := rewrite.Responses.Owned(e.theirs, name); own != nil {
			value = over(value, own)
		}
		written = append(written, name)
		w.Value(name, value)
		return true
	})
	rewrite.Responses.EachOwned(e.theirs, "", func(name string, value rewrite.JSON) {
		if !slices.Contains(written, name) {
			w.Value(name, value)
		}
	})
}

// over is a value of the echo as the provider has it. Of an object clients want the
// members that it leaves out, too.
func over(echo, own []byte) []byte {
	if len(echo) == 0 || len(own) == 0 || echo[0] != '{' || own[0] != '{' {
		return own
	}
	var w splice.Writer
	var written []string
	w.Open('{')
	splice.Fields(echo, func(key, value []byte) bool {
		name := string(key)
		if theirs := splice.Field(own, name); theirs != nil {
			value = theirs
		}
		written = append(written, name)
		w.Value(name, value)
		return true
	})
	w.Rest(own, written...)
	w.Close('}')
	return w.Bytes()
}

// completedAt is when the provider has ended the reply, as it says.
func (e *Encoder) completedAt() rewrite.JSON {
	if at := rewrite.Responses.Owned(e.theirs, "completed_at"); at != nil {
		return at
	}
	return rewrite.JSON("null")
}
