package completions_test

import (
	"flag"

	"warmpath/rewrite"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/sse"
)

var update = flag.Bool("update", false, "rewrite what the golden files expect")

// told decodes a stream that arrives in chunks of the size given.
func told(stream string, size int, yield func(*rewrite.Event)) {
	d := completions.NewDecoder("openai")
	var s sse.Splitter
	read := func(e sse.Event) { d.Event(e.Name, e.Data, yield) }
	for stream != "" {
		n := min(size, len(stream))
		s.Feed([]byte(stream[:n]), read)
		stream = stream[n:]
	}
	s.Close(read)
	d.Close(yield)
}

// folded is a stream as a whole reply.
func folded(stream string) *rewrite.Reply {
	var f rewrite.Fold
	told(stream, len(stream), f.Add)
	return f.Reply()
}
