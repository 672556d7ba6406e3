package rewrite

// Dialect names a wire format for requests and replies.
type Dialect uint8

// The dialects. Opaque traffic is forwarded and never read.
const (
	Opaque Dialect = iota
	Messages
	Completions
	Responses
	Gemini
	// Converse is spoken to providers only: no client is answered in it.
	Converse
)

// Dialects lists every dialect that clients speak, in a fixed order, for tables
// and metric labels.
var Dialects = []Dialect{Opaque, Messages, Completions, Responses, Gemini}

// ProviderDialects lists every dialect that providers may speak, in a fixed order.
var ProviderDialects = []Dialect{Messages, Completions, Responses, Gemini, Converse}

// String is the dialect's name in configuration, logs and metric labels.
func (d Dialect) String() string {
	switch d {
	case Messages:
		return "messages"
	case Completions:
		return "chat"
	case Responses:
		return "responses"
	case Gemini:
		return "gemini"
	case Converse:
		return "converse"
	case Opaque:
		return "opaque"
	}
	return "opaque"
}

// ParseDialect is the inverse of String; ok is false for an unknown name.
func ParseDialect(name string) (d Dialect, ok bool) {
	for _, d := range ProviderDialects {
		if d.String() == name {
			return d, true
		}
	}
	return Opaque, name == Opaque.String()
}
