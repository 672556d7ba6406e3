package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/anthropic"
)

func all(a *anthropic.Arguments) map[string]string {
	got := map[string]string{}
	a.All(func(id string, arguments []byte) { got[id] = string(arguments) })
	return got
}

func started(index int, block string) [2]string {
	return [2]string{"content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)}
}

func piece(index int, json string) [2]string {
	return [2]string{"content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%q}}`, index, json)}
}

func TestArgumentsOfAStream(t *testing.T) {
	const begun = `{"type":"tool_use","id":"t1","name":"a","input":{}}`
	for name, c := range map[string]struct {
		events [][2]string
		want   map[string]string
	}{
		"pieces": {[][2]string{started(0, begun), piece(0, ""), piece(0, `{"b": 1,`), piece(0, ` "a":"x\ny"}`)}, map[string]string{"t1": "{\"b\": 1, \"a\":\"x\\ny\"}"}},
		"two calls at once": {[][2]string{started(1, begun), started(2, `{"type":"server_tool_use","id":"t2","name":"a","input":{}}`),
			piece(1, `{"b":1`), piece(2, `{"c":2}`), piece(1, `}`)}, map[string]string{"t1": `{"b":1}`, "t2": `{"c":2}`}},
		"whole in the beginning": {[][2]string{started(0, `{"type":"mcp_tool_use","id":"m","name":"a","input":{"b":[1]}}`)}, map[string]string{"m": `{"b":[1]}`}},
		"without names":          {[][2]string{{"", started(0, begun)[1]}, {"", piece(0, `{"b":1}`)[1]}}, map[string]string{"t1": `{"b":1}`}},
		"spelled one way":        {[][2]string{started(0, begun), piece(0, `{"path":"/tmp"}`)}, map[string]string{}},
		"none":                   {[][2]string{started(0, begun)}, map[string]string{}},
		"cut short":              {[][2]string{started(0, begun), piece(0, `{"b":1,"a":`)}, map[string]string{}},
		"text":                   {[][2]string{started(0, `{"type":"text","text":""}`), piece(0, `{"b":1}`)}, map[string]string{}},
		"of another block":       {[][2]string{started(0, begun), piece(1, `{"b":1}`)}, map[string]string{}},
		"no events":              {[][2]string{{"content_block_start", `{"index":0,"content_block":`}, {"ping", `{}`}}, map[string]string{}},
		"too much of it":         {[][2]string{started(0, begun), piece(0, `{"b":1,"a":"`+strings.Repeat("x", anthropic.MaxArguments)+`"}`)}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			var a anthropic.Arguments
			for _, e := range c.events {
				a.Read([]byte(e[0]), []byte(e[1]))
			}
			if diff := cmp.Diff(c.want, all(&a)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestArgumentsOfAWholeReply(t *testing.T) {
	var a anthropic.Arguments
	a.Whole([]byte(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"x"},` +
		`{"type":"tool_use","id":"t1","name":"a","input":{ "b":1.0,"a":{"d":1,"c":2}}},{"type":"tool_use","id":"t2","name":"a","input":{}}],"usage":{}}`))
	if diff := cmp.Diff(map[string]string{"t1": `{ "b":1.0,"a":{"d":1,"c":2}}`}, all(&a)); diff != "" {
		t.Error(diff)
	}
}

// Text costs nothing to pass, also behind a call.
func TestTextIsNoArguments(t *testing.T) {
	var a anthropic.Arguments
	begun := started(0, `{"type":"tool_use","id":"t1","name":"a","input":{}}`)
	a.Read([]byte(begun[0]), []byte(begun[1]))
	name := []byte("content_block_delta")
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + strings.Repeat("words ", 50) + `"}}`)
	if n := testing.AllocsPerRun(100, func() { a.Read(name, data) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAsMade(t *testing.T) {
	call := func(id, input string) string {
		return `{"type":"tool_use","id":"` + id + `","name":"a","input":` + input + `}`
	}
	for name, c := range map[string]struct{ echo, made, want string }{
		"other order":       {`{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"b":2,"a":1}`},
		"other numbers":     {`{"a":1,"b":0.5}`, `{"a":1.0,"b":5e-1}`, `{"a":1.0,"b":5e-1}`},
		"other escapes":     {`{"a":"\u003cé"}`, `{"a":"<\u00e9"}`, `{"a":"<\u00e9"}`},
		"white space":       {`{"a":1,"b":2}`, `{ "a": 1, "b": 2 }`, ""},
		"the same":          {`{"a":1,"b":2}`, `{"a":1,"b":2}`, ""},
		"another value":     {`{"a":1,"b":2}`, `{"b":2,"a":3}`, ""},
		"unknown":           {`{"a":1,"b":2}`, ``, ""},
		"broken":            {`{"a":1,"b":2}`, `{"b":2,"a":1`, ""},
		"a number cut down": {`{"a":12345678901234567000}`, `{"a":12345678901234567890}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			message := func(input string) string {
				return said(`{"type":"text","text":"x"}`, call("t0", `{"b":1,"a":2}`), call("t1", input))
			}
			got := string(anthropic.AsMade([]byte(message(c.echo)), map[string][]byte{"t1": []byte(c.made)}))
			want := ""
			if c.want != "" {
				want = message(c.want)
			}
			if got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
			if want == "" {
				return
			}
			f := facts(t, `{"messages":[`+message(c.echo)+`,`+got+`]}`)
			if f.Messages[0].Meaning != f.Messages[1].Meaning {
				t.Error("means something else")
			}
			if f.Messages[1].Exact != anthropic.ExactHash([]byte(got)) {
				t.Error("has another hash by itself")
			}
		})
	}
	if diff := cmp.Diff([]string{"t0", "t1"}, anthropic.CallIDs([]byte(said(call("t0", `{}`), `{"type":"text","text":"x"}`, call("t1", `{}`))))); diff != "" {
		t.Error(diff)
	}
}

// FuzzAsMade asks that a repaired message is the same one, spelled as the
// provider has spelled it, whatever the provider has said.
func FuzzAsMade(f *testing.F) {
	f.Add(`{"a":1,"b":2}`, `{"b":2,"a":1}`)
	f.Add(`{"a":"\u003c"}`, `{"a":"<"}`)
	f.Add(`{"a":1.0}`, `{"a":1e0}`)
	f.Add(`{"id":"x"},"type":"text"`, `{}`)
	f.Fuzz(func(t *testing.T, echo, made string) {
		message := said(`{"type":"tool_use","id":"t1","name":"a","input":` + echo + `}`)
		before, err := anthropic.ReadFacts([]byte(`{"messages":[` + message + `]}`))
		if err != nil {
			return
		}
		var a anthropic.Arguments
		begun, all := started(0, `{"type":"tool_use","id":"t1","name":"a","input":{}}`), piece(0, made)
		a.Read([]byte(begun[0]), []byte(begun[1]))
		a.Read([]byte(all[0]), []byte(all[1]))
		notes := map[string][]byte{}
		a.All(func(id string, arguments []byte) { notes[id] = arguments })
		got := anthropic.AsMade([]byte(message), notes)
		if got == nil {
			return
		}
		after, err := anthropic.ReadFacts([]byte(`{"messages":[` + string(got) + `]}`))
		if err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if after.Messages[0].Meaning != before.Messages[0].Meaning {
			t.Errorf("%s means something else than %s", got, message)
		}
		if !strings.Contains(string(got), string(notes["t1"])) {
			t.Errorf("%s is not as %s", got, notes["t1"])
		}
	})
}
