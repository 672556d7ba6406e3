package converse

import (
	"strings"

	"warmpath/rewrite"
)

// noWords stands for a turn of the user's of which nothing can be said.
const noWords = "(The message is empty.)"

// turns are those of a conversation of which something can be said. Sides have to
// take turns: where the model's turn between two of the user's is gone, these are
// one, and instructions come behind it.
func (rw *requestWriter) turns(all []rewrite.Turn) (out []rewrite.Turn) {
	for i := range all {
		t := &all[i]
		if t.Role == rewrite.RoleAssistant && rw.silent(t) {
			rw.sealable = false
			for _, e := range t.Entries {
				rw.item(e, t) // for what is lost
			}
			continue
		}
		at := len(out) - 1
		if t.Role == rewrite.RoleUser && at > 0 && out[at].Role == rewrite.RoleSystem && out[at-1].Role == rewrite.RoleUser {
			at--
		}
		if at < 0 || out[at].Role != t.Role {
			out = append(out, *t)
			continue
		}
		joined := &out[at]
		joined.Entries = append(joined.Entries[:len(joined.Entries):len(joined.Entries)], t.Entries...)
		joined.Told = joined.Told || t.Told
	}
	return out
}

// silent reports a turn of the model's of which nothing can be said.
func (rw *requestWriter) silent(t *rewrite.Turn) bool {
	for _, e := range t.Entries {
		if e.Item.Kind == rewrite.ItemCall || rw.native(&e.Item.Payload) {
			return false
		}
		if e.Item.Kind != rewrite.ItemMessage && e.Item.Kind != rewrite.ItemOpaque {
			continue
		}
		for i := range e.Item.Parts {
			switch part := &e.Item.Parts[i]; part.Kind {
			case rewrite.PartText, rewrite.PartSummary, rewrite.PartRefusal:
				if strings.TrimSpace(part.Text) != "" {
					return false
				}
			default:
				if rw.native(&part.Payload) {
					return false
				}
			}
		}
	}
	return true
}
