package relay

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
)

// Change is one thing that the client changed since the turn before.
type Change struct {
	Tier continuity.Tier
	// Path is the JSON path in the client's request, or in the one before for what
	// is gone; in the tier of betas it is the header's name.
	Path string
	// Kind is added, removed, changed, moved, or respelled: written differently
	// with the same meaning.
	Kind string
	// Tool is the name of a tool.
	Tool string
	// At is the byte of the request at which the first difference stands, or where
	// what is changed begins if no more is known; -1 for what is gone and for what
	// stands beside the prompt. Size is the length of what is changed, in bytes,
	// and Hash the beginning of its digest.
	At   int
	Size int
	Hash string
	// Old and New are what stands around the difference, at most contextBytes on
	// either side; empty unless that is asked for.
	Old, New string
}

const (
	// maxChanges bounds how many changes are listed.
	maxChanges = 16
	// contextBytes is how much is kept on either side of a difference.
	contextBytes = 80
	// bytesOfToken is how many bytes of JSON are taken for a token, where the
	// provider has not told how many tokens the prompt had.
	bytesOfToken = 4
)

// changes lists what the client changed, and weighs what that puts at stake.
func (x *exchange) changes(w *warmth, e *Explanation) {
	var found []continuity.Difference
	if w.past.elsewhere == continuity.ModelMiss {
		found = append(found, continuity.Difference{Tier: continuity.TierModel, Path: "model", Kind: "changed"})
	}
	if w.state != nil && !w.blind {
		found = append(found, w.state.Since(w.facts, w.known.Sent)...)
		if last := w.state.Last; last != nil {
			if own, _ := betaSets(x.req.Fields, nil); own != last.Own {
				found = append(found, continuity.Difference{Tier: continuity.TierBetas, Path: "anthropic-beta", Kind: "changed"})
			}
		}
	}
	if w.past.rewritten {
		found = append(found, w.rewrite())
	}
	if len(found) == 0 {
		return
	}
	e.Stake, e.keeps = w.stake(found), w.keeps(found)
	e.Unlisted = max(0, len(found)-maxChanges)
	for _, d := range found[:min(len(found), maxChanges)] {
		e.Changes = append(e.Changes, w.change(d, x.settings.Context))
	}
}

// keeps reports that the request was edited, and would else break a prefix that
// it does not break so.
func (w *warmth) keeps(found []continuity.Difference) bool {
	if w.observing || w.plan.Epoch != continuity.None {
		return false
	}
	return w.plan.Effort != nil || slices.ContainsFunc(found, func(d continuity.Difference) bool {
		frozen := d.Tier == continuity.TierTools && w.plan.Tools != nil || d.Tier == continuity.TierSystem && w.plan.Sections != nil
		return frozen && d.Kind != "respelled"
	})
}

// rewrite is the first message that the client has changed since it was sent, as
// near as that is known.
func (w *warmth) rewrite() continuity.Difference {
	messages := w.facts.Messages
	i := -1
	if w.past.last != nil {
		i = w.past.last.Respelled(messages, 0, len(messages))
	}
	if w.left == nil {
		// It has not changed what the state has sent.
		i = max(i, w.known.Sent)
	}
	i = max(i, 0)
	d := continuity.Difference{Tier: continuity.TierMessages, Path: fmt.Sprintf("messages[%d]", i), Kind: "changed", Index: i}
	if i < len(messages) {
		d.After, d.Exact = messages[i].Span, messages[i].Exact
	}
	return d
}

// change finds out where in its element a difference stands.
func (w *warmth) change(d continuity.Difference, context bool) Change {
	c := Change{Tier: d.Tier, Path: d.Path, Kind: d.Kind, Tool: shownName(d.Name), At: -1, Size: d.After.Len()}
	if d.After.Len() == 0 {
		return c
	}
	now, old := w.body[d.After.Start:d.After.End], w.kept[d.Kept]
	at, before := 0, 0
	if len(old) > 0 {
		at, before = anthropic.FirstDifference(old, now)
	}
	c.Hash, c.At = hex.EncodeToString(d.Exact[:6]), d.After.Start+at
	if context {
		c.New, c.Old = around(now, at), around(old, before)
	}
	return c
}

// around is what stands around a place, as valid text.
func around(text []byte, at int) string {
	return strings.ToValidUTF8(string(text[max(0, min(at, len(text))-contextBytes):min(len(text), at+contextBytes)]), "\uFFFD")
}

// stake weighs what stands behind the first difference that breaks the prefix:
// by the tokens that the provider had in its cache, in the proportion of bytes,
// or by bytes alone. It is an estimate.
func (w *warmth) stake(found []continuity.Difference) int64 {
	sent := w.known.Sent
	if w.past.rewritten {
		sent = lastReply(w.facts.Messages)
	}
	messages := w.facts.Messages[:max(0, min(sent, len(w.facts.Messages)))]
	// A deferred tool is no part of the prefix.
	b := breach{found: slices.DeleteFunc(slices.Clone(found), func(d continuity.Difference) bool {
		return d.Tier == continuity.TierTools && d.After.Len() > 0 && w.facts.Tools[d.Index].Deferred
	})}
	b.broken = b.first(continuity.TierModel) >= 0
	weigh(&b, continuity.TierTools, w.facts.Tools, func(t *continuity.Tool) int {
		if t.Deferred {
			return 0
		}
		return t.Span.Len()
	})
	weigh(&b, continuity.TierSystem, w.facts.Sections, func(s *continuity.Section) int { return s.Span.Len() })
	// Parameters change how messages are read, if nothing else.
	b.broken = b.broken || b.first(continuity.TierParams) >= 0
	weigh(&b, continuity.TierMessages, messages, func(m *continuity.Message) int { return m.Span.Len() })
	all := b.kept + b.lost
	if last := w.past.last; last != nil && last.Reported && all > 0 {
		return int64(last.Cached) * int64(b.lost) / int64(all)
	}
	return int64(b.lost) / bytesOfToken
}

// breach is where a prefix breaks, and the bytes before and behind it.
type breach struct {
	found      []continuity.Difference
	broken     bool
	kept, lost int
}

// first is the index of the first element of a tier that breaks the prefix, -1
// for none. Another spelling may break it or not, and is taken for none.
func (b *breach) first(tier continuity.Tier) int {
	first := -1
	for _, d := range b.found {
		if d.Tier == tier && d.Kind != "respelled" && (first < 0 || d.Index < first) {
			first = d.Index
		}
	}
	return first
}

func weigh[E any](b *breach, tier continuity.Tier, elements []E, size func(*E) int) {
	first := b.first(tier)
	for i := range elements {
		if b.broken = b.broken || i == first; b.broken {
			b.lost += size(&elements[i])
		} else {
			b.kept += size(&elements[i])
		}
	}
	// What is gone may have stood behind all that there is.
	b.broken = b.broken || first >= 0
}
