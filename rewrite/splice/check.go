package splice

import (
	"encoding/binary"
	"math/bits"
)

// checker checks JSON text in one pass that neither recurses nor allocates. It
// says whether text is JSON, and leaves it to a slower parser to say why not.
type checker struct {
	text  []byte
	depth int
	// kinds has a bit for each open bracket, set for an object. Its length bounds
	// the depth.
	kinds []uint64
}

// check gives the length of the text if it is exactly one JSON value, the
// offset of the bracket that opens too deep with deep set, or -1.
func check(text []byte) (end int, deep bool) {
	var kinds [MaxDepth / 64]uint64
	return checkWithin(text, kinds[:])
}

// checkWithin is check for as many levels as there are bits in kinds.
func checkWithin(text []byte, kinds []uint64) (end int, deep bool) {
	c := checker{text: text, kinds: kinds}
	most := 64 * len(kinds)
	i := 0
	for {
		if i = skipSpace(text, i); i == len(text) {
			return -1, false
		}
		switch text[i] {
		case '{', '[':
			if c.depth == most {
				return i, true
			}
			var empty bool
			if i, empty = c.open(i); i >= 0 && !empty {
				continue
			}
		case '"':
			i = checkString(text, i+1)
		default:
			i = Scalar(text, i)
		}
		if i < 0 {
			return -1, false
		}
		if i = c.next(i); i < 0 || c.depth == 0 {
			return i, false
		}
	}
}

// Scalar gives the offset behind the number or literal that begins at i, or -1
// if there is none.
func Scalar(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case 't':
		return checkWord(b, i, "true")
	case 'f':
		return checkWord(b, i, "false")
	case 'n':
		return checkWord(b, i, "null")
	}
	return checkNumber(b, i)
}

// open enters the object or array at i. It gives the offset where its first
// value is due, or, if it is empty, the offset after it.
func (c *checker) open(i int) (at int, empty bool) {
	object := c.text[i] == '{'
	if i = skipSpace(c.text, i+1); i < len(c.text) && c.text[i] == '}' && object {
		return i + 1, true
	} else if i < len(c.text) && c.text[i] == ']' && !object {
		return i + 1, true
	}
	bit := uint64(1) << (c.depth % 64)
	c.kinds[c.depth/64] &^= bit
	if object {
		c.kinds[c.depth/64] |= bit
		i = c.name(i)
	}
	c.depth++
	return i, false
}

// name gives the offset after a member's name and colon, or -1.
func (c *checker) name(i int) int {
	if i >= len(c.text) || c.text[i] != '"' {
		return -1
	}
	if i = checkString(c.text, i+1); i < 0 {
		return -1
	}
	if i = skipSpace(c.text, i); i == len(c.text) || c.text[i] != ':' {
		return -1
	}
	return i + 1
}

// next leaves every bracket that closes after a value. It gives the offset
// where another value is due, or, once nothing is open, the end of the text.
func (c *checker) next(i int) int {
	for ; ; i++ {
		i = skipSpace(c.text, i)
		if c.depth == 0 {
			if i == len(c.text) {
				return i
			}
			return -1
		}
		if i == len(c.text) {
			return -1
		}
		top := c.depth - 1
		object := c.kinds[top/64]>>(top%64)&1 == 1
		switch b := c.text[i]; {
		case b == ',' && object:
			return c.name(skipSpace(c.text, i+1))
		case b == ',':
			return i + 1
		case b == '}' && object, b == ']' && !object:
			c.depth--
		default:
			return -1
		}
	}
}

// checkString gives the offset after the closing quote of the string whose
// content begins at i, or -1.
func checkString(b []byte, i int) int {
	for {
		for i+8 <= len(b) {
			found := notPlain(binary.LittleEndian.Uint64(b[i:]))
			if found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
			i += 8
		}
		for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
			i++
		}
		switch {
		case i == len(b):
			return -1
		case b[i] == '"':
			return i + 1
		case b[i] != '\\': // a control character
			return -1
		case i+1 < len(b) && escapes[b[i+1]] != 0:
			i += 2
		default:
			if i = checkUnicode(b, i+1); i < 0 {
				return -1
			}
		}
	}
}

// Eight bytes at once: one in each, and the highest bit of each.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// notPlain marks the highest bit of the first byte of a word, read in
// little-endian order, that is a quote, a backslash or a control character. What
// it may mark beyond that is not to be looked at.
func notPlain(word uint64) uint64 {
	quote, slash := word^('"'*ones), word^('\\'*ones)
	return (((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((word - ' '*ones) &^ word)) & highs
}

// checkUnicode gives the offset after the uXXXX that begins at i, or -1.
func checkUnicode(b []byte, i int) int {
	if i+5 > len(b) || b[i] != 'u' {
		return -1
	}
	for _, c := range b[i+1 : i+5] {
		if lower := c | 0x20; (c < '0' || c > '9') && (lower < 'a' || lower > 'f') {
			return -1
		}
	}
	return i + 5
}

// checkWord gives the offset after a literal, or -1.
func checkWord(b []byte, i int, word string) int {
	if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
		return end
	}
	return -1
}

// checkNumber gives the offset after a number, or -1.
func checkNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = checkDigits(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = checkDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return checkDigits(b, i)
	}
	return i
}

// checkDigits gives the offset after one digit or more, or -1.
func checkDigits(b []byte, i int) int {
	start := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
