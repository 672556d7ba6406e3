// Package continuity plans how a request is sent so that the provider's prompt
// cache, and the thinking that is bound to what came before it, stay valid while
// the agent edits what it has sent. It is pure: from what is known of the
// conversation, the facts of a request and the abilities of its model follow the
// edits to make, the state to remember and what there is to say about it.
//
// A dialect reads the facts and applies the edits; this package knows none.
package continuity
