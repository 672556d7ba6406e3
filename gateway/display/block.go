package display

import (
	"warmpath/rewrite"
	"warmpath/rewrite/audience"
	"warmpath/rewrite/splice"
)

// Of is how much is shown of a block with these annotations, and whether it is
// speech, as if the model had said it, rather than a tool's result. A block that says
// for whom it is follows their bound; one that does not, the larger of the two, and
// nobody has made speech of it.
func (r Results) Of(annotations rewrite.JSON) (bound Bound, speech bool) {
	assistant, user := audience.For(annotations)
	switch {
	case !addressed(annotations):
		return larger(r.User, r.Assistant), false
	case user && assistant:
		return larger(r.User, r.Assistant), r.User == Chat
	case user:
		return min(r.User, Full), r.User == Chat
	case assistant:
		return min(r.Assistant, Full), false
	}
	return Off, false
}

// addressed reports whether annotations say for whom a block is.
func addressed(annotations rewrite.JSON) (found bool) {
	splice.Fields(annotations, func(key, value []byte) bool {
		found = found || string(key) == "audience" && !(splice.Null(value) || value[0] == '[' && splice.Empty(value))
		return true
	})
	return found
}
