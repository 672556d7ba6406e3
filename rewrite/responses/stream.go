package responses

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Heartbeat is a comment, which every client of the dialect ignores.
const Heartbeat = ": keep-alive\n\n"

// ReadEvent reads one event of a stream. A delta costs a look at its name and
// at its number; data that is not a complete JSON object changes nothing but
// those.
func ReadEvent(name, data []byte, r *rewrite.Report) {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		r.Ended = true
		return
	}
	name = head(name, data, r)
	switch string(name) {
	case "response.created", "response.queued", "response.in_progress":
		readResponse(whole(data, "response"), r)
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		readEnd(name, data, r)
	case "response.output_item.added":
		readAdded(whole(data, "item"), r)
	case "response.output_item.done":
		if item := whole(data, "item"); item != nil {
			r.SaidWith(readItem(item, complete, r))
		}
	case "response.output_text.annotation.added":
		if whole(data, "annotation") != nil {
			r.Cite(1)
		}
	case "response.refusal.delta", "response.refusal.done":
		r.Output, r.Stop = true, rewrite.StopRefusal
	case "error":
		readError(data, r)
	default:
		r.Output = r.Output || bytes.HasSuffix(name, []byte(".delta"))
	}
}

// head gives the event's kind, which its data repeats, and notes its number.
// Both stand near the beginning as a rule, so the walk is short.
func head(name, data []byte, r *rewrite.Report) []byte {
	numbered := false
	splice.Fields(data, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			if kind, ok := splice.String(value); ok && len(name) == 0 {
				name = kind
			}
		case "sequence_number":
			if n, ok := splice.Int(value); ok {
				r.Sequence, numbered = n+1, true
			}
		}
		return !numbered || len(name) == 0
	})
	return name
}

// whole gives the named member of an event whose data is complete, else nil.
func whole(data []byte, name string) (member []byte) {
	if !splice.Fields(data, func(key, value []byte) bool {
		if string(key) == name {
			member = value
		}
		return true
	}) {
		return nil
	}
	return member
}

// readEnd reads the event that ends a stream. Its response may leave out the
// status that the event's name already gives.
func readEnd(name, data []byte, r *rewrite.Report) {
	response := whole(data, "response")
	if response == nil {
		return
	}
	output := r.Output
	readResponse(response, r)
	r.Output, r.Ended = output || r.Output, true
	if r.Stop != rewrite.StopUnknown && r.Stop != rewrite.StopRefusal {
		return
	}
	switch string(name) {
	case "response.completed":
		readStatus([]byte(`"completed"`), nil, r)
	case "response.incomplete":
		readStatus([]byte(`"incomplete"`), nil, r)
	case "response.failed":
		readStatus([]byte(`"failed"`), nil, r)
	}
}

// readAdded reads the beginning of an item. Messages and reasoning begin empty;
// any other item is itself something that the model wrote.
func readAdded(item []byte, r *rewrite.Report) {
	if item == nil {
		return
	}
	output := r.Output
	var empty bool
	splice.Fields(item, func(key, value []byte) bool {
		if string(key) == "type" {
			empty = string(value) == `"message"` || string(value) == `"reasoning"`
		}
		return true
	})
	readItem(item, announced, r)
	if empty {
		r.Output = output
	}
}

// readError reads an error event, whose fields stand beside its type or, with
// some servers, in an object of their own.
func readError(data []byte, r *rewrite.Report) {
	var code, nested []byte
	if !splice.Fields(data, func(key, value []byte) bool {
		switch string(key) {
		case "code":
			code = value
		case "error":
			nested = value
		}
		return true
	}) {
		return
	}
	readFailure(nested, r)
	if r.ErrorType == "" {
		r.ErrorType = splice.Text(code)
	}
}
