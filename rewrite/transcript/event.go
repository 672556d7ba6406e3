package transcript

import (
	"encoding/json"
	"fmt"
	"time"
)

// Version is that of the form of events. What has a field more is not another form.
const Version = 1

// The types of events.
const (
	// TurnStart opens a turn, which is one request of the client's: Dialect, Model,
	// Stream, Items, New.
	TurnStart = "turn_start"
	// Config is what the request says besides its history, where that is new in the
	// conversation: Content (the instructions) and Tools.
	Config = "config"
	// ChatRequest is something that the user has said: Role, Content.
	ChatRequest = "chat_request"
	// ChatResponse is something that the model has said: Kind, Content.
	ChatResponse = "chat_response"
	// ToolCallRequest is a call by the model: CallID, Name, Arguments, Runner.
	ToolCallRequest = "tool_call_request"
	// ToolCallResponse is what the tool gave: CallID, Name, Content, Failed, Runner.
	ToolCallResponse = "tool_call_response"
	// HostedActivity is a step of a tool that the provider runs: ID, Name, State,
	// Input, Summary, ErrorCode, Sources.
	HostedActivity = "hosted_activity"
	// Directive is what the operator says in mid-conversation (Content), or a change
	// of tools or instructions, of the client's or the gateway's: Texts, Added,
	// Removed, Defined, After.
	Directive = "directive"
	// InquiryRequest is a question to a person, and InquiryResponse what became of
	// it: ID, Kind, Data, Outcome.
	InquiryRequest  = "inquiry_request"
	InquiryResponse = "inquiry_response"
	// Opaque is something that only its provider can read: Payload.
	Opaque = "opaque"
	// Usage is what one call of a provider has used: Call, Provider, Model, Tokens,
	// Stop.
	Usage = "usage"
	// Error is why a turn, or a call of it, has failed: Reason, Message, Status.
	Error = "error"
	// TurnEnd closes a turn: Outcome, Status, Stop, Milliseconds.
	TurnEnd = "turn_end"
)

// The kinds of chat responses.
const (
	Message    = "message"
	Reasoning  = "reasoning"
	Structured = "structured"
)

// The outcomes of turns. A cut turn's reply has not ended.
const (
	Completed = "completed"
	Failed    = "failed"
	Cut       = "cut"
)

// The sources of events: what stood in the client's request, what came in the
// provider's reply, and what the gateway has done.
const (
	FromRequest = "request"
	FromReply   = "reply"
	FromGateway = "gateway"
)

// Event is one event. Which fields it has depends on its Type.
type Event struct {
	// Seq counts the events of the conversation from 1, Turn its turns, and Call the
	// calls of providers within the turn, where the event belongs to one.
	Seq    int64     `json:"seq"`
	Turn   int64     `json:"turn"`
	Call   int       `json:"call,omitempty"`
	Time   time.Time `json:"time"`
	Type   string    `json:"type"`
	Source string    `json:"source,omitempty"`

	// ID is the provider's name for what the event is about.
	ID      string  `json:"id,omitempty"`
	Kind    string  `json:"kind,omitempty"`
	Role    string  `json:"role,omitempty"`
	Phase   string  `json:"phase,omitempty"`
	Path    string  `json:"path,omitempty"` // in the client's request
	Content []Block `json:"content,omitempty"`
	// Incomplete says that the reply was cut within.
	Incomplete bool `json:"incomplete,omitempty"`

	// CallID pairs a call with its response. Arguments are an object, or a string
	// where they are free text (Custom) or no JSON. Runner is who runs the tool:
	// client or gateway.
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Custom    bool            `json:"custom,omitempty"`
	Runner    string          `json:"runner,omitempty"`
	Failed    bool            `json:"failed,omitempty"`

	// State is started, completed or failed.
	State     string          `json:"state,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Summary   string          `json:"summary,omitempty"`
	ErrorCode string          `json:"error_code,omitempty"`
	Sources   []Citation      `json:"sources,omitempty"`

	// After is the number of the client's messages that a directive stands behind,
	// and Defined how many tools it defines by value.
	Texts   []string `json:"texts,omitempty"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Defined int      `json:"defined,omitempty"`
	After   *int     `json:"after,omitempty"`

	// Data is the question, or the answer without what is secret.
	Data json.RawMessage `json:"data,omitempty"`

	Dialect  string `json:"dialect,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Stream   bool   `json:"stream,omitempty"`
	// Items is how many items the request's history has, and New how many of them
	// the log has not had before.
	Items int      `json:"items,omitempty"`
	New   int      `json:"new,omitempty"`
	Tools []string `json:"tools,omitempty"`

	Tokens       *Tokens `json:"tokens,omitempty"`
	Stop         string  `json:"stop,omitempty"`
	Outcome      string  `json:"outcome,omitempty"`
	Status       int     `json:"status,omitempty"`
	Reason       string  `json:"reason,omitempty"`
	Message      string  `json:"message,omitempty"`
	Milliseconds int64   `json:"duration_ms,omitempty"`

	// Payload is the same in the provider's own words.
	Payload *Payload `json:"payload,omitempty"`
	// Omitted is how many bytes of the event were too many to be kept.
	Omitted int `json:"omitted_bytes,omitempty"`
}

// Block is a piece of content: Type is text, summary, refusal, image, audio, video,
// file or opaque.
type Block struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	MIME string `json:"mimeType,omitempty"`
	// Data is base64.
	Data   string `json:"data,omitempty"`
	URL    string `json:"url,omitempty"`
	FileID string `json:"file_id,omitempty"`
	Name   string `json:"name,omitempty"`
	// Annotations are what a tool says of its own block: audience, priority,
	// lastModified.
	Annotations json.RawMessage `json:"annotations,omitempty"`
	Citations   []Citation      `json:"citations,omitempty"`
	Payload     *Payload        `json:"payload,omitempty"`
	// Omitted is how many bytes of Text or Data were too many to be kept.
	Omitted int `json:"omitted_bytes,omitempty"`
}

// Citation is a source of a text. Start and End are code points of the text,
// half-open; without End the source is of all of it.
type Citation struct {
	URL        string   `json:"url,omitempty"`
	Title      string   `json:"title,omitempty"`
	Start      int      `json:"start,omitempty"`
	End        int      `json:"end,omitempty"`
	Excerpt    string   `json:"excerpt,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	Incomplete bool     `json:"incomplete,omitempty"`
	Payload    *Payload `json:"payload,omitempty"`
}

// Payload is something in a provider's own words, byte for byte.
type Payload struct {
	Provider string          `json:"provider,omitempty"`
	Format   string          `json:"format"`
	Version  string          `json:"version,omitempty"`
	Value    json.RawMessage `json:"value"`
}

// Tokens is what a call has used, in tokens. What was not reported is nil.
type Tokens struct {
	Input      *int64 `json:"input,omitempty"`
	Fresh      *int64 `json:"fresh,omitempty"`
	CacheRead  *int64 `json:"cache_read,omitempty"`
	CacheWrite *int64 `json:"cache_write,omitempty"`
	Output     *int64 `json:"output,omitempty"`
	Reasoning  *int64 `json:"reasoning,omitempty"`
}

// Parse reads an event. It must not go to where bytes are sent on from: what has no
// field here is lost.
func Parse(text []byte) (*Event, error) {
	e := new(Event)
	if err := json.Unmarshal(text, e); err != nil {
		return nil, fmt.Errorf("reading an event: %w", err)
	}
	return e, nil
}
