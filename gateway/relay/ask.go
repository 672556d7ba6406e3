package relay

import "warmpath/rewrite/continuity"

// betaDiagnosis is the beta that asking for a diagnosis needed once. The vendor's
// own API takes it for one that says nothing now. Since the set of betas may be
// part of the cache's key, it goes along only where every request asks: then it
// is there from the first request of a conversation on.
const betaDiagnosis = "cache-diagnosis-2026-04-07"

// ask decides whether the provider is asked why its cache missed. A client that
// asks itself is not interfered with, and what is sent again asks as it did.
func (x *exchange) ask(w *warmth) {
	w.asked, w.previous = false, ""
	if !w.able.Diagnostics || w.unasking || w.observing || w.passing || w.blind || w.facts.Diagnoses || x.req.Operation != OpGenerate {
		return
	}
	var last *continuity.Turn
	if w.state != nil {
		last = w.state.Last
	}
	asking := x.settings.Diagnostics
	switch again := last != nil && w.known.Sent == len(w.facts.Messages); {
	case again && asking != continuity.AskNever:
		w.asked, w.previous = last.Asked, last.Previous
	case !again && asking.Asks(w.plan, last):
		if w.asked = true; last != nil && last.Asked {
			w.previous = last.Reply
		}
	}
	w.early = asking == continuity.AskAlways
}
