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
