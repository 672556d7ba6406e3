package relay

import "warmpath/rewrite/continuity"

// betaDiagnosis is the beta that asking for a diagnosis needed once. The vendor's
// own API takes it for one that says nothing now. Since the set of betas may be
// part of the cache's key, it goes along only where every request asks: then it
// is there from the first request of a conversation on.
const betaDiagnosis = "cache-diagnosis-2026-04-07"

// ask decides whether the provider is asked why its cache missed. A client that
// asks itself is not interfered with.
func (x *exchange) ask(w *warmth) {
	w.asked = w.able.Diagnostics && !w.unasking && !w.observing && !w.passing && !w.facts.Diagnoses &&
		x.req.Operation == OpGenerate && x.settings.Diagnostics.Asks(w.plan, w.before())
	w.early = x.settings.Diagnostics == continuity.AskAlways
}

// before is the turn before the request under this history, nil for none.
func (w *warmth) before() *continuity.Turn {
	if w.state == nil {
		return nil
	}
	return w.state.Last
}

// previous is the ID of the reply before, if the provider can compare with its
// request.
func (w *warmth) previous() string {
	if last := w.before(); last != nil && last.Asked {
		return last.Reply
	}
	return ""
}
