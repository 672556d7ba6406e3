package anthropic

import (
	"math/big"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for want, words := range map[string][]string{
		"0":                       {"0", "-0", "0.0", "0e9", "-0.00E-3"},
		"1":                       {"1", "1.0", "10e-1", "1E0", "1e+0", "0.1e1"},
		"-1":                      {"-1", "-1.00"},
		"100":                     {"100", "1e2", "1.00e2", "1000.0e-1"},
		"15e-1":                   {"1.5", "1.50", "15E-1"},
		"5e-1":                    {"0.5", "0.50", "5e-1", "0.05e1"},
		"1e21":                    {"1e21", "1000000000000000000000", "1.0E+21"},
		"12345678901234567890":    {"12345678901234567890", "1234567890123456789e1"},
		"123456789012345678901e0": {"123456789012345678901", "123456789012345678901.0"},
		// What is none stays.
		"1e99999999999": {"1e99999999999"},
		"1-2":           {"1-2"},
		"-":             {"-"},
		"1e":            {"1e"},
	} {
		for _, word := range words {
			if got := string(number([]byte("x"), []byte(word))); got != "x"+want {
				t.Errorf("%s is written %s, want %s", word, got[1:], want)
			}
		}
	}
}

// FuzzNumber asks that the canonical form is one number's, and one only.
func FuzzNumber(f *testing.F) {
	for _, word := range []string{"0", "-1.50e3", "12345678901234567890", "1e-7", "-0.0"} {
		f.Add(word, "1")
	}
	f.Add("10e-1", "1.0")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := value(a), value(b)
		if x == nil || y == nil {
			return
		}
		p, q := string(number(nil, []byte(a))), string(number(nil, []byte(b)))
		if (x.Cmp(y) == 0) != (p == q) {
			t.Errorf("%s is %s, %s is %s", a, p, b, q)
		}
		if again := string(number(nil, []byte(p))); again != p {
			t.Errorf("%s is %s, which is %s", a, p, again)
		}
	})
}

// value is a JSON number of a moderate size, or nil.
func value(word string) *big.Rat {
	if len(word) > 40 || strings.Trim(word, "-+.eE0123456789") != "" || word == "" || strings.HasPrefix(word, "+") || strings.HasPrefix(word, ".") || strings.HasPrefix(word, "-.") {
		return nil
	}
	if at := strings.IndexAny(word, "eE"); at >= 0 && len(word)-at > 4 {
		return nil
	}
	r, ok := new(big.Rat).SetString(word)
	if !ok {
		return nil
	}
	return r
}
