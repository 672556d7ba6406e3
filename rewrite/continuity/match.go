package continuity

import (
	"bytes"
	"math"
	"slices"
)

// Choice looks for the state that a request goes on from.
type Choice struct {
	Facts *Facts
	Read  Reader
	// Left is set with a choice, unless it is nil: the newest state of the same
	// conversation that stands in the request's own history, but holds other
	// reminders than that. The client has changed those after the reply, so that
	// what was sent then cannot be gone on with.
	Left *State
	// edited are the states of longer histories that may come to be the one left,
	// the newest first.
	edited []*State
	// since is, for each conversation that the request has gone past, the first
	// epoch of it that it may still go on in.
	since map[string]int
}

// never is an epoch that no conversation comes to.
const never = math.MaxInt

// Choose picks the state that a request goes on from, among those that stand
// under one known history of it, oldest first; it is asked for the longest
// history first. Nil means that none of them is known to be the request's own:
// to graft it onto another agent's would be the one unforgivable fault.
//
// Two agents may well have the same history: both open with the same words and
// hear the same reply, or one agent goes on from one history in several ways. So
// a state is only taken for the request's own if that is proven, or if going on
// from it sends nothing but what the request holds. Sealed says that the history
// was found together with what the provider has made in its reply.
//
// A conversation whose newer state stands in the request's history, but is
// another role's, is not gone on with from an older one: what was said since
// would vanish from the history. Branches of it that cannot be told apart leave
// what stands before them, in no earlier epoch.
func (c *Choice) Choose(states []*State, sealed bool) *State {
	chosen := c.choose(states, sealed)
	if chosen == nil {
		c.leave(states)
	} else if at := slices.IndexFunc(c.edited, func(s *State) bool { return s.Conversation == chosen.Conversation }); at >= 0 {
		c.Left = c.edited[at]
	}
	return chosen
}

// leave notes the states that are proven to be the request's own and have been
// answered, but whose reminders the client has changed since.
func (c *Choice) leave(states []*State) {
	answered := func(s *State) bool {
		behind := c.Facts.Messages[min(s.Sent, len(c.Facts.Messages)):]
		return slices.ContainsFunc(behind, func(m Message) bool { return m.Role == Assistant })
	}
	for _, s := range slices.Backward(states) {
		if answered(s) && s.proof(c.Facts) != noProof && !s.follows(c.Facts, c.Read) {
			c.edited = append(c.edited, s)
		}
	}
}

func (c *Choice) choose(states []*State, sealed bool) *State {
	var equal, alike, others []*State
	for _, s := range slices.Backward(states) {
		if s.Epoch < c.since[s.Conversation] || !s.follows(c.Facts, c.Read) {
			continue
		}
		proof := s.proof(c.Facts)
		switch {
		case s.plain(c.Facts):
			return s
		case proof == noProof, !sealed && s.elsewhere(c.Facts):
		case s.equals(c.Facts):
			equal = append(equal, s)
		case s.Sent >= len(c.Facts.Messages):
			// The same request with other tools or another prompt is another
			// way to go on from what stands before it.
		case s.sameAgent(c.Facts, proof, c.Read):
			alike = append(alike, s)
		default:
			others = append(others, s)
		}
	}
	if len(equal) > 0 {
		alike = equal
	}
	chosen := only(alike)
	if chosen == nil {
		c.pass(alike, others)
	}
	return chosen
}

// pass notes what a request with a longer history leaves behind.
func (c *Choice) pass(alike, others []*State) {
	if c.since == nil {
		c.since = make(map[string]int)
	}
	for _, s := range others {
		c.since[s.Conversation] = never
	}
	first := make(map[string]int)
	for _, s := range alike {
		if epoch, ok := first[s.Conversation]; !ok || s.Epoch < epoch {
			first[s.Conversation] = s.Epoch
		}
	}
	for name, epoch := range first {
		// One of its branches may be the request's own.
		if c.since[name] == never || epoch > c.since[name] {
			c.since[name] = epoch
		}
	}
}

// only is the newest of states that have said the same; of others nobody can
// tell whose they are.
func only(states []*State) *State {
	for _, s := range states {
		if !slices.EqualFunc(s.Edits, states[0].Edits, func(a, b Edit) bool {
			return a.After == b.After && bytes.Equal(a.Bytes, b.Bytes)
		}) {
			return nil
		}
	}
	if len(states) == 0 {
		return nil
	}
	return states[0]
}

// elsewhere reports a state that is not the request's, since its own would have
// been found by what the provider made in the reply to it.
func (s *State) elsewhere(facts *Facts) bool {
	if !s.Seals() || s.Sent >= len(facts.Messages) {
		return false
	}
	reply := &facts.Messages[s.Sent]
	return reply.Role == Assistant && reply.Seal.Len() > 0
}

// Seals reports a state whose replies are looked through for a seal: nothing
// else tells its conversation, or its way to go on, from others.
func (s *State) Seals() bool { return !s.Sealed || len(s.Edits) > 0 }

// proof is why a state must be one of the request's own conversation.
type proof uint8

const (
	noProof proof = iota
	// bySession: the client calls both by one name, which its side requests may
	// have as well.
	bySession
	// bySeal: both hold what the provider has made for nobody else.
	bySeal
)

func (s *State) proof(facts *Facts) proof {
	switch {
	case s.Sealed:
		return bySeal
	case s.Session != "" && s.Session == facts.Session:
		return bySession
	}
	return noProof
}

// plain reports a state that has changed nothing, and whose every element is
// one of the request's.
func (s *State) plain(facts *Facts) bool {
	if len(s.Edits) > 0 || s.Drop || len(s.Tools) != len(facts.Tools) || len(s.Sections) != len(facts.Sections) {
		return false
	}
	tools := make(map[string]FrozenTool, len(s.Tools))
	for _, tool := range s.Tools {
		tools[tool.Name] = tool
	}
	for i := range facts.Tools {
		tool := &facts.Tools[i]
		if known, ok := tools[tool.Name]; !ok || known.Meaning != tool.Meaning || known.Deferred != tool.Deferred {
			return false
		}
	}
	count := make(map[Hash]int, len(s.Sections))
	for _, section := range s.Sections {
		count[section.Meaning]++
	}
	for i := range facts.Sections {
		if count[facts.Sections[i].Meaning]--; count[facts.Sections[i].Meaning] < 0 {
			return false
		}
	}
	return true
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

// sameAgent reports that a request is another turn of the state's agent,
// although it differs: half of the system prompt is in common. Less is another
// role over the same history. A name alone proves less than a seal; then
// most of the tools must be in common as well.
func (s *State) sameAgent(facts *Facts, proof proof, read Reader) bool {
	if proof == noProof {
		return false
	}
	share := s.sharedText(facts, read)
	return share >= 0.5 && (proof == bySeal || share == 1 || s.sharedTools(facts) > 0.5)
}

// sharedText is the share of the system prompt that is in effect already, by
// the length of the longer one. A section that differs counts by what it has in
// common with the likest of those that are gone.
func (s *State) sharedText(facts *Facts, read Reader) float64 {
	now := steady(facts.Sections)
	gone, came := unmatched(s.Text, now)
	if len(gone)+len(came) == 0 {
		return 1
	}
	var same, before, after int
	for _, section := range now {
		same += section.Text.Len()
	}
	for _, section := range came {
		same -= section.Text.Len()
	}
	before, after = same, same
	var old []string
	for _, e := range gone {
		text, ok := read.Kept(e.Text)
		if !ok {
			return 0
		}
		old = append(old, text)
		before += len(text)
	}
	shared := float64(same)
	for _, section := range came {
		text, best, at := read.Now(section.Text), 0.0, -1
		for i, candidate := range old {
			if share := common(candidate, text) * float64(max(len(candidate), len(text))); share > best {
				best, at = share, i
			}
		}
		if at >= 0 {
			old = slices.Delete(old, at, at+1)
		}
		shared += best
		after += len(text)
	}
	return shared / float64(max(before, after, 1))
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
