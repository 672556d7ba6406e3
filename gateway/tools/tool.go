package tools

import (
	"context"
	"time"

	"warmpath/gateway/prompt"
	"warmpath/rewrite"
)

// Session is whose call it is: what a tool that asks people has to know.
type Session = prompt.Session

// The sources of tools, a closed set: they are metric labels.
const (
	SourceBuiltin = "builtin"
	SourceMCP     = "mcp"
)

// Tool is a tool that the gateway runs.
type Tool struct {
	// Name is what the model calls it by, and Source where it comes from.
	Name, Source string
	// Definition is what the model is told of it. Its Name is the tool's.
	Definition rewrite.Tool
	// Instant tools answer without waiting for anything, and are run while the reply
	// that calls them is still under way.
	Instant bool
	// Timeout bounds a call. Zero is the bound of the set; a tool that waits for
	// people has a bound of its own and gives a negative one.
	Timeout time.Duration
	// Run runs a call. It returns when ctx ends, never panics, and gives its failures
	// as results, in words that the model can act on.
	Run func(ctx context.Context, call Call) Result
}

// Call is a call of a tool.
type Call struct {
	// ID is the provider's name for the call.
	ID, Name string
	// Arguments is what the model has written: a JSON object, unless it is damaged.
	Arguments rewrite.JSON
	Session   Session

	// open is what the tool has asked and the model is to answer.
	open *openQuestions
}

// Result is what a call gives, for whom it is meant.
type Result struct {
	// Parts are the content, with the annotations that the tool has given it.
	Parts []rewrite.Part
	// Failed says that the call has failed; the parts say how.
	Failed bool
	// Instead is what the model is told in place of its half of the parts, if somebody
	// has changed or withheld that.
	Instead *string
	// Ended is why the turn cannot go on, if the gateway stops while people are asked:
	// the request can then be sent again.
	Ended error
}

// Failure is the result of a call that has failed, in words for the model.
func Failure(text string) Result {
	return Result{Parts: []rewrite.Part{{Text: text}}, Failed: true}
}
