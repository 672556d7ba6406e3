package prompt

import (
	"context"

	"warmpath/rewrite"
)

// Permit asks whether a tool may run with arguments, if its mode has somebody be
// asked; else it is decided at once. Answer.Arguments are changes that somebody has
// made to them. The error is that of Ask.
func (b *Book) Permit(ctx context.Context, s Session, tool, source string, arguments rewrite.JSON) (Answer, error) {
	mode := b.Policies().Run(tool)
	return b.gate(ctx, &s, mode, RunTool{tool: tool, from: source, arguments: arguments})
}

// Release asks whether the result of a tool, as far as it is meant for the model, may
// go to it. Answer.Text is what somebody has put in its place. The error is that of
// Ask.
func (b *Book) Release(ctx context.Context, s Session, tool, source, result string) (Answer, error) {
	mode := b.Policies().Deliver(tool)
	return b.gate(ctx, &s, mode, DeliverToolResult{tool: tool, from: source, result: result})
}

func (b *Book) gate(ctx context.Context, s *Session, mode RunMode, p Prompt) (Answer, error) {
	switch mode {
	case RunUnattended:
		return Answer{Outcome: Approved}, nil
	case RunSkip:
		return Answer{Outcome: Declined, Skipped: true}, nil
	case RunUnset, RunAsk, RunEdit:
	}
	return b.ask(ctx, s, p, mode == RunEdit)
}
