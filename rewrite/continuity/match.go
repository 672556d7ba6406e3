package continuity

// Choose picks the state that a request goes on from, among those that stand
// under the longest known history of it. Nil means that the request begins a
// conversation, or a lane, of its own: to graft it onto another agent's would be
// the one unforgivable fault.
//
// States whose tools and system prompt are those of the request win, then those
// of the same agent, newest last in the list and first in the choice.
func Choose(states []*State, facts *Facts, strong bool, read Reader) *State {
	var alike *State
	for i := len(states) - 1; i >= 0; i-- {
		s := states[i]
		switch {
		case s.equals(facts):
			return s
		case alike == nil && s.sameAgent(facts, strong || s.Strong, read):
			alike = s
		}
	}
	return alike
}

// equals reports that nothing but the spelling and the order differs.
func (s *State) equals(facts *Facts) bool {
	offered := 0
	for i := range s.Tools {
		if s.Tools[i].Offered {
			offered++
		}
	}
	meanings := make(map[string]Hash, len(s.Tools))
	for i := range s.Tools {
		if s.Tools[i].Offered {
			meanings[s.Tools[i].Name] = s.Tools[i].Meaning
		}
	}
	for i := range facts.Tools {
		tool := &facts.Tools[i]
		if tool.Deferred {
			continue
		}
		if meaning, ok := meanings[tool.Name]; !ok || meaning != tool.Meaning {
			return false
		}
		offered--
	}
	gone, came := unmatched(s.Text, steady(facts.Sections))
	return offered == 0 && len(gone)+len(came) == 0
}

// sameAgent reports that a request can be another turn of the state's agent,
// although it differs. Where the history proves it, half of the system prompt in
// common is enough: less is another role over the same history. Without proof
// most of the tools must be in common as well.
func (s *State) sameAgent(facts *Facts, strong bool, read Reader) bool {
	if len(s.Text) > 0 || len(facts.Sections) > 0 {
		if s.sharedText(facts, read) < 0.5 {
			return false
		}
	}
	return strong || s.sharedTools(facts) > 0.5
}

// sharedText is the share of the system prompt that is in effect already, by
// length. A section that differs counts by what it has in common with the
// likest of those that are gone.
func (s *State) sharedText(facts *Facts, read Reader) float64 {
	now := steady(facts.Sections)
	gone, came := unmatched(s.Text, now)
	var old []string
	for _, e := range gone {
		if text, ok := read.Kept(e.Text); ok {
			old = append(old, text)
		}
	}
	all, same := 0.0, 0.0
	for _, section := range now {
		all += float64(section.Span.Len())
	}
	same = all
	for _, section := range came {
		text, best := read.Now(section.Text), 0.0
		for _, candidate := range old {
			best = max(best, common(candidate, text))
		}
		same -= float64(section.Span.Len()) * (1 - best)
	}
	if all == 0 {
		return 0
	}
	return same / all
}

// sharedTools is the share of tool names in common, of the larger set.
func (s *State) sharedTools(facts *Facts) float64 {
	names := make(map[string]bool, len(s.Tools))
	for i := range s.Tools {
		names[s.Tools[i].Name] = true
	}
	same := 0
	for i := range facts.Tools {
		if names[facts.Tools[i].Name] {
			same++
		}
	}
	return float64(same) / float64(max(len(names), len(facts.Tools), 1))
}

// steady leaves out the sections that are no instructions.
func steady(sections []Section) []Section {
	out := make([]Section, 0, len(sections))
	for _, s := range sections {
		if !s.Volatile {
			out = append(out, s)
		}
	}
	return out
}
