package tools

import (
	"context"
	"errors"
	"strings"
	"sync"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite"
	"warmpath/rewrite/audience"
)

// Admit puts a tool behind its gates: whether it may run, whether its result may go to
// the model, and who answers what it asks. Its limits bound the tool itself, not how
// long people think.
func Admit(asker Asker, limits Limits, tool Tool) Tool {
	inner := NewSet(limits, tool)
	tool.Timeout, tool.Instant = -1, false
	tool.Run = func(ctx context.Context, call Call) Result {
		return (&gate{asker: asker, inner: inner, source: tool.Source}).run(ctx, call)
	}
	return tool
}

// gate is what one call passes.
type gate struct {
	asker  Asker
	inner  *Set
	source string
}

func (g *gate) run(ctx context.Context, call Call) Result {
	leave, err := g.asker.Permit(ctx, call.Session, call.Name, g.source, call.Arguments)
	if err != nil {
		return ended(err)
	}
	if !leave.Yes() || ctx.Err() != nil {
		return refused(call.Name, leave)
	}
	if leave.Arguments != nil {
		// The model's own call stays as it is: only the tool gets these.
		call.Arguments = prompt.Merge(call.Arguments, leave.Arguments)
	}
	call.open = &openQuestions{}
	result := g.inner.Run(ctx, call)
	if err := call.open.err(); err != nil {
		return ended(err)
	}
	if ctx.Err() != nil {
		return Failure("The turn was stopped.")
	}
	result = call.open.tell(call.Name, result)
	return g.release(ctx, call, result)
}

// release asks whether what is meant for the model may go to it. What is meant for
// people alone they get in any case.
func (g *gate) release(ctx context.Context, call Call, result Result) Result {
	told, _ := audience.Split(result.Parts)
	leave, err := g.asker.Release(ctx, call.Session, call.Name, g.source, text(told))
	switch {
	case err != nil:
		return ended(err)
	case leave.Yes():
		result.Instead = leave.Text
	default:
		withheld := undelivered(call.Name, leave)
		result.Instead = &withheld
	}
	return result
}

var toModel = rewrite.JSON(`{"audience":["assistant"]}`)

// text is what a person sees of parts before they are delivered.
func text(parts []rewrite.Part) string {
	var b strings.Builder
	for i := range parts {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		switch part := &parts[i]; part.Kind {
		case rewrite.PartText:
			b.WriteString(part.Text)
		default:
			b.WriteString("[" + part.MIME + "]")
		}
	}
	return b.String()
}

// ended is the result of a call in whose midst the gateway stops.
func ended(err error) Result { return Result{Failed: true, Ended: err} }

// refused is the result of a call that was not run.
func refused(tool string, a prompt.Answer) Result {
	const instead = " Go on without it, or say what you cannot do without it."
	switch a.Outcome {
	case prompt.Declined:
		switch {
		case a.Skipped && a.Reason != "":
			return Failure("The call of " + tool + " was skipped. The reason: " + a.Reason)
		case a.Skipped:
			return Failure("The call of " + tool + " was skipped, and no reason was given." + instead)
		}
		return Failure("The user does not want " + tool + " to be run. Do not call it again with these arguments." + instead)
	case prompt.Cancelled:
		return Failure("The user has stopped this turn, so " + tool + " was not run.")
	case prompt.Expired:
		return Failure("Nobody has answered in time whether " + tool + " may be run, so it was not run. That is no refusal, but asking again will not help now." + instead)
	case prompt.Nobody, prompt.Answered, prompt.Approved, prompt.Defaulted, prompt.Model, prompt.Draining:
	}
	return Failure("The tool " + tool + " was not run: it may only be run with somebody's leave, and nobody can be asked. The setting " +
		a.Setting + " (" + a.Policy.String() + ") decides this; the operator can set prompts.tools." + tool + "." + "detached.run." + instead)
}

// undelivered is what the model reads in place of a result.
func undelivered(tool string, a prompt.Answer) string {
	switch {
	case a.Outcome == prompt.Declined && a.Reason != "":
		return "The tool " + tool + " has run, but its result is withheld. The reason: " + a.Reason
	case a.Outcome == prompt.Declined:
		return "The tool " + tool + " has run, but its result is withheld."
	case a.Outcome == prompt.Cancelled:
		return "The user has stopped this turn. The result of " + tool + " is withheld."
	case a.Outcome == prompt.Expired:
		return "The tool " + tool + " has run, but its result is withheld: nobody has answered in time whether you may have it."
	}
	return "The tool " + tool + " has run, but its result is withheld: nobody can be asked whether you may have it. The setting " +
		a.Setting + " (" + a.Policy.String() + ") decides this; the operator can set prompts.tools." + tool + ".detached.deliver."
}

// openQuestions are what a tool asked in a call and the model is to answer, and why
// the call cannot go on, if so. A tool may ask from several goroutines.
type openQuestions struct {
	mu    sync.Mutex
	asked []string
	ended error
}

func (o *openQuestions) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// tell adds what is open to a result.
func (o *openQuestions) tell(tool string, result Result) Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.asked) == 0 {
		return result
	}
	note := "While it ran, the tool " + tool + " asked for something that you are to answer yourself:\n" + strings.Join(o.asked, "\n") +
		"\nIf the result lacks it, call the tool again with the answers in its arguments."
	result.Parts = append(result.Parts[:len(result.Parts):len(result.Parts)], rewrite.Part{Text: note, Annotations: toModel})
	return result
}

// AskFor asks what a tool wants to know in the midst of a call, and gives what came of
// it. What the model is to answer it is told with the result of the call.
func AskFor(ctx context.Context, asker Asker, call Call, source, message string, questions []question.Question) (question.Outcome, rewrite.JSON) {
	p := prompt.NewToolQuestion(call.Name, source, questions, asker.Policies().HumanOnly(call.Name)).About(message)
	a, err := asker.Ask(ctx, call.Session, p)
	if open := call.open; open != nil {
		open.mu.Lock()
		defer open.mu.Unlock()
		if errors.Is(err, prompt.ErrDraining) {
			open.ended = err
		}
		if a.Outcome == prompt.Model {
			for _, q := range questions {
				open.asked = append(open.asked, "- "+q.Text)
			}
		}
	}
	outcome := outcomeOf(a)
	if outcome != question.Answered {
		return outcome, nil
	}
	return outcome, a.Content
}
