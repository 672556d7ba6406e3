package anthropic

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Heartbeat is an event that every client of the dialect ignores.
const Heartbeat = "event: ping\ndata: {\"type\":\"ping\"}\n\n"

// ReadEvent reads one event of a stream. A delta costs a look at its name; data
// that is not a complete JSON object changes nothing.
func ReadEvent(name, data []byte, r *rewrite.Report) {
	if len(name) == 0 {
		name = kindOf(data)
	}
	switch string(name) {
	case "content_block_delta":
		r.Output = true
		if cites(data) {
			readCitationDelta(data, r)
		}
	case "content_block_stop":
		if r.Activity != nil {
			if _, ok := whole(data, ""); ok {
				r.Said()
			}
		}
	case "content_block_start":
		readStart(data, r)
	case "message_start":
		if message, ok := whole(data, "message"); ok {
			readMessage(message, r)
		}
	case "message_delta":
		readDelta(data, r)
	case "message_stop":
		if _, ok := whole(data, ""); ok {
			r.Ended = true
			r.Said()
		}
	case "error":
		if failure, ok := whole(data, "error"); ok {
			readFailure(failure, r)
		}
	}
}

// kindOf gives the type member of an event that came without a name.
func kindOf(data []byte) (kind []byte) {
	splice.Fields(data, func(key, value []byte) bool {
		if string(key) == "type" {
			kind, _ = splice.String(value)
			return false
		}
		return true
	})
	return kind
}

// whole gives the named member of an event, and reports whether the event's
// data is complete.
func whole(data []byte, name string) (member []byte, ok bool) {
	ok = splice.Fields(data, func(key, value []byte) bool {
		if string(key) == name {
			member = value
		}
		return true
	})
	return member, ok
}

// readStart reads the start of a block. Text and thinking begin empty; any
// other block is itself something that the model wrote or that a hosted tool
// brought.
func readStart(data []byte, r *rewrite.Report) {
	block, ok := whole(data, "content_block")
	if !ok || splice.Null(block) {
		return
	}
	kind := readBegun(block, r)
	r.Output = r.Output || kind != "text" && kind != "thinking" && kind != "fallback"
}

// readDelta reads the stop reason and the cumulative usage near the end.
func readDelta(data []byte, r *rewrite.Report) {
	var delta, usage []byte
	if !splice.Fields(data, func(key, value []byte) bool {
		switch string(key) {
		case "delta":
			delta = value
		case "usage":
			usage = value
		}
		return true
	}) {
		return
	}
	splice.Fields(delta, func(key, value []byte) bool {
		if string(key) == "stop_reason" {
			readStop(value, r)
		}
		return true
	})
	readUsage(usage, &r.Usage)
	readTerms(usage, r)
}
