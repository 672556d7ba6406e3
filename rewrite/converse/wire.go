package converse

import (
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// The content blocks of the dialect. A block is an object with one member, whose
// name is its kind.
const (
	kindText       = "text"
	kindReasoning  = "reasoningContent"
	kindCall       = "toolUse"
	kindResult     = "toolResult"
	kindCited      = "citationsContent"
	kindImage      = "image"
	kindDocument   = "document"
	kindVideo      = "video"
	kindAudio      = "audio"
	kindCachePoint = "cachePoint"
	kindCitation   = "citation"
)

// serverTool is the type of a call that the provider answers itself.
const serverTool = "server_tool_use"

// wire is the contract that payloads of this dialect are written by.
const wire = "2023-09-30"

// payload is an element as its provider made it.
func payload(provider, kind string, raw []byte) rewrite.Payload {
	return rewrite.Payload{Provider: provider, Format: "converse/" + kind, Version: wire, Value: raw}
}

// only gives the name and value of the member of an object that has one. One that
// is known goes before others beside it.
func only(object []byte) (name string, value []byte) {
	splice.Fields(object, func(key, member []byte) bool {
		if splice.Null(member) {
			return true
		}
		if known := blockKind(key); known != "" {
			name, value = known, member
			return false
		}
		if name == "" {
			name, value = string(key), member
		}
		return true
	})
	return name, value
}

// blockKind gives the kinds that are read, without allocating.
func blockKind(key []byte) string {
	switch string(key) {
	case kindText:
		return kindText
	case kindReasoning:
		return kindReasoning
	case kindCall:
		return kindCall
	case kindResult:
		return kindResult
	case kindCited:
		return kindCited
	case kindImage:
		return kindImage
	case kindCitation:
		return kindCitation
	}
	return ""
}

// members are those of a block that matter here.
type members struct {
	id, name, input, kind, status, content       []byte
	text, signature, redacted                    []byte
	citations, format, source, location, title   []byte
	bytes, sourceContent, url, reasoningText, at []byte
	more                                         bool
}

// readMembers reads the members of an object.
func readMembers(object []byte) (m members, ok bool) {
	ok = splice.Fields(object, func(name, value []byte) bool {
		if splice.Null(value) {
			return true
		}
		if at := m.place(name); at != nil {
			*at = value
		} else {
			m.more = true
		}
		return true
	})
	return m, ok
}

func (m *members) place(name []byte) *[]byte {
	switch string(name) {
	case "toolUseId":
		return &m.id
	case "name":
		return &m.name
	case "input":
		return &m.input
	case "type":
		return &m.kind
	case "status":
		return &m.status
	case "content":
		return &m.content
	case "text":
		return &m.text
	case "signature":
		return &m.signature
	case "redactedContent":
		return &m.redacted
	case "reasoningText":
		return &m.reasoningText
	case "citations":
		return &m.citations
	case "format":
		return &m.format
	case "source":
		return &m.source
	case "location":
		return &m.location
	case "title":
		return &m.title
	case "bytes":
		return &m.bytes
	case "sourceContent":
		return &m.sourceContent
	case "url":
		return &m.url
	case "contentBlockIndex":
		return &m.at
	}
	return nil
}

// capability is the hub's name of what a tool of the provider's does.
func capability(name string) string {
	switch name {
	case "web_search", "web_fetch", "code_execution", "tool_search":
		return name
	case "nova_grounding":
		return "web_search"
	case "nova_code_interpreter":
		return "code_execution"
	}
	if strings.HasPrefix(name, "tool_search") {
		return "tool_search"
	}
	return "other"
}

// readCitation reads a source of a text. Its places are in the source, and none
// is in the text, all of which is the cited part.
func readCitation(provider string, raw []byte) rewrite.Attribution {
	m, _ := readMembers(raw)
	source := rewrite.Attribution{Title: splice.Text(m.title), URL: splice.Text(m.source), Payload: payload(provider, kindCitation, raw)}
	var place []byte
	if source.Kind, place = only(m.location); source.Kind == "web" {
		if at, _ := readMembers(place); len(at.url) > 0 {
			source.URL = splice.Text(at.url)
		}
	}
	var excerpt strings.Builder
	splice.Elements(m.sourceContent, func(piece []byte) bool {
		of, _ := readMembers(piece)
		excerpt.WriteString(splice.Text(of.text))
		return true
	})
	source.Excerpt = excerpt.String()
	return source
}
