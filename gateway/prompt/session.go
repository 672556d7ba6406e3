package prompt

import (
	"bytes"
	"strings"
	"time"
)

// Session is in whose name a prompt is opened, and who can see it.
type Session struct {
	// Tenant is the digest of the credential that the session's root was called with:
	// who shows the same may answer.
	Tenant string
	// Conversation is the name of the root's conversation.
	Conversation string
	// Path are the agents that were called by each other, from the root down; none
	// for the root itself.
	Path []string
	// Turn names the turn within the conversation, for answers that hold for all of it;
	// empty where there is no telling turns apart, and no answer outlives its prompt.
	Turn string
	// Attended says that the client, on the stream that waits, can answer.
	Attended bool
	// Wait is how long a prompt of the session may wait at most. Zero is as long as any
	// other, and less than zero not at all: a client of a whole reply cannot be told
	// that somebody is being asked.
	Wait time.Duration
	// Order is the place of the call among those of its round: prompts are opened one
	// at a time, the one of the first call first.
	Order int
	// Notify is told of the session's own prompts as they open and close, if it is set.
	// Only the session waits for it.
	Notify func(Event)
}

// turn is the name of the turn among all turns.
func (s *Session) turn() string {
	if s.Turn == "" {
		return ""
	}
	return strings.Join([]string{s.Tenant, s.Conversation, strings.Join(s.Path, "/"), s.Turn}, "\x00")
}

// The headers by which clients say what they can do and who called them.
const (
	// CapabilitiesHeader lists what a client can handle: CapableForm answers prompts.
	CapabilitiesHeader = "warmpath-capabilities"
	// ParentHeader names the conversation of the agent that called this one, and
	// AgentHeader this one; names of agents in between stand before it, with slashes.
	ParentHeader = "warmpath-parent"
	AgentHeader  = "warmpath-agent"
	// WaitHeader is how long a prompt may wait at most, like 20s.
	WaitHeader = "warmpath-wait"

	CapableForm = "prompt.form"
)

// Capable reports whether the value of CapabilitiesHeader lists a capability.
func Capable(header []byte, capability string) bool {
	for part := range bytes.SplitSeq(header, []byte(",")) {
		if string(bytes.TrimSpace(part)) == capability {
			return true
		}
	}
	return false
}

// maxWait bounds what a client can ask for.
const maxWait = time.Hour

// ParseWait reads the value of WaitHeader; zero where it says nothing that can be
// read.
func ParseWait(header []byte) time.Duration {
	wait, err := time.ParseDuration(string(bytes.TrimSpace(header)))
	if err != nil || wait < 0 {
		return 0
	}
	return min(wait, maxWait)
}

// maxNames and maxName bound the names of a path, which clients make up.
const (
	maxNames = 16
	maxName  = 64
)

// agents splits the value of AgentHeader. What is no name of an agent is left out.
func agents(header []byte) (names []string) {
	for part := range bytes.SplitSeq(header, []byte("/")) {
		if name := label(string(bytes.TrimSpace(part)), maxName); name != "" && len(names) < maxNames {
			names = append(names, name)
		}
	}
	return names
}
