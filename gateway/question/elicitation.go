package question

import (
	"errors"
	"fmt"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Scope says which session and which call of a tool a question belongs to. Either
// may be empty.
type Scope struct{ Session, Call string }

// Elicitation is a form as the Model Context Protocol asks for it: the parameters of
// elicitation/create.
type Elicitation struct {
	// Message is what stands above the form.
	Message   string
	Questions []Question
	Scope     Scope
}

// ErrMode is of an elicitation that is no form, such as one that sends the person to
// an address.
var ErrMode = errors.New("only forms can be asked, not addresses")

// The names of the scope among an elicitation's metadata. Clients that know of
// scopes only there find them, and so do we.
const (
	sessionName = "sessionId"
	callName    = "toolCallId"
)

// Encode writes the parameters. The scope stands in _meta.
func (e *Elicitation) Encode() rewrite.JSON {
	var w splice.Writer
	w.Open('{')
	if e.Scope != (Scope{}) {
		w.Name("_meta")
		w.Open('{')
		w.Text(sessionName, e.Scope.Session)
		w.Text(callName, e.Scope.Call)
		w.Close('}')
	}
	w.Text("mode", "form")
	w.Name("message")
	w.String(e.Message)
	w.Name("requestedSchema")
	w.Raw(Form(e.Questions))
	w.Close('}')
	return w.Bytes()
}

// ReadElicitation is the inverse of Encode. The error is ErrMode, or of parameters
// that are outside of the protocol's rules.
func ReadElicitation(params rewrite.JSON) (e Elicitation, err error) {
	if err := splice.Valid(params); err != nil {
		return e, fmt.Errorf("reading an elicitation: %w", err)
	}
	p := propertyOf(params)
	if mode, ok := p.text("mode"); ok && mode != "form" {
		return e, fmt.Errorf("reading an elicitation: %w", ErrMode)
	}
	if p["url"] != nil {
		return e, errors.New("reading an elicitation: a form with an address")
	}
	e.Message, _ = p.text("message")
	meta := propertyOf(p["_meta"])
	e.Scope.Session, _ = meta.text(sessionName)
	e.Scope.Call, _ = meta.text(callName)
	e.Questions, err = FromForm(p["requestedSchema"])
	return e, err
}
