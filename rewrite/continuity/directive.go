package continuity

import "warmpath/rewrite"

// Directive is what the model is told of a change, in one message at the tail.
// A dialect renders it: texts first, then removals, additions and definitions.
type Directive struct {
	// Texts are changes of the instructions, in the order of their sections.
	Texts []string
	// Remove and Add name tools to withdraw and to offer.
	Remove, Add []string
	// Define are whole definitions, as they stand in the request.
	Define []rewrite.Span
	// Effort is the effort from the user's next turn on. It stands in a message by
	// itself, before that turn.
	Effort string
}

// Empty reports a directive that says nothing at the tail.
func (d *Directive) Empty() bool {
	return len(d.Texts)+len(d.Remove)+len(d.Add)+len(d.Define) == 0
}

// tools reports whether the directive changes which tools there are.
func (d *Directive) tools() bool { return len(d.Remove)+len(d.Add)+len(d.Define) > 0 }

// gap is what may be inserted after the last message of a request.
type gap uint8

const (
	nothing  gap = iota
	textOnly     // a turn that the provider paused takes no tool changes
	anything
)

// tail finds out what may stand after the last message: behind a user's turn
// anything, behind a turn that the provider paused only text, and behind any
// other reply, as the beginning of the next one, nothing.
func tail(messages []Message) gap {
	last := len(messages) - 1
	for last >= 0 && messages[last].Role == System {
		// A run of system messages is one: what counts stands before it.
		last--
	}
	if last < 0 {
		return nothing
	}
	switch m := messages[last]; m.Role {
	case User:
		if last > 0 && messages[last-1].HostedOpen {
			// The results of a turn in which the provider's own call is open:
			// whether anything may stand behind them is not documented.
			return nothing
		}
		return anything
	case Assistant:
		if m.HostedTail {
			return textOnly
		}
	case System:
		panic("BUG: a run of system messages ends in one")
	}
	return nothing
}
