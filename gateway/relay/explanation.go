package relay

import "warmpath/rewrite/continuity"

// Explanation is what was done to keep a request's prefix warm, and why. But for
// the names of tools, and for what stands around a change where that is asked
// for, it holds none of the request's content.
type Explanation struct {
	Conversation string
	Epoch        int
	// Began is why the prefix begins anew with this request, or continuity.None.
	Began continuity.Reason
	// Messages is how many messages the request has, and Known how many of them
	// had been sent before.
	Messages, Known int
	// Changes are what the client changed since the turn before, in the order of
	// the prefix; Unlisted is how many more there were.
	Changes  []Change
	Unlisted int
	// Stake is an estimate of the tokens that stand behind the first change that
	// breaks the prefix as the client sends it, as far as the provider had them.
	Stake int64
	// keeps says that the client's own bytes would break the prefix, and what was
	// sent does not.
	keeps bool
	// Saved is how many of them the provider read from its cache all the same.
	Saved int64
	// Decided are the abilities and rules that decided what was done.
	Decided                   []string
	FrozenTools, FrozenSystem bool
	// Again is the number of messages that go out as they were first sent, and
	// Effort the effort that a message sets for the first time.
	Again  int
	Effort string
	// Directives is the number of the gateway's messages in the request. The rest
	// is about the newest of them, if it is new: what it says, and which tools it
	// adds, removes and defines.
	Directives, Texts, Defined int
	Added, Removed             []string
	// Marked says that the gateway has set cache marks, and Betas are those that
	// it added.
	Marked bool
	Betas  []string
	// Retreats are the steps back after refusals, in the order of their names.
	Retreats []string
	// Repaired says that thinking of a lost prefix was left out.
	Repaired bool
	// Asked says that the provider was asked why its cache missed.
	Asked bool
	// Observed says that all this was only planned, and the request went out as
	// it came.
	Observed bool
}

// explanation is nil where continuity does not apply.
func (x *exchange) explanation() *Explanation {
	w := x.warmth
	if w == nil {
		return nil
	}
	plan := w.plan
	e := &Explanation{
		Conversation: plan.Next.Conversation, Epoch: plan.Next.Epoch, Began: plan.Epoch,
		Messages: len(w.facts.Messages), Known: w.known.Sent,
		FrozenTools: plan.Tools != nil, FrozenSystem: plan.Sections != nil,
		Again: len(plan.Again), Effort: plan.Level,
		Directives: len(plan.Inserts), Repaired: plan.Drop, Observed: w.observing,
		Marked: w.marked, Betas: w.betas, Asked: w.asked,
	}
	if said := plan.Said; said != nil {
		e.Texts, e.Defined, e.Added, e.Removed = len(said.Texts), len(said.Define), said.Add, said.Remove
	}
	for _, why := range retreats {
		if w.tried[why] {
			e.Retreats = append(e.Retreats, string(why))
		}
	}
	if x.aside != nil {
		e.Retreats = append(e.Retreats, "tools")
	}
	if !w.passing {
		x.changes(w, e)
		e.Decided = w.decided(e)
	}
	return e
}

// decided are the abilities and rules that decided what was done, in words of a
// closed set.
func (w *warmth) decided(e *Explanation) (why []string) {
	say := func(when bool, word string) {
		if when {
			why = append(why, word)
		}
	}
	plan, said := w.plan, w.plan.Said
	say(plan.Epoch != continuity.None && plan.Epoch != continuity.Fresh, string(plan.Epoch))
	switch plan.Epoch {
	case continuity.ToolsChanged:
		say(!w.able.Reference, "without_tool_changes")
		say(w.able.Reference && !w.able.Define, "without_definitions")
	case continuity.SystemChanged:
		say(!w.able.Text, "without_system_messages")
	case continuity.None, continuity.HistoryRewritten:
		say(e.FrozenTools || e.FrozenSystem || e.Again > 0, "first_bytes")
	default:
	}
	say(plan.Level != "", "effort_by_message")
	if said != nil {
		say(len(said.Texts) > 0, "system_messages")
		say(len(said.Add)+len(said.Remove) > 0, "tools_by_reference")
		say(len(said.Define) > 0, "tools_by_definition")
	}
	say(said == nil && plan.Epoch == continuity.None && differs(e.Changes), "held")
	say(w.unmarked && !w.passing, "without_marks")
	say(w.blind, "without_store")
	return why
}

// differs reports a change that the model has to be told of.
func differs(changes []Change) bool {
	for _, c := range changes {
		if (c.Tier == continuity.TierTools || c.Tier == continuity.TierSystem) && c.Kind != "moved" && c.Kind != "respelled" {
			return true
		}
	}
	return false
}
