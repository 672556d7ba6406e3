package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// ReadReply reads a whole reply. A body that is not a complete JSON object
// changes nothing.
func ReadReply(body []byte, r *rewrite.Report) {
	if readResponse(body, r) {
		r.Ended = true
	}
}

// readResponse reads a response object: a whole reply, or what the events at
// both ends of a stream carry. It reports whether the object is complete.
func readResponse(response []byte, r *rewrite.Report) bool {
	var status, incomplete, failure, output, usage, tools []byte
	if !splice.Fields(response, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			keep(&r.ID, value)
		case "model":
			keep(&r.Model, value)
		case "created_at":
			if n, ok := splice.Int(value); ok {
				r.Created = n
			}
		case "status":
			status = value
		case "incomplete_details":
			incomplete = value
		case "error":
			failure = value
		case "output":
			output = value
		case "usage":
			usage = value
		case "tool_usage":
			tools = value
		case "service_tier":
			r.Terms |= tierOf(value)
		}
		return true
	}) {
		return false
	}
	sources, dropped := 0, 0
	how := complete
	if r.Activity != nil {
		how = again
	}
	splice.Elements(output, func(item []byte) bool {
		n, misplaced := readItem(item, how, r)
		sources, dropped = sources+n, dropped+misplaced
		return true
	})
	r.SaidAll(sources, dropped)
	readUsage(usage, &r.Usage)
	readCharge(usage, r)
	readToolUsage(tools, r)
	if !splice.Empty(failure) {
		readFailure(failure, r)
	}
	readStatus(status, incomplete, r)
	return true
}

// keep sets text to a string that is not empty.
func keep(text *string, value []byte) {
	if content, ok := splice.String(value); ok && len(content) > 0 && string(content) != *text {
		*text = string(content)
	}
}

// readStatus sets the reason the response ended from its status, which says
// nothing while the response is under way.
func readStatus(status, incomplete []byte, r *rewrite.Report) {
	switch string(status) {
	case `"completed"`:
		switch {
		case r.ToolCall:
			r.Stop = rewrite.StopTools
		case r.Stop != rewrite.StopRefusal:
			r.Stop = rewrite.StopEnd
		}
	case `"incomplete"`:
		r.Stop = incompleteReason(incomplete)
	case `"failed"`:
		r.Failed, r.Stop = true, rewrite.StopError
	case `"cancelled"`:
		r.Stop = rewrite.StopOther
	}
}

// incompleteReason reads why a response stopped short.
func incompleteReason(incomplete []byte) (stop rewrite.StopReason) {
	stop = rewrite.StopOther
	splice.Fields(incomplete, func(key, value []byte) bool {
		if string(key) != "reason" {
			return true
		}
		switch string(value) {
		case `"max_output_tokens"`:
			stop = rewrite.StopLength
		case `"content_filter"`:
			stop = rewrite.StopFilter
		case `"steered"`:
			stop = rewrite.StopPause
		}
		return false
	})
	return stop
}

// readItem notes what an output item says about the reply: that there is one,
// that the client has a tool to run, that the provider has run one, that the model
// refused. It counts the sources of a message that is whole, and those of them
// whose place is not in the text.
func readItem(item []byte, how telling, r *rewrite.Report) (sources, dropped int) {
	var kind, execution, content, id, status, failure []byte
	splice.Fields(item, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = value
		case "execution":
			execution = value
		case "content":
			content = value
		case "id":
			id = value
		case "status":
			status = value
		case "error":
			failure = value
		}
		return true
	})
	r.Output = true
	switch string(kind) {
	case `"message"`:
		return readParts(content, r)
	case `"reasoning"`:
	case `"function_call"`, `"custom_tool_call"`, `"computer_call"`, `"shell_call"`,
		`"local_shell_call"`, `"apply_patch_call"`, `"mcp_approval_request"`:
		r.ToolCall = true
	default:
		word := splice.Text(kind)
		switch {
		case word == "tool_search_call" && string(execution) == `"client"`:
			r.ToolCall = true
		case word == "image_generation_call" && idOf(id) == "" && !splice.Empty(id):
			// A picture that was part of a message.
		case hosted(word):
			readHosted(word, how, id, status, failure, r)
		}
	}
	return 0, 0
}

// readFailure reads an error object; its code says more than its type.
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
	r.Failed, r.Ended, r.Stop = true, true, rewrite.StopError
	if r.ErrorType = splice.Text(code); r.ErrorType == "" {
		r.ErrorType = splice.Text(kind)
	}
}
