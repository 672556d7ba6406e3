package splice

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendText appends the content of a JSON string, unescaped, to dst; ok is false
// for any other value. Half of a surrogate pair, which is no character, becomes
// U+FFFD.
func AppendText(dst, value []byte) (content []byte, ok bool) {
	text, ok := inner(value)
	if !ok {
		return dst, false
	}
	for {
		run, r, rest := cutEscape(text)
		if dst = append(dst, run...); r < 0 {
			return dst, true
		}
		dst, text = utf8.AppendRune(dst, r), rest
	}
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
	run, r, rest := cutEscape(text)
	if r < 0 {
		return string(run), ok
	}
	var b strings.Builder
	b.Grow(len(text))
	for ; r >= 0; run, r, rest = cutEscape(rest) {
		b.Write(run)
		b.WriteRune(r)
	}
	b.Write(run)
	return b.String(), ok
}

// inner is what stands between the quotes of a JSON string.
func inner(value []byte) (text []byte, ok bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// cutEscape cuts the content of a JSON string at its first escape: what stands
// before it, the character that it stands for, and what follows. Without an
// escape all is run, and r is negative.
func cutEscape(text []byte) (run []byte, r rune, rest []byte) {
	i := nextSlash(text)
	if i < 0 || i+1 == len(text) {
		return text, -1, nil
	}
	if run, text = text[:i], text[i:]; text[1] != 'u' {
		return run, rune(plainEscape(text[1])), text[2:]
	}
	r, n := unicodeEscape(text)
	return run, r, text[n:]
}

// plainEscape is the byte that an escape's letter stands for.
func plainEscape(letter byte) byte {
	switch letter {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return letter
}

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
