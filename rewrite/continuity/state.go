package continuity

import "warmpath/rewrite"

// State is what is known of a conversation at one point of it: after a number
// of messages, as one branch of the history has sent them. It is immutable; each
// request makes the next. Bytes that may be long are kept apart, by their hash.
type State struct {
	// Conversation names the conversation, Epoch counts the times its prefix was
	// begun anew, and Lane tells apart the roles that one agent plays over the
	// same history.
	Conversation string
	Epoch        int
	Model        string
	// Sent is the number of the client's messages that have been sent: no new
	// edit may stand before it.
	Sent int
	// Wrote is the number of the client's messages up to what the provider was
	// asked to write to its cache last, 0 for none.
	Wrote int
	// Sealed says that the history holds something that the provider was seen to
	// make for it. What a history holds without that may be anybody's: examples
	// that many agents begin with, calls that a framework makes up.
	Sealed bool
	// Session is what the client called the conversation, if it did.
	Session string
	// Bound says that thinking in the history may be bound to this prefix.
	Bound bool
	// Drop asks the provider, for the rest of the conversation, to leave out
	// thinking whose prefix no longer exists.
	Drop     bool
	Tools    []FrozenTool
	Sections []FrozenSection
	// Text is the system prompt in effect, section by section: the frozen one
	// with all changes since.
	Text  []Effective
	Edits []Edit
	// Effort is the top-level effort as first sent, Asked as the client has it now;
	// what differs is said in messages.
	Effort, Asked string
	// Leveled says that a message of the gateway's sets the effort.
	Leveled bool
	// Echoes are the messages that may come back otherwise, in their order, and
	// Echoed is how many bytes of them are kept.
	Echoes []Echo
	Echoed Echoed
	// Prior is what was in effect before the newest edits, while no reply has
	// sealed their place: a client that goes on without one moves them.
	Prior *Prior
	// Last is the request that made the state, nil if nothing is known of it. It
	// decides nothing about how requests are sent, but for what the provider is
	// asked about them.
	Last *Turn
}

// Prior is what was in effect before edits that no reply has sealed, and the
// number of edits there were then.
type Prior struct {
	Edits int
	// Withdrawn are the flags of the reminders.
	Withdrawn []bool
	Tools     []FrozenTool
	Text      []Effective
}

// FrozenTool is an entry of the tools as first sent, or appended since.
type FrozenTool struct {
	Name   string
	Family string
	// Meaning is that of the definition in effect, which a directive may have
	// changed; Exact is that of the frozen bytes.
	Meaning, Exact Hash
	// Offered says that the model may call it now.
	Offered bool
	// Deferred entries are no part of the prefix. Those that no edit of ours has
	// named are the client's to change.
	Deferred, Named bool
	// Fixed is as in Tool.
	Fixed bool
}

// FrozenSection is a section of the system prompt as first sent.
type FrozenSection struct {
	Meaning, Exact Hash
	Volatile       bool
}

// Effective is a section in effect. Text is the hash under which its text is
// kept.
type Effective struct{ Meaning, Text Hash }

// Edit is a message of the gateway's own, at its place for ever.
type Edit struct {
	// After is the number of the client's messages before it.
	After int
	Bytes []byte
}

// Abilities is what a model at an endpoint accepts.
type Abilities struct {
	// Text allows system messages among the others.
	Text bool
	// Reference allows tools to be added and removed by their name, and Define
	// by their whole definition, under a name that is in use as well.
	Reference, Define bool
	// Binding says that thinking is bound to the prefix it was made under.
	Binding bool
	// Automatic allows the provider to be asked to mark the end of the prompt
	// itself.
	Automatic bool
	// Effort allows the effort to be set by a message: at the top level it is part
	// of the prefix.
	Effort bool
	// Keep allows the bytes of messages to be kept, to send them again as they
	// were first sent. It is the operator's to say.
	Keep bool
	// Diagnostics allows the provider to be asked why its cache missed.
	Diagnostics bool
	// Minimum is the shortest prompt that is cached, in tokens; 0 is not known.
	Minimum int
}

// Piece is where the bytes of an element come from: the request, or what was
// kept under a hash.
type Piece struct {
	Span rewrite.Span
	Kept Hash
	// Deferred asks for the tool to be sent as a deferred one.
	Deferred bool
}

// FromRequest reports whether the bytes stand in the request.
func (p Piece) FromRequest() bool { return p.Span.Len() > 0 }

// Reason is why a prefix is begun anew.
type Reason string

// The reasons for an epoch. None goes on with the one there is.
const (
	None            Reason = ""
	Fresh           Reason = "fresh"
	ToolsChanged    Reason = "tools_changed"
	SystemChanged   Reason = "system_changed"
	DirectiveTooBig Reason = "directive_too_big"
	BytesLost       Reason = "bytes_lost"
	EffortChanged   Reason = "effort_changed"
	// HistoryRewritten goes on from the last message that the client has not
	// changed.
	HistoryRewritten Reason = "history_rewritten"
)
