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

// retreats are all of them, in the order in which they are told.
var retreats = []retreat{dropBound, noSystem, noBeta, noMarks, noAsking, noEdits}

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

// blames says how far a refusal's status may be about what a request holds.
type blames uint8

const (
	blamesNothing blames = iota
	// blamesPerhaps is of statuses that are hardly about that: of paths, of rights,
	// of servers that fail at what they do not expect.
	blamesPerhaps
	blamesRequest
)

func blamed(status int) blames {
	switch status {
	case 400, 413, 422:
		return blamesRequest
	case 403, 404, 500, 501:
		return blamesPerhaps
	}
	return blamesNothing
}

// mended changes a refused request into one that may succeed. It returns false
// if there is none, and then has read the beginning of the refusal ahead.
func (x *exchange) mended(resp *upstream.Response) bool {
	blames := blamed(resp.Status)
	if w := x.warmth; w == nil || w.observing {
		if resp.Status != 400 || w == nil && !x.plannable() {
			return false
		}
		x.ahead = x.readAhead(resp)
		return x.rescue(x.ahead)
	}
	if blames == blamesNothing || blames == blamesPerhaps && !x.warmth.strange() {
		return false
	}
	x.ahead = x.readAhead(resp)
	if blames == blamesPerhaps {
		return !x.warmth.tried[noEdits] && x.retreat(noEdits, x.ahead)
	}
	why, ok := x.judge(resp.Status, x.ahead)
	return ok && x.retreat(why, x.ahead)
}

// sendsOwn reports a plan by which the client's own prompt goes out, less the
// thinking that is asked to be left out.
func (w *warmth) sendsOwn() bool {
	edits := *w.plan
	edits.Drop = false
	return edits.Untouched()
}

// changed reports a body with edits in it, beside what asks for thinking to be
// left out.
func (w *warmth) changed() bool { return !w.sendsOwn() || w.marked || w.asked }

// strange reports a body with edits in it that a server may not expect. Other
// bytes of the same kinds as the client's are none.
func (w *warmth) strange() bool {
	return len(w.plan.Inserts) > 0 || w.asked ||
		slices.ContainsFunc(w.plan.Tools, func(p continuity.Piece) bool { return p.Deferred })
}

// judge finds the retreat that may help after a refusal. There is none for what
// nothing of the gateway's can have caused: that is for the client to hear. Each
// is made once.
func (x *exchange) judge(status int, refusal []byte) (why retreat, ok bool) {
	w := x.warmth
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(refusal, []byte(word)) })
	}
	// Who answers 400 and knows what thinking is bound to would refuse it again
	// if it were not left out.
	edited, inserted := w.changed() || w.plan.Drop && status != 400, len(w.plan.Inserts) > 0
	switch {
	case says(saysBound) && !w.plan.Drop && !w.tried[dropBound]:
		// The client may have edited what it sent, or have been sent through us
		// before in a way that we no longer know.
		return dropBound, true
	case w.asked && (says("diagnostics") || says(saysBetas) && says(betaDiagnosis)):
		why = noAsking
	case w.marked && says("cache_control"):
		why = noMarks
	case lacking(noBeta, refusal, w.betas)&^w.gone != 0 && (edited || w.plan.Drop || says(saysBetas)):
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
		bare := !w.changed()
		if w.giveUp(); bare {
			// To ask for thinking to be left out is all that there is to give up.
			w.plan.Drop, w.plan.Next.Drop = false, false
		}
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
// made under the prefix that is now gone, if it was another.
func (w *warmth) giveUp() {
	w.unmarked, w.unasking = true, true
	if w.sendsOwn() {
		return
	}
	w.plan = continuity.Begin(w.plan.Next.Conversation, w.plan.Next, "retreat", w.facts, w.able)
}

// readAhead reads the beginning of a refusal, which is all of it for those that
// are known, to be judged and, if it stands, passed on with the rest.
func (x *exchange) readAhead(resp *upstream.Response) []byte {
	if x.ahead != nil {
		return x.ahead
	}
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
