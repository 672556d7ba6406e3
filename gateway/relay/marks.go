package relay

import (
	"bytes"
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

const (
	// maxMarks is how many cache marks a request may have, the client's included.
	maxMarks = 4
	// farBack is how many blocks may stand between a mark and what was written
	// to the cache last: the provider looks back over twenty, and not all that
	// it counts is seen from here.
	farBack = 15
	// uncovered is how many blocks without a mark behind them an agent leaves
	// that marks its prompt for the next turn at all.
	uncovered = 8
)

// mark sets marks of the gateway's where the client's leave a gap: none on the
// growing part, a directive behind the last, or too many blocks since the last
// write. The client's own always stay.
func (w *warmth) mark(edits *anthropic.Edits) {
	messages, next := w.facts.Messages, w.plan.Next
	left, last := maxMarks-w.facts.Marks, w.lastMarked()
	w.marked = false
	next.Wrote = w.plan.Wrote
	covers := last >= 0 && w.blocks(last+1, len(messages)) <= uncovered
	if covers {
		next.Wrote = last + 1
	}
	if w.unmarked || w.blind || left <= 0 {
		return
	}
	if !covers && w.able.Automatic && w.goesOn() {
		edits.Automatic, w.marked, covers = true, true, true
		last, next.Wrote = len(messages)-1, len(messages)
		left--
	}
	if at, ok := w.gap(last); ok && covers && left > 0 {
		w.markMessage(edits, at, w.lifetime(last))
		w.marked = true
		left--
	}
	if n := len(edits.Inserts); covers && left > 0 && n > 0 && edits.Inserts[n-1].After == len(messages) && !edits.Automatic && !w.facts.Automatic {
		edits.Inserts = slices.Clone(edits.Inserts)
		edits.Inserts[n-1].Bytes = anthropic.WithMark(edits.Inserts[n-1].Bytes, w.lifetime(last))
		w.marked = true
	}
}

// markMessage marks a message, in the bytes that it goes out in.
func (w *warmth) markMessage(edits *anthropic.Edits, at int, mark []byte) {
	for i := range edits.Replace {
		if r := &edits.Replace[i]; r.Index == at {
			r.Bytes = anthropic.WithMark(r.Bytes, mark)
			return
		}
	}
	edits.Marks = append(edits.Marks, anthropic.Mark{Of: anthropic.OfMessages, Index: at, Text: mark})
}

// enough is how many replies a conversation holds before it is taken to go on:
// writing to the cache costs more than reading it once saves.
const enough = 2

// Clients of another dialect could not have set a mark, so those that offer tools
// are taken for agents, which go on at once.
func (w *warmth) goesOn() bool {
	if w.translated && len(w.facts.Tools) > 0 {
		return true
	}
	heard := 0
	for _, m := range w.facts.Messages {
		if m.Role == continuity.Assistant {
			heard++
		}
	}
	return heard >= enough && w.plan.Epoch != continuity.Fresh
}

// lastMarked is the index of the last message with a mark, or -1. The automatic
// mark is on the last.
func (w *warmth) lastMarked() int {
	if w.facts.Automatic {
		return len(w.facts.Messages) - 1
	}
	for i, m := range slices.Backward(w.facts.Messages) {
		if m.Marks > 0 {
			return i
		}
	}
	return -1
}

// blocks counts those of the messages from one to another, with the gateway's
// between them.
func (w *warmth) blocks(from, to int) (n int) {
	for i := from; i < to; i++ {
		n += w.facts.Messages[i].Blocks
	}
	for _, insert := range w.plan.Inserts {
		if insert.After > from && insert.After <= to {
			n += bytes.Count(insert.Bytes, []byte(`{"type":"t`))
		}
	}
	return n
}

// gap is the message to mark because the next mark is too far from what was
// written last: the farthest from which the provider finds that.
func (w *warmth) gap(last int) (at int, ok bool) {
	wrote := w.plan.Wrote - 1
	if wrote < 0 {
		return 0, false
	}
	next := last
	for i := wrote; i < last; i++ {
		if w.facts.Messages[i].Marks > 0 {
			next = i
			break
		}
	}
	if next <= wrote || w.blocks(wrote+1, next+1) <= farBack {
		return 0, false
	}
	for i := wrote; i < next && w.blocks(wrote+1, i+1) <= farBack; i++ {
		m := w.facts.Messages[i]
		message := w.body[m.Span.Start:m.Span.End]
		if m.Marks == 0 && len(anthropic.WithMark(message, []byte(ephemeral))) > len(message) {
			at, ok = i, true
		}
	}
	return at, ok
}

const (
	ephemeral = `{"type":"ephemeral"}`
	forAnHour = `{"type":"ephemeral","ttl":"1h"}`
)

// lifetime is a mark that lives as long as the client's last: it may not outlive
// one before it.
func (w *warmth) lifetime(last int) []byte {
	var mark []byte
	if w.facts.Automatic {
		_ = splice.Members(w.body, func(key []byte, _, value rewrite.Span) bool {
			if string(key) == "cache_control" {
				mark = w.body[value.Start:value.End]
			}
			return true
		})
	} else if span := w.facts.Messages[last].Mark; span.Len() > 0 {
		mark = w.body[span.Start:span.End]
	}
	if bytes.Contains(mark, []byte(`"1h"`)) {
		return []byte(forAnHour)
	}
	return []byte(ephemeral)
}

// elements are the bytes of pieces that stand for a list of the request's own.
func (w *warmth) elements(pieces []continuity.Piece, own, marks []rewrite.Span) [][]byte {
	elements := make([][]byte, len(pieces))
	for i, piece := range pieces {
		if piece.FromRequest() {
			elements[i] = w.body[piece.Span.Start:piece.Span.End]
		} else {
			elements[i] = w.kept[piece.Kept]
		}
		if piece.Deferred {
			elements[i] = anthropic.AsDeferred(elements[i])
		}
	}
	w.remark(elements, pieces, own, marks)
	return elements
}

// remark puts the client's marks on the elements that now stand for its own, in
// their order. A mark on what is gone, or is no part of the prefix any more, and
// one that sealed the whole list, goes to the last that can carry one: there the
// provider finds what it has written before. Marks are the client's even where
// the gateway sets none of its own.
func (w *warmth) remark(elements [][]byte, pieces []continuity.Piece, own, marks []rewrite.Span) {
	var texts [][]byte
	var places []int
	last := len(elements) - 1
	for last >= 0 && len(anthropic.WithMark(anthropic.StripMark(elements[last]), []byte(ephemeral))) == len(anthropic.StripMark(elements[last])) {
		last--
	}
	for i, mark := range marks {
		text := anthropic.MarkText(w.body, mark)
		if text == nil {
			continue
		}
		at := slices.IndexFunc(pieces, func(p continuity.Piece) bool { return p.FromRequest() && p.Span == own[i] && !p.Deferred })
		if at < 0 || !slices.ContainsFunc(marks[i+1:], func(s rewrite.Span) bool { return s.Len() > 0 }) {
			at = last
		}
		texts = append(texts, text)
		if at >= 0 && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	for i := range elements {
		elements[i] = anthropic.StripMark(elements[i])
	}
	slices.Sort(places)
	for i, at := range places {
		elements[at] = anthropic.WithMark(elements[at], texts[i])
	}
}
