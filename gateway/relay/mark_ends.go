package relay

import "warmpath/rewrite"

// marksEnds reports whether the gateway marks a prompt that goes to a provider
// which caches by marks alone, and is planned by nobody. It does so where its
// client has set none: agents of other dialects, which go on at once, could not
// have, and one that could gets them once the conversation is seen to go on.
func (x *exchange) marksEnds(c *rewrite.Conversation) bool {
	if x.target.Dialect != rewrite.Converse || !x.settings.Marks || x.mode() != rewrite.ModeOn || c.Marked() {
		return false
	}
	return c.Dialect != rewrite.Messages && len(c.Tools) > 0 || c.Heard() >= enough
}

// marksStart reports whether the gateway marks the end of tools and instructions
// for an agent of another dialect, whose prompt gets the provider's automatic mark
// at its end: the agent's other conversations begin with the same, and so does this
// one when its history is rewritten.
func (x *exchange) marksStart(c *rewrite.Conversation) bool {
	return x.target.Dialect == rewrite.Messages && x.settings.Marks && x.mode() == rewrite.ModeOn && len(c.Tools) > 0 &&
		!c.Marked() && x.target.Provider.Abilities(x.target.Model).Automatic
}
