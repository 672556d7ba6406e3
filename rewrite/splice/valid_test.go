package splice_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"warmpath/rewrite/splice"
)

func TestValidAccepts(t *testing.T) {
	for _, body := range []string{
		`{}`, ` [ ] `, `null`, `-0.5e-7`, `"\u00e9\ud83d"`, `{"a":{"a":[true,false,null]}}`,
		"\"\x80 is let through, as most parsers do\"",
		strings.Repeat("[", splice.MaxDepth) + strings.Repeat("]", splice.MaxDepth),
	} {
		if err := splice.Valid([]byte(body)); err != nil {
			t.Errorf("%.60q: %v", body, err)
		}
	}
}

func TestValidRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		offset int64
		msg    string
	}{
		"nothing":           {``, 0, "unexpected end of JSON input"},
		"cut":               {`{"a":[1,2`, 9, "unexpected end of JSON input"},
		"wrong bracket":     {`{"a":[1}}`, 7, "invalid character '}' after array element"},
		"bad number":        {`{"a":01}`, 6, "invalid character '1' after object key:value pair"},
		"bad literal":       {`{"a":nul}`, 8, "invalid character '}' in literal null (expecting 'l')"},
		"bad escape":        {`{"a":"\x"}`, 7, `invalid character 'x' in string escape code`},
		"newline in string": {"{\"a\":\"\n\"}", 6, `invalid character '\n' in string literal`},
		"text behind":       {`{} x`, 3, "invalid character 'x' after top-level value"},
		"not a number":      {`{"a":NaN}`, 5, "invalid character 'N' looking for beginning of value"},
		"too deep":          {strings.Repeat("[", 513) + strings.Repeat("]", 513), 512, "more than 512 levels of nesting"},
		"too deep, mixed":   {strings.Repeat(`{"a":[`, 300), 512 / 2 * 6, "more than 512 levels of nesting"},
	} {
		t.Run(name, func(t *testing.T) {
			err := splice.Valid([]byte(c.body))
			if err == nil {
				t.Fatal("accepted")
			}
			if err.Offset != c.offset || err.Msg != c.msg {
				t.Errorf("got byte %d: %s\nwant byte %d: %s", err.Offset, err.Msg, c.offset, c.msg)
			}
		})
	}
}

// Text deeper than the guard is checked all the same, however deep it is.
func TestValidDeep(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`[{"a":`, n) + "0" + strings.Repeat("}]", n) }
	for name, c := range map[string]struct {
		body   string
		offset int64 // -1 for valid
		msg    string
	}{
		"shallow":                {`{"a":[1]}`, -1, ""},
		"deeper than the guard":  {nested(300), -1, ""},
		"deep indeed":            {nested(1_000_000), -1, ""},
		"shallow, and wrong":     {`{"a":}`, 5, "invalid character '}' looking for beginning of value"},
		"deep, and wrong":        {nested(300) + "]", int64(len(nested(300))), "invalid character ']' after top-level value"},
		"deep, closed wrongly":   {strings.Repeat("[", 513) + strings.Repeat("]", 512) + "}", 1025, "invalid character '}' after array element"},
		"deep indeed, and wrong": {strings.Repeat("[", 100_000), 512, "more than 512 levels of nesting, with a fault in them"},
	} {
		t.Run(name, func(t *testing.T) {
			switch err := splice.ValidDeep([]byte(c.body)); {
			case c.offset < 0 && err != nil:
				t.Errorf("got %v, want none", err)
			case c.offset >= 0 && err == nil:
				t.Error("accepted")
			case c.offset >= 0 && (err.Offset != c.offset || err.Msg != c.msg):
				t.Errorf("got byte %d: %s\nwant byte %d: %s", err.Offset, err.Msg, c.offset, c.msg)
			}
		})
	}
}

func TestSyntaxErrorNamesThePlace(t *testing.T) {
	got := splice.Valid([]byte(`{"a":}`)).Error()
	want := "invalid JSON at byte 5: invalid character '}' looking for beginning of value"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDepth(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		limit int
		want  int64 // -1 when deep enough
	}{
		"at the limit":         {`[[[]]]`, 3, -1},
		"beyond":               {`[[[[]]]]`, 3, 3},
		"side by side":         {`[[],[],{"a":[]}]`, 3, -1},
		"in a string":          {`["[[[[[["]`, 1, -1},
		"behind an open quote": {`["[[[[[[`, 1, -1},
		"closed below zero":    {`]]][[`, 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			err := splice.Depth([]byte(c.body), c.limit)
			var syntax *splice.SyntaxError
			switch {
			case c.want < 0 && err != nil:
				t.Errorf("got %v, want none", err)
			case c.want >= 0 && (!errors.As(err, &syntax) || syntax.Offset != c.want):
				t.Errorf("got %v, want byte %d", err, c.want)
			}
		})
	}
}

func FuzzValid(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e+10,"\u00e9\\\"",true,null]}`, `{"a":01}`, `[1,]`, "\"\x7f\x00\"", `{"a" "b"}`,
		`[[[[{"":{}}]]]]`, ` `, `tru`, `"\ud800"`, `-`, `1e`, `[1 2]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		err := splice.Valid(body)
		if deep := splice.Depth(body, splice.MaxDepth); deep != nil {
			if err == nil {
				t.Fatal("too deep and accepted")
			}
			return
		}
		if end, _ := splice.Check(body); (err == nil) != (end == len(body)) {
			t.Fatalf("got %v, and the fast check ends at %d of %d", err, end, len(body))
		}
		if want := json.Valid(body); (err == nil) != want {
			t.Fatalf("got %v, want valid %v", err, want)
		}
		if err != nil && (err.Offset < 0 || err.Offset > int64(len(body)) || err.Msg == "") {
			t.Fatalf("place of the error: %+v", err)
		}
	})
}
