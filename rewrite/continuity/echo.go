package continuity

import "slices"

const (
	// maxEcho bounds the length of a message that is kept, and maxEchoes that of
	// all replies that are kept for one conversation, and again of all messages
	// with reminders, in bytes. What is beyond goes out as the client has it.
	maxEcho   = 64 << 10
	maxEchoes = 1 << 19
)

// Echo is a message that the client sends again with every request and may then
// write otherwise: in other spelling than it was first sent in, or without the
// reminders in it.
type Echo struct {
	// At is its index among the client's messages.
	At int
	// Exact is the hash of the bytes that were first sent, and Kept says that
	// these are kept under it.
	Exact Hash
	Kept  bool
	// Reminders are those that stood in it, for a message of the user's.
	Reminders []Noted
}

// Noted is a reminder that was sent.
type Noted struct {
	Reminder
	// Withdrawn says that the model was told that it no longer applies.
	Withdrawn bool
}

// Echoed is how many bytes are kept of a conversation's messages.
type Echoed struct{ Replies, Reminders int }

// Again is a message to send in the bytes in which it was first sent.
type Again struct {
	At   int
	Kept Hash
}

// follows reports that a request's history is the one that the state has sent,
// but for reminders that the client has dropped and that can be put back. That
// takes a proof of whose they are. Reminders that were added or changed are the
// client's will.
func (s *State) follows(facts *Facts, read Reader) bool {
	echoes := s.Echoes
	for i := range facts.Messages[:min(s.Sent, len(facts.Messages))] {
		for len(echoes) > 0 && echoes[0].At < i {
			echoes = echoes[1:]
		}
		var sent *Echo
		if len(echoes) > 0 && echoes[0].At == i {
			sent = &echoes[0]
		}
		all, missing := sent.missing(facts.Messages[i].Reminders)
		if !all || missing && !(read.Restore && s.proof(facts) != noProof && sent.Kept) {
			return false
		}
	}
	return true
}

// missing compares the reminders that were sent with those that a message has
// now. All is false if it has any that were not sent.
func (e *Echo) missing(now *Reminders) (all, missing bool) {
	have := now.each()
	if e == nil {
		return len(have) == 0, false
	}
	for _, noted := range e.Reminders {
		if len(have) > 0 && have[0] == noted.Reminder {
			have = have[1:]
		} else {
			missing = true
		}
	}
	return len(have) == 0, missing
}

func (r *Reminders) each() []Reminder {
	if r == nil {
		return nil
	}
	return r.Each
}

// echoPlan is what the echoes of a request come to.
type echoPlan struct {
	again  []Again
	echoes []Echo
	size   Echoed
	keep   []Keep
	say    []string
}

// planEchoes finds the messages that must go out as they were first sent, notes
// those that are sent for the first time, and says which reminders the client
// has dropped.
func planEchoes(s *State, facts *Facts, able Abilities, room gap, read Reader) echoPlan {
	p := echoPlan{echoes: s.Echoes, size: s.Echoed}
	for len(p.echoes) > 0 && p.echoes[len(p.echoes)-1].At >= len(facts.Messages) {
		// Whoever compares two requests may have a shorter one.
		p.echoes = p.echoes[:len(p.echoes)-1]
	}
	for i := range p.echoes {
		e := &p.echoes[i]
		m := &facts.Messages[e.At]
		_, dropped := e.missing(m.Reminders)
		if e.Kept && (dropped || m.Role != User && m.Exact != e.Exact) {
			p.again = append(p.again, Again{At: e.At, Kept: e.Exact})
		}
	}
	if able.Text && read.Restore && room != nothing {
		p.withdraw(facts)
	}
	for i := s.Sent; i < len(facts.Messages); i++ {
		p.note(i, &facts.Messages[i], able, read)
	}
	return p
}

// note takes a message that is sent for the first time.
func (p *echoPlan) note(at int, m *Message, able Abilities, read Reader) {
	if !m.Spelled && m.Reminders == nil {
		return
	}
	e := Echo{At: at, Exact: m.Exact}
	size := &p.size.Replies
	if m.Reminders != nil {
		size = &p.size.Reminders
	}
	if length := m.Span.Len(); able.Keep && length <= maxEcho && *size+length <= maxEchoes {
		keep := Keep{Hash: m.Exact, Span: m.Span}
		if made, ok := read.made(at); ok {
			// The reply as the provider has made it, from the first time on.
			p.again = append(p.again, Again{At: at, Kept: made})
			e.Exact, keep = made, Keep{Hash: made}
		}
		e.Kept = true
		*size += length
		p.keep = append(p.keep, keep)
	}
	for _, reminder := range m.Reminders.each() {
		e.Reminders = append(e.Reminders, Noted{Reminder: reminder})
	}
	p.echoes = append(slices.Clip(p.echoes), e)
}

func (r Reader) made(at int) (bytes Hash, ok bool) {
	if r.Made == nil {
		return Hash{}, false
	}
	return r.Made(at)
}

// withdraw says which reminders no longer apply, since the client has dropped
// them and says them nowhere else, and which apply again. They are told by their
// number: what they say is not the operator's to repeat.
func (p *echoPlan) withdraw(facts *Facts) {
	said := map[Hash]bool{}
	for i := range facts.Messages {
		for _, r := range facts.Messages[i].Reminders.each() {
			said[r.Meaning] = true
		}
	}
	number := 0
	var gone, back []int
	echoes := slices.Clone(p.echoes)
	for i := range echoes {
		e := &echoes[i]
		have := facts.Messages[e.At].Reminders.each()
		for j, noted := range e.Reminders {
			here := len(have) > 0 && have[0] == noted.Reminder
			if here {
				have = have[1:]
			}
			number++
			switch {
			case noted.Inner:
				continue
			case !here && !said[noted.Meaning] && !noted.Withdrawn:
				gone = append(gone, number)
			case here && noted.Withdrawn:
				back = append(back, number)
			default:
				continue
			}
			e.Reminders = slices.Clone(e.Reminders)
			e.Reminders[j].Withdrawn = !noted.Withdrawn
		}
	}
	if len(gone)+len(back) > 0 {
		p.echoes = echoes
		p.say = append(p.say, remindersChanged(gone, back))
	}
}

// withdrawn are the flags of all reminders, in their order.
func withdrawn(echoes []Echo) (flags []bool) {
	for _, e := range echoes {
		for _, noted := range e.Reminders {
			flags = append(flags, noted.Withdrawn)
		}
	}
	return flags
}

// withWithdrawn gives echoes with other flags. What was sent later is not
// withdrawn.
func withWithdrawn(echoes []Echo, flags []bool) []Echo {
	out := slices.Clone(echoes)
	for i := range out {
		out[i].Reminders = slices.Clone(out[i].Reminders)
		for j := range out[i].Reminders {
			was := len(flags) > 0 && flags[0]
			if out[i].Reminders[j].Withdrawn = was; len(flags) > 0 {
				flags = flags[1:]
			}
		}
	}
	return out
}
