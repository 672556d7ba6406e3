package splice_test

import (
	"testing"

	"warmpath/rewrite/splice"
)

func TestOnly(t *testing.T) {
	for _, tc := range []struct{ name, object, want string }{
		{"some", `{ "a" : 1.0 , "b":2,"c":{"a":[ ]} }`, `{"a":1.0,"c":{"a":[ ]}}`},
		{"none", `{"b":2}`, `{}`},
		{"no object", `[1]`, `{}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(splice.Only([]byte(tc.object), "c", "a")); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
