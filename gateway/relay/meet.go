package relay

import (
	"slices"
	"time"

	"warmpath/rewrite/continuity"
)

// rewritten finds out what came before the request, and begins an epoch where
// the client has changed what it had sent: the prefix goes on from there. The
// state that it goes on from may be of an older epoch than what came before, so
// the new one is counted from the newest.
func (x *exchange) rewritten(w *warmth) {
	w.past = x.retrace(w)
	if x.req.Operation != OpGenerate || !w.past.rewritten || w.state == nil {
		return
	}
	if w.plan.Epoch == continuity.None {
		w.plan.Epoch = continuity.HistoryRewritten
		w.plan.Next.Epoch++
	}
	w.plan.Next.Epoch = max(w.plan.Next.Epoch, w.past.epoch+1)
}

// consider gathers what a miss will be judged by, while the request is there.
func (x *exchange) consider() {
	w := x.warmth
	if w == nil || w.passing || x.req.Operation != OpGenerate {
		return
	}
	last := w.past.last
	e := continuity.Evidence{
		Opening: w.stranger && w.state == nil && w.past.elsewhere == continuity.NoMiss || !answered(w.facts.Messages), Marked: w.reads(), Minimum: w.able.Minimum,
		Last: last, Elsewhere: w.past.elsewhere, Rewritten: w.past.rewritten,
		Epoch: w.plan.Epoch, Edited: !w.observing && !w.plan.Untouched(),
	}
	if w.past.forgotten {
		e.Epoch = continuity.BytesLost
	}
	if w.observing {
		e.Epoch = w.broken()
	}
	if last != nil {
		e.Elapsed = int(x.begun().Unix()) - last.Started
		if h := x.hidden(); h != nil {
			e.Awaited = int(h.people.took().Seconds())
		}
		own, all := betaSets(x.req.Fields, w.betas)
		before, now := last.Params, w.facts.Params
		if w.plan.Effort != nil {
			// Another effort is said by a message.
			before, now = before.Without("output_config"), now.Without("output_config")
		}
		e.Params, e.Own, e.Betas = before != now, last.Own != own, last.Betas != all
		e.Spelled = w.state != nil && w.respelled(last)
	}
	x.evidence, x.judged = e, true
}

// begun is when the call began: with the request, or in the course of its reply.
func (x *exchange) begun() time.Time {
	if t := x.translation; t != nil && t.chain != nil && t.chain.calls > 0 {
		return t.chain.began
	}
	return x.record.Arrived
}

// hidden is what the reply runs of tools; nil for none.
func (x *exchange) hidden() *hidden {
	if x.translation == nil {
		return nil
	}
	return x.translation.chain.hiddenOf()
}

// respelled reports messages that are sent otherwise than in the turn before.
func (w *warmth) respelled(last *continuity.Turn) bool {
	for i := 0; ; i++ {
		if i = last.Respelled(w.facts.Messages, i, w.known.Sent); i < 0 || w.observing {
			return i >= 0
		}
		if !slices.ContainsFunc(w.plan.Again, func(a continuity.Again) bool { return a.At == i }) {
			return true
		}
	}
}

// reads reports a request that asks the provider for as much of its cache as the
// one before it has had written.
func (w *warmth) reads() bool {
	switch {
	case w.marked, w.lastMarked() >= 0:
		return true
	case w.facts.Marks == 0:
		return false
	}
	return w.state == nil || w.state.Wrote == 0
}

// broken is why the client's own bytes begin a prefix anew, if they do.
func (w *warmth) broken() continuity.Reason {
	if w.state == nil {
		return continuity.None
	}
	changed := w.state.Since(w.facts, w.known.Sent)
	in := func(tier continuity.Tier) bool {
		return slices.ContainsFunc(changed, func(d continuity.Difference) bool { return d.Tier == tier && d.Kind != "respelled" })
	}
	switch {
	case in(continuity.TierTools):
		return continuity.ToolsChanged
	case in(continuity.TierSystem):
		return continuity.SystemChanged
	}
	return continuity.None
}

// follow gives the notes to the tap, if it can follow the reply, and else takes
// them at once.
func (x *exchange) follow(status int, length int64) {
	n := &x.notes
	if n.state == nil {
		return
	}
	if status != 200 || x.tap.off || x.tap.encoding != "" {
		n.save()
		return
	}
	n.length = length
	x.tap.notes = n
}

// verdict judges the request once it is over.
func (x *exchange) verdict() {
	r := &x.record
	if !x.judged || r.Status != 200 && r.Report.ID == "" {
		return
	}
	r.Verdict = x.evidence.Judge(&r.Report.Usage, r.Report.Diagnosis)
	v := &r.Verdict
	if v.Miss != continuity.NoMiss {
		x.relay.metrics.Broke(string(v.Miss), v.Source, v.By, v.Missed)
	}
	if e := r.Explanation; e != nil && e.keeps && v.Miss == continuity.NoMiss {
		if e.Saved = min(e.Stake, r.Report.Usage.CacheRead.N); e.Saved > 0 {
			x.relay.metrics.Saved(r.Provider, r.Model, e.Saved)
		}
	}
}
