package relay

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/splice"
)

// mender takes out of a reply what is there only because the gateway has changed
// the request, and counts messages as the client does. It sees the bytes last:
// whatever else reads the reply reads the provider's own. A nil one changes
// nothing.
type mender struct {
	// edit gives a document, or the data of an event, as the client is to see it.
	edit func(document []byte) []byte
	// streamed replies are edited event by event, others as a whole.
	streamed bool
	// opening says that there is nothing to edit behind the event that opens the
	// message.
	opening bool
	// held is what cannot go on yet: the beginning of an event, or of a document.
	held []byte
	// line is where the last line of held begins.
	line int
	off  bool
	over bool // nothing more comes
}

// maxMended bounds what is held of a reply, in bytes: as much as is kept to be
// read. What is longer goes on as it came.
const maxMended = maxKept

// mend prepares for a reply. There is nothing to mend in what the provider says
// to the client's own bytes. What is packed, although it was asked not to be,
// goes on as it came.
func (x *exchange) mend(status int, packed, streamed bool) *mender {
	w := x.warmth
	if w == nil || w.observing || packed {
		return nil
	}
	unasked := w.unasked()
	moved := len(w.plan.Inserts) > 0
	if len(unasked) == 0 && !moved {
		return nil
	}
	// A good reply counts messages only where it tells what was left out of them.
	if moved && status < 400 && len(unasked) == 0 && !w.asksBinding {
		return nil
	}
	plan := w.plan
	opening := w.asked && len(unasked) == 1 && !w.asksBinding
	return &mender{streamed: streamed, opening: opening, edit: func(document []byte) []byte {
		for _, name := range unasked {
			document = anthropic.Without(document, name)
		}
		if moved {
			document = anthropic.MapIndex(document, plan.ClientIndex)
		}
		return document
	}}
}

// unasked are the members of a reply that answer only what the gateway has asked.
func (w *warmth) unasked() []string {
	var names []string
	if w.plan.Drop && !w.asksBinding {
		names = append(names, "input_transformations")
	}
	if w.asked {
		names = append(names, "diagnostics")
	}
	return names
}

// feed takes the next bytes of the reply and gives those that may go on.
func (m *mender) feed(chunk []byte) []byte {
	if m == nil || m.off {
		return chunk
	}
	if len(m.held)+len(chunk) > maxMended {
		m.off = true
		return append(m.rest(), chunk...)
	}
	if m.held = append(m.held, chunk...); !m.streamed {
		return nil
	}
	return m.events()
}

// events gives those that are whole.
func (m *mender) events() (out []byte) {
	for {
		end, ok := m.event()
		if !ok {
			return out
		}
		opens := m.opening && bytes.Contains(m.held[:end], []byte("message_start"))
		out = append(out, m.mended(m.held[:end])...)
		m.held, m.line = m.held[end:], 0
		if opens {
			m.off = true
			return append(out, m.rest()...)
		}
	}
}

// event finds the end of the first event that is held: behind an empty line.
func (m *mender) event() (end int, ok bool) {
	for {
		i := bytes.IndexAny(m.held[m.line:], "\r\n")
		if i < 0 {
			return 0, false
		}
		next := m.line + i + 1
		if m.held[next-1] == '\r' {
			switch {
			case next < len(m.held) && m.held[next] == '\n':
				next++
			case next == len(m.held) && !m.over:
				return 0, false // a newline may still belong to it
			}
		}
		if i == 0 {
			return next, true
		}
		m.line = next
	}
}

// mended is an event with its data edited, if that is one line.
func (m *mender) mended(event []byte) []byte {
	const field = "data:"
	at := bytes.Index(event, []byte(field))
	if at < 0 || at > 0 && event[at-1] != '\n' && event[at-1] != '\r' {
		return event
	}
	start := at + len(field)
	end := start + max(0, bytes.IndexAny(event[start:], "\r\n"))
	if bytes.Contains(event[end:], []byte(field)) {
		return event
	}
	data := event[start:end]
	edited := m.edit(data)
	if len(edited) == len(data) && bytes.Equal(edited, data) {
		return event
	}
	return splice.Apply(nil, event, []splice.Edit{{Span: rewrite.Span{Start: start, End: end}, Text: edited}})
}

// holds reports that the client has not all of what has come.
func (m *mender) holds() bool { return m != nil && len(m.held) > 0 }

// end gives what is held once the reply is over.
func (m *mender) end() []byte {
	if !m.holds() {
		return nil
	}
	if m.streamed {
		return m.mended(m.rest())
	}
	return m.edit(m.rest())
}

// cut gives what is held of a stream that broke. The beginning of an event is
// left out: an error comes behind it, and a client would read half an event.
func (m *mender) cut() []byte {
	if !m.holds() {
		return nil
	}
	m.over = true
	whole := m.events()
	m.rest()
	return whole
}

// rest gives what is held as it came.
func (m *mender) rest() []byte {
	held := m.held
	m.held, m.line = nil, 0
	return held
}
