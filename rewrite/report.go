package rewrite

// Report is what a tap has read of one reply so far, whole or streamed. The
// zero Report has read nothing.
type Report struct {
	// ID and Model are the provider's own words for the reply.
	ID    string
	Model string
	Usage Usage
	Stop  StopReason
	// Ended is set once the reply said itself that it is over: by its terminal
	// event, or by being one whole document. A stream that closes while Ended
	// is false was cut.
	Ended bool
	// Failed is set when the reply reported an error in band; ErrorType is the
	// provider's name for it, empty if it gave none.
	Failed    bool
	ErrorType string
	// Output is set once any generated content has been seen: the moment of the
	// first token.
	Output bool
	// ToolCall is set once the reply asked the client to run a tool. Several
	// dialects report such a reply's end with the same word as any other.
	ToolCall bool
	// Sequence is the number that the next event of the stream would carry, in
	// the dialects that number their events.
	Sequence int64
	// Diagnosis is the provider's word on how the request differs from the one
	// before it, and Diverged how many tokens of that it has processed again.
	Diagnosis Diagnosis
	Diverged  Count
	// Created is when the provider says that it began the reply, in seconds
	// since 1970; zero when it did not say.
	Created int64
	// Activity counts tools that the provider ran, and sources; nil where the reply
	// has told of none.
	Activity *Activity
	// Terms are those that the reply says it was made on, and Charged is what it
	// says that it cost, in the provider's own account; zero where it does not.
	Terms   Terms
	Charged Dollars
}

// StopReason is why a reply ended, in one set of words for all dialects.
type StopReason uint8

// The stop reasons. StopUnknown means that none was reported yet; StopOther is
// a reason that this version has no word for.
const (
	StopUnknown StopReason = iota
	StopEnd
	StopTools
	StopLength
	StopPause
	StopFilter
	StopRefusal
	StopMalformed
	StopCompaction
	StopError
	StopOther
)

// StopReasons lists every reason for tables and metric labels.
var StopReasons = []StopReason{
	StopUnknown, StopEnd, StopTools, StopLength, StopPause, StopFilter,
	StopRefusal, StopMalformed, StopCompaction, StopError, StopOther,
}

// String is the reason's name in logs and metric labels.
func (r StopReason) String() string {
	switch r {
	case StopEnd:
		return "stop"
	case StopTools:
		return "tool_calls"
	case StopLength:
		return "length"
	case StopPause:
		return "pause"
	case StopFilter:
		return "filter"
	case StopRefusal:
		return "refusal"
	case StopMalformed:
		return "malformed"
	case StopCompaction:
		return "compaction"
	case StopError:
		return "error"
	case StopOther:
		return "other"
	case StopUnknown:
		return "unknown"
	}
	return "unknown"
}
