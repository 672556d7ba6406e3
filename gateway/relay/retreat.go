package relay

import (
	"bytes"
	"sync"

	"warmpath/gateway/upstream"
	"warmpath/rewrite/continuity"
)

// retreat is a step back from what the gateway made of a request to what the
// client sent. Each is tried once.
type retreat string

const (
	// dropBound asks for thinking of another prefix to be left out.
	dropBound retreat = "bound_thinking"
	// noSystem, noBeta and noMarks give up what the provider refuses by name;
	// noEdits gives all up without knowing why.
	noSystem retreat = "system_message"
	noBeta   retreat = "beta"
	noMarks  retreat = "marks"
	noEdits  retreat = "other"
)

// maxRefusal bounds how much of a refusal is read, in bytes.
const maxRefusal = 64 << 10

// words by which a provider says what it refuses.
var refused = []struct {
	why   retreat
	words []string
}{
	{dropBound, []string{"bound to a different conversation"}},
	{noSystem, []string{"role 'system'", `Unexpected role \"system\"`, "tool_addition", "tool_removal", "tool_reference"}},
	{noBeta, []string{"`anthropic-beta`", "Extra inputs are not permitted"}},
	{noMarks, []string{"cache_control"}},
}

// judge finds the retreat that may help, or none.
func (x *exchange) judge(body []byte) (why retreat, ok bool) {
	w := x.warmth
	why = noEdits
	for _, r := range refused {
		for _, word := range r.words {
			if bytes.Contains(body, []byte(word)) && why == noEdits {
				why = r.why
			}
		}
	}
	switch {
	case w.tried[why]:
		why = noEdits
	case why == dropBound && w.plan.Drop:
		why = noEdits
	}
	if why != dropBound && !x.touched() || w.tried[why] {
		// What the client sent itself is for the client to hear about.
		return "", false
	}
	return why, true
}

// touched reports whether the provider got anything but the client's own.
func (x *exchange) touched() bool { return !x.warmth.plan.Untouched() || x.warmth.betas != nil }

// retreat changes the request after a refusal.
func (x *exchange) retreat(why retreat) bool {
	w := x.warmth
	w.tried[why] = true
	x.relay.metrics.Retreated(string(why))
	switch why {
	case dropBound:
		w.plan.Drop, w.plan.Next.Drop = true, true
	case noSystem, noBeta, noMarks, noEdits:
		w.suspect = w.suspect || why == noSystem || why == noBeta
		// The thinking was made under our prefix, which is now gone.
		w.plan = continuity.Begin(w.plan.Next.Conversation, w.plan.Next, "retreat", w.facts, w.able)
		w.betas = nil
	}
	if w.plan.Drop {
		w.betas = append(w.betas, betaBinding)
	}
	body, err := w.edited()
	if err != nil {
		return false
	}
	x.send(body)
	x.remember()
	return true
}

// learn remembers what a provider has refused, once the client's own request has
// gone through: only then was it ours that was at fault.
func (x *exchange) learn(status int) {
	if w := x.warmth; w != nil && w.suspect && status < 400 {
		x.relay.refusals.add(x.target.Provider.Name, x.target.Model)
	}
}

// readAhead reads the beginning of a refusal, which is all of it for those that
// are known, to be judged and, if it stands, passed on with the rest.
func (x *exchange) readAhead(resp *upstream.Response) []byte {
	var body []byte
	for len(body) <= maxRefusal {
		chunk, err := resp.Next(x.settings.patience())
		body = append(body, chunk...)
		if err != nil {
			break
		}
	}
	return body
}

// refusals remembers which models at which providers refused what their row in
// the catalog allows, until the process ends.
type refusals struct {
	mu   sync.RWMutex
	seen map[[2]string]bool
}

func (r *refusals) add(provider, model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[[2]string]bool{}
	}
	r.seen[[2]string{provider, model}] = true
}

// without takes away what has been refused.
func (r *refusals) without(provider, model string, able continuity.Abilities) continuity.Abilities {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.seen[[2]string{provider, model}] {
		return continuity.Abilities{Binding: able.Binding}
	}
	return able
}

// The betas that the gateway's own edits need. Those for tool changes go along
// from the first request of a conversation, because the set may be part of the
// cache's key.
const (
	betaDefine  = "inline-tools-2026-09-15"
	betaByName  = "mid-conversation-tool-changes-2026-07-01"
	betaBinding = "thinking-binding-controls-2026-08-01"
)

// needs are the betas of a plan.
func (w *warmth) needs() []string {
	var betas []string
	switch {
	case w.able.Define:
		betas = append(betas, betaDefine)
	case w.able.Reference:
		betas = append(betas, betaByName)
	}
	if w.plan.Drop {
		betas = append(betas, betaBinding)
	}
	return betas
}
