package splice

import (
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Writer appends JSON text to a slice, with commas where they belong and no
// space. It keeps no stack: who opens a bracket closes it. The zero Writer is
// ready, and starts a new slice.
type Writer struct {
	out  []byte
	base int
}

// WriteTo gives a Writer that appends to dst.
func WriteTo(dst []byte) Writer { return Writer{out: dst, base: len(dst)} }

// Bytes is dst with all that was written.
func (w *Writer) Bytes() []byte { return w.out }

// Grow makes room for n more bytes.
func (w *Writer) Grow(n int) { w.out = slices.Grow(w.out, n) }

// Size is how many bytes were written, so that what turned out to be nothing
// can be taken back with Cut.
func (w *Writer) Size() int { return len(w.out) - w.base }

// Cut takes back all but the first size bytes that were written.
func (w *Writer) Cut(size int) { w.out = w.out[:w.base+size] }

// Open begins an object or an array, which bracket is the beginning of.
func (w *Writer) Open(bracket byte) {
	w.comma()
	w.out = append(w.out, bracket)
}

// Close ends an object or an array with its bracket.
func (w *Writer) Close(bracket byte) { w.out = append(w.out, bracket) }

// Name writes the name of a member, whose value is due.
func (w *Writer) Name(name string) {
	w.comma()
	w.out = append(AppendString(w.out, name), ':')
}

// String writes text as a JSON string.
func (w *Writer) String(text string) {
	w.comma()
	w.out = AppendString(w.out, text)
}

// Bytestring writes the bytes of a text as a JSON string.
func (w *Writer) Bytestring(text []byte) {
	w.comma()
	w.out = AppendString(w.out, text)
}

// Raw writes a JSON value as it is.
func (w *Writer) Raw(value []byte) {
	w.comma()
	w.out = append(w.out, value...)
}

// Literal is Raw for text of our own: a value, or members of an open object.
func (w *Writer) Literal(text string) {
	w.comma()
	w.out = append(w.out, text...)
}

// Int writes a number.
func (w *Writer) Int(n int64) {
	w.comma()
	w.out = strconv.AppendInt(w.out, n, 10)
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) {
	w.comma()
	w.out = strconv.AppendBool(w.out, b)
}

// Text writes a member that is a string; none if the text is empty.
func (w *Writer) Text(name, text string) {
	if text != "" {
		w.Name(name)
		w.String(text)
	}
}

// Value writes a member with a JSON value as it is; none if there is no value.
func (w *Writer) Value(name string, value []byte) {
	if len(value) > 0 {
		w.Name(name)
		w.Raw(value)
	}
}

// comma separates what comes from what stands before it. The last byte tells:
// no value ends with a bracket that opens or with a colon.
func (w *Writer) comma() {
	if len(w.out) == w.base {
		return
	}
	switch w.out[len(w.out)-1] {
	case '{', '[', ':', ',':
	default:
		w.out = append(w.out, ',')
	}
}

// AppendString appends text as a JSON string. Every character that may stand
// for itself does; bytes that are no UTF-8 become U+FFFD.
func AppendString[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	from, i := 0, 0
	for {
		if i = simple(text, i); i >= len(text) {
			return append(append(dst, text[from:]...), '"')
		}
		if c := text[i]; c < utf8.RuneSelf {
			dst = appendEscape(append(dst, text[from:i]...), c)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, text[from:i]...), "\uFFFD"...)
			from = i + 1
		}
		i += size
	}
}

// simple gives the offset of the first byte of a text, at or after i, that is not
// written as it is without a look at what follows it: all but ASCII without
// quotes, backslashes and control characters.
func simple[T string | []byte](text T, i int) int {
	for ; i+8 <= len(text); i += 8 {
		b := text[i : i+8]
		word := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		if found := notPlain(word) | word&highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] < utf8.RuneSelf && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

// appendEscape appends the shortest escape of a byte that needs one.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}
