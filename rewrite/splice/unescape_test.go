package splice_test

import (
	"encoding/json"
	"testing"

	"warmpath/rewrite/splice"
)

// FuzzAppendText unescapes whatever is a JSON string as the standard library
// does.
func FuzzAppendText(f *testing.F) {
	for _, seed := range []string{
		`""`, `"a\n\"\\\/\b\f\r\t"`, `"\u00e9\uD83D\uDE42"`, `"\ud83d"`, `"\ude42x"`, `"\ud83d\ud83d\ude42"`, `"\ud83dA"`, `"`, `5`, `"\u12"`, `"a\"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got, ok := splice.AppendText([]byte("x"), value)
		if !ok && string(got) != "x" {
			t.Fatalf("%q added %q", value, got)
		}
		var want string
		if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &want) != nil || string(value[len(value)-1:]) != `"` {
			return
		}
		if string([]rune(string(got))) != "x"+want {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	})
}
