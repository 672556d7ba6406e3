package relay

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// modeField is the header by which a request asks for less than is configured.
const modeField = "warmpath-mode"

// mode is how much is done for the request: the least of what the gateway, the
// provider and the request itself ask for.
func (x *exchange) mode() rewrite.Mode {
	mode := min(x.settings.Mode, x.target.Provider.Mode)
	if asked := x.req.Field(modeField); len(asked) > 0 {
		least, _ := rewrite.ParseMode(string(asked))
		mode = min(mode, least)
	}
	return mode
}

// badMode refuses a request that asks for a mode which there is not.
func (x *exchange) badMode() *rewrite.Failure {
	asked := x.req.Field(modeField)
	if _, ok := rewrite.ParseMode(string(asked)); ok || len(asked) == 0 {
		return nil
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest,
		Message: "The header " + modeField + ` is "` + shownName(string(asked)) + `". Send off, observe or on, or leave it out.`}
}

// planObserved plans a request that is only observed as a turn of the conversation that
// the gateway edits, if that is where it comes from. What comes of it is none of
// that conversation's: it is remembered where all that is observed is. It returns
// false if the store does not answer.
func (x *exchange) planObserved(w *warmth) bool {
	observed := *w
	w.heads, w.plan = x.relay.memory.Heads(x.scope(), w.facts.Messages), nil
	ok := x.plan(w)
	sent := w.known.Sent
	w.heads, w.known = observed.heads, observed.known
	if w.state == nil {
		w.plan, w.stranger = observed.plan, observed.stranger
		return ok
	}
	w.known.Sent = sent
	return ok
}

// modeLowered is why a prefix begins anew that the gateway may edit no longer.
const modeLowered continuity.Reason = "mode"

// rescue mends a request that has to go out as it came, but whose conversation
// the gateway has edited before: the thinking in it was made under a prefix that
// the client does not know. It returns false if that is not why the provider
// has refused it.
func (x *exchange) rescue(refusal []byte) bool {
	if x.rescued || !bytes.Contains(refusal, []byte(saysBound)) || !x.plannable() {
		return false
	}
	x.rescued = true
	w := x.newWarmth(x.named, x.scope())
	if w == nil || w.facts.Thread || !x.plan(w) || w.plan.Epoch != continuity.None || w.plan.Untouched() {
		return false
	}
	w.passing, w.unmarked = true, true
	w.begin(modeLowered)
	if !w.plan.Drop {
		return false
	}
	body, err := w.edited()
	if err != nil {
		return false
	}
	w.tried[dropBound] = true
	w.betas = x.missing(w.needs(false))
	x.warmth = w
	x.send(body)
	return true
}
