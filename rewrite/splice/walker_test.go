package splice_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/splice"
)

// visit walks a document with members a and b, of which a is entered if it is
// an array of objects and b is taken.
func visit(text string) (seen []string, ok bool) {
	w := splice.Walk([]byte(text))
	ok = w.Fields(func(key []byte) {
		seen = append(seen, "."+string(key))
		switch string(key) {
		case "a":
			w.Elements(func() {
				seen = append(seen, "[]")
				w.Fields(func(key []byte) {
					seen = append(seen, "[]."+string(key))
					if string(key) == "take" {
						seen = append(seen, string(w.Value()))
					}
				})
			})
		case "b":
			seen = append(seen, string(w.Value()))
		}
	})
	return seen, ok && w.OK()
}

func TestWalker(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
		ok   bool
	}{
		"nested": {
			` { "x" : [1,{"a":2}], "a" : [ {"take":"]","left":{"a":[]}} , {} ], "b":{"c":"}"} }`,
			[]string{".x", ".a", "[]", "[].take", `"]"`, "[].left", "[]", ".b", `{"c":"}"}`}, true,
		},
		"other kinds are stepped over": {`{"a":{"take":1},"b":2}`, []string{".a", ".b", "2"}, true},
		"elements of other kinds":      {`{"a":[1,"x",null,[{}]],"b":2}`, []string{".a", "[]", "[]", "[]", "[]", ".b", "2"}, true},
		"escaped name":                 {`{"\u0062":2}`, []string{".b", "2"}, true},
		"cut deep":                     {`{"a":[{"take":1,"le`, []string{".a", "[]", "[].take", "1"}, false},
		"cut in a value":               {`{"b":[1,2`, []string{".b", ""}, false},
		"comma missing deep":           {`{"a":[{"take":1}{}],"b":2}`, []string{".a", "[]", "[].take", "1"}, false},
		"value missing":                {`{"b":}`, []string{".b", ""}, false},
		"not an object":                {`[1]`, nil, false},
		"nothing":                      {``, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := visit(c.text)
			if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
				t.Errorf("ok %v, want %v; %s", ok, c.ok, diff)
			}
		})
	}
}

// A document that is cut anywhere is not ok, and no walk goes beyond its end.
func TestWalkerCutAnywhere(t *testing.T) {
	const text = `{"x":[1,{"a":2}],"a":[{"take":"]\"","left":{"a":[]}},{}],"b":{"c":"}"}}`
	for n := range len(text) {
		if _, ok := visit(text[:n]); ok {
			t.Errorf("%q is ok", text[:n])
		}
	}
	if _, ok := visit(text); !ok {
		t.Error("the whole is not")
	}
}
