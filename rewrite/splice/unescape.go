package splice

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendText appends the content of a JSON string, unescaped, to dst; ok is false
// for any other value. Half of a surrogate pair, which is no character, becomes
// U+FFFD.
func AppendText(dst, value []byte) (content []byte, ok bool) {
	text, ok := inner(value)
	for len(text) > 0 {
		var n int
		dst = slices.Grow(dst, len(text)+utf8.UTFMax)
		n, text = unescape(dst[len(dst):cap(dst)], text)
		dst = dst[:len(dst)+n]
	}
	return dst, ok
}

// Text is the content of a JSON string in memory of its own; empty for any other
// value.
func Text(value []byte) string {
	text, _ := TextOf(value)
	return text
}

// TextOf is Text that tells an empty string from another value.
func TextOf(value []byte) (content string, ok bool) {
	text, ok := inner(value)
	if nextSlash(text) < 0 {
		return string(text), ok
	}
	var b strings.Builder
	b.Grow(len(text))
	for piece := [256]byte{}; len(text) > 0; {
		var n int
		n, text = unescape(piece[:], text)
		b.Write(piece[:n])
	}
	return b.String(), ok
}

// inner is what stands between the quotes of a JSON string.
func inner(value []byte) (text []byte, ok bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// unescape writes the content of a JSON string to dst as far as there is room,
// which has to be enough for a character. It gives the number of bytes written
// and what is left of the text.
func unescape(dst, text []byte) (n int, rest []byte) {
	for {
		i := nextSlash(text)
		if i < 0 || i+1 == len(text) {
			i = len(text)
		}
		copied := copy(dst[n:], text[:i])
		n, text = n+copied, text[copied:]
		switch {
		case copied < i || len(text) == 0 || n == len(dst):
			return n, text
		case text[1] != 'u':
			if dst[n] = escapes[text[1]]; dst[n] == 0 {
				dst[n] = text[1] // no JSON
			}
			n, text = n+1, text[2:]
		default:
			if n+utf8.UTFMax > len(dst) {
				return n, text
			}
			r, size := unicodeEscape(text)
			n, text = n+utf8.EncodeRune(dst[n:], r), text[size:]
		}
	}
}

// escapes are the bytes that the letters of short escapes stand for; zero for what
// is no such letter.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicodeEscape reads the escape, or the two of a surrogate pair, that text
// begins with, and gives how many bytes it took.
func unicodeEscape(text []byte) (r rune, n int) {
	r, ok := codeUnit(text)
	if !ok {
		return utf8.RuneError, 2
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := codeUnit(text[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// codeUnit reads one \uXXXX.
func codeUnit(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		switch lower := c | 0x20; {
		case '0' <= c && c <= '9':
			r = r<<4 + rune(c-'0')
		case 'a' <= lower && lower <= 'f':
			r = r<<4 + rune(lower-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
