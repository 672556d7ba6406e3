package splice_test

import (
	"encoding/json"
	"strings"
	"testing"

	"warmpath/rewrite/splice"
)

// agree compares the checker with the standard library's.
func agree(t *testing.T, body []byte) {
	t.Helper()
	end, deep := splice.Check(body)
	if got, want := end == len(body) && !deep, json.Valid(body); got != want {
		t.Fatalf("%q: valid %v, want %v", body, got, want)
	}
}

// Every short text over the characters that JSON gives a meaning.
func TestValidAgreesOnShortTexts(t *testing.T) {
	const alphabet = `{}[],:"\0-.e `
	var body [5]byte
	var extend func(n int)
	extend = func(n int) {
		agree(t, body[:n])
		if n == len(body) {
			return
		}
		for _, c := range []byte(alphabet) {
			body[n] = c
			extend(n + 1)
		}
	}
	extend(0)
}

// Every byte at every place of a string, which is read a word at a time, and
// behind a backslash.
func TestValidAgreesOnBytesInStrings(t *testing.T) {
	for length := range 20 {
		for place := range length {
			for c := range 256 {
				body := []byte(`["` + strings.Repeat("a", length) + `","b"]`)
				body[2+place] = byte(c)
				agree(t, body)
				if place > 0 {
					body[1+place] = '\\'
					agree(t, body)
				}
			}
		}
	}
}

func TestValidAgreesOnWords(t *testing.T) {
	for _, token := range []string{
		`true`, `false`, `null`, `-0.25e+10`, `1E5`, `"\u00eF\ud83d\ude42\"\\\/\b\f\n\r\t"`, `{"a":{"b":[1,{"c":null}]},"d":[[],{}]}`,
	} {
		for end := range len(token) + 1 {
			for _, rest := range []string{"", " ", "x", "0", ",", "]", "}", `"`, ".", "e"} {
				agree(t, []byte(token[:end]+rest))
				agree(t, []byte("["+token[:end]+rest+"]"))
				agree(t, []byte(`{"a":`+token[:end]+rest+"}"))
			}
		}
		for place := range len(token) {
			for c := range 128 {
				body := []byte(token)
				body[place] = byte(c)
				agree(t, body)
			}
		}
	}
}

// Brackets of two kinds as deep as allowed, and each of them closed wrongly.
func TestValidAgreesOnBrackets(t *testing.T) {
	var opening, closing strings.Builder
	kinds := make([]byte, splice.MaxDepth)
	for i := range kinds {
		if i%3 == 0 || i%7 == 0 {
			opening.WriteString(`{"a":`)
			kinds[i] = '}'
		} else {
			opening.WriteString(`[1,`)
			kinds[i] = ']'
		}
	}
	for i := range kinds {
		closing.WriteByte(kinds[len(kinds)-1-i])
	}
	body := []byte(opening.String() + "0" + closing.String())
	agree(t, body)
	if splice.Valid(body) != nil {
		t.Fatal("the deepest text that is allowed is refused")
	}
	for i := opening.Len() + 1; i < len(body); i++ {
		body[i] ^= '}' ^ ']'
		agree(t, body)
		body[i] ^= '}' ^ ']'
	}
}

func TestValidDoesNotAllocate(t *testing.T) {
	body := request(20 << 10)
	if n := testing.AllocsPerRun(20, func() {
		if splice.Valid(body) != nil {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
