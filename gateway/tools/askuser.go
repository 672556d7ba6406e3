package tools

import (
	"context"
	"errors"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite"
)

// Asker is who people are asked through; prompt.Book is one.
type Asker interface {
	Ask(ctx context.Context, s prompt.Session, p prompt.Prompt) (prompt.Answer, error)
	Permit(ctx context.Context, s prompt.Session, tool, source string, arguments rewrite.JSON) (prompt.Answer, error)
	Release(ctx context.Context, s prompt.Session, tool, source, result string) (prompt.Answer, error)
	Policies() *prompt.Policies
}

var _ Asker = (*prompt.Book)(nil)

// AskUser is the name of the tool by which a model asks the user.
const AskUser = question.Name

// NewAskUser is the tool ask_user. Nobody is asked for leave before, and only people
// answer.
func NewAskUser(asker Asker) Tool {
	return Tool{
		Name: AskUser, Source: SourceBuiltin, Timeout: -1,
		Definition: rewrite.Tool{Name: AskUser, Description: question.Description, Schema: rewrite.JSON(question.Schema)},
		Run:        func(ctx context.Context, call Call) Result { return askUser(ctx, asker, call) },
	}
}

// askUser asks what the model wants to know, and tells it what came of it.
func askUser(ctx context.Context, asker Asker, call Call) Result {
	questions, problem := question.Normalize(call.Arguments)
	if problem != "" {
		return Failure(problem)
	}
	a, err := asker.Ask(ctx, call.Session, prompt.NewToolQuestion(AskUser, SourceBuiltin, questions, true))
	if errors.Is(err, prompt.ErrDraining) {
		return Result{Failed: true, Ended: err}
	}
	outcome := outcomeOf(a)
	return Result{
		Parts:  []rewrite.Part{{Text: question.Tell(outcome, questions, a.Content)}},
		Failed: outcome == question.Cancelled,
	}
}

// outcomeOf is what the asker of a question is told of an answer.
func outcomeOf(a prompt.Answer) question.Outcome {
	switch a.Outcome {
	case prompt.Answered, prompt.Defaulted:
		return question.Answered
	case prompt.Declined:
		return question.Declined
	case prompt.Cancelled:
		return question.Cancelled
	case prompt.Expired, prompt.Nobody, prompt.Approved, prompt.Model, prompt.Draining:
	}
	return question.Unasked
}
