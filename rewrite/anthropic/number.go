package anthropic

import (
	"bytes"
	"strconv"
)

// plainDigits is up to how many digits an integer is written in full.
const plainDigits = 20

// number appends a number as it is written canonically: 1.0, 1 and 10e-1 are the
// same one, since libraries write out again what they have read as a number. Its
// value stays exact, however long it is. What is no number stays as it is.
func number(out, word []byte) []byte {
	if len(word) <= plainDigits && (word[0] != '0' || len(word) == 1) && digits(word) {
		return append(out, word...)
	}
	start := len(out)
	unsigned, negative := bytes.CutPrefix(word, []byte("-"))
	mantissa, exponent := unsigned, 0
	if at := bytes.IndexAny(unsigned, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(string(unsigned[at+1:])); err != nil || exponent > 1<<30 || exponent < -1<<30 {
			return append(out, word...)
		}
		mantissa = unsigned[:at]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	if len(whole) == 0 || !digits(whole) || !digits(fraction) {
		return append(out, word...)
	}
	if negative {
		out = append(out, '-')
	}
	from := len(out)
	out = append(append(out, whole...), fraction...)
	exponent -= len(fraction)
	first := len(out) - len(bytes.TrimLeft(out[from:], "0"))
	out = out[:from+copy(out[from:], out[first:])]
	if len(out) == from {
		return append(out[:start], '0')
	}
	last := from + len(bytes.TrimRight(out[from:], "0"))
	exponent += len(out) - last
	out = out[:last]
	if exponent >= 0 && exponent+last-from <= plainDigits {
		for range exponent {
			out = append(out, '0')
		}
		return out
	}
	return strconv.AppendInt(append(out, 'e'), int64(exponent), 10)
}

func digits(word []byte) bool {
	for _, c := range word {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
