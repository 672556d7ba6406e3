package splice_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

func TestInt(t *testing.T) {
	for _, c := range []struct {
		value string
		n     int64
		ok    bool
	}{
		{`0`, 0, true},
		{`-12`, -12, true},
		{`12.9`, 12, true},
		{`1.5e3`, 1500, true},
		{`999999999999999999`, 999999999999999999, true},
		{`9223372036854775807`, 9223372036854775807, true},
		{`-9223372036854775808`, -9223372036854775808, true},
		{`9223372036854775808`, 0, false},
		{`1e999`, 0, false},
		{`"1"`, 0, false},
		{`null`, 0, false},
		{`-`, 0, false},
		{`1x`, 0, false},
		{``, 0, false},
	} {
		if n, ok := splice.Int([]byte(c.value)); n != c.n || ok != c.ok {
			t.Errorf("%q: got %d %v, want %d %v", c.value, n, ok, c.n, c.ok)
		}
	}
}

func TestCount(t *testing.T) {
	for value, want := range map[string]rewrite.Count{
		`0`:             {N: 0, Known: true},
		`17`:            {N: 17, Known: true},
		`-3`:            {N: 0, Known: true},
		`null`:          {},
		``:              {},
		`"17"`:          {},
		`1099511627777`: {},
	} {
		if got := splice.Count([]byte(value)); got != want {
			t.Errorf("%q: got %+v, want %+v", value, got, want)
		}
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct {
		value, content string
		ok             bool
	}{
		{`"plain"`, "plain", true},
		{`""`, "", true},
		{`"a\n\"\u00e9\ud83d\ude42"`, "a\n\"é🙂", true},
		{`null`, "", false},
		{`"`, "", false},
		{``, "", false},
		{`{"a":"b"}`, "", false},
	} {
		content, ok := splice.String([]byte(c.value))
		if string(content) != c.content || ok != c.ok {
			t.Errorf("%q: got %q %v, want %q %v", c.value, content, ok, c.content, c.ok)
		}
		if text := splice.Text([]byte(c.value)); text != c.content {
			t.Errorf("%q: text is %q", c.value, text)
		}
	}
}

func TestNullAndEmpty(t *testing.T) {
	for _, c := range []struct {
		value       string
		null, empty bool
	}{
		{``, true, true},
		{`null`, true, true},
		{`false`, false, true},
		{`true`, false, false},
		{`""`, false, true},
		{`"a"`, false, false},
		{`{}`, false, true},
		{"[ \n]", false, true},
		{`[0]`, false, false},
		{`{"a":1}`, false, false},
		{`0`, false, false},
	} {
		value := []byte(c.value)
		if splice.Null(value) != c.null || splice.Empty(value) != c.empty {
			t.Errorf("%q: null %v empty %v", c.value, splice.Null(value), splice.Empty(value))
		}
	}
}
