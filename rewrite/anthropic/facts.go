package anthropic

import (
	"bytes"
	"slices"
	"sync"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// forms are kept for the buffers that they have grown.
var forms = sync.Pool{New: func() any { return new(form) }}

// maxIdle bounds each buffer, in bytes, that a form keeps between requests.
const maxIdle = 1 << 20

// borrow gives a form that stands at the beginning of text.
func borrow(text []byte) *form {
	f := forms.Get().(*form)
	f.text, f.at, f.msg, f.depth, f.from, f.whole = text, 0, "", 0, 0, false
	f.out, f.spare, f.layout = f.out[:0], f.spare[:0], f.layout[:0]
	f.members, f.gaps, f.cuts, f.seen = f.members[:0], f.gaps[:0], f.cuts[:0], f.seen[:0]
	clear(f.open)
	return f
}

// release gives a form back, without the text.
func (f *form) release() {
	if f.text, f.recall = nil, nil; max(cap(f.out), cap(f.spare), cap(f.layout)) <= maxIdle {
		forms.Put(f)
	}
}

// ReadFacts reads what the planning of a request needs of it, in one pass. An
// error means that the body does not read as a Messages request: then it is for
// the provider to say so, and the request goes out as it came. What is read is
// JSON, without a second look.
//
// Two elements have the same Meaning if they are the same one written in
// another way. Clients differ, from request to request, in these:
//   - the order of members, white space, escapes in strings;
//   - cache marks, where the API allows them, and the deferral of a tool, which
//     decides when the tool is read and not what it is;
//   - content as a string or as its one block of text;
//   - members that are null in a block, and an empty list of citations, which
//     libraries add to and drop from the provider's own blocks;
//   - a caller of type direct, which older libraries drop: it is the default;
//   - neighbouring texts of a reply, which some join.
//
// Inside a tool's schema and a call's input every member belongs to the user:
// there only order, space and the spelling of strings and numbers are made equal.
func ReadFacts(body []byte) (*continuity.Facts, error) { return readFacts(body, nil) }

func readFacts(body []byte, recall *Recall) (*continuity.Facts, error) {
	f := borrow(body)
	defer f.release()
	if f.recall = recall; recall != nil {
		if room, ok := recall.lent.Get().(*[]continuity.Message); ok {
			f.seen = *room
		}
	}
	facts := new(continuity.Facts)
	messages := false
	f.object(func(name []byte) verdict {
		switch string(name) {
		case "model":
			named := f.space() == '"'
			start := f.at
			if facts.Model = string(f.word()); named {
				facts.ModelSpan = rewrite.Span{Start: start, End: f.at}
			}
		case "stream":
			start := f.at
			f.value()
			facts.Stream = string(f.text[start:f.at]) == "true"
		case "tools":
			f.tools(facts)
		case "system":
			f.system(facts)
		case "messages":
			messages = true
			f.messages(facts)
		case "cache_control":
			if facts.Automatic = f.mark() == cut; facts.Automatic {
				facts.Marks++
			}
		default:
			f.space()
			start := f.at
			f.setting(name, facts)
			facts.Params.Set(name, f.text[start:f.at])
		}
		return keep
	})
	if f.space(); f.msg == "" && f.at < len(body) {
		f.fail("text stands behind the request")
	}
	if !messages {
		f.fail("there are no messages")
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	return facts, nil
}

// setting reads a member beside the prompt.
func (f *form) setting(name []byte, facts *continuity.Facts) {
	if f.null() {
		f.value()
		return
	}
	switch string(name) {
	case "output_config":
		f.object(func(name []byte) verdict {
			if string(name) == "effort" {
				facts.Effort = string(f.word())
			} else {
				f.value()
			}
			return drop
		})
	case "thinking":
		f.object(func(name []byte) verdict {
			if string(name) == "type" {
				kind := f.word()
				facts.Rigid = string(kind) == "between_tools" || string(kind) == "disabled"
			} else {
				f.value()
			}
			return drop
		})
	case "tool_choice":
		var kind, tool []byte
		f.object(func(name []byte) verdict {
			switch string(name) {
			case "type":
				kind = f.word()
			case "name":
				tool = f.word()
			default:
				f.value()
			}
			return drop
		})
		facts.Demands = string(kind) == "tool" || string(kind) == "any"
		if string(kind) == "tool" {
			facts.Forced = string(tool)
		}
	case "thread":
		f.object(func(name []byte) verdict {
			if string(name) == "type" {
				facts.Threads = true
				facts.Thread = string(f.word()) == "continue"
			} else {
				f.value()
			}
			return drop
		})
	case "diagnostics":
		facts.Diagnoses = true
		f.value()
	default:
		f.value()
	}
}

// word writes the string that stands here and gives its content, which shares
// memory with the text; null is an empty word.
func (f *form) word() []byte {
	switch f.space() {
	case '"':
		start := f.at
		if f.string(true); f.msg == "" {
			content, _ := splice.String(f.text[start:f.at])
			return content
		}
	case 'n':
		f.value()
	default:
		f.fail("a string is due")
	}
	return nil
}

// optional writes a value of which null says the same as its absence.
func (f *form) optional() verdict {
	null := f.null()
	if f.value(); null {
		return drop
	}
	return keep
}

// mark writes a cache mark and says what becomes of it: a null one is none, but
// stays in the bytes.
func (f *form) mark() verdict {
	if f.null() {
		f.value()
		return drop
	}
	f.whole = true
	if f.space() != '{' {
		f.fail("a cache mark is due")
	}
	f.value()
	f.whole = false
	return cut
}

func (f *form) tools(facts *continuity.Facts) {
	if f.null() {
		f.value()
		return
	}
	from := f.at
	if known := f.recall.find(OfTools, f.text[from:]); known != nil {
		facts.Tools, facts.Marks = slices.Clone(known.tools), facts.Marks+known.marks
		moveAll(facts.Tools, from)
		f.at += known.length
		return
	}
	marks := facts.Marks
	f.array(func() {
		var tool continuity.Tool
		start := f.begin()
		tool.Span.Start = f.at
		f.tool(&tool)
		tool.Span.End, tool.Mark = f.at, f.own
		tool.Meaning, tool.Exact = f.end(start)
		facts.Marks += len(f.cuts)
		facts.Tools = append(facts.Tools, tool)
	})
	if f.msg == "" {
		f.recall.keep(run{of: OfTools, tools: facts.Tools, marks: facts.Marks - marks}, f.text[from:f.at], from)
	}
}

// tool writes one entry of the tools.
func (f *form) tool(tool *continuity.Tool) {
	var kind, server []byte
	byDefault, each := unsaid, unsaid
	f.object(func(name []byte) verdict {
		switch string(name) {
		case "name":
			tool.Name = string(f.word())
			return keepIf(tool.Name != "")
		case "type":
			kind = f.word()
			return keepIf(len(kind) > 0)
		case "mcp_server_name":
			server = f.word()
			return keepIf(len(server) > 0)
		case "cache_control":
			return f.mark()
		case "defer_loading":
			tool.Deferred = f.space() == 't'
			f.value()
			return drop
		case "default_config":
			return f.config(false, &byDefault)
		case "configs":
			return f.config(true, &each)
		}
		return f.optional()
	})
	if tool.Family = family(kind); tool.Family == mcpToolset && len(server) > 0 {
		// No tool has a colon in its name, so a server may have that of a tool.
		tool.Name = mcpToolset + ":" + string(server)
	}
	tool.Fixed = fixed(tool.Family)
	if tool.Family == mcpToolset {
		tool.Deferred = byDefault == later && each != now
	} else {
		tool.Deferred = tool.Deferred || each == later
	}
	if tool.Name == "" && isToolset(tool.Family) {
		// The provider has one of each: its kind is its name.
		tool.Name = tool.Family
	}
	if tool.Name == "" {
		f.fail("a tool has no name")
	}
}

func keepIf(said bool) verdict {
	if said {
		return keep
	}
	return drop
}

const mcpToolset = "mcp_toolset"

// fixed reports a family whose entries no directive is tried on: sets of tools
// need their server in the request, and refer to it; computers cannot be
// defined in a message; searches cannot be deferred. What is not known counts
// among them.
func fixed(family string) bool {
	switch family {
	case "", "web_search", "web_fetch", "code_execution", "bash", "text_editor", "memory":
		return false
	}
	return true
}

// isToolset reports a family whose entries stand for many tools.
func isToolset(family string) bool {
	return len(family) > len("_toolset") && family[len(family)-len("_toolset"):] == "_toolset"
}

// family is the type of a tool without its date: the provider takes a newer
// version of a tool for the same one. A client's own tools have none.
func family(kind []byte) string {
	if string(kind) == "custom" {
		return ""
	}
	at := len(kind) - len("_20260101")
	if at < 1 || kind[at] != '_' {
		return string(kind)
	}
	for _, c := range kind[at+1:] {
		if c < '0' || c > '9' {
			return string(kind)
		}
	}
	return string(kind[:at])
}

func (f *form) system(facts *continuity.Facts) {
	f.space()
	from := f.at
	if known := f.recall.find(OfSystem, f.text[from:]); known != nil {
		facts.Sections, facts.Marks = slices.Clone(known.sections), facts.Marks+known.marks
		moveAll(facts.Sections, from)
		f.at += known.length
		return
	}
	marks := facts.Marks
	f.sections(facts)
	if f.msg == "" {
		f.recall.keep(run{of: OfSystem, sections: facts.Sections, marks: facts.Marks - marks}, f.text[from:f.at], from)
	}
}

// sections reads the system prompt.
func (f *form) sections(facts *continuity.Facts) {
	switch f.space() {
	case 'n':
		f.value()
	case '"':
		start := f.begin()
		from := f.at
		f.textBlock()
		span := rewrite.Span{Start: from, End: f.at}
		section := continuity.Section{Span: span, Text: span}
		section.Meaning, section.Exact = f.end(start)
		facts.Sections = append(facts.Sections, section)
	default:
		f.array(func() {
			var section continuity.Section
			start := f.begin()
			b := f.block()
			if string(b.kind) != "text" || b.text.Len() == 0 {
				f.fail("the system prompt is text")
				return
			}
			section.Span, section.Text, section.Mark = b.span, b.text, b.mark
			section.Volatile = volatile(f.text[b.text.Start:b.text.End])
			section.Meaning, section.Exact = f.end(start)
			facts.Marks += len(f.cuts)
			facts.Sections = append(facts.Sections, section)
		})
	}
}

// textBlock writes the string that stands here as the block of text that it is
// equal to.
func (f *form) textBlock() {
	f.out = append(f.out, textOpen...)
	f.string(true)
	f.out = append(f.out, '}')
}

// The canonical form of a block of text, around its text.
const textOpen, textClose = `{"type":"text","text":`, `"}`

// volatile reports the block in which a coding agent says what it is. The
// provider takes it out before it reads the prompt. It is one line: a prompt
// that merely begins so is not ignored for it.
func volatile(text []byte) bool {
	return bytes.HasPrefix(text, []byte(`"x-anthropic-billing-header:`)) && !bytes.Contains(text, []byte(`\n`))
}
