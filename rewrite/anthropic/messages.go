package anthropic

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

func (f *form) messages(facts *continuity.Facts) {
	first, from, marks := 0, -1, 0 // of the run that is being read
	f.array(func() {
		if from < 0 {
			if f.recalled(facts) {
				return
			}
			first, from, marks = len(f.seen), f.at, facts.Marks
		}
		m := f.oneMessage()
		facts.Marks += m.Marks
		f.seen = append(f.seen, m)
		if n := f.at - from; f.msg == "" && (n >= runLength || n >= runStart && m.Meaning[0]%8 == 0) {
			f.recall.keep(run{of: OfMessages, messages: f.seen[first:], marks: facts.Marks - marks}, f.text[from:f.at], from)
			from = -1
		}
	})
	if f.recall != nil && len(f.seen) > 0 {
		// They are lent, and come back.
		facts.Messages, f.seen = f.seen, nil
		return
	}
	facts.Messages = append(facts.Messages, f.seen...)
}

// recalled takes messages that were read before, if any stand here.
func (f *form) recalled(facts *continuity.Facts) bool {
	known := f.recall.find(OfMessages, f.text[f.at:])
	if known == nil {
		return false
	}
	first := len(f.seen)
	f.seen = append(f.seen, known.messages...)
	moveAll(f.seen[first:], f.at)
	facts.Marks += known.marks
	f.at += known.length
	return true
}

// oneMessage reads the message that stands here.
func (f *form) oneMessage() (m continuity.Message) {
	start := f.begin()
	m.Span.Start = f.at
	f.message(&m, nil)
	m.Span.End = f.at
	if m.Role == continuity.User && f.msg == "" {
		m.Reminders = reminders(f.out[start:])
	}
	m.Meaning, m.Exact = f.end(start)
	if r := m.Reminders; r != nil && r.Rest == (continuity.Hash{}) {
		r.Rest = m.Meaning
	}
	if m.Marks = len(f.cuts); m.Marks > 0 {
		m.Mark = f.cuts[m.Marks-1]
	}
	return m
}

// message writes one message and calls see, if it is not nil, with each of its
// blocks.
func (f *form) message(m *continuity.Message, see func(block)) {
	role := f.role()
	switch string(role) {
	case "user":
		m.Role = continuity.User
	case "assistant":
		m.Role = continuity.Assistant
	case "system":
		m.Role = continuity.System
	default:
		f.fail("a message has no known role")
		return
	}
	content := false
	f.object(func(name []byte) verdict {
		switch string(name) {
		case "content":
			content = true
			f.content(m, see)
			return keep
		case "output_config":
			return f.effort(m)
		case "clear_at":
			word := f.word()
			m.Scoped = string(word) == "next_user_message"
			return keepIf(len(word) > 0)
		}
		return f.optional()
	})
	if !content && m.Role != continuity.System {
		f.fail("a message has no content")
	}
	m.Bare = m.Role == continuity.System && m.Blocks == 0
}

// effort writes the configuration of a system message, of which the effort is
// noted.
func (f *form) effort(m *continuity.Message) verdict {
	if f.space() != '{' {
		return f.optional()
	}
	f.object(func(name []byte) verdict {
		if string(name) == "effort" && f.space() == '"' {
			m.Effort = string(f.word())
			return keep
		}
		return f.optional()
	})
	return keep
}

// role looks ahead for the role of the message that stands here, since how its
// content reads depends on it. It nearly always comes first.
func (f *form) role() (role []byte) {
	const name = `"role"`
	if f.msg != "" || f.space() != '{' {
		return nil
	}
	start := f.at
	defer func() { f.at = start }()
	if f.at++; f.space() == '"' && bytes.HasPrefix(f.text[f.at:], []byte(name)) {
		if f.at += len(name); f.space() == ':' {
			w := splice.Walk(f.text[f.at+1:])
			role, _ = splice.String(w.Value())
			return role
		}
	}
	w := splice.Walk(f.text[start:])
	w.Fields(func(key []byte) {
		if string(key) == "role" {
			role, _ = splice.String(w.Value())
		}
	})
	return role
}

// content writes the content of a message; a string is its one block of text.
func (f *form) content(m *continuity.Message, see func(block)) {
	if f.space() == '"' {
		m.Blocks = 1
		f.out = append(f.out, '[')
		f.textBlock()
		f.out = append(f.out, ']')
		return
	}
	results, last, end := 0, block{}, 0
	clear(f.open)
	m.Blocks = f.array(func() {
		start := len(f.out)
		b := f.block()
		if f.msg != "" {
			return
		}
		if see != nil {
			see(b)
		}
		if b.plain && last.plain && m.Role == continuity.Assistant {
			f.join(end, start)
			m.Spelled = true
		}
		m.Spelled = m.Spelled || b.spelled && m.Role != continuity.User
		if string(b.kind) == "tool_result" {
			results++
		}
		f.note(m, &b)
		last, end = b, len(f.out)
	})
	m.Results = m.Role == continuity.User && m.Blocks > 0 && results == m.Blocks
	m.HostedTail = m.Role == continuity.Assistant && last.hostedResult()
	m.HostedOpen = len(f.open) > 0
}

// join makes one text of two, of which the first ends and the second begins at
// the given places of the canonical form.
func (f *form) join(end, start int) {
	rest := f.out[start+len(textOpen)+1:]
	f.out = append(f.out[:end-len(textClose)], rest...)
}

// note takes from a block what it says of its message.
func (f *form) note(m *continuity.Message, b *block) {
	if m.Role != continuity.Assistant {
		return
	}
	switch string(b.kind) {
	case "thinking", "redacted_thinking", "connector_text":
		// The last is dropped together with thinking, so it is bound like it.
		m.Bound = true
	case "tool_use":
		m.Calls = true
	case "server_tool_use", "mcp_tool_use":
		if f.open == nil {
			f.open = make(map[string]struct{})
		}
		f.open[string(b.id)] = struct{}{}
	default:
		if b.hostedResult() {
			delete(f.open, string(b.result))
		}
	}
	m.Signed = m.Signed || b.seal.Len() > 0 || b.hostedResult() && issued(b.result)
	if m.Seal.Len() == 0 {
		m.Seal = b.seal
	}
}

// sealed notes where a string of the provider's stands.
func (b *block) sealed(start, end int) {
	if b.seal.Len() == 0 {
		b.seal = rewrite.Span{Start: start, End: end}
	}
}

// issued reports an id that a provider has made up: it holds twelve letters and
// digits in a row, a digit among them. Shorter ones are counted or named, by
// clients and by servers that make none of their own; two conversations may
// well share them.
func issued(id []byte) bool {
	run, digit := 0, false
	for _, c := range id {
		switch lower := c | 0x20; {
		case '0' <= c && c <= '9':
			digit = true
		case 'a' <= lower && lower <= 'z':
		default:
			run, digit = 0, false
			continue
		}
		if run++; run >= 12 && digit {
			return true
		}
	}
	return false
}

// block is what is read of a content block.
type block struct {
	kind []byte
	span rewrite.Span
	// text covers the string of a text block, quotes included.
	text rewrite.Span
	// id is that of a call, and result names the call that it answers.
	id, result []byte
	// seal covers the first string that only a provider can have made.
	seal rewrite.Span
	// plain says that it is text and nothing else.
	plain bool
	// input covers the arguments of a call.
	input rewrite.Span
	// spelled says that it holds JSON of the user's that can be spelled otherwise.
	spelled bool
	// mark is its own mark with the comma, without those inside its content.
	mark rewrite.Span
}

// hostedResult reports the result of a tool that the provider ran.
func (b *block) hostedResult() bool {
	return bytes.HasSuffix(b.kind, []byte("_tool_result"))
}

// block writes a content block, which its type makes one.
func (f *form) block() (b block) {
	if b = f.nested(); len(b.kind) == 0 {
		f.fail("a block has no type")
	}
	return b
}

// nested writes an object inside the content of a block: results hold blocks,
// and those of the provider's tools hold objects of its own making.
func (f *form) nested() (b block) {
	b.span.Start = f.at
	kept := f.object(func(name []byte) verdict { return f.blockMember(&b, name) })
	b.span.End, b.mark = f.at, f.own
	b.plain = kept == 2 && b.text.Len() > 0 && string(b.kind) == "text"
	return b
}

func (f *form) blockMember(b *block, name []byte) verdict {
	switch string(name) {
	case "type":
		b.kind = f.word()
		return keepIf(len(b.kind) > 0)
	case "text":
		if f.space() != '"' {
			return f.optional()
		}
		b.text.Start = f.at
		f.string(true)
		b.text.End = f.at
		return keep
	case "id":
		f.space()
		start := f.at
		if b.id = f.word(); issued(b.id) {
			b.sealed(start, f.at)
		}
		return keepIf(len(b.id) > 0)
	case "tool_use_id":
		b.result = f.word()
		return keepIf(len(b.result) > 0)
	case "signature", "encrypted_content", "data":
		start := f.at
		what := f.optional()
		if what == keep && issued(f.text[start:f.at]) {
			b.sealed(start, f.at)
		}
		return what
	case "cache_control":
		return f.mark()
	case "citations":
		return f.citations()
	case "caller":
		return f.caller()
	case "content":
		return f.inner()
	case "input":
		start := len(f.out)
		b.input.Start = f.at
		what := f.optional()
		b.input.End = f.at
		b.spelled = b.spelled || what == keep && f.msg == "" && !spelledOneWay(f.out[start:])
		return what
	case "tool":
		b.spelled = true
		return f.change()
	}
	return f.optional()
}

// inner writes the content of a block: blocks, one object of the provider's, or
// a string, which equals its one block of text.
func (f *form) inner() verdict {
	switch f.space() {
	case '"':
		f.out = append(f.out, '[')
		f.textBlock()
		f.out = append(f.out, ']')
		return keep
	case '[':
		f.array(func() {
			if f.space() == '{' {
				f.nested()
			} else {
				f.value()
			}
		})
		return keep
	case '{':
		f.nested()
		return keep
	}
	return f.optional()
}

// citations writes those of a text, in which libraries drop what is null, or
// the switch that turns them on.
func (f *form) citations() verdict {
	if f.space() != '[' {
		return f.optional()
	}
	n := f.array(func() {
		if f.space() == '{' {
			f.object(func([]byte) verdict { return f.optional() })
		} else {
			f.value()
		}
	})
	return keepIf(n > 0)
}

// caller writes who made a call.
func (f *form) caller() verdict {
	start := len(f.out)
	what := f.optional()
	if string(f.out[start:]) == `{"type":"direct"}` {
		return drop
	}
	return what
}

// change writes the tool of a tool change, whose definition can hold the mark
// in place of its block.
func (f *form) change() verdict {
	if f.space() != '{' {
		return f.optional()
	}
	f.object(func(name []byte) verdict {
		if string(name) != "definition" || f.space() != '{' {
			return f.optional()
		}
		f.object(func(name []byte) verdict {
			if string(name) == "cache_control" {
				return f.mark()
			}
			return f.optional()
		})
		return keep
	})
	return keep
}
