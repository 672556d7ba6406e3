package rewrite

// EventKind is what happens in a reply.
type EventKind uint8

// The kinds of events, in the order in which a reply has them.
const (
	// EventBegin opens a reply: Reply.
	EventBegin EventKind = iota
	// EventItem opens an item: Item has its kind, and what is known of it.
	EventItem
	// EventPart opens a part of an item: Part has its kind.
	EventPart
	// EventText goes on with a part's text: Text.
	EventText
	// EventArguments goes on with a call's arguments, or with the input of a
	// hosted activity: Text.
	EventArguments
	// EventAttribution adds a source to a part: Attribution.
	EventAttribution
	// EventPartDone closes a part: Part has what is known only now.
	EventPartDone
	// EventDone closes an item: Item has what is known only now (payload, state,
	// identifiers), without its text.
	EventDone
	// EventUsage tells what has been used so far; the last one counts.
	EventUsage
	// EventEnd closes the reply: Stop, and in Reply the Extra that came late.
	// Nothing follows.
	EventEnd
	// EventError ends the reply with a fault of the provider's: Fault.
	EventError
)

// EventKinds lists every kind, for tables.
var EventKinds = []EventKind{
	EventBegin, EventItem, EventPart, EventText, EventArguments, EventAttribution,
	EventPartDone, EventDone, EventUsage, EventEnd, EventError,
}

// String is the kind's name in tests and records.
func (k EventKind) String() string {
	return [...]string{"begin", "item", "part", "text", "arguments", "attribution", "part_done", "done", "usage", "end", "error"}[k]
}

// Event is one step of a reply. A whole reply is a stream that has already
// ended: both have the same events. An event, and all it points to, is valid
// during the call that receives it only.
type Event struct {
	Kind EventKind
	// Index is the item's, and PartIndex the part's within it, each counted from
	// zero in the order in which they were opened. Items may be open side by side.
	Index, PartIndex int
	Text             []byte
	Item             *Item
	Part             *Part
	Attribution      *Attribution
	Reply            *Reply
	Usage            *Usage
	Stop             Stop
	Fault            *Fault
}

// Stop is why a reply has ended.
type Stop struct {
	Reason StopReason
	// Word is the provider's own, and Sequence the stop sequence that was met.
	Word, Sequence string
	// Details is what else the provider says about it.
	Details JSON
}

// Fault is an error that a provider reports after it has begun to answer.
type Fault struct {
	// Type and Code are the provider's own words.
	Type, Code, Message string
}

// Reply is a whole reply in the form that all dialects share.
type Reply struct {
	ID, Model string
	// Created is in seconds since 1970; zero where the provider did not say.
	Created int64
	Items   []Item
	Usage   Usage
	Stop    Stop
	Fault   *Fault
	// Extra are members of the reply that have no field, in order.
	Extra []Member
}
