package anthropic

import (
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// field is a member of a block that has a place in the hub.
type field uint8

const (
	fieldType field = iota
	fieldText
	fieldCitations
	fieldMark
	fieldID
	fieldName
	fieldInput
	fieldCallID
	fieldContent
	fieldFailed
	fieldSource
	fieldTitle
	fieldThinking
	fieldSignature
	fieldData
	fieldTool
	fieldServer
	fieldEncrypted
	fields
)

func fieldOf(name []byte) field {
	switch string(name) {
	case "type":
		return fieldType
	case "text":
		return fieldText
	case "citations":
		return fieldCitations
	case "cache_control":
		return fieldMark
	case "id":
		return fieldID
	case "name":
		return fieldName
	case "input":
		return fieldInput
	case "tool_use_id":
		return fieldCallID
	case "content":
		return fieldContent
	case "is_error":
		return fieldFailed
	case "source":
		return fieldSource
	case "title":
		return fieldTitle
	case "thinking":
		return fieldThinking
	case "signature":
		return fieldSignature
	case "data":
		return fieldData
	case "tool":
		return fieldTool
	case "server_name":
		return fieldServer
	case "encrypted_content":
		return fieldEncrypted
	}
	return fields
}

// set is a set of fields.
type set uint32

func setOf(of ...field) (s set) {
	for _, f := range of {
		s |= 1 << f
	}
	return s
}

// What the hub holds of each kind of block. A block with more is kept as it is.
var (
	textFields   = setOf(fieldType, fieldText, fieldCitations, fieldMark)
	imageFields  = setOf(fieldType, fieldSource, fieldMark)
	fileFields   = setOf(fieldType, fieldSource, fieldTitle, fieldMark)
	callFields   = setOf(fieldType, fieldID, fieldName, fieldInput, fieldMark)
	resultFields = setOf(fieldType, fieldCallID, fieldContent, fieldFailed, fieldMark)
	changeFields = setOf(fieldType, fieldTool, fieldMark)
)

// wireBlock is a content block with its members as they are written. Null members
// say the same as absent ones.
type wireBlock struct {
	at     rewrite.Path // in a client's request
	raw    []byte
	kind   string
	values [fields][]byte
	has    set
	mark   rewrite.Mark
	// annotations are a tool's, where they have not been taken off.
	annotations []byte
	// inner are the blocks of a result's content, where they were read with it.
	inner []wireBlock
	// more says that there are members that the hub has no place for.
	more bool
}

// readBlock reads a block; ok is false for what is no object or has no type.
func readBlock(raw []byte) (b wireBlock, ok bool) {
	w := splice.Walk(raw)
	ok = b.read(&w, nil)
	return b, ok
}

// read reads the block that a walker stands at; ok is false for what is no object
// or has no type. A reader of results is given the content of one where it stands,
// so that it need not be found again.
func (b *wireBlock) read(w *splice.Walker, results func(w *splice.Walker) []wireBlock) (ok bool) {
	start := w.Offset()
	w.Fields(func(name []byte) {
		if w.Next() == 'n' {
			return
		}
		f := fieldOf(name)
		if f == fields {
			if b.more = true; string(name) == "annotations" && w.Next() == '{' {
				b.annotations = w.Value()
			}
			return
		}
		from := w.Offset()
		if f == fieldContent && results != nil && string(b.values[fieldType]) == `"tool_result"` {
			b.inner = results(w)
		}
		if w.Offset() == from {
			w.Value()
		}
		b.values[f], b.has = w.Since(from), b.has|1<<f
	})
	b.raw, b.kind = w.Since(start), splice.Text(b.values[fieldType])
	if mark := b.values[fieldMark]; mark != nil {
		var plain bool
		if b.mark, plain = readMark(mark); !plain {
			b.more = true
		}
	}
	return b.kind != ""
}

// beyond reports whether the block says more than the given fields.
func (b *wireBlock) beyond(known set) bool { return b.more || b.has&^known != 0 }

// text is a member that is a string.
func (b *wireBlock) text(f field) string { return splice.Text(b.values[f]) }

// readMark reads a cache mark; plain is false if it says more than a lifetime.
func readMark(value []byte) (mark rewrite.Mark, plain bool) {
	more := false
	object := splice.Fields(value, func(name, value []byte) bool {
		switch string(name) {
		case "type":
		case "ttl":
			mark.TTL = splice.Text(value)
		default:
			more = true
		}
		return true
	})
	mark.Set = true
	return mark, object && !more
}

// wire is the contract that payloads of this dialect are written by.
const wire = "2023-06-01"

// format is the name of a payload's kind.
func format(kind string) string { return "messages/" + kind }

// payload is an element as a provider made it; an empty provider is the client.
func payload(provider, kind string, raw []byte) rewrite.Payload {
	return rewrite.Payload{Provider: provider, Format: format(kind), Version: wire, Value: raw}
}

// capability is the hub's name of what a hosted tool does.
func capability(name string) string {
	switch name {
	case "web_search", "web_fetch", "code_execution", "advisor":
		return name
	case "bash_code_execution", "text_editor_code_execution":
		return "code_execution"
	case "mcp", "mcp_toolset":
		return "mcp"
	}
	if strings.HasPrefix(name, "tool_search") {
		return "tool_search"
	}
	return "other"
}

// readHosted reads the call or the result of a hosted tool; ok is false for
// other blocks.
func readHosted(b *wireBlock) (h rewrite.Hosted, ok bool) {
	if h, ok = hostedBlock(b); ok && h.State != rewrite.HostedStarted {
		readOutcome(b, &h)
	} else {
		h.Input = b.values[fieldInput]
	}
	return h, ok
}

// hostedBlock tells what hosted tool a block is of and how far it is; ok is false
// for other blocks. What is not known yet is recognized by its name and
// identifier.
func hostedBlock(b *wireBlock) (h rewrite.Hosted, ok bool) {
	switch {
	case b.kind == "server_tool_use":
		return rewrite.Hosted{ID: b.text(fieldID), Name: capability(b.text(fieldName))}, true
	case b.kind == "mcp_tool_use":
		return rewrite.Hosted{ID: b.text(fieldID), Name: "mcp"}, true
	case strings.HasSuffix(b.kind, "_tool_result") && b.has&(1<<fieldCallID) != 0:
		h = rewrite.Hosted{ID: b.text(fieldCallID), Name: capability(strings.TrimSuffix(b.kind, "_tool_result")), State: rewrite.HostedCompleted}
		if code, failed := failedWith(b); failed {
			h.State, h.Error = rewrite.HostedFailed, code
		}
		return h, true
	}
	return h, false
}

// failedWith gives the code of a hosted tool's error, which is an object in place
// of what it gives else.
func failedWith(b *wireBlock) (code string, failed bool) {
	failed = string(b.values[fieldFailed]) == "true"
	splice.Fields(b.values[fieldContent], func(name, value []byte) bool {
		if string(name) == "error_code" {
			code, failed = splice.Text(value), true
		}
		return true
	})
	return code, failed
}

// readOutcome reads what a hosted tool has found: an array, or an object.
func readOutcome(b *wireBlock, h *rewrite.Hosted) {
	content := b.values[fieldContent]
	if splice.Elements(content, func(found []byte) bool {
		addSource(h, found)
		return true
	}) {
		return
	}
	if h.State == rewrite.HostedCompleted {
		addSource(h, content)
	}
}

// addSource adds what a search or a fetch has found.
func addSource(h *rewrite.Hosted, found []byte) {
	var source rewrite.Attribution
	splice.Fields(found, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			source.Kind = splice.Text(value)
		case "url":
			source.URL = splice.Text(value)
		case "title":
			source.Title = splice.Text(value)
		}
		return true
	})
	if source.URL != "" {
		h.Sources = append(h.Sources, source)
	}
}

// readCitation reads a source of a text. The API gives places in the source and
// none in the text, whose whole block is the cited part.
func readCitation(provider string, raw []byte) rewrite.Attribution {
	source := rewrite.Attribution{Payload: payload(provider, "citation", raw)}
	splice.Fields(raw, func(name, value []byte) bool {
		switch string(name) {
		case "type":
			source.Kind = splice.Text(value)
		case "url", "source":
			source.URL = splice.Text(value)
		case "title", "document_title":
			source.Title = splice.Text(value)
		case "cited_text":
			source.Excerpt = splice.Text(value)
		case "encrypted_index":
			if index, ok := splice.String(value); ok {
				if opened, ok := open(string(index)); ok {
					if source.Payload = opened; opened.Format == plainSource {
						source.Payload = rewrite.Payload{}
					}
				}
			}
		}
		return true
	})
	return source
}
