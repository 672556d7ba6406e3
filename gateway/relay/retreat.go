package relay

import (
	"bytes"
	"slices"

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
	noAsking retreat = "diagnostics"
	noEdits  retreat = "other"
)

// maxRefusal bounds how much of a refusal is read, in bytes.
const maxRefusal = 64 << 10

// The words by which a provider says what it refuses, as they stand in the JSON
// of its errors.
const (
	saysBound   = "bound to a different conversation"
	saysUnknown = `Unexpected role \"system\"`
	saysRoles   = "Input should be 'user' or 'assistant'"
	saysExtra   = "Extra inputs are not permitted"
	saysBetas   = "`anthropic-beta`"
)

// ofEffort is in refusals of messages that set the effort, behind their index.
const ofEffort = ".output_config"

// ofSystem and ofChanges are in refusals of system messages, and of what changes
// the tools in them.
var (
	ofSystem  = []string{saysUnknown, saysRoles, "role 'system'"}
	ofChanges = []string{"tool_addition", "tool_removal", "tool_reference", "tool_definition", "tool_name_conflict", "available_tools_limit_exceeded"}
)

// mendable changes a refused request into one that may succeed. It returns false
// if there is none.
func (x *exchange) mendable(refusal []byte) bool {
	if x.warmth == nil || x.warmth.observing {
		return x.rescue(refusal)
	}
	why, ok := x.judge(refusal)
	return ok && x.retreat(why, refusal)
}

// judge finds the retreat that may help after a refusal. There is none for what
// nothing of the gateway's can have caused: that is for the client to hear. Each
// is made once.
func (x *exchange) judge(refusal []byte) (why retreat, ok bool) {
	w := x.warmth
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(refusal, []byte(word)) })
	}
	edited, inserted := !w.plan.Untouched() || w.marked || w.asked, len(w.plan.Inserts) > 0
	switch {
	case says(saysBound) && !w.plan.Drop && !w.tried[dropBound]:
		// The client may have edited what it sent, or have been sent through us
		// before in a way that we no longer know.
		return dropBound, true
	case w.asked && (says("diagnostics") || says(saysBetas) && says(betaDiagnosis)):
		why = noAsking
	case w.marked && says("cache_control"):
		why = noMarks
	case lacking(noBeta, refusal, w.betas)&^w.gone != 0 && (edited || says(saysBetas)):
		// A provider may name one thing at a time.
		return noBeta, true
	case inserted && says(ofSystem...), inserted && says(ofChanges...), inserted && says(ofEffort):
		why = noSystem
	default:
		why = noEdits
	}
	if w.tried[why] {
		why = noEdits
	}
	return why, !w.tried[why] && edited
}

// retreat changes the request after a refusal. It returns false if there is
// nothing else to send.
func (x *exchange) retreat(why retreat, refusal []byte) bool {
	w := x.warmth
	w.tried[why] = true
	x.relay.metrics.Retreated(string(why))
	w.refused(why, refusal)
	switch why {
	case dropBound:
		w.plan.Drop, w.plan.Next.Drop = true, true
	case noBeta:
		if !w.able.Binding {
			w.plan.Drop, w.plan.Next.Drop = false, false
		}
		if !w.lasting() {
			w.giveUp()
		}
	case noMarks:
		w.unmarked = true
	case noAsking:
		w.unasking = true
	case noSystem, noEdits:
		w.giveUp()
	}
	x.ask(w)
	body, err := w.edited()
	if err != nil {
		return false
	}
	w.betas = x.missing(w.needs(x.settings.EarlyBetas && why != noEdits))
	x.send(body)
	return true
}

// lasting reports a plan that needs nothing which the provider is taken to lack.
func (w *warmth) lasting() bool {
	return (w.able.Text || len(w.plan.Inserts) == 0) && (w.able.Reference || !w.inserts(`"type":"tool_`)) &&
		(w.able.Define || !w.inserts(`"type":"tool_definition"`)) && (w.able.Effort || !w.plan.Next.Leveled)
}

// giveUp goes back to the client's own bytes. The thinking in the history was
// made under the prefix that is now gone.
func (w *warmth) giveUp() {
	w.unmarked, w.unasking = true, true
	w.plan = continuity.Begin(w.plan.Next.Conversation, w.plan.Next, "retreat", w.facts, w.able)
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

// The betas that the gateway's own edits need.
const (
	betaDefine  = "inline-tools-2026-09-15"
	betaByName  = "mid-conversation-tool-changes-2026-07-01"
	betaEffort  = "mid-conversation-output-config-2026-07-01"
	betaBinding = "thinking-binding-controls-2026-08-01"
)

// needs are the betas of a plan. Early are those that it may need later: the set
// may be part of the cache's key, and must then not change half-way.
func (w *warmth) needs(early bool) []string {
	var betas []string
	if early || w.inserts(`"type":"tool_`) {
		switch {
		case w.able.Define:
			betas = append(betas, betaDefine)
		case w.able.Reference:
			betas = append(betas, betaByName)
		}
	}
	if w.able.Effort && (early || w.plan.Next.Leveled) {
		betas = append(betas, betaEffort)
	}
	if w.plan.Drop && !w.stripped {
		betas = append(betas, betaBinding)
	}
	if w.asked && w.early {
		betas = append(betas, betaDiagnosis)
	}
	return betas
}

// inserts reports directives that have a piece of JSON in them, like those that
// add or withdraw tools. What they quote of the system prompt is escaped.
func (w *warmth) inserts(piece string) bool {
	return slices.ContainsFunc(w.plan.Inserts, func(e continuity.Edit) bool {
		return bytes.Contains(e.Bytes, []byte(piece))
	})
}
