package gemini

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// The names of what only metadata shows, up to the name of the reply.
const (
	groundingMark = "grounding_"
	urlsMark      = "urls_"
)

// readActivity notes what a frame tells of tools that the provider runs and of
// sources. Only frames that have something of the kind come here.
func readActivity(frame []byte, r *rewrite.Report) {
	splice.Fields(frame, func(name, value []byte) bool {
		if string(name) == "candidates" {
			splice.Elements(value, func(candidate []byte) bool {
				readSteps(candidate, r)
				return false // as the Decoder, which takes the first
			})
		}
		return true
	})
}

// readSteps notes the steps of a candidate, then what its metadata shows.
func readSteps(candidate []byte, r *rewrite.Report) {
	var content, grounding, urls []byte
	splice.Fields(candidate, func(name, value []byte) bool {
		switch string(name) {
		case "content":
			content = value
		case "groundingMetadata":
			grounding = value
		case "urlContextMetadata":
			urls = value
		}
		return true
	})
	splice.Fields(content, func(name, parts []byte) bool {
		if string(name) == "parts" {
			splice.Elements(parts, func(raw []byte) bool {
				if p, ok := splitPart(raw); ok {
					readStep(&p, r)
				}
				return true
			})
		}
		return true
	})
	if !splice.Empty(grounding) {
		readGrounding(grounding, r)
	}
	if !splice.Empty(urls) {
		r.End(urlsMark+r.ID, "web_fetch", false)
	}
}

// readStep notes one step of a tool.
func readStep(p *part, r *rewrite.Report) {
	switch h, ok := readHosted(p); {
	case !ok:
	case h.State == rewrite.HostedStarted:
		r.Begin(h.ID, h.Name)
	default:
		r.End(h.ID, h.Name, h.State == rewrite.HostedFailed)
	}
}

// readGrounding notes the searches that metadata shows, unless there are traces of
// them, and the sources of the answer.
func readGrounding(metadata []byte, r *rewrite.Report) {
	chunks := readChunks(metadata)
	queries := int64(0)
	splice.Fields(metadata, func(name, value []byte) bool {
		switch string(name) {
		case "webSearchQueries":
			splice.Elements(value, func([]byte) bool {
				queries++
				return true
			})
		case "groundingSupports":
			splice.Elements(value, func(support []byte) bool {
				readSupport(support, chunks, r)
				return true
			})
		}
		return true
	})
	name := groundedBy(queries > 0, chunks)
	traced := r.Activity != nil && slices.ContainsFunc(r.Activity.Hosted, func(h rewrite.HostedActivity) bool { return h.Name == name })
	if (queries > 0 || len(chunks) > 0) && !traced {
		r.End(groundingMark+r.ID, name, false)
	}
	if queries > 0 {
		r.Call("web_search", queries)
	}
}

// readSupport notes the sources of a stretch of the answer, each once however
// often frames repeat it.
func readSupport(support []byte, chunks []rewrite.Attribution, r *rewrite.Report) {
	s := readSegment(support)
	splice.Elements(s.indices, func(value []byte) bool {
		n, ok := splice.Int(value)
		if !ok || n < 0 || n >= int64(len(chunks)) {
			return true
		}
		mark := fnv.New64a()
		for _, number := range []int64{s.at, s.start, s.end} {
			mark.Write(binary.LittleEndian.AppendUint64(nil, uint64(number)))
		}
		mark.Write([]byte(chunks[n].URL + "\x00" + chunks[n].Title))
		r.CiteOnce(mark.Sum64())
		return true
	})
}
