package gateway

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"warmpath/gateway/console"
	"warmpath/gateway/relay"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// remembered is how many requests the console can show.
const remembered = 1000

// requests remembers the newest requests for the console. What the console shows
// of them is made when it asks, so that a request pays for a copy and no more.
type requests struct {
	mu   sync.Mutex
	last int64
	ring [remembered]relay.Record
}

func (r *requests) add(record *relay.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	kept := &r.ring[r.last%remembered]
	*kept = *record
	kept.Cause = nil // is for the log, and may hold more than it says
}

// newest lists what is remembered, newest first. The records are copied, so that no
// request waits while they are told.
func (r *requests) newest() []console.Request {
	r.mu.Lock()
	ring, last := r.ring, r.last
	r.mu.Unlock()
	n := min(last, remembered)
	list := make([]console.Request, 0, n)
	for id := last; id > last-n; id-- {
		row := shown(&ring[id%remembered])
		row.ID = id
		list = append(list, row)
	}
	return list
}

// shown is a record as the console shows it.
func shown(r *relay.Record) console.Request {
	u := r.Report.Usage
	spoken := ""
	if r.Spoken != rewrite.Opaque {
		spoken = r.Spoken.String()
	}
	row := console.Request{
		Spoken: spoken, Losses: lost(r),
		Arrived: r.Arrived, Dialect: r.Dialect.String(), Operation: r.Operation.String(), Provider: r.Provider, Model: r.Model,
		Stream: r.Stream, Status: r.Status, Reason: r.Reason.String(), Stop: r.Report.Stop.String(), Retries: r.Retries,
		Milliseconds: milliseconds(r.Duration), FirstToken: milliseconds(r.TimeToFirstToken),
		Input: count(u.InputTotal), Read: count(u.CacheRead), Written: count(u.CacheWrite), Fresh: count(u.InputFresh),
		Output: count(u.OutputTotal), Cache: r.Cache.String(), Miss: missed(&r.Verdict),
		Diagnosis: r.Report.Diagnosis.String(), Continuity: explained(r.Explanation),
		Conversation: r.Conversation, Partial: r.Partial, Cost: dollars(r.Cost), CostLeast: r.Cost.Least,
	}
	for _, a := range r.Earlier {
		row.Earlier = append(row.Earlier, console.Attempt{
			Provider: a.Provider, Model: a.Model, Status: a.Status, Reason: a.Reason.String(), Milliseconds: milliseconds(a.Duration),
		})
	}
	if a := r.Report.Activity; a != nil {
		row.Citations = a.Cited + a.Citing
		for i := range a.Hosted {
			h := &a.Hosted[i]
			row.Hosted = append(row.Hosted, console.Hosted{ID: h.ID, Name: h.Name, State: r.Report.StateOf(h)})
		}
	}
	return row
}

// dollars is nil for a cost that is not known.
func dollars(c rewrite.Cost) *json.Number {
	if !c.Known {
		return nil
	}
	n := json.Number(c.Total().String())
	return &n
}

// lost is what a translation had no words for.
func lost(r *relay.Record) (losses []string) {
	for _, loss := range slices.Concat(r.Losses, r.Said) {
		losses = append(losses, rewrite.Visible(loss.Path+" ("+loss.Why+")"))
	}
	return losses
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// count is nil for what the provider did not report.
func count(c rewrite.Count) *int64 {
	if !c.Known {
		return nil
	}
	n := c.N // the record gives way to another
	return &n
}

func explained(e *relay.Explanation) *console.Continuity {
	if e == nil {
		return nil
	}
	c := &console.Continuity{
		Conversation: e.Conversation, Epoch: e.Epoch, Began: string(e.Began), Messages: e.Messages, Known: e.Known,
		Unlisted: e.Unlisted, Stake: e.Stake, Saved: e.Saved, Decided: e.Decided,
		FrozenTools: e.FrozenTools, FrozenSystem: e.FrozenSystem, Again: e.Again, Effort: e.Effort, Directives: e.Directives, Texts: e.Texts,
		Added: e.Added, Removed: e.Removed, Defined: e.Defined, Marked: e.Marked, Betas: e.Betas, Asked: e.Asked,
		Retreats: e.Retreats, Repaired: e.Repaired, Observed: e.Observed,
	}
	for _, change := range e.Changes {
		row := console.Change{
			Tier: string(change.Tier), Path: change.Path, Kind: change.Kind, Tool: change.Tool,
			Size: change.Size, Hash: change.Hash, Old: change.Old, New: change.New,
		}
		if change.At >= 0 {
			row.At = &change.At
		}
		c.Changes = append(c.Changes, row)
	}
	return c
}

// missed is nil for a request that found what it should.
func missed(v *continuity.Verdict) *console.Miss {
	if v.Miss == continuity.NoMiss {
		return nil
	}
	return &console.Miss{Reason: string(v.Miss), Source: v.Source, By: v.By, Expected: v.Expected, Missed: v.Missed}
}
