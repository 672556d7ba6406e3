package splice_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// FuzzMembers compares the walk with two other parsers on valid input, and on
// any input asks it for spans that lie in the body in order.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi \"there\" \\"}]}`,
		`{"mod\u0065l":"a","model":{"b":[1,2,{}]},"":null}`,
		"{ \"a\" :\t[ ] ,\r\n\"b\":-1.5E+3 }", `{"a":"b`, `{"a":[1}`, `{`, `[]`, `{"a":1}}`, `{"\\":"\\\\\"}"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var keys, values [][]byte
		end := 0
		err := splice.Members(body, func(key []byte, at, value rewrite.Span) bool {
			if at.Start < end || at.End < at.Start+2 || value.Start <= at.End || value.End <= value.Start || value.End > len(body) {
				t.Fatalf("spans %v %v after byte %d of %d", at, value, end, len(body))
			}
			end = value.End
			keys = append(keys, bytes.Clone(key))
			values = append(values, body[value.Start:value.End])
			return true
		})
		if !json.Valid(body) {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		if first, _ := decoder.Token(); first != json.Delim('{') {
			if err == nil {
				t.Fatal("accepted something that is no object")
			}
			return
		}
		if err != nil {
			t.Fatalf("valid, but %v", err)
		}
		i := 0
		gjson.ParseBytes(body).ForEach(func(key, value gjson.Result) bool {
			if i >= len(keys) || key.String() != string(keys[i]) || value.Raw != string(values[i]) {
				t.Fatalf("member %d is %q: %q", i, key.String(), value.Raw)
			}
			i++
			return true
		})
		if i != len(keys) {
			t.Fatalf("%d members, want %d", len(keys), i)
		}
		for i := range keys {
			var raw json.RawMessage
			if _, err := decoder.Token(); err != nil {
				t.Fatal(err)
			}
			if err := decoder.Decode(&raw); err != nil || !bytes.Equal(raw, values[i]) {
				t.Fatalf("value %d is %q, want %q (%v)", i, values[i], raw, err)
			}
		}
	})
}
