package audience

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Form is how a dialect writes a result: as an object, one member of which says that it
// is one.
type Form struct {
	// Kind is the name of the member that says so, and Kinds are its values.
	Kind  string
	Kinds []string
	// Call, Failed and Content are the names of the members that are the identifier of
	// the call, the error flag, and the content.
	Call    string
	Failed  []string
	Content string
	// Foreign are the kinds of blocks that the dialect writes otherwise.
	Foreign []string
	// Behind says that JSON in a text may come behind lines of the client's own.
	Behind bool
}

// Add adds the content of the object that a walker stands at, if that is a result and
// needs a look. A member that stands twice is looked at twice.
func (f *Form) Add(w *splice.Walker, all []Result) []Result {
	var r Result
	var found []Result
	is := false
	w.Fields(func(name []byte) {
		switch string(name) {
		case f.Kind:
			kind := w.Value()
			is = is || slices.ContainsFunc(f.Kinds, func(text string) bool { return Is(kind, text) })
		case f.Call:
			r.Call = w.Value()
		case f.Content:
			start := w.Offset()
			look, behind := f.look(w)
			if look || behind {
				found = append(found, Result{Value: rewrite.Span{Start: start, End: w.Offset()}, Behind: behind})
			}
		default:
			if slices.Contains(f.Failed, string(name)) {
				r.Failed = string(w.Value()) == "true"
			}
		}
	})
	if !is {
		return all
	}
	for i := range found {
		found[i].Call, found[i].Failed = r.Call, r.Failed
	}
	return append(all, found...)
}

// look takes content and reports whether it needs a look: a list of blocks, or a text.
func (f *Form) look(w *splice.Walker) (look, behind bool) {
	switch w.Next() {
	case '"':
		text := w.Value()
		look = Packs(text)
		behind = f.Behind && !look && PacksBehind(text)
	case '[':
		look = Skim(w, f.Foreign)
	}
	return look, behind
}
