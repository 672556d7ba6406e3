package continuity

import (
	"encoding/hex"
	"fmt"

	"warmpath/rewrite"
)

// Hash identifies an element of a request by a digest of its bytes in some
// form. Elements are compared across requests, restarts and machines, so it is
// a cut of SHA-256.
type Hash [16]byte

// Facts is what a dialect reads of one request without decoding it. Spans are
// offsets into the body they were read from.
type Facts struct {
	// Model, ModelSpan and Stream are as in rewrite.Facts.
	Model     string
	ModelSpan rewrite.Span
	Stream    bool
	// Session is a name that the client gives its conversation, empty for none.
	// It is not read from the body.
	Session string
	// Effort is the top-level effort as it is written, empty if it is not. Rigid
	// says that thinking is configured so that no message may have another.
	Effort string
	Rigid  bool
	// Forced is the name of the tool that tool_choice demands, empty for none;
	// Demands says that it demands a call, of whichever tool.
	Forced  string
	Demands bool
	// Params are digests of what else takes part in the provider's cache, and
	// Diagnoses says that the client asks the provider why it missed.
	Params    Params
	Diagnoses bool
	Tools     []Tool
	Sections  []Section
	Messages  []Message
	// Marks is the number of cache marks in the request, the automatic one
	// included, and Automatic says whether there is one.
	Marks     int
	Automatic bool
	// Thread is set for a request that continues a history the provider keeps:
	// its messages are only the newest.
	Thread bool
	// Threads is set for any request that the provider keeps as a thread: what goes
	// on with it says what stands beside the messages for itself.
	Threads bool
}

// Rename tells the facts that other text stands for the model's name, as a JSON
// string of the given length: all that stands behind it has moved.
func (f *Facts) Rename(model string, length int) {
	at, by := f.ModelSpan.End, length-f.ModelSpan.Len()
	f.Model, f.ModelSpan.End = model, at+by
	for i := range f.Tools {
		if t := &f.Tools[i]; t.Span.Start >= at {
			t.Move(by)
		}
	}
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Span.Start >= at {
			s.Move(by)
		}
	}
	for i := range f.Messages {
		if m := &f.Messages[i]; m.Span.Start >= at {
			m.Move(by)
		}
	}
}

// Move moves the tool's spans by a number of bytes.
func (t *Tool) Move(by int) { move(by, &t.Span, &t.Mark) }

// Move moves the section's spans by a number of bytes.
func (s *Section) Move(by int) { move(by, &s.Span, &s.Mark, &s.Text) }

// Move moves the message's spans by a number of bytes.
func (m *Message) Move(by int) { move(by, &m.Span, &m.Seal, &m.Mark) }

// move leaves empty spans, which stand nowhere.
func move(by int, spans ...*rewrite.Span) {
	for _, s := range spans {
		if s.Len() > 0 {
			s.Start, s.End = s.Start+by, s.End+by
		}
	}
}

// Tool is one entry of a request's tools.
type Tool struct {
	// Name is the name that calls use; for an entry that stands for many tools,
	// the name of their source.
	Name string
	// Family tells kinds of tools apart that cannot be redefined as one another:
	// empty for a client's own, else the vendor's type without its date.
	Family string
	// Meaning is the hash of the canonical form: marks and deferral removed,
	// members in order of their names, insignificant space and spelling of
	// strings made equal. Exact is the hash of the bytes without marks.
	Meaning, Exact Hash
	Span           rewrite.Span
	Deferred       bool
	// Fixed entries stand for many tools, or have rules of their own: no
	// directive can add, change or withdraw them.
	Fixed bool
	// Mark covers the tool's cache mark with the comma that goes with it; empty
	// without one.
	Mark rewrite.Span
}

// Section is one block of the system prompt. A system prompt that is a plain
// string is one section.
type Section struct {
	Meaning, Exact Hash
	Span           rewrite.Span
	Mark           rewrite.Span
	// Text covers the JSON string of the section's text, quotes included.
	Text rewrite.Span
	// Volatile marks a block that the provider takes out before it reads the
	// prompt; it is no instruction and its changes are none.
	Volatile bool
}

// Role is who a message is from.
type Role uint8

// The roles. A system message stands among the others and is the client's own.
const (
	User Role = iota
	Assistant
	System
)

// Message is one message of a request.
type Message struct {
	Role Role
	// Meaning is the hash of the canonical form, in which a string and its one
	// text block are equal; Exact is that of the bytes without marks.
	Meaning, Exact Hash
	Span           rewrite.Span
	// Blocks is the number of content blocks; a string counts as one.
	Blocks int
	// Calls says that the message calls tools of the client; Results that it
	// holds nothing but their results.
	Calls, Results bool
	// HostedTail says that the last block is the result of a tool that the
	// provider ran, and HostedOpen that one is still without its result.
	HostedTail, HostedOpen bool
	// Bound says that the message holds thinking, which may be bound to all that
	// stands before it.
	Bound bool
	// Signed says that the message holds something only the provider can have
	// made: the id of a call, a signature, an encrypted block.
	Signed bool
	// Seal covers the first string in the message that only the provider can
	// have made, quotes included; empty for none.
	Seal rewrite.Span
	// Marks is the number of cache marks in the message, and Mark covers the last
	// of them with the comma that goes with it.
	Marks int
	Mark  rewrite.Span
	// Bare is a system message without content, which only sets the effort.
	Bare bool
	// Effort is the effort that a system message sets, empty for none.
	Effort string
	// Scoped is a system message that ends with the next user message.
	Scoped bool
	// Spelled says that the message holds what reaches the model as it is
	// spelled: the arguments of a call, the schema of a tool, texts side by side.
	Spelled bool
	// Reminders, unless nil, are what an agent adds to a user's message once, and
	// may leave out when it sends the message again.
	Reminders *Reminders
}

// Reminders are those of one message.
type Reminders struct {
	// Rest is the Meaning that the message has without those that can be left out.
	Rest Hash
	// Each are the reminders, in their order.
	Each []Reminder
}

// Reminder is one of them.
type Reminder struct {
	Meaning Hash
	// Inner ones stand inside a tool's result or another text: they are no
	// instruction of their own.
	Inner bool
}

// Line is the Meaning by which a conversation is known again: that of what an
// agent keeps of the message.
func (m *Message) Line() Hash {
	if m.Reminders != nil {
		return m.Reminders.Rest
	}
	return m.Meaning
}

// MarshalText writes a hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(h) {
		return fmt.Errorf("a hash of %d characters, want %d", len(text), hex.EncodedLen(len(h)))
	}
	_, err := hex.Decode(h[:], text)
	return err
}
