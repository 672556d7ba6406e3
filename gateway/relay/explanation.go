package relay

import "warmpath/rewrite/continuity"

// Explanation is what was done to keep a request's prefix warm, without any of
// its content but the names of tools.
type Explanation struct {
	Conversation string
	Epoch        int
	// Began is why the prefix begins anew with this request, or continuity.None.
	Began continuity.Reason
	// Messages is how many messages the request has, and Known how many of them
	// had been sent before.
	Messages, Known           int
	FrozenTools, FrozenSystem bool
	// Directives is the number of the gateway's messages in the request. The rest
	// is about the newest of them, if it is new: what it says, and which tools it
	// adds, removes and defines.
	Directives, Texts, Defined int
	Added, Removed             []string
	// Retreats are the steps back after refusals, in the order of their names.
	Retreats []string
	// Repaired says that thinking of a lost prefix was left out.
	Repaired bool
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
		Directives: len(plan.Inserts), Repaired: plan.Drop, Observed: w.observing,
	}
	if said := plan.Said; said != nil {
		e.Texts, e.Defined, e.Added, e.Removed = len(said.Texts), len(said.Define), said.Add, said.Remove
	}
	for _, why := range []retreat{dropBound, noSystem, noBeta, noMarks, noEdits} {
		if w.tried[why] {
			e.Retreats = append(e.Retreats, string(why))
		}
	}
	return e
}
