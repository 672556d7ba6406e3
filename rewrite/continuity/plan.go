package continuity

import (
	"slices"

	"warmpath/rewrite"
)

// Plan is how to send a request, and what to remember of it.
type Plan struct {
	// Tools and Sections are what to send in place of the request's own; nil is
	// the request's own.
	Tools, Sections []Piece
	// Again are the client's messages that go out as they were first sent, in no
	// order.
	Again []Again
	// Inserts are the gateway's messages, in ascending order of their places.
	Inserts []Edit
	// Said is the directive that is among Inserts for the first time, if any.
	Said *Directive
	// Effort, unless nil, is the top-level effort to send, empty for none, and
	// Level the effort that a message among Inserts sets for the first time.
	Effort *string
	Level  string
	// Drop asks for thinking to be left out whose prefix no longer exists.
	Drop bool
	// Wrote is the number of the client's messages that the provider has in its
	// cache, as far as it was asked to write them.
	Wrote int
	// Epoch is why the prefix begins anew, or None.
	Epoch Reason
	// Keep are the elements of the request whose bytes, without marks, must be
	// kept under their hashes together with Next.
	Keep []Keep
	Next *State
}

// Keep is an element to keep. Its bytes are the request's at the span, or those
// that the Reader has made for an empty one.
type Keep struct {
	Hash Hash
	Span rewrite.Span
}

// Untouched reports a plan that sends the request as it came.
func (p *Plan) Untouched() bool {
	return p.Tools == nil && p.Sections == nil && len(p.Inserts) == 0 && len(p.Again) == 0 && p.Effort == nil && !p.Drop
}

// ClientIndex is the client's number of a message by the one that the provider
// has, both counted from zero, or -1 for a message of the gateway's.
func (p *Plan) ClientIndex(upstream int) int {
	index := upstream
	for i, insert := range p.Inserts {
		switch place := insert.After + i; {
		case place == upstream:
			return -1
		case place < upstream:
			index--
		}
	}
	return index
}

// Reader gives what a plan needs beyond the facts.
type Reader struct {
	// Now is the text of a section of the request, by the span of its string.
	Now func(text rewrite.Span) string
	// Kept is the text of a section that was kept; ok is false if it is lost.
	Kept func(Hash) (text string, ok bool)
	// Made is the hash of the bytes of a new message, by its index, as the
	// provider has made it; ok is false if those are unknown, or the request's.
	// Nil makes none.
	Made func(at int) (bytes Hash, ok bool)
	// Restore allows reminders to be put back that the client has dropped.
	Restore bool
	// Render is the bytes of a directive's message.
	Render func(*Directive) []byte
}

// Begin plans the first request of an epoch: what the client sent is what
// stands from now on. A conversation that has been known before goes on under
// its name; its thinking was made under another prefix.
func Begin(conversation string, before *State, why Reason, facts *Facts, able Abilities) *Plan {
	next := &State{
		Conversation: conversation, Model: facts.Model, Sent: len(facts.Messages), Session: facts.Session,
		Tools: freeze(facts.Tools), Sections: freezeText(facts.Sections), Text: effective(facts.Sections),
	}
	next.Effort, next.Asked = facts.Effort, facts.Effort
	next.remember(facts)
	var echoes echoPlan
	for i := range facts.Messages {
		echoes.note(i, &facts.Messages[i], able, Reader{})
	}
	next.Echoes, next.Echoed = echoes.echoes, echoes.size
	if before != nil {
		next.Epoch, next.Sealed = before.Epoch+1, before.Sealed
		next.Drop = before.Drop || able.Binding && next.Bound
	}
	return &Plan{Epoch: why, Drop: next.Drop && holdsBound(facts), Keep: append(keepAll(facts), echoes.keep...), Next: next}
}

// Continue plans a request of a known conversation, whose first messages are
// those that the state has sent.
func Continue(s *State, facts *Facts, able Abilities, read Reader) *Plan {
	s = s.at(facts.Messages)
	room := tail(facts.Messages)
	tools := planTools(s.Tools, facts.Tools, able, room)
	text := planText(s, facts.Sections, able, room, texts{read.Now, read.Kept})
	echoes := planEchoes(s, facts, able, room, read)
	said := tools.change
	said.Texts = append(text.say, echoes.say...)
	effort := planEffort(s, facts, able)
	why := firstReason(tools.reason, text.reason, effort.reason)
	if why == None && !s.Bound && tooBig(&said, facts) {
		why = DirectiveTooBig
	}
	if why != None {
		return Begin(s.Conversation, s, why, facts, able)
	}
	next := &State{
		Conversation: s.Conversation, Epoch: s.Epoch, Model: facts.Model, Sent: len(facts.Messages), Sealed: s.Sealed, Session: facts.Session,
		Drop: s.Drop, Tools: tools.frozen, Sections: s.Sections, Text: text.text, Edits: s.Edits, Prior: s.prior(facts),
		Effort: effort.first, Asked: effort.asked, Leveled: s.Leveled || effort.level != "",
		Echoes: echoes.echoes, Echoed: echoes.size,
	}
	next.remember(facts)
	plan := &Plan{Tools: tools.pieces, Sections: text.pieces, Again: echoes.again, Drop: s.Drop && holdsBound(facts), Wrote: s.Wrote, Next: next}
	if next.Effort != facts.Effort {
		plan.Effort = &next.Effort
	}
	next.Edits = slices.Clip(s.Edits)
	if effort.level != "" {
		plan.Level = effort.level
		next.Edits = append(next.Edits, Edit{After: effort.after, Bytes: read.Render(&Directive{Effort: effort.level})})
	}
	if !said.Empty() {
		plan.Said = &said
		next.Edits = append(next.Edits, Edit{After: next.Sent, Bytes: read.Render(&said)})
	}
	if len(next.Edits) > len(s.Edits) && next.Prior == nil {
		next.Prior = &Prior{Edits: len(s.Edits), Withdrawn: withdrawn(s.Echoes), Tools: s.Tools, Text: s.Text}
	}
	plan.Inserts = next.Edits
	plan.Keep = append(keepNew(s, facts), echoes.keep...)
	return plan
}

// at is the state as it stands before the given history. If the newest edits
// stand where no reply followed, and the client has gone on with another
// message of its own, they cannot stay: they will be said again at the tail.
func (s *State) at(messages []Message) *State {
	if s.Prior == nil || s.Sent >= len(messages) {
		return s
	}
	for _, m := range messages[s.Sent:] {
		if m.Role == System {
			continue
		}
		if m.Role == Assistant {
			return s
		}
		moved := *s
		moved.Tools, moved.Text = s.Prior.Tools, s.Prior.Text
		moved.Edits = slices.Clone(s.Edits[:s.Prior.Edits])
		for _, e := range s.Edits[s.Prior.Edits:] {
			if e.After < s.Sent {
				// What sets the effort may stand anywhere.
				moved.Edits = append(moved.Edits, e)
			}
		}
		moved.Echoes = withWithdrawn(s.Echoes, s.Prior.Withdrawn)
		moved.Prior = nil
		return &moved
	}
	return s
}

// prior stays as long as no reply has come after the newest edits.
func (s *State) prior(facts *Facts) *Prior {
	if s.Prior == nil {
		return nil
	}
	for _, m := range facts.Messages[min(s.Sent, len(facts.Messages)):] {
		if m.Role == Assistant {
			return nil
		}
	}
	return s.Prior
}

// remember notes what the history holds.
func (s *State) remember(facts *Facts) {
	for i := range facts.Messages {
		s.Bound = s.Bound || facts.Messages[i].Bound
	}
}

// holdsBound reports thinking in the history.
func holdsBound(facts *Facts) bool {
	return slices.ContainsFunc(facts.Messages, func(m Message) bool { return m.Bound })
}

func firstReason(reasons ...Reason) Reason {
	for _, r := range reasons {
		if r != None {
			return r
		}
	}
	return None
}

// tooBig reports a directive that is longer than half of what would have to be
// processed again without it: it is read on every later turn.
func tooBig(d *Directive, facts *Facts) bool {
	said, all := 0, 0
	for _, text := range d.Texts {
		said += len(text)
	}
	for _, span := range d.Define {
		said += span.Len()
	}
	for i := range facts.Tools {
		// Definitions of new tools have to be read either way.
		all += facts.Tools[i].Span.Len()
	}
	for i := range facts.Sections {
		all += facts.Sections[i].Span.Len()
	}
	for i := range facts.Messages {
		all += facts.Messages[i].Span.Len()
	}
	return said > all/2
}

func keepAll(facts *Facts) []Keep {
	keep := make([]Keep, 0, len(facts.Tools)+len(facts.Sections))
	for i := range facts.Tools {
		keep = append(keep, Keep{facts.Tools[i].Exact, facts.Tools[i].Span})
	}
	for i := range facts.Sections {
		keep = append(keep, Keep{facts.Sections[i].Exact, facts.Sections[i].Span})
	}
	return keep
}

// keepNew is what was not kept with an earlier state.
func keepNew(s *State, facts *Facts) []Keep {
	known := make(map[Hash]bool, len(s.Tools)+len(s.Text))
	for _, tool := range s.Tools {
		known[tool.Exact] = true
	}
	for _, section := range s.Sections {
		known[section.Exact] = true
	}
	for _, section := range s.Text {
		known[section.Text] = true
	}
	return slices.DeleteFunc(keepAll(facts), func(k Keep) bool { return known[k.Hash] })
}
