package rewrite

import "bytes"

// Role is who a message is from.
type Role uint8

// The roles. RoleSystem is the operator, wherever in the conversation he speaks.
const (
	RoleUser Role = iota
	RoleAssistant
	RoleSystem
)

// String is the role's name in events and records.
func (r Role) String() string {
	switch r {
	case RoleAssistant:
		return "assistant"
	case RoleSystem:
		return "system"
	case RoleUser:
		return "user"
	}
	return "user"
}

// ItemKind is what an Item is.
type ItemKind uint8

// The kinds of items.
const (
	// ItemMessage is what somebody said: Role and Parts.
	ItemMessage ItemKind = iota
	// ItemReasoning is the model's own: Parts (what it shows of it) and Payload
	// (what only its provider can read).
	ItemReasoning
	// ItemCall asks the client to run a tool: Call.
	ItemCall
	// ItemResult is what the tool gave: Call.ID and Call.Name, Parts, Failed.
	ItemResult
	// ItemHosted is a tool that the provider ran itself: Hosted and Payload. It is
	// never dispatched, repaired or answered. Where a provider says in two blocks
	// that it began and what came of it, these are two items of one Hosted.ID.
	ItemHosted
	// ItemDirective changes the offered tools from here on: Directive.
	ItemDirective
	// ItemOpaque is known to its own dialect only: Payload.
	ItemOpaque
)

// ItemKinds lists every kind, for tables.
var ItemKinds = []ItemKind{ItemMessage, ItemReasoning, ItemCall, ItemResult, ItemHosted, ItemDirective, ItemOpaque}

// String is the kind's name in records and losses.
func (k ItemKind) String() string {
	return [...]string{"message", "reasoning", "call", "result", "hosted", "directive", "opaque"}[k]
}

// Item is one step of a conversation. Items that dialects pack into one message
// (a reply's reasoning, text and calls) stand one after the other.
type Item struct {
	Kind ItemKind
	// Path is where it stood in a client's request.
	Path Path
	// ID is the provider's name for the item, empty for none.
	ID   string
	Role Role
	// Voice is who speaks in the words of the client's own dialect.
	Voice  Voice
	Parts  []Part
	Call   Call
	Failed bool
	Hosted Hosted

	Directive Directive
	// Phase tells an answer from what was said on the way to it, where the
	// provider does: commentary or final_answer.
	Phase string
	// Payload is the item as its provider made it. Where it is present and its
	// provider is the one that gets the request, it is sent in place of the rest:
	// who changes an item empties it. An item that a reply has just opened may
	// name its provider and format here, and no value yet.
	Payload Payload
	// Mark asks for the prompt up to here to be cached.
	Mark Mark
	// Incomplete says that a stream ended within the item.
	Incomplete bool
}

// Voice is who speaks in the words of the client's own dialect, where Role does not say
// it all. It is for providers of the same dialect.
type Voice struct {
	// Role is the dialect's other word for the role, and Name whom the client names.
	Role, Name string
	// Message counts the messages from 1: sections of one stay together.
	Message int
}

// Plain says that a piece of reasoning is nothing but text, which is for people:
// a provider that has not made it loses nothing.
func (i *Item) Plain() bool {
	p := &i.Payload
	return i.Kind == ItemReasoning && (p.Empty() || p.Format == "chat/reasoning" && !bytes.Contains(p.Value, []byte(`"reasoning_details"`)))
}

// Call is a call of a client's tool.
type Call struct {
	// ID pairs the call with its result.
	ID, Name string
	// Namespace groups tools where the provider does.
	Namespace string
	// Arguments is a JSON object, or free text if Custom.
	Arguments JSON
	Custom    bool
}

// Directive is a change of the offered tools, by name.
type Directive struct{ Add, Remove []string }

// Mark is a cache breakpoint. The zero Mark is none.
type Mark struct {
	Set bool
	// TTL is how long the entry is to live, in the dialects' own spelling: 5m, 1h
	// and so on; empty is the provider's own.
	TTL string
}

// PartKind is what a Part is.
type PartKind uint8

// The kinds of parts.
const (
	// PartText is Text; in reasoning, what the provider shows of it.
	PartText PartKind = iota
	// PartSummary is reasoning told in other words.
	PartSummary
	// PartRefusal is Text by which the model declines.
	PartRefusal
	// PartImage, PartAudio, PartVideo and PartFile are Media.
	PartImage
	PartAudio
	PartVideo
	PartFile
	// PartOpaque is known to its own dialect only: Payload.
	PartOpaque
)

// String is the kind's name in losses.
func (k PartKind) String() string {
	return [...]string{"text", "summary", "refusal", "image", "audio", "video", "file", "opaque"}[k]
}

// Part is a piece of content.
type Part struct {
	Kind PartKind
	// Path is where it stood in a client's request.
	Path Path
	Text string
	// Voice is who gives a section of the system prompt.
	Voice Voice
	// MIME is the media type, of text too where it is known.
	MIME  string
	Media Media
	// Attributions are the sources of a text, in the order in which they came.
	Attributions []Attribution
	// Annotations is what a tool says about its own content (audience, priority).
	Annotations JSON
	Payload     Payload
	Mark        Mark
}

// Media is where the bytes of an image, a sound or a file are: one of Data, URL
// and ID.
type Media struct {
	// Data is base64.
	Data string
	URL  string
	// ID is a file that the provider keeps.
	ID   string
	Name string
	// Detail is how closely an image is to be looked at.
	Detail string
}

// Attribution is a source of a text.
type Attribution struct {
	URL, Title string
	// Start and End are the cited part of the text in code points, half-open;
	// equal where the source is of the whole part.
	Start, End int
	// Excerpt is text of the source, never a range of the answer.
	Excerpt string
	// Kind is the provider's word for it.
	Kind string
	// Payload is the citation as its provider made it, and needs it back.
	Payload Payload
	// Incomplete says that the text was cut before all its sources were named.
	Incomplete bool
}

// HostedState is how far a hosted activity has come.
type HostedState uint8

// The states. An activity that was started and never finished stays so.
const (
	HostedStarted HostedState = iota
	HostedCompleted
	HostedFailed
)

// String is the state's name in events and metric labels.
func (s HostedState) String() string { return [...]string{"started", "completed", "failed"}[s] }

// Hosted is an activity of the provider's own.
type Hosted struct {
	// ID links the call of an activity with its result.
	ID string
	// Name is the capability: web_search, web_fetch, code_execution, file_search,
	// image_generation, mcp, computer, shell, maps, tool_search, advisor or other.
	Name  string
	State HostedState
	// Input is the call's, as JSON.
	Input JSON
	// Summary is a few words for people, and Error the provider's code of a
	// failure.
	Summary, Error string
	// Sources are what a search has found.
	Sources []Attribution
}
