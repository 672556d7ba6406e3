package splice_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// member is what one call of yield saw, as text.
type member struct{ Key, Name, Value string }

func walk(body []byte) (members []member, err error) {
	err = splice.Members(body, func(key []byte, at, value rewrite.Span) bool {
		members = append(members, member{
			string(key), string(body[at.Start:at.End]), string(body[value.Start:value.End]),
		})
		return true
	})
	return members, err
}

func TestMembers(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []member
	}{
		"empty":        {`{}`, nil},
		"empty spaced": {" \t\r\n{ \n} ", nil},
		"every kind": {
			`{"s":"x","n":-1.5e3,"t":true,"f":false,"z":null,"o":{"a":[]},"a":[{},"]"]}`,
			[]member{
				{"s", `"s"`, `"x"`},
				{"n", `"n"`, `-1.5e3`},
				{"t", `"t"`, `true`},
				{"f", `"f"`, `false`},
				{"z", `"z"`, `null`},
				{"o", `"o"`, `{"a":[]}`},
				{"a", `"a"`, `[{},"]"]`},
			},
		},
		"space everywhere": {
			"{ \"a\" :\n1 ,\t\"b\" : [ 1 , 2 ] \r\n}",
			[]member{{"a", `"a"`, `1`}, {"b", `"b"`, `[ 1 , 2 ]`}},
		},
		"escaped name": {
			`{"mod\u0065l":"m","\"":1}`,
			[]member{{"model", `"mod\u0065l"`, `"m"`}, {`"`, `"\""`, `1`}},
		},
		"empty name":           {`{"":0}`, []member{{"", `""`, `0`}}},
		"name twice":           {`{"a":1,"a":2}`, []member{{"a", `"a"`, `1`}, {"a", `"a"`, `2`}}},
		"escaped quote":        {`{"a":"\""}`, []member{{"a", `"a"`, `"\""`}}},
		"escaped backslash":    {`{"a":"\\","b":"\\\\\""}`, []member{{"a", `"a"`, `"\\"`}, {"b", `"b"`, `"\\\\\""`}}},
		"brackets in a string": {`{"a":["}]{[",{"]":"}"}]}`, []member{{"a", `"a"`, `["}]{[",{"]":"}"}]`}}},
		"beyond ascii":         {`{"é🙂":"\ud83d\ude42"}`, []member{{"é🙂", `"é🙂"`, `"\ud83d\ude42"`}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := walk([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMembersSyntaxErrors(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		offset int64
		msg    string
	}{
		"nothing":                    {``, 0, "not a JSON object"},
		"space only":                 {`  `, 2, "not a JSON object"},
		"array":                      {` []`, 1, "not a JSON object"},
		"open":                       {`{`, 1, "missing member name"},
		"name unquoted":              {`{a:1}`, 1, "missing member name"},
		"name open":                  {`{"a`, 1, "unterminated string"},
		"no colon":                   {`{"a" 1}`, 5, "missing colon after a member name"},
		"no value":                   {`{"a":}`, 5, "missing value"},
		"end for a value":            {`{"a":`, 5, "missing value"},
		"string open":                {`{"a":"b\"}`, 5, "unterminated string"},
		"string open, deep":          {`{"a":["b]}`, 6, "unterminated string"},
		"array open":                 {`{"a":[1,2`, 5, "unbalanced brackets"},
		"object open":                {`{"a":1`, 6, "unbalanced brackets"},
		"no comma":                   {`{"a":1 "b":2}`, 7, "missing comma between members"},
		"comma last":                 {`{"a":1,}`, 7, "missing member name"},
		"text behind":                {`{"a":1} x`, 8, "text after the end of the document"},
		"second document":            {`{}{}`, 2, "text after the end of the document"},
		"byte order mark is no JSON": {"\ufeff{}", 0, "not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := walk([]byte(c.body))
			var syntax *splice.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v, want a syntax error", err)
			}
			want := splice.SyntaxError{Offset: c.offset, Msg: c.msg}
			if diff := cmp.Diff(want, *syntax); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMembersStops(t *testing.T) {
	calls := 0
	err := splice.Members([]byte(`{"a":1,"b":2,broken`), func([]byte, rewrite.Span, rewrite.Span) bool {
		calls++
		return calls < 2
	})
	if err != nil || calls != 2 {
		t.Errorf("got %d calls and %v, want 2 calls and no error", calls, err)
	}
}

func TestElements(t *testing.T) {
	for name, c := range map[string]struct {
		array string
		want  []string
		ok    bool
	}{
		"empty":       {`[ ]`, nil, true},
		"every kind":  {` [1, "a,]" ,{"b":[2]}, [ ],null]`, []string{`1`, `"a,]"`, `{"b":[2]}`, `[ ]`, `null`}, true},
		"not array":   {`{"a":1}`, nil, false},
		"null":        {`null`, nil, false},
		"absent":      {``, nil, false},
		"cut":         {`[1,`, []string{`1`}, false},
		"no comma":    {`[1 2]`, []string{`1`}, false},
		"comma last":  {`[1,]`, []string{`1`}, false},
		"string open": {`["a]`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			ok := splice.Elements([]byte(c.array), func(value []byte) bool {
				got = append(got, string(value))
				return true
			})
			if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
				t.Errorf("ok %v, want %v; %s", ok, c.ok, diff)
			}
		})
	}
}

func TestFields(t *testing.T) {
	seen := map[string]string{}
	collect := func(key, value []byte) bool {
		seen[string(key)] = string(value)
		return true
	}
	if !splice.Fields([]byte(`{"a":{"b":1},"c":null}`), collect) {
		t.Error("a whole object is not ok")
	}
	if diff := cmp.Diff(map[string]string{"a": `{"b":1}`, "c": `null`}, seen); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{``, `null`, `[1]`, `"s"`, `{"a":1`} {
		if splice.Fields([]byte(bad), collect) {
			t.Errorf("%q is ok", bad)
		}
	}
}

func TestWalksDoNotAllocate(t *testing.T) {
	body := request(20 << 10)
	sum := 0
	if n := testing.AllocsPerRun(50, func() {
		err := splice.Members(body, func(key []byte, _, value rewrite.Span) bool {
			sum += len(key)
			splice.Elements(body[value.Start:value.End], func(element []byte) bool {
				splice.Fields(element, func(key, _ []byte) bool {
					sum += len(key)
					return true
				})
				return true
			})
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a walk, want none", n)
	}
}

// A body of nothing but opening brackets must cost no more than its bytes.
func TestMembersIsNotRecursive(t *testing.T) {
	body := []byte(`{"a":` + strings.Repeat("[", 8<<20))
	if _, err := walk(body); err == nil {
		t.Error("unclosed brackets are accepted")
	}
	if err := splice.Valid(body); err == nil || err.Offset != 5+511 {
		t.Errorf("got %v, want the bracket too many at byte 516", err)
	}
}
