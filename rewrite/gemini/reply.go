package gemini

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// ReadReply reads a whole reply: one document, or the array of them that a
// streaming method answers with when nobody asked for events. A body that is
// not complete changes nothing.
func ReadReply(body []byte, r *rewrite.Report) {
	if !splice.Elements(body, func([]byte) bool { return true }) {
		if readFrame(body, r) {
			r.Ended = true
		}
		return
	}
	splice.Elements(body, func(frame []byte) bool {
		readFrame(frame, r)
		return true
	})
	r.Ended = true
}

// readFrame reads a reply or one frame of a stream in one pass; ok is false
// when it is not a complete JSON object, and then nothing was read.
func readFrame(data []byte, r *rewrite.Report) (ok bool) {
	var id, model, usage, feedback, failure []byte
	next, tells := *r, false
	w := splice.Walk(data)
	if !w.Fields(func(key []byte) {
		switch string(key) {
		case "responseId":
			id = w.Value()
		case "modelVersion":
			model = w.Value()
		case "candidates":
			w.Elements(func() { tells = readCandidate(&w, &next) || tells })
		case "usageMetadata":
			usage = w.Value()
		case "promptFeedback":
			feedback = w.Value()
		case "error":
			failure = w.Value()
		}
	}) {
		return false
	}
	*r = next
	if r.ID == "" {
		r.ID = splice.Text(id)
	}
	if r.Model == "" {
		r.Model = splice.Text(model)
	}
	readUsage(usage, &r.Usage)
	readFeedback(feedback, r)
	if tells {
		readActivity(data, r)
	}
	if next.Stop != rewrite.StopUnknown {
		r.Said()
	}
	if !splice.Null(failure) {
		readFailure(failure, r)
	}
	return true
}

// readCandidate reads one candidate. Its finish reason is read after its parts,
// because it is the same with and without a function call. Tells is set for one
// that has something of the provider's own tools.
func readCandidate(w *splice.Walker, r *rewrite.Report) (tells bool) {
	var finish []byte
	w.Fields(func(key []byte) {
		switch string(key) {
		case "content":
			tells = readContent(w, r) || tells
		case "finishReason":
			finish = w.Value()
		case "groundingMetadata", "urlContextMetadata":
			tells = !splice.Empty(w.Value()) || tells
		}
	})
	readFinish(finish, r)
	return tells
}

// readContent looks at the parts for generated content and function calls.
func readContent(w *splice.Walker, r *rewrite.Report) (tells bool) {
	w.Fields(func(key []byte) {
		if string(key) == "parts" {
			w.Elements(func() { tells = readPart(w, r) || tells })
		}
	})
	return tells
}

// readPart reads one part. A signature alone, or the mark of a thought, is not
// content.
func readPart(w *splice.Walker, r *rewrite.Report) (tells bool) {
	w.Fields(func(key []byte) {
		switch string(key) {
		case "thought", "thoughtSignature":
			return
		case "functionCall":
			r.ToolCall = true
		case "executableCode", "codeExecutionResult", "toolCall", "toolResponse":
			tells = true
		}
		r.Output = r.Output || !splice.Empty(w.Value())
	})
	return tells
}

// readFinish sets the reason a candidate ended, which ends the reply: this
// dialect has no other sign. The frames of a long reply may carry the reason
// empty.
func readFinish(value []byte, r *rewrite.Report) {
	word, ok := splice.String(value)
	if !ok || len(word) == 0 || string(word) == "FINISH_REASON_UNSPECIFIED" {
		return
	}
	r.Ended = true
	switch string(word) {
	case "STOP":
		r.Stop = rewrite.StopEnd
		if r.ToolCall {
			r.Stop = rewrite.StopTools
		}
	case "MAX_TOKENS":
		r.Stop = rewrite.StopLength
	case "CONTINUATION":
		r.Stop = rewrite.StopPause
	case "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		r.Stop = rewrite.StopFilter
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
		r.Stop = rewrite.StopMalformed
	default:
		r.Stop = rewrite.StopOther
	}
}

// readFeedback reads what the provider thought of the prompt. A blocked prompt
// has no candidates, and this is all of its reply.
func readFeedback(feedback []byte, r *rewrite.Report) {
	if splice.Empty(feedback) {
		return
	}
	splice.Fields(feedback, func(key, value []byte) bool {
		if string(key) == "blockReason" && !splice.Empty(value) && string(value) != `"BLOCK_REASON_UNSPECIFIED"` {
			r.Stop, r.Ended = rewrite.StopFilter, true
		}
		return true
	})
}

// readFailure reads an error object: its status is a word, its code a number.
func readFailure(failure []byte, r *rewrite.Report) {
	r.Failed, r.Ended, r.Stop = true, true, rewrite.StopError
	var code []byte
	splice.Fields(failure, func(key, value []byte) bool {
		switch string(key) {
		case "status":
			r.ErrorType = splice.Text(value)
		case "code":
			code = value
		}
		return true
	})
	if _, ok := splice.Int(code); ok && r.ErrorType == "" {
		r.ErrorType = string(code)
	}
}
