package converse

import "warmpath/rewrite/splice"

const (
	maxMetadata     = 16
	maxMetadataText = 256
)

// metadata writes what the provider is to keep in its log of invocations: short
// texts of few characters.
func (rw *requestWriter) metadata() {
	type pair struct{ name, text string }
	var pairs []pair
	add := func(path, name, text string) {
		if name == "" || len(pairs) == maxMetadata || !loggable(name) || !loggable(text) {
			rw.lose(path, "not a short text that can be logged")
			return
		}
		pairs = append(pairs, pair{name, text})
	}
	if rw.c.User != "" {
		add("user", "user_id", rw.c.User)
	}
	splice.Fields(rw.c.Metadata, func(name, value []byte) bool {
		text, ok := splice.String(value)
		switch {
		case string(name) == "user_id" && rw.c.User != "":
		case !ok:
			rw.lose("metadata."+string(name), "not a text")
		default:
			add("metadata."+string(name), string(name), string(text))
		}
		return true
	})
	rw.object("requestMetadata", func() {
		for _, p := range pairs {
			rw.w.Name(p.name)
			rw.w.String(p.text)
		}
	})
}

// loggable reports what may stand in requestMetadata.
func loggable(text string) bool {
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == ' ', c == ':', c == '_', c == '@', c == '$', c == '#', c == '=', c == '/', c == '+', c == ',', c == '-', c == '.':
		default:
			return false
		}
	}
	return len(text) <= maxMetadataText
}
