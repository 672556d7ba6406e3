package relay

import (
	"crypto/rand"
	"encoding/hex"

	"warmpath/cache/eventlog"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
	"warmpath/rewrite/transcript"
)

// conversationField names a conversation, in a request and in a reply.
const conversationField = "warmpath-conversation"

// naming is what a conversation will be found by.
type naming struct{ items, heads []transcript.Mark }

// nameConversation finds the conversation that a request belongs to. The client's own
// name for it decides; else the longest beginning of its history that ends with a
// reply which the log has; else the name that the lineage has for it, or the client's
// session. Where nothing is known a conversation begins: two that begin with the same
// words are two.
func (x *exchange) nameConversation(s *scribe, c *rewrite.Conversation, steps []transcript.Step) (id string, n naming) {
	log := s.log
	tenant := s.line.Named("tenant", "")
	n.items = []transcript.Mark{tenant}
	if own := x.req.Field(conversationField); len(own) > 0 {
		// One that was told before is taken for what it is.
		if log.Known(string(own), eventlog.Mark(tenant))[0] > 0 {
			return string(own), naming{}
		}
		return made(s.line.Named("own", string(own))), n
	}
	answered := c.Previous != ""
	var heads []eventlog.Mark
	if c.Previous != "" {
		heads = append(heads, eventlog.Mark(s.line.Named("reply", c.Previous)))
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Model {
			answered = true
			heads = append(heads, eventlog.Mark(steps[i].Head))
		}
	}
	if id, known := log.Find(heads...); id != "" {
		return id, naming{}
	} else if known {
		return randomName(), n // it is one of several, and nothing tells which
	}
	if x.warmth != nil && !x.warmth.passing {
		return s.lineageName(x.warmth.plan.Next.Conversation, answered, n)
	}
	if name := session(x.req.Fields); name != "" {
		return made(s.line.Named("session", name)), n
	}
	if name := namedThread(x); name != "" {
		return made(s.line.Named("thread", name)), n
	}
	if answered {
		// Whoever changes what was said is told apart by how it began.
		if beginning := x.conversation(x.asked); beginning != "" {
			return made(s.line.Named("beginning", beginning)), n
		}
	}
	return randomName(), n
}

// lineageName is the lineage's name for a conversation. The lineage gives one name to
// all that begin with the same request; here they are told apart.
func (s *scribe) lineageName(name string, answered bool, n naming) (string, naming) {
	shared := s.line.Named("shared", name)
	_, several := s.log.Find(eventlog.Mark(shared))
	if !several && s.log.Claim(name) {
		return name, n
	}
	waits := s.log.Known(name, eventlog.Mark(s.line.Named("unanswered", "")), eventlog.Mark(s.line.Named("answered", "")))
	if !several && (answered || waits[0] > 0 && waits[1] == 0) { // it goes on, or is sent again
		return name, naming{}
	}
	n.heads = []transcript.Mark{shared}
	return randomName(), n
}

// namedThread is the provider's conversation that a request of the Responses API goes
// on with; empty for none.
func namedThread(x *exchange) (name string) {
	if x.req.Dialect != rewrite.Responses {
		return ""
	}
	splice.Fields(x.asked, func(key, value []byte) bool {
		if string(key) != "conversation" {
			return true
		}
		var ok bool
		if name, ok = splice.TextOf(value); !ok {
			splice.Fields(value, func(key, value []byte) bool {
				if string(key) == "id" {
					name = splice.Text(value)
				}
				return true
			})
		}
		return true
	})
	return name
}

// made is the name of a conversation that something else names.
func made(m transcript.Mark) string { return "conv_" + hex.EncodeToString(m[:8]) }

func randomName() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return "conv_" + hex.EncodeToString(id[:])
}

// conversationID names the conversation of the exchange: as the log does, or the
// lineage, or by what the client calls it, or how it begins. It is the tenant's own.
func (x *exchange) conversationID() string {
	switch {
	case x.record.Conversation != "":
		return x.record.Conversation
	case x.warmth != nil && !x.warmth.passing:
		return x.warmth.plan.Next.Conversation
	}
	return "conv_" + digest("conversation", []byte(x.req.tenant()), []byte(x.conversation(x.asked)))[:16]
}

// names says what the conversation is called; nothing where it has no name.
func (x *exchange) names() []upstream.Field {
	if x.record.Conversation == "" {
		return nil
	}
	return []upstream.Field{{Name: []byte(conversationField), Value: []byte(x.record.Conversation)}}
}
