package completions

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// mostMarked bounds the references in a text that are kept.
const mostMarked = 256

// marked finds the references in a text by which servers name their sources, [1]
// or [ref_1] for the first, in whatever pieces the text comes.
type marked struct {
	runes int
	// from is where the reference under way begins, or -1, and word what it has.
	from int
	word []byte
	// places are those of the first reference to each source.
	places map[int]place
}

// place is a stretch of text in code points, half-open.
type place struct{ start, end int }

func (m *marked) add(text []byte) {
	for _, r := range string(text) {
		switch {
		case r == '[':
			m.from, m.word = m.runes, m.word[:0]
		case len(m.word) == 0 && m.from != m.runes-1:
			// Not within one.
		case r == ']':
			m.close()
		case len(m.word) < len("ref_999") && (r >= '0' && r <= '9' || strings.ContainsRune("ref_", r)):
			m.word = append(m.word, byte(r)) //nolint:gosec // one of the above
		default:
			m.from, m.word = -2, m.word[:0]
		}
		m.runes++
	}
}

// close ends a reference.
func (m *marked) close() {
	n, err := strconv.Atoi(strings.TrimPrefix(string(m.word), "ref_"))
	if _, twice := m.places[n-1]; err == nil && n > 0 && !twice && len(m.places) < mostMarked {
		if m.places == nil {
			m.places = map[int]place{}
		}
		m.places[n-1] = place{m.from, m.runes + 1}
	}
	m.from, m.word = -2, m.word[:0]
}

// found notes the sources that a server names beside the text, which come with
// every chunk or once: by address alone, or with more. Lists of both are of the
// same sources, in the same order, which the text refers to by number.
func (d *Decoder) found(list []byte) {
	i := 0
	splice.Elements(list, func(element []byte) bool {
		a := rewrite.Attribution{URL: splice.Text(element)}
		splice.Fields(element, func(key, value []byte) bool {
			switch string(key) {
			case "url", "link":
				a.URL = splice.Text(value)
			case "title":
				a.Title = splice.Text(value)
			case "content", "snippet":
				a.Excerpt = splice.Text(value)
			}
			return true
		})
		if a.URL == "" {
			return true
		}
		if i == len(d.sources) {
			d.sources = append(d.sources, a)
		} else if known := &d.sources[i]; known.URL == a.URL {
			known.Title, known.Excerpt = or(known.Title, a.Title), or(known.Excerpt, a.Excerpt)
		}
		i++
		return true
	})
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// listed counts the sources of a list.
func listed(list []byte) (n int) {
	splice.Elements(list, func(element []byte) bool {
		address := splice.Text(element)
		splice.Fields(element, func(key, value []byte) bool {
			if name := string(key); name == "url" || name == "link" {
				address = splice.Text(value)
			}
			return true
		})
		if address != "" {
			n++
		}
		return true
	})
	return n
}

// running is a tool that the server runs, by its number.
type running struct {
	number, index int
	tool          rewrite.Hosted
	done          bool
}

// executedMark begins the names of tools that the server has run, which it gives
// none.
const executedMark = "executed_"

// executed reads a step of a tool that the server runs: what it is called with, and
// what came of it, together or one after the other. The server takes none of it
// back.
func executed(entry []byte, at int, reply string) (h rewrite.Hosted, number int) {
	var kind, name, arguments, output, results []byte
	number = at
	splice.Fields(entry, func(key, value []byte) bool {
		switch string(key) {
		case "index":
			if n, ok := splice.Int(value); ok && n >= 0 && n < 1<<20 {
				number = int(n)
			}
		case "type":
			kind = value
		case "name":
			name = value
		case "arguments":
			arguments = value
		case "output":
			output = value
		case "search_results":
			results = value
		}
		return true
	})
	h = rewrite.Hosted{ID: executedMark + reply + "_" + strconv.Itoa(number), Name: executedBy(splice.Text(kind), splice.Text(name))}
	if text, ok := splice.String(arguments); ok && splice.Valid(text) == nil {
		h.Input = text
	} else if len(arguments) > 0 && arguments[0] == '{' {
		h.Input = clone(arguments)
	}
	if !splice.Empty(output) || !splice.Empty(results) {
		h.State = rewrite.HostedCompleted
	}
	splice.Fields(results, func(key, value []byte) bool {
		if string(key) == "results" {
			var found Decoder
			found.found(value)
			h.Sources = found.sources
		}
		return true
	})
	return h, number
}

// executedBy is what a tool does that a server has run.
func executedBy(kind, name string) string {
	word := kind + " " + name
	switch {
	case strings.Contains(word, "visit"), strings.Contains(word, "open"):
		return "web_fetch"
	case strings.Contains(word, "search"):
		return "web_search"
	case strings.Contains(word, "python"), strings.Contains(word, "code"):
		return "code_execution"
	}
	return "other"
}

// run tells the tools that the server has run.
func (d *Decoder) run(list []byte, yield func(*rewrite.Event)) {
	at := 0
	splice.Elements(list, func(entry []byte) bool {
		h, number := executed(entry, at, d.report.ID)
		at++
		r := d.running(number)
		if r == nil {
			d.closeThought(yield)
			tool := rewrite.Hosted{ID: h.ID, Name: h.Name}
			head := rewrite.Item{Kind: rewrite.ItemHosted, ID: h.ID, Role: rewrite.RoleAssistant, Hosted: tool}
			d.tools = append(d.tools, running{number: number, tool: tool, index: d.item(&head, yield)})
			r = &d.tools[len(d.tools)-1]
			if len(h.Input) > 0 {
				d.tell(yield, rewrite.Event{Kind: rewrite.EventArguments, Index: r.index, Text: h.Input})
			}
		}
		if r.done || h.State == rewrite.HostedStarted {
			return true
		}
		r.done = true
		if len(d.sources) == 0 {
			d.sources = append(d.sources, h.Sources...)
		}
		h.Input = nil // told already
		last := rewrite.Item{Kind: rewrite.ItemHosted, ID: h.ID, Role: rewrite.RoleAssistant, Hosted: h}
		d.tell(yield, rewrite.Event{Kind: rewrite.EventDone, Index: r.index, Item: &last})
		return true
	})
}

func (d *Decoder) running(number int) *running {
	for i := range d.tools {
		if d.tools[i].number == number {
			return &d.tools[i]
		}
	}
	return nil
}

// stopTools closes the tools that never ended, which stay so.
func (d *Decoder) stopTools(yield func(*rewrite.Event)) {
	for i := range d.tools {
		if r := &d.tools[i]; !r.done {
			r.done = true
			last := rewrite.Item{Kind: rewrite.ItemHosted, ID: r.tool.ID, Role: rewrite.RoleAssistant, Hosted: r.tool}
			d.tell(yield, rewrite.Event{Kind: rewrite.EventDone, Index: r.index, Item: &last})
		}
	}
}
