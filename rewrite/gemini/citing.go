package gemini

import (
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// What belongs to a candidate and is no part of it has these formats: what its
// answer rests on, and the pages that were read for it.
const (
	grounding  = "gemini/grounding"
	urlContext = "gemini/url_context"
)

// beside reports a payload that stands beside the parts.
func beside(p *rewrite.Payload) bool { return p.Format == grounding || p.Format == urlContext }

// citing gathers the sources of a reply for a client, who gets them at the end:
// by the number of a part, and a place in it in bytes.
type citing struct {
	// count is the number of parts that a client has once he has put neighbouring
	// texts together; run says what the last of them goes on with.
	count int
	run   run
	// text is what the last part has, and from where the item's part begins in it.
	texts []byte
	from  int
	here  []rewrite.Attribution
	found []found
	// metadata and urls are as their provider has made them.
	metadata, urls []byte
}

// found is a source with its place.
type found struct {
	source           rewrite.Attribution
	part, start, end int
	text             string
}

// endText says that a part was written which no text goes on with.
func (c *citing) endText() { c.count, c.run = c.count+1, runNone }

// thought says that a thought has gone on.
func (c *citing) thought() {
	if c.run != runThought {
		c.count, c.run = c.count+1, runThought
	}
}

// beginPart begins a part of an item; text says that it joins the text before.
func (c *citing) beginPart(text bool) {
	if !text {
		c.texts = c.texts[:0]
	} else if c.run != runText {
		c.count, c.run, c.texts = c.count+1, runText, c.texts[:0]
	}
	c.from = len(c.texts)
}

func (c *citing) text(text []byte) { c.texts = append(c.texts, text...) }

func (c *citing) add(a *rewrite.Attribution) {
	source := *a
	source.Payload = rewrite.Payload{}
	c.here = append(c.here, source)
}

// endPart places the sources of the part that ends.
func (c *citing) endPart() {
	text := c.texts[c.from:]
	for _, source := range c.here {
		start, end := offset(text, source.Start), offset(text, source.End)
		if start >= end {
			start, end = 0, len(text)
		}
		c.found = append(c.found, found{source, max(c.count-1, 0), c.from + start, c.from + end, string(text[start:end])})
	}
	c.here = c.here[:0]
}

// offset is the place in bytes of a code point.
func offset(text []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// write writes the sources as members of the candidate.
func (c *citing) write(w *splice.Writer) {
	w.Value("urlContextMetadata", c.urls)
	if c.metadata != nil {
		w.Value("groundingMetadata", c.metadata)
		return
	}
	if len(c.found) == 0 {
		return
	}
	chunks := map[string]int{}
	w.Name("groundingMetadata")
	w.Open('{')
	w.Name("groundingChunks")
	w.Open('[')
	for _, f := range c.found {
		key := f.source.URL + "\x00" + f.source.Title
		if _, ok := chunks[key]; ok {
			continue
		}
		chunks[key] = len(chunks)
		w.Open('{')
		w.Name("web")
		w.Open('{')
		w.Name("uri")
		w.String(f.source.URL)
		w.Text("title", f.source.Title)
		w.Close('}')
		w.Close('}')
	}
	w.Close(']')
	w.Name("groundingSupports")
	w.Open('[')
	for _, f := range c.found {
		w.Open('{')
		w.Name("segment")
		w.Open('{')
		w.Name("partIndex")
		w.Int(int64(f.part))
		w.Name("startIndex")
		w.Int(int64(f.start))
		w.Name("endIndex")
		w.Int(int64(f.end))
		w.Name("text")
		w.String(f.text)
		w.Close('}')
		w.Name("groundingChunkIndices")
		w.Open('[')
		w.Int(int64(chunks[f.source.URL+"\x00"+f.source.Title]))
		w.Close(']')
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
}
