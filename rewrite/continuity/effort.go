package continuity

import "slices"

// levels are the efforts that a message can set.
var levels = []string{"low", "medium", "high", "xhigh", "max"}

// effortPlan is what the effort of a request comes to.
type effortPlan struct {
	// first is the top-level effort to send, and asked the client's.
	first, asked string
	// level is what to set by a message after a number of the client's; empty is
	// nothing.
	level  string
	after  int
	reason Reason
}

// planEffort keeps the top-level effort as it was first sent, since the provider
// reads it before the messages, and sets another one by a message before the
// user's next turn, which is when such a message takes effect. A client that says
// so itself has said it.
func planEffort(s *State, facts *Facts, able Abilities) effortPlan {
	p := effortPlan{first: s.Effort, asked: s.Asked}
	if facts.Threads {
		// The requests that go on with the thread say it as the client has it.
		if p.first = facts.Effort; !s.Leveled {
			p.asked = facts.Effort
			return p
		}
	}
	if facts.Effort == s.Asked && able.Effort && !facts.Rigid {
		return p
	}
	if !able.Effort || facts.Rigid || !slices.Contains(levels, facts.Effort) {
		// No message can say it: the default has no name, and some thinking takes no
		// other level than that of the top.
		if p = (effortPlan{first: facts.Effort, asked: facts.Effort}); s.Leveled {
			p.reason = EffortChanged
		}
		return p
	}
	if effortOf(facts.Messages[min(s.Sent, len(facts.Messages)):]) == facts.Effort {
		p.asked = facts.Effort
		return p
	}
	at := turnBegins(facts.Messages)
	if at < max(s.Sent, 1) {
		// It waits for the user's next turn.
		return p
	}
	p.level, p.after, p.asked = facts.Effort, at, facts.Effort
	return p
}

// effortOf is the effort that the client's messages set last, empty for none.
func effortOf(messages []Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Effort != "" {
			return m.Effort
		}
	}
	return ""
}

// turnBegins is the index of the message with which the user's newest turn
// begins, or -1 if that is no turn of its own: the results of calls go on with
// the one before.
func turnBegins(messages []Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role != Assistant {
			continue
		}
		if m.Calls || m.HostedOpen || m.HostedTail || i+1 == len(messages) || messages[i+1].Role != User {
			return -1
		}
		return i + 1
	}
	return -1
}
