package console

import (
	"fmt"
	"strings"
)

// explained is a record in words.
type explained struct {
	// Why is the reason of a miss, with what is known of it, and Found in which
	// figures it shows.
	Why   *meaning
	Found string
	By    string
	// Changed is what the client changed, and Done what the gateway made of it.
	Changed []changed
	More    int
	Stake   string
	Done    []string
	Decided []string
	// Said is what the provider says of the miss.
	Said    string
	Failed  string
	Losses  []string
	Earlier []string
	Hosted  []string
}

// changed is one thing that the client changed.
type changed struct {
	Sign, Kind, Path, Where string
	Old, New                string
}

// signs are how kinds of changes are marked, beside their word.
var signs = map[string]string{"added": "+", "removed": "−", "changed": "~", "moved": "↕", "respelled": "≈"}

// explain tells a record in words.
func explain(r *Request) (e explained) {
	if m := r.Miss; m != nil {
		why := meaningOf(m.Reason)
		e.Why, e.By = &why, m.By
		if c, ok := culprits[m.By]; ok {
			e.By = c.Title
		}
		if m.Expected > 0 {
			e.Found = fmt.Sprintf("%s of %s cached tokens were processed again", grouped(m.Missed), grouped(m.Expected))
		}
		if m.Source == "provider" {
			e.Said = "the provider itself gives this reason"
		}
	}
	if r.Diagnosis != "" && r.Diagnosis != "none" {
		e.Said = "asked why its cache missed, the provider says: " + r.Diagnosis
	}
	if r.Status >= 400 {
		e.Failed = fmt.Sprintf("answered with status %d (%s)", r.Status, r.Reason)
	}
	e.Losses = r.Losses
	for _, a := range r.Earlier {
		e.Earlier = append(e.Earlier, fmt.Sprintf("%s %s: status %d, %s, after %s", a.Provider, a.Model, a.Status, a.Reason, took(a.Milliseconds)))
	}
	for _, h := range r.Hosted {
		e.Hosted = append(e.Hosted, h.Name+": "+h.State)
	}
	if c := r.Continuity; c != nil {
		e.changes(c)
		e.Done, e.Decided = done(c), c.Decided
	}
	return e
}

func (e *explained) changes(c *Continuity) {
	for i := range c.Changes {
		change := &c.Changes[i]
		row := changed{Sign: signs[change.Kind], Kind: change.Kind, Path: change.Path, Old: change.Old, New: change.New}
		if change.Tool != "" {
			row.Path += " " + change.Tool
		}
		if change.At != nil {
			row.Where = "at byte " + grouped(int64(*change.At))
		}
		e.Changed = append(e.Changed, row)
	}
	e.More = c.Unlisted
	if c.Stake > 0 {
		e.Stake = "about " + counted(c.Stake, "cached token") + " stood behind the first change"
		if c.Saved > 0 {
			e.Stake += "; " + grouped(c.Saved) + " of them were read from the cache all the same"
		}
	}
}

// done is what was made of a request; nothing for one that went as it came.
func done(c *Continuity) (said []string) {
	add := func(when bool, format string, args ...any) {
		if when {
			said = append(said, fmt.Sprintf(format, args...))
		}
	}
	add(c.Began != "" && c.Began != "fresh", "began the prefix anew: %s", c.Began)
	add(c.FrozenTools, "sent the tools as they were first sent")
	add(c.FrozenSystem, "sent the system prompt as it was first sent")
	add(c.Again > 0, "sent %s as first sent", counted(int64(c.Again), "message"))
	add(c.Effort != "", "set the effort to %s by a message", c.Effort)
	add(len(c.Removed) > 0, "withdrew the tools %s", strings.Join(c.Removed, ", "))
	add(len(c.Added) > 0, "added the tools %s", strings.Join(c.Added, ", "))
	add(c.Defined > 0, "defined %s anew", counted(int64(c.Defined), "tool"))
	add(c.Texts > 0, "told %s of the system prompt at the end", counted(int64(c.Texts), "change"))
	add(c.Marked, "set cache marks")
	add(len(c.Betas) > 0, "added the betas %s", strings.Join(c.Betas, ", "))
	add(c.Asked, "asked the provider why its cache missed")
	add(len(c.Retreats) > 0, "stepped back after refusals: %s", strings.Join(c.Retreats, ", "))
	add(c.Repaired, "left out thinking of a lost prefix")
	add(c.Observed, "only planned all this (mode observe): the request went out as it came")
	return said
}
