package completions

import (
	"bytes"

	"warmpath/rewrite"
)

// Heartbeat is a comment, which every client of the dialect ignores.
const Heartbeat = ": keep-alive\n\n"

// ReadEvent reads one event of a stream. It allocates only for what it keeps;
// data that is not a complete JSON object changes nothing.
func ReadEvent(name, data []byte, r *rewrite.Report) {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		r.Ended = true
		return
	}
	if whole := readChunk(data, r); whole && string(name) == "error" && !r.Failed {
		readFailure(data, r)
	}
}
