package converse

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// maxIdentifier is the longest name of a tool or identifier of a call, in bytes.
const maxIdentifier = 64

// callID is an identifier of a call as this dialect allows it: the same for the
// same.
func callID(id string) string {
	allowed := plain(id)
	if len(allowed) <= maxIdentifier {
		return allowed
	}
	return marked(id, allowed)
}

// ToolName is what a tool is called here, where names are short, of few
// characters, and without namespaces. One that has to be another says by its end
// which it is.
func ToolName(namespace, name string) string {
	if namespace != "" {
		name = namespace + "__" + name
	}
	allowed := plain(name)
	if allowed == name && len(name) <= maxIdentifier {
		return name
	}
	return marked(name, allowed)
}

// plain is a text with an underline for each character that is not allowed.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// marked ends a text with a digest of what it stands for.
func marked(text, allowed string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	end := "_" + strconv.FormatUint(h.Sum64(), 16)
	return allowed[:min(len(allowed), maxIdentifier-len(end))] + end
}
