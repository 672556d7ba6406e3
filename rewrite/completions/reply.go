package completions

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// ReadReply reads a whole reply. A body that is not a complete JSON object
// changes nothing.
func ReadReply(body []byte, r *rewrite.Report) {
	if readChunk(body, r) {
		r.Ended = true
	}
}

// document holds the members of a reply or chunk that are read.
type document struct {
	id, model, created, object []byte
	choices, usage, failure    []byte
	groq, timings              []byte
	// What a server that puts its error at the top level says of it.
	kind, code []byte
}

// readChunk reads a reply or one chunk of a stream; ok is false when it is not
// a complete JSON object, and then nothing was read.
func readChunk(data []byte, r *rewrite.Report) (ok bool) {
	var d document
	if !splice.Fields(data, d.set) {
		return false
	}
	if r.ID == "" {
		r.ID = splice.Text(d.id)
	}
	if r.Model == "" {
		r.Model = splice.Text(d.model)
	}
	if r.Created == 0 {
		r.Created, _ = splice.Int(d.created)
	}
	splice.Elements(d.choices, func(choice []byte) bool {
		d.readChoice(choice, r)
		return true
	})
	d.readUsage(&r.Usage)
	switch {
	case !splice.Null(d.failure):
		readFailure(d.failure, r)
	case string(d.object) == `"error"`:
		fail(r, d.kind, d.code)
	case !splice.Null(d.groq):
		readGroq(d.groq, r)
	}
	return true
}

// set stores one member.
func (d *document) set(key, value []byte) bool {
	switch string(key) {
	case "id":
		d.id = value
	case "model":
		d.model = value
	case "created":
		d.created = value
	case "object":
		d.object = value
	case "choices":
		d.choices = value
	case "usage":
		d.usage = value
	case "error":
		d.failure = value
	case "x_groq":
		d.groq = value
	case "timings":
		d.timings = value
	case "type":
		d.kind = value
	case "code":
		d.code = value
	}
	return true
}

// readChoice reads one choice: a message in a whole reply, a delta in a chunk,
// a text in the older dialect. Moonshot puts the usage of a stream in here.
func (d *document) readChoice(choice []byte, r *rewrite.Report) {
	var finish []byte
	splice.Fields(choice, func(key, value []byte) bool {
		switch string(key) {
		case "delta", "message":
			readMessage(value, r)
		case "text":
			r.Output = r.Output || !splice.Empty(value)
		case "finish_reason":
			finish = value
		case "usage":
			if splice.Empty(d.usage) {
				d.usage = value
			}
		}
		return true
	})
	readFinish(finish, r)
}

// readMessage looks at a message or a delta for generated content. Everything
// in it but the role is that; servers have many names for thinking.
func readMessage(message []byte, r *rewrite.Report) {
	if r.Output && r.ToolCall {
		return
	}
	splice.Fields(message, func(key, value []byte) bool {
		if string(key) == "role" || splice.Empty(value) {
			return true
		}
		r.Output = true
		switch string(key) {
		case "tool_calls", "function_call":
			r.ToolCall = true
		case "refusal":
			r.Stop = rewrite.StopRefusal
		}
		return true
	})
}

// readFinish sets the reason a choice ended. Some servers never send [DONE], so
// it ends the reply too. It is read after the message, since some say stop
// where a tool was called.
func readFinish(value []byte, r *rewrite.Report) {
	word, ok := splice.String(value)
	if !ok || len(word) == 0 {
		return
	}
	r.Ended = true
	switch string(word) {
	case "stop", "eos", "end_turn", "stop_sequence":
		switch {
		case r.ToolCall:
			r.Stop = rewrite.StopTools
		case r.Stop != rewrite.StopRefusal:
			r.Stop = rewrite.StopEnd
		}
	case "tool_calls", "function_call":
		r.Stop, r.ToolCall = rewrite.StopTools, true
	case "length", "max_tokens", "model_length":
		r.Stop = rewrite.StopLength
	case "content_filter", "sensitive":
		r.Stop = rewrite.StopFilter
	case "refusal":
		r.Stop = rewrite.StopRefusal
	case "error", "network_error", "insufficient_system_resource":
		fail(r, value, nil)
	default:
		r.Stop = rewrite.StopOther
	}
}

// readFailure reads an error: an object with a type or a code, or only a
// message.
func readFailure(failure []byte, r *rewrite.Report) {
	var kind, code []byte
	splice.Fields(failure, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = value
		case "code":
			code = value
		}
		return true
	})
	fail(r, kind, code)
}

// fail ends the reply in failure. A number stands for a code with those servers
// that have no words.
func fail(r *rewrite.Report, kind, code []byte) {
	r.Failed, r.Ended, r.Stop = true, true, rewrite.StopError
	for _, value := range [...][]byte{kind, code} {
		if r.ErrorType = splice.Text(value); r.ErrorType != "" {
			return
		}
		if _, ok := splice.Int(value); ok {
			r.ErrorType = string(value)
			return
		}
	}
}

// readGroq reads what Groq adds to a chunk besides usage: why it stopped early.
func readGroq(groq []byte, r *rewrite.Report) {
	splice.Fields(groq, func(key, value []byte) bool {
		if string(key) == "error" && !splice.Empty(value) {
			fail(r, nil, nil)
		}
		return true
	})
}
