package converse

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// ReadReply reads a whole reply. A body that is not a complete JSON object
// changes nothing.
func ReadReply(body []byte, r *rewrite.Report) {
	whole, ok := readWhole(body)
	if !ok {
		return
	}
	r.Ended = true
	if whole.content == nil && whole.failed() {
		readFailure([]byte(whole.failure), r)
		return
	}
	readStop(whole.stop, r)
	readUsage(whole.usage, &r.Usage)
	splice.Elements(whole.content, func(block []byte) bool {
		r.Output = true
		switch kind, value := only(block); kind {
		case kindCall, kindResult:
			readTool(kind, value, r)
		case kindCited:
			readSources(value, r)
		}
		return true
	})
	for _, m := range whole.extra {
		if m.Name == "serviceTier" {
			r.Terms |= tierOf(m.Value)
		}
	}
}

// whole is a whole reply in pieces.
type whole struct {
	content, stop, usage, message []byte
	failure                       string
	extra                         []rewrite.Member
}

// failed reports an error in place of a reply.
func (w *whole) failed() bool { return w.stop == nil && (w.message != nil || w.failure != "") }

func readWhole(body []byte) (w whole, ok bool) {
	ok = splice.Fields(body, func(name, value []byte) bool {
		switch string(name) {
		case "output":
			w.content = contentOf(value)
		case "stopReason":
			w.stop = value
		case "usage":
			w.usage = value
		case "message":
			w.message = value
		case "__type":
			w.failure = splice.Text(value)
		default:
			w.extra = addExtra(w.extra, name, value)
		}
		return true
	})
	return w, ok
}

// contentOf is the content of the message that a reply is.
func contentOf(output []byte) (content []byte) {
	splice.Fields(output, func(name, message []byte) bool {
		if string(name) == "message" {
			splice.Fields(message, func(name, value []byte) bool {
				if string(name) == "content" {
					content = value
				}
				return true
			})
		}
		return true
	})
	return content
}

// addExtra adds a member that the hub has no field for and that tells of the
// reply.
func addExtra(extra []rewrite.Member, name, value []byte) []rewrite.Member {
	switch string(name) {
	case "additionalModelResponseFields", "performanceConfig", "serviceTier", "trace":
		if !splice.Null(value) {
			return append(extra, rewrite.Member{Name: string(name), Value: append(rewrite.JSON(nil), value...)})
		}
	}
	return extra
}

// readStop sets the reason a message ended.
func readStop(value []byte, r *rewrite.Report) {
	word, ok := splice.String(value)
	if !ok || len(word) == 0 {
		return
	}
	r.Stop = stopOf(string(word))
	r.ToolCall = r.ToolCall || r.Stop == rewrite.StopTools
}

// stopOf is the hub's word for why a message ended.
func stopOf(word string) rewrite.StopReason {
	switch word {
	case "end_turn", "stop_sequence":
		return rewrite.StopEnd
	case "tool_use":
		return rewrite.StopTools
	case "max_tokens", "model_context_window_exceeded":
		return rewrite.StopLength
	case "guardrail_intervened", "content_filtered":
		return rewrite.StopFilter
	case "malformed_model_output", "malformed_tool_use":
		return rewrite.StopMalformed
	case "refusal":
		return rewrite.StopRefusal
	case "pause_turn":
		return rewrite.StopPause
	}
	return rewrite.StopOther
}

// readFailure notes an error that the provider calls by a name.
func readFailure(name []byte, r *rewrite.Report) {
	r.Failed, r.Ended, r.Stop, r.ErrorType = true, true, rewrite.StopError, string(name)
}
