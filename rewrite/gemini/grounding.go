package gemini

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// cited is a source at a place, to tell it once (RG-05).
type cited struct {
	item, part, from, to int
	url, title           string
}

// tellSources tells what the answer rests on, and the searches that found it:
// where the reply has no trace of them, only this metadata shows that there were
// any.
func (d *Decoder) tellSources() {
	told := map[cited]bool{}
	var last, queries []byte
	for _, metadata := range d.sources {
		chunks := readChunks(metadata)
		splice.Fields(metadata, func(name, value []byte) bool {
			switch string(name) {
			case "webSearchQueries":
				if !splice.Empty(value) {
					last, queries = metadata, value
				}
			case "groundingSupports":
				splice.Elements(value, func(support []byte) bool {
					d.support(support, chunks, told)
					return true
				})
			}
			return true
		})
		if last == nil && len(chunks) > 0 {
			last = metadata
		}
	}
	if last != nil {
		d.searchedFor(last, queries)
	}
	if d.urls != nil {
		d.fetched()
	}
}

// searchedFor tells the search that grounding shows.
func (d *Decoder) searchedFor(metadata, queries []byte) {
	item := rewrite.Item{Kind: rewrite.ItemOpaque, Role: rewrite.RoleAssistant, Payload: payload(d.provider, "grounding", metadata)}
	name := groundedBy(len(queries) > 0, readChunks(metadata))
	if slices.Contains(d.traced, name) {
		d.whole(&item, nil)
		return
	}
	item.Kind, item.ID = rewrite.ItemHosted, groundingMark+d.id
	item.Hosted = rewrite.Hosted{ID: item.ID, Name: name, State: rewrite.HostedCompleted, Sources: unique(readChunks(metadata))}
	if len(queries) == 0 {
		queries = []byte("[]")
	}
	w := splice.WriteTo(nil)
	w.Open('{')
	w.Value("queries", queries)
	w.Close('}')
	d.whole(&item, w.Bytes())
}

// groundedBy is what the provider has used where only its metadata shows that it
// did: where there were no queries, the kind of what was found tells.
func groundedBy(queries bool, chunks []rewrite.Attribution) string {
	if !queries && len(chunks) > 0 {
		switch chunks[0].Kind {
		case "maps":
			return "maps"
		case "retrievedContext":
			return "file_search"
		}
	}
	return "web_search"
}

// fetched tells the pages that the provider has read.
func (d *Decoder) fetched() {
	item := rewrite.Item{Kind: rewrite.ItemHosted, ID: urlsMark + d.id, Role: rewrite.RoleAssistant, Payload: payload(d.provider, "url_context", d.urls)}
	item.Hosted = rewrite.Hosted{ID: item.ID, Name: "web_fetch", State: rewrite.HostedCompleted}
	splice.Fields(d.urls, func(name, value []byte) bool {
		splice.Elements(value, func(page []byte) bool {
			var source rewrite.Attribution
			splice.Fields(page, func(name, value []byte) bool {
				switch string(name) {
				case "retrievedUrl":
					source.URL = splice.Text(value)
				case "urlRetrievalStatus":
					source.Kind = splice.Text(value)
				}
				return true
			})
			item.Hosted.Sources = append(item.Hosted.Sources, source)
			return true
		})
		return true
	})
	d.whole(&item, nil)
}

// readChunks are the sources that supports refer to by their place.
func readChunks(metadata []byte) (chunks []rewrite.Attribution) {
	splice.Fields(metadata, func(name, value []byte) bool {
		if string(name) != "groundingChunks" {
			return true
		}
		splice.Elements(value, func(chunk []byte) bool {
			var source rewrite.Attribution
			splice.Fields(chunk, func(kind, value []byte) bool {
				source.Kind = string(kind)
				splice.Fields(value, func(name, value []byte) bool {
					switch string(name) {
					case "uri":
						source.URL = splice.Text(value)
					case "title":
						source.Title = splice.Text(value)
					case "text":
						source.Excerpt = splice.Text(value)
					}
					return true
				})
				return true
			})
			chunks = append(chunks, source)
			return true
		})
		return true
	})
	return chunks
}

func unique(sources []rewrite.Attribution) (out []rewrite.Attribution) {
	seen := map[string]bool{}
	for _, s := range sources {
		if !seen[s.URL] {
			seen[s.URL] = true
			out = append(out, s)
		}
	}
	return out
}

// segment is a stretch of the answer that has sources, in bytes of a part, and
// the list of those.
type segment struct {
	at, start, end int64
	text, indices  []byte
}

func readSegment(support []byte) (s segment) {
	splice.Fields(support, func(name, value []byte) bool {
		switch string(name) {
		case "segment":
			splice.Fields(value, func(name, value []byte) bool {
				switch string(name) {
				case "partIndex":
					s.at, _ = splice.Int(value)
				case "startIndex":
					s.start, _ = splice.Int(value)
				case "endIndex":
					s.end, _ = splice.Int(value)
				case "text":
					s.text, _ = splice.AppendText(nil, value)
				}
				return true
			})
		case "groundingChunkIndices":
			s.indices = value
		}
		return true
	})
	return s
}

// support tells the sources of a stretch of the answer. Its place is given in
// bytes of a part; the text beside it proves the place, or helps to find it.
func (d *Decoder) support(support []byte, chunks []rewrite.Attribution, told map[cited]bool) {
	s := readSegment(support)
	of, from, to := d.place(s.at, s.start, s.end, s.text)
	if of == nil {
		return
	}
	splice.Elements(s.indices, func(value []byte) bool {
		n, ok := splice.Int(value)
		if !ok || n < 0 || n >= int64(len(chunks)) {
			return true
		}
		source := chunks[n]
		source.Start, source.End = from, to
		key := cited{of.item, of.part, from, to, source.URL, source.Title}
		if told[key] {
			return true
		}
		told[key] = true
		d.yield(&rewrite.Event{Kind: rewrite.EventAttribution, Index: of.item, PartIndex: of.part, Attribution: &source})
		return true
	})
}

// place gives the part that a segment is in and where in it, in code points;
// nothing where there is no such text, and no range where the segment is not at
// its place.
func (d *Decoder) place(at, start, end int64, text []byte) (of *said, from, to int) {
	if at >= 0 && at < int64(len(d.parts)) && d.parts[at].item >= 0 {
		of = &d.parts[at]
		size := int64(len(of.text))
		if 0 <= start && start <= end && end <= size && boundary(of.text, start) && boundary(of.text, end) &&
			(text == nil || bytes.Equal(of.text[start:end], text)) {
			return of, utf8.RuneCount(of.text[:start]), utf8.RuneCount(of.text[:end])
		}
	}
	for i := range d.parts {
		p := &d.parts[i]
		if p.item < 0 {
			continue
		}
		if of == nil {
			of = p
		}
		if i := bytes.Index(p.text, text); len(text) > 0 && i >= 0 {
			return p, utf8.RuneCount(p.text[:i]), utf8.RuneCount(p.text[:i+len(text)])
		}
	}
	return of, 0, 0
}

// boundary reports whether a character begins or the text ends at i.
func boundary(text []byte, i int64) bool {
	return i == int64(len(text)) || utf8.RuneStart(text[i])
}
