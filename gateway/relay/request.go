package relay

import (
	"time"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

// Operation is what a path of a dialect asks for.
type Operation uint8

// The operations. OpOther is forwarded and never read.
const (
	OpOther Operation = iota
	OpGenerate
	OpCountTokens
	OpCompact
	OpEmbed
)

// String is the operation's name in logs.
func (o Operation) String() string {
	switch o {
	case OpGenerate:
		return "generate"
	case OpCountTokens:
		return "count_tokens"
	case OpCompact:
		return "compact"
	case OpEmbed:
		return "embed"
	case OpOther:
		return "other"
	}
	return "other"
}

// named reports whether the body names a model that decides the route.
func (o Operation) named() bool { return o != OpOther }

// tapped reports whether the reply has usage to read.
func (o Operation) tapped() bool { return o == OpGenerate || o == OpCompact || o == OpEmbed }

// Request is one client request. Nothing in it is changed, and all of it must
// stay valid until Serve has returned.
type Request struct {
	Dialect   rewrite.Dialect
	Operation Operation
	// Provider is set when the path named one; the model then decides nothing.
	Provider string
	// Model and ModelSpan are set where the path holds the model: the span of
	// Path to replace when it is sent under another name.
	Model     string
	ModelSpan rewrite.Span

	Method string
	// Path is the raw path beneath the provider's address, Read the same as
	// servers read it, and Query the raw query without its question mark.
	Path, Read, Query []byte
	// Holds says that the body holds results of tools, although it is forwarded
	// unread otherwise: a batch of requests, or what the provider is to keep.
	Holds  bool
	Fields []upstream.Field
	Body   []byte
	// OwnKey says that the client's credential was meant for the gateway, so
	// that no provider may see it.
	OwnKey bool
	// Room is where memory for the body unpacked comes from; nil is without end.
	Room Room
	// Arrived is when the request had been read completely.
	Arrived time.Time
}

// Field is the first value of a header line by its lower-case name, or nil.
func (r *Request) Field(lower string) []byte {
	for _, field := range r.Fields {
		if field.Is(lower) {
			return field.Value
		}
	}
	return nil
}

// Reply is what the client gets. Either Whole is the complete body, or Body is
// to be written out and closed exactly once. A Reply with a Body is valid until
// Body is closed.
type Reply struct {
	Status int
	// Fields are the header lines, valid until Body is first asked for bytes.
	Fields []upstream.Field
	Whole  []byte
	Body   *Body
	// Length is the number of body bytes, or -1 when only their end will tell.
	Length int64
}
