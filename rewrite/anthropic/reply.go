package anthropic

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// ReadReply reads a whole reply. A body that is not a complete JSON object
// changes nothing.
func ReadReply(body []byte, r *rewrite.Report) {
	var kind, failure, content []byte
	ok := splice.Fields(body, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind, _ = splice.String(value)
		case "error":
			failure = value
		case "content":
			content = value
		}
		return true
	})
	if !ok {
		return
	}
	r.Ended = true
	if string(kind) == "error" {
		readFailure(failure, r)
		return
	}
	readMessage(body, r)
	r.Output = r.Output || !splice.Empty(content)
	readContent(content, r)
}

// readMessage reads a message object, which a whole reply is and message_start
// carries.
func readMessage(message []byte, r *rewrite.Report) {
	splice.Fields(message, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			r.ID = splice.Text(value)
		case "model":
			r.Model = splice.Text(value)
		case "usage":
			readUsage(value, &r.Usage)
			readTerms(value, r)
		case "stop_reason":
			readStop(value, r)
		case "diagnostics":
			readDiagnosis(value, r)
		}
		return true
	})
}

// readContent looks through the blocks of a whole reply for those that say more
// than text.
func readContent(content []byte, r *rewrite.Report) {
	splice.Elements(content, func(block []byte) bool {
		readBegun(block, r)
		r.Said()
		return true
	})
}

// readBegun notes what a block is, and gives its type.
func readBegun(block []byte, r *rewrite.Report) (kind string) {
	var next, citations []byte
	splice.Fields(block, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = blockWord(value)
		case "to":
			next = value
		case "citations":
			citations = value
		}
		return true
	})
	switch kind {
	case "text":
		splice.Elements(citations, func(value []byte) bool {
			readCited(value, r)
			return true
		})
	case "tool_use":
		r.ToolCall = true
	case "fallback":
		splice.Fields(next, func(key, value []byte) bool {
			if string(key) == "model" {
				if to := splice.Text(value); to != "" {
					r.Model = to
				}
			}
			return true
		})
	case "other":
		readActivity(block, r)
	}
	return kind
}

// blockWord gives the block types that matter here without allocating; every
// other type is "other".
func blockWord(value []byte) string {
	switch string(value) {
	case `"text"`:
		return "text"
	case `"thinking"`:
		return "thinking"
	case `"tool_use"`:
		return "tool_use"
	case `"fallback"`:
		return "fallback"
	}
	return "other"
}

// readStop sets the reason a message ended; null says nothing yet.
func readStop(value []byte, r *rewrite.Report) {
	word, ok := splice.String(value)
	if !ok || len(word) == 0 {
		return
	}
	switch string(word) {
	case "end_turn", "stop_sequence":
		r.Stop = rewrite.StopEnd
	case "tool_use":
		r.Stop, r.ToolCall = rewrite.StopTools, true
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = rewrite.StopLength
	case "pause_turn":
		r.Stop = rewrite.StopPause
	case "compaction":
		r.Stop = rewrite.StopCompaction
	case "refusal":
		r.Stop = rewrite.StopRefusal
	default:
		r.Stop = rewrite.StopOther
	}
}

// readFailure reads the error object of an error reply or event.
func readFailure(failure []byte, r *rewrite.Report) {
	r.Failed, r.Ended, r.Stop = true, true, rewrite.StopError
	splice.Fields(failure, func(key, value []byte) bool {
		if string(key) == "type" {
			r.ErrorType = splice.Text(value)
		}
		return true
	})
}
