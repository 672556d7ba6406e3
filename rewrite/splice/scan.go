package splice

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The words of the structural errors, shared by everything that scans.
const (
	msgUnterminatedString = "unterminated string"
	msgUnbalanced         = "unbalanced brackets"
	msgMissingValue       = "missing value"
	msgMissingColon       = "missing colon after a member name"
	msgMissingComma       = "missing comma between members"
	msgMissingElementEnd  = "missing comma between elements"
	msgMissingName        = "missing member name"
	msgNotObject          = "not a JSON object"
	msgNotArray           = "not a JSON array"
	msgTrailing           = "text after the end of the document"
)

// skipSpace gives the offset of the first byte at or after i that is not JSON
// white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// skipString gives the offset after the closing quote of the string whose
// content begins at i, or -1 if it is never closed. A quote closes the string
// when an even number of backslashes stands before it; the run of backslashes
// always ends, at the latest, at the opening quote.
func skipString(b []byte, i int) int {
	for {
		if i = nextQuote(b, i) + 1; i == 0 {
			return -1
		}
		if b[i-2] != '\\' {
			return i
		}
		k := i - 3
		for b[k] == '\\' {
			k--
		}
		if (i-k)%2 == 0 {
			return i
		}
	}
}

// skipName is skipString for the name of a member, and reports whether there is
// anything in it to unescape.
func skipName(b []byte, i int) (end int, escaped bool) {
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, false
		case '\\':
			return skipString(b, i), true
		}
	}
	return -1, false
}

// near is how many bytes are searched a word at a time before the vector
// search, whose call costs more than most names and values are long.
const near = 32

// nextQuote gives the offset of the first quote at or after i, or -1.
func nextQuote(b []byte, i int) int {
	for limit := i + near; i < limit && i+8 <= len(b); i += 8 {
		if at := indexIn(binary.LittleEndian.Uint64(b[i:]), '"'); at < 8 {
			return i + at
		}
	}
	if at := bytes.IndexByte(b[i:], '"'); at >= 0 {
		return i + at
	}
	return -1
}

// nextSlash gives the offset of the first backslash, or -1.
func nextSlash(b []byte) int {
	i := 0
	for ; i < near && i+8 <= len(b); i += 8 {
		if at := indexIn(binary.LittleEndian.Uint64(b[i:]), '\\'); at < 8 {
			return i + at
		}
	}
	if at := bytes.IndexByte(b[i:], '\\'); at >= 0 {
		return i + at
	}
	return -1
}

// indexIn gives the index of the first c among the eight bytes of a word read in
// little-endian order, or 8.
func indexIn(word uint64, c byte) int {
	word ^= uint64(c) * ones
	return bits.TrailingZeros64((word-ones)&^word&highs) / 8
}

// skipValue gives the offset after the value that begins at i. On failure the
// offset is where it went wrong and msg is not empty.
func skipValue(b []byte, i int) (end int, msg string) {
	if i >= len(b) {
		return len(b), msgMissingValue
	}
	switch b[i] {
	case '"':
		if end = skipString(b, i+1); end < 0 {
			return i, msgUnterminatedString
		}
		return end, ""
	case '{', '[':
		return skipNested(b, i)
	}
	end = skipScalar(b, i)
	if end == i {
		return i, msgMissingValue
	}
	return end, ""
}

// skipScalar gives the offset after a number or a literal; which of them it is,
// and whether it is spelled right, is left to Valid.
func skipScalar(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', '{', '[', ':', '"', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

// skipNested gives the offset after the object or array that opens at start. It
// counts depth and does not care which kind of bracket closes which.
func skipNested(b []byte, start int) (end int, msg string) {
	depth := 0
	for i := start; i < len(b); {
		switch b[i] {
		case '"':
			next := skipString(b, i+1)
			if next < 0 {
				return i, msgUnterminatedString
			}
			i = next
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1, ""
			}
		}
		i++
	}
	return start, msgUnbalanced
}
