package anthropic

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// respell writes an escape in the canonical spelling, and gives how many bytes
// of text it took; none if it is no escape. Characters stand for themselves
// where JSON allows it. Half of a surrogate pair, which is no character, keeps
// its escape in lower case.
func respell(out, text []byte) (more []byte, n int) {
	if bytes.HasPrefix(text, []byte(`\/`)) {
		return append(out, '/'), 2
	}
	r, ok := unit(text)
	if !ok {
		return out, 0
	}
	n = 6
	if utf16.IsSurrogate(r) {
		low, ok := unit(text[n:])
		pair := utf16.DecodeRune(r, low)
		if !ok || pair == utf8.RuneError {
			return strconv.AppendInt(append(out, `\u`...), int64(r), 16), n
		}
		r, n = pair, 12
	}
	return spell(out, r), n
}

// shortEscape reports whether the letter at i makes an escape that is canonical
// already.
func shortEscape(text []byte, i int) bool {
	if i < len(text) {
		switch text[i] {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
			return true
		}
	}
	return false
}

// unit reads a \uXXXX escape.
func unit(text []byte) (r rune, ok bool) {
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

// spell writes one character of a string.
func spell(out []byte, r rune) []byte {
	const short = "\b\f\n\r\t\"\\"
	const letters = `bfnrt"\`
	if r < utf8.RuneSelf {
		if i := bytes.IndexByte([]byte(short), byte(r)); i >= 0 {
			return append(out, '\\', letters[i])
		}
		if r < ' ' {
			const digits = "0123456789abcdef"
			return append(out, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		}
	}
	return utf8.AppendRune(out, r)
}

// quote writes text as a JSON string.
func quote(out []byte, text string) []byte {
	out = append(out, '"')
	from := 0
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			out = spell(append(out, text[from:i]...), rune(c))
			from = i + 1
		}
	}
	return append(append(out, text[from:]...), '"')
}
