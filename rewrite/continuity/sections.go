package continuity

import (
	"slices"

	"warmpath/rewrite"
)

// textPlan is what the system prompt of a request comes to.
type textPlan struct {
	pieces []Piece // what to send; nil is what the client sent
	text   []Effective
	say    []string
	reason Reason
}

// texts gives the texts of sections, unescaped.
type texts struct {
	// now reads a section of the request, kept one that was in effect before; ok
	// is false for a text that is lost.
	now  func(text rewrite.Span) string
	kept func(Hash) (text string, ok bool)
}

// planText compares a request's system prompt with the one in effect. The
// frozen sections go out as they were first sent; what differs is said in words.
func planText(s *State, sections []Section, able Abilities, room gap, read texts) textPlan {
	p := textPlan{text: s.Text}
	said := steady(sections)
	if !equalText(s.Text, said) {
		switch {
		case onlyMoved(s.Text, said):
			// There is nothing to say of it, so it needs neither place nor ability.
			p.text = effective(said)
		case !able.Text:
			return textPlan{reason: SystemChanged}
		case room == nothing:
			// Held until there is a place; the next request finds it again.
		default:
			hunks, ok := changes(s.Text, said, read)
			if !ok {
				return textPlan{reason: BytesLost}
			}
			p.say, p.text = hunks, effective(said)
		}
	}
	p.arrange(s.Sections, sections)
	return p
}

func equalText(before []Effective, now []Section) bool {
	return slices.EqualFunc(before, now, func(e Effective, s Section) bool { return e.Meaning == s.Meaning })
}

// onlyMoved reports the same sections in another order.
func onlyMoved(before []Effective, now []Section) bool {
	if len(before) != len(now) {
		return false
	}
	gone, came := unmatched(before, now)
	return len(gone)+len(came) == 0
}

// effective is the system prompt as the client has it now.
func effective(sections []Section) []Effective {
	out := make([]Effective, 0, len(sections))
	for _, s := range sections {
		if !s.Volatile {
			out = append(out, Effective{Meaning: s.Meaning, Text: s.Exact})
		}
	}
	return out
}

// changes says each section that differs. Sections that only moved say nothing.
// What is left on both sides is taken for changed in its order, as long as the
// two have something in common; anything else was removed, or added.
func changes(before []Effective, now []Section, read texts) (say []string, ok bool) {
	gone, came := unmatched(before, now)
	var old []string
	for _, e := range gone {
		text, ok := read.kept(e.Text)
		if !ok {
			return nil, false
		}
		old = append(old, text)
	}
	for _, section := range came {
		text := read.now(section.Text)
		best := likest(old, text)
		if best < 0 {
			say = appendWords(say, []hunk{{new: text}})
			continue
		}
		say = appendWords(say, compare(old[best], text))
		old = slices.Delete(old, best, best+1)
	}
	for _, text := range old {
		say = appendWords(say, []hunk{{old: text}})
	}
	return say, true
}

func appendWords(to []string, hunks []hunk) []string {
	if hunks = trimmed(hunks); len(hunks) == 0 {
		return to
	}
	return append(to, say(hunks))
}

// unmatched is what one side has and the other has not, counted.
func unmatched(before []Effective, now []Section) (gone []Effective, came []Section) {
	count := make(map[Hash]int, len(now))
	for _, s := range now {
		count[s.Meaning]++
	}
	for _, e := range before {
		if count[e.Meaning] > 0 {
			count[e.Meaning]--
		} else {
			gone = append(gone, e)
		}
	}
	clear(count)
	for _, e := range before {
		count[e.Meaning]++
	}
	for _, s := range now {
		if count[s.Meaning] > 0 {
			count[s.Meaning]--
		} else {
			came = append(came, s)
		}
	}
	return gone, came
}

// arrange finds the bytes of each frozen section, as for tools. A volatile one
// is the client's own: the provider reads it, but not as part of the prompt.
func (p *textPlan) arrange(frozen []FrozenSection, sections []Section) {
	same := len(frozen) == len(sections)
	pieces := make([]Piece, len(frozen))
	for i, f := range frozen {
		j := slices.IndexFunc(sections, func(s Section) bool { return s.Exact == f.Exact || s.Volatile && f.Volatile })
		if j < 0 {
			pieces[i], same = Piece{Kept: f.Exact}, false
			continue
		}
		pieces[i] = Piece{Span: sections[j].Span}
		same = same && i == j
	}
	if !same {
		p.pieces = pieces
	}
}

// freezeText takes the system prompt of a first request as it is.
func freezeText(sections []Section) []FrozenSection {
	frozen := make([]FrozenSection, len(sections))
	for i, s := range sections {
		frozen[i] = FrozenSection{Meaning: s.Meaning, Exact: s.Exact, Volatile: s.Volatile}
	}
	return frozen
}
