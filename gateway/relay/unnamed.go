package relay

import (
	"strings"

	"warmpath/rewrite"
)

// unknownTool stands in an error for the name of a tool that its client has never heard
// of.
const unknownTool = "a tool of the gateway's"

// named reports a text with the name of a tool that the client does not know.
func (h *hidden) named(text []byte) bool { return h.unnamed(string(text)) != string(text) }

// unnamed is a text of the provider's without the names of tools that the client does not
// know.
func (h *hidden) unnamed(text string) string {
	if h == nil {
		return text
	}
	for there, name := range h.names {
		text = withoutWord(text, name)
		if there != name {
			text = withoutWord(text, there)
		}
	}
	return text
}

// unblamed is an error of the provider's as the client gets it.
func (h *hidden) unblamed(fault *rewrite.Fault) *rewrite.Fault {
	message := h.unnamed(fault.Message)
	if message == fault.Message {
		return fault
	}
	told := *fault
	told.Message = message
	return &told
}

// withoutWord puts unknownTool in the place of a name, where it stands alone.
func withoutWord(text, name string) string {
	if name == "" || !strings.Contains(text, name) {
		return text
	}
	var b strings.Builder
	for {
		at := strings.Index(text, name)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := at + len(name)
		if at > 0 && inName(text[at-1]) || end < len(text) && inName(text[end]) {
			b.WriteString(text[:end])
		} else {
			b.WriteString(text[:at])
			b.WriteString(unknownTool)
		}
		text = text[end:]
	}
}

// inName reports bytes that names of tools are made of.
func inName(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
