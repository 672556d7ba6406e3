package anthropic

import (
	"bytes"
	"slices"
)

// MergeBetas adds values to those of an anthropic-beta header. They are a set:
// what the client sends stays as it is and where it is, and only what is not
// among it is appended.
func MergeBetas(header []byte, add ...string) []byte {
	merged := slices.Clone(bytes.TrimRight(header, " \t,"))
	had := len(merged)
	for _, beta := range add {
		if beta == "" || HasBeta(merged, beta) {
			continue
		}
		if len(merged) > 0 {
			merged = append(merged, ',')
		}
		merged = append(merged, beta...)
	}
	if len(merged) == had {
		return header
	}
	return merged
}

// HasBeta reports whether a value is among those of an anthropic-beta header.
func HasBeta(header []byte, beta string) bool {
	for value := range bytes.SplitSeq(header, []byte(",")) {
		if string(bytes.TrimSpace(value)) == beta {
			return true
		}
	}
	return false
}
