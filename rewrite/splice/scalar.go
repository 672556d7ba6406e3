package splice

import (
	"bytes"
	"math"
	"strconv"

	"warmpath/rewrite"
)

// String is the content of a JSON string, unescaped; ok is false for any other
// value. It shares memory with value unless something had to be unescaped.
func String(value []byte) (content []byte, ok bool) {
	if content, ok = inner(value); ok && nextSlash(content) >= 0 {
		content, _ = AppendText(make([]byte, 0, len(value)+2), value)
	}
	return content, ok
}

// Null reports whether a value is absent or JSON null, which the dialects use
// alike.
func Null(value []byte) bool {
	return len(value) == 0 || value[0] == 'n'
}

// Empty reports whether a value says nothing: absent, null, false, or an empty
// string, object or array.
func Empty(value []byte) bool {
	if len(value) == 0 {
		return true
	}
	switch value[0] {
	case 'n', 'f':
		return true
	case '"':
		return len(value) == 2
	case '{', '[':
		return skipSpace(value, 1) == len(value)-1
	}
	return false
}

// Int is an integer value; ok is false for anything else. Numbers written with
// a fraction or an exponent are truncated, since some servers count in floats.
func Int(value []byte) (n int64, ok bool) {
	digits, negative := bytes.CutPrefix(value, []byte("-"))
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	if len(digits) > 18 {
		return slowInt(value)
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return slowInt(value)
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

func slowInt(value []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// maxCount is more tokens than any call can have, and few enough that sums of
// counts do not overflow.
const maxCount = 1 << 40

// Count is a number of tokens; anything but a number that can be one is
// unknown.
func Count(value []byte) rewrite.Count {
	n, ok := Int(value)
	if !ok || n > maxCount {
		return rewrite.Count{}
	}
	return rewrite.Tokens(n)
}
