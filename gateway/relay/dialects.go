package relay

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
)

// dialect is what the relay needs of each dialect. It is the only place where
// the relay knows them apart.
type dialect struct {
	peek              func(body []byte) (rewrite.Facts, error)
	readReply         func(body []byte, r *rewrite.Report)
	readEvent         func(name, data []byte, r *rewrite.Report)
	appendError       func(dst []byte, f *rewrite.Failure, requestID string) []byte
	appendStreamError func(dst []byte, f *rewrite.Failure, r *rewrite.Report) []byte
	heartbeat         string
	// answered are words that stand in every request that holds an earlier
	// reply of the model, and hardly ever in another.
	answered []string
	// bare streams may hold an error that is no event.
	bare bool
	// binary streams are frames, and no text.
	binary bool
}

var dialects = [...]dialect{
	// A client whose dialect is unknown reads an error in Anthropic's shape as
	// well as any: it has OpenAI's error.message at the same place.
	rewrite.Opaque: {
		appendError:       anthropic.AppendError,
		appendStreamError: anthropic.AppendStreamError,
	},
	rewrite.Messages: {
		anthropic.Peek, anthropic.ReadReply, anthropic.ReadEvent,
		anthropic.AppendError, anthropic.AppendStreamError, anthropic.Heartbeat,
		[]string{`"assistant"`}, false, false,
	},
	rewrite.Completions: {
		completions.Peek, completions.ReadReply, completions.ReadEvent,
		completions.AppendError, completions.AppendStreamError, completions.Heartbeat,
		[]string{`"assistant"`}, false, false,
	},
	rewrite.Responses: {
		responses.Peek, responses.ReadReply, responses.ReadEvent,
		responses.AppendError, responses.AppendStreamError, responses.Heartbeat,
		[]string{`"assistant"`, `"function_call"`, `"previous_response_id"`}, false, false,
	},
	rewrite.Gemini: {
		gemini.Peek, gemini.ReadReply, gemini.ReadEvent,
		gemini.AppendError, gemini.AppendStreamError, gemini.Heartbeat,
		[]string{`"model"`}, true, false,
	},
	rewrite.Converse: {readReply: converse.ReadReply, readEvent: converse.ReadEvent, binary: true},
}

// glance is how much of a large body is searched at either end: an earlier
// reply stands near the beginning or near the end of any conversation.
const glance = 64 << 10

// opening reports whether a request is the first of its conversation: one that
// holds no earlier reply.
func (d *dialect) opening(body []byte) bool {
	head, tail := body, []byte(nil)
	if len(body) > 2*glance {
		head, tail = body[:glance], body[len(body)-glance:]
	}
	for _, word := range d.answered {
		if bytes.Contains(head, []byte(word)) || bytes.Contains(tail, []byte(word)) {
			return false
		}
	}
	return true
}
