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

// document holds the members of a reply or chunk that are read once the whole
// of it is known to be there.
type document struct {
	id, model, created, object []byte
	usage, failure             []byte
	groq, timings              []byte
	// What a server that puts its error at the top level says of it.
	kind, code []byte
	// annotations, text and executed are of the message, and found are lists of
	// sources of the whole reply.
	annotations, text, executed []byte
	found                       [3][]byte
	tier                        []byte
}

// readChunk reads a reply or one chunk of a stream in one pass; ok is false
// when it is not a complete JSON object, and then nothing was read.
func readChunk(data []byte, r *rewrite.Report) (ok bool) {
	var d document
	next := *r
	w := splice.Walk(data)
	if !w.Fields(func(key []byte) {
		if string(key) == "choices" {
			w.Elements(func() { d.readChoice(&w, &next) })
		} else {
			d.set(key, &w)
		}
	}) {
		return false
	}
	before := r.Ended
	*r = next
	if r.ID == "" {
		r.ID = splice.Text(d.id)
	}
	if r.Model == "" {
		r.Model = splice.Text(d.model)
	}
	if r.Created == 0 {
		r.Created, _ = splice.Int(d.created)
	}
	d.readUsage(&r.Usage)
	d.readActivity(r, r.Ended && !before)
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

// set takes one member if it is of use.
func (d *document) set(key []byte, w *splice.Walker) {
	switch string(key) {
	case "id":
		d.id = w.Value()
	case "model":
		d.model = w.Value()
	case "created":
		d.created = w.Value()
	case "object":
		d.object = w.Value()
	case "usage":
		if usage := w.Value(); !splice.Empty(usage) {
			d.usage = usage
		}
	case "error":
		d.failure = w.Value()
	case "x_groq":
		d.groq = w.Value()
	case "timings":
		d.timings = w.Value()
	case "citations":
		d.found[0] = w.Value()
	case "search_results":
		d.found[1] = w.Value()
	case "web_search":
		d.found[2] = w.Value()
	case "service_tier":
		d.tier = w.Value()
	case "type":
		d.kind = w.Value()
	case "code":
		d.code = w.Value()
	}
}

// readChoice reads one choice: a message in a whole reply, a delta in a chunk,
// a text in the older dialect. Moonshot puts the usage of a stream in here.
func (d *document) readChoice(w *splice.Walker, r *rewrite.Report) {
	var finish []byte
	w.Fields(func(key []byte) {
		switch string(key) {
		case "delta", "message":
			d.readMessage(w, r)
			if string(key) == "delta" {
				d.text = nil
			}
		case "text":
			r.Output = r.Output || !splice.Empty(w.Value())
		case "finish_reason":
			finish = w.Value()
		case "usage":
			if usage := w.Value(); splice.Empty(d.usage) {
				d.usage = usage
			}
		}
	})
	readFinish(finish, r)
}

// readMessage looks at a message or a delta for generated content. Everything
// in it but the role is that; servers have many names for thinking.
func (d *document) readMessage(w *splice.Walker, r *rewrite.Report) {
	w.Fields(func(key []byte) {
		value := w.Value()
		if string(key) == "role" || splice.Empty(value) {
			return
		}
		r.Output = true
		switch string(key) {
		case "content":
			d.text = value
		case "annotations":
			d.annotations = value
		case "executed_tools":
			d.executed = value
		case "tool_calls", "function_call":
			r.ToolCall = true
		case "refusal":
			r.Stop = rewrite.StopRefusal
		}
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
