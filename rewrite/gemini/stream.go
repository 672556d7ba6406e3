package gemini

import "warmpath/rewrite"

// Heartbeat is an empty line, which every client of the dialect ignores. The
// vendor's own client for Go takes a comment for a broken event.
const Heartbeat = "\n\n"

// ReadEvent reads one event of a stream. Events have no names here. It
// allocates only for what it keeps; data that is not a complete JSON object
// changes nothing.
func ReadEvent(_, data []byte, r *rewrite.Report) { readFrame(data, r) }
