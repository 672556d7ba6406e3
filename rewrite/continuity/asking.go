package continuity

// Asking says in which conversations the provider is asked for a diagnosis of
// cache misses. It compares a request with the one before it only if it was
// asked with both, so a conversation that has begun to ask goes on to.
type Asking uint8

// The ways to ask. AskNever is the zero Asking. AskEdited asks from the
// first edit of a conversation on: others are sent as they came, also when they
// miss.
const (
	AskNever Asking = iota
	AskEdited
	AskAlways
)

// Askings lists every way to ask, for tables and messages.
var Askings = []Asking{AskNever, AskEdited, AskAlways}

// String is the name in configuration.
func (a Asking) String() string {
	switch a {
	case AskEdited:
		return "edited"
	case AskAlways:
		return "always"
	case AskNever:
		return "never"
	}
	return "never"
}

// ParseAsking is the inverse of String; ok is false for an unknown name.
func ParseAsking(name string) (a Asking, ok bool) {
	for _, a := range Askings {
		if a.String() == name {
			return a, true
		}
	}
	return AskNever, false
}

// Asks decides for one request of a conversation; last is the turn before it,
// nil for none. To ask for lost thinking to be left out is no edit: what else is
// sent is the client's own.
func (a Asking) Asks(plan *Plan, last *Turn) bool {
	switch a {
	case AskAlways:
		return true
	case AskEdited:
		edits := *plan
		edits.Drop = false
		return !edits.Untouched() || last != nil && last.Asked
	case AskNever:
	}
	return false
}
