package completions

import (
	"strings"

	"warmpath/rewrite"
)

// fault is something in a request that cannot be read: where, and what to do
// about it.
type fault struct{ path, text string }

func bad(path, text string) *fault { return &fault{path, text} }

// in says that the fault lies within what stands at path.
func (f *fault) in(path string) *fault {
	switch {
	case f == nil:
		return nil
	case f.path == "" || strings.HasPrefix(f.path, "["):
		f.path = path + f.path
	default:
		f.path = path + "." + f.path
	}
	return f
}

// failure is the fault as the client is told it.
func (f *fault) failure() error {
	where := f.path
	if where == "" {
		where = "the request body"
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: where + " " + f.text}
}
