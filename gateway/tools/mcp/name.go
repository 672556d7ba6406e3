package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// What a provider takes as the name of a tool: so many of A-Z a-z 0-9 _ and -.
const longestName = 64

// Prefix is what the names of the servers' tools begin with.
const Prefix = "mcp__"

// PrefixOf is what the names of one server's tools begin with, and those of no other's.
func PrefixOf(server string) string { return Prefix + server + "__" }

// ValidName reports whether a server may have a name: lower-case letters, digits,
// - and single _ within it, but not the word other, and not so many that nothing is
// left for the names of its tools. So no two servers give a tool the same name.
func ValidName(name string) bool {
	const most = 32
	if name == "" || name == "other" || name[0] == '-' || len(name) > most || strings.Contains(name, "__") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_") {
		return false
	}
	for _, c := range []byte(name) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// toolName is what a model calls a server's tool by. It depends on nothing but the
// two names: where one is not a name that every provider takes, a hash of it tells
// it from others that are cut or written the same way.
func toolName(server, tool string) string {
	legal := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, tool)
	name := PrefixOf(server) + legal
	if legal == tool && len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(tool))
	mark := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), longestName-len(mark))] + mark
}
