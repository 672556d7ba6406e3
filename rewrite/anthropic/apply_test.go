package anthropic_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
)

var update = flag.Bool("update", false, "write the golden files anew")

func apply(t *testing.T, body string, edits anthropic.Edits) string {
	t.Helper()
	got, err := anthropic.Apply(nil, []byte(body), facts(t, body), &edits)
	if err != nil {
		t.Fatal(err)
	}
	facts(t, string(got)) // It must still read as a request.
	return string(got)
}

func word(s string) *string { return &s }

func texts(list ...string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

const hi, ok, bye = `{"role":"user","content":"hi"}`, `{"role":"assistant","content":[{"type":"text","text":"ok"}]}`, `{"role":"user","content":[{"type":"text","text":"bye"}]}`

func TestApply(t *testing.T) {
	const mark = `{"type":"ephemeral","ttl":"1h"}`
	insert := func(after int, text string) continuity.Edit {
		return continuity.Edit{After: after, Bytes: []byte(text)}
	}
	for name, c := range map[string]struct {
		body  string
		edits anthropic.Edits
		want  string
	}{
		"nothing":                           {" {\"messages\": [ " + hi + " ] }\n", anthropic.Edits{}, " {\"messages\": [ " + hi + " ] }\n"},
		"tools replaced":                    {`{"tools":[ {"name":"a"} ],"messages":[]}`, anthropic.Edits{Tools: texts(`{"name":"b"}`, `{"name":"c"}`)}, `{"tools":[{"name":"b"},{"name":"c"}],"messages":[]}`},
		"tools added":                       {`{"messages":[] }`, anthropic.Edits{Tools: texts(`{"name":"b"}`)}, `{"messages":[] ,"tools":[{"name":"b"}]}`},
		"tools in place of null":            {`{"tools":null,"messages":[]}`, anthropic.Edits{Tools: texts(`{"name":"b"}`)}, `{"tools":[{"name":"b"}],"messages":[]}`},
		"tools emptied":                     {`{"tools":[{"name":"a"}],"messages":[]}`, anthropic.Edits{Tools: texts()}, `{"tools":[],"messages":[]}`},
		"no tools as before":                {`{"messages":[]}`, anthropic.Edits{Tools: texts()}, `{"messages":[]}`},
		"system replaced":                   {`{"system":"x","messages":[]}`, anthropic.Edits{System: texts(`{"type":"text","text":"y"}`)}, `{"system":[{"type":"text","text":"y"}],"messages":[]}`},
		"system as a string":                {`{"system":[{"type":"text","text":"x"}],"messages":[]}`, anthropic.Edits{Text: []byte(`"y"`)}, `{"system":"y","messages":[]}`},
		"system added":                      {`{"messages":[]}`, anthropic.Edits{Text: []byte(`"y"`)}, `{"messages":[],"system":"y"}`},
		"first message":                     {`{"messages":[ ]}`, anthropic.Edits{Inserts: []continuity.Edit{insert(0, hi), insert(0, bye)}}, `{"messages":[` + hi + `,` + bye + ` ]}`},
		"in front":                          {`{"messages":[ ` + hi + `]}`, anthropic.Edits{Inserts: []continuity.Edit{insert(0, bye)}}, `{"messages":[ ` + bye + `,` + hi + `]}`},
		"between and behind":                {`{"messages":[` + hi + ` , ` + ok + ` ]}`, anthropic.Edits{Inserts: []continuity.Edit{insert(1, `{"role":"system","content":"1"}`), insert(1, `{"role":"system","content":"2"}`), insert(2, bye)}}, `{"messages":[` + hi + `,{"role":"system","content":"1"},{"role":"system","content":"2"} , ` + ok + `,` + bye + ` ]}`},
		"replaced":                          {`{"messages":[` + hi + `,` + ok + `]}`, anthropic.Edits{Replace: []anthropic.Replacement{{Index: 0, Bytes: []byte(bye)}}, Inserts: []continuity.Edit{insert(0, hi), insert(1, hi)}}, `{"messages":[` + hi + `,` + bye + `,` + hi + `,` + ok + `]}`},
		"a mark on a tool":                  {`{"tools":[{"name":"a"}],"messages":[]}`, anthropic.Edits{Marks: []anthropic.Mark{{Of: anthropic.OfTools, Text: []byte(mark)}}}, `{"tools":[{"name":"a","cache_control":` + mark + `}],"messages":[]}`},
		"another mark":                      {`{"tools":[{"cache_control":{}, "name":"a" }],"messages":[]}`, anthropic.Edits{Marks: []anthropic.Mark{{Of: anthropic.OfTools, Text: []byte(mark)}}}, `{"tools":[{"name":"a","cache_control":` + mark + ` }],"messages":[]}`},
		"no mark on a deferred tool":        {`{"tools":[{"name":"a","defer_loading":true}],"messages":[]}`, anthropic.Edits{Marks: []anthropic.Mark{{Of: anthropic.OfTools, Text: []byte(mark)}}}, `{"tools":[{"name":"a","defer_loading":true}],"messages":[]}`},
		"a mark on a section":               {`{"system":[{"type":"text","text":"x"}],"messages":[]}`, anthropic.Edits{Marks: []anthropic.Mark{{Of: anthropic.OfSystem, Text: []byte(mark)}}}, `{"system":[{"type":"text","text":"x","cache_control":` + mark + `}],"messages":[]}`},
		"a mark on the last that takes one": {`{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":""},` + thought + `]}]}`, anthropic.Edits{Marks: []anthropic.Mark{{Of: anthropic.OfMessages, Text: []byte(mark)}}}, `{"messages":[{"role":"assistant","content":[{"type":"text","text":"a","cache_control":` + mark + `},{"type":"text","text":""},` + thought + `]}]}`},
		"a mark taken away":                 {`{"messages":[{"role":"user","content":[{"cache_control":{},"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"b","cache_control":{}}],"cache_control":{}}]}]}`, anthropic.Edits{Marks: []anthropic.Mark{{Of: anthropic.OfMessages}}}, `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"b"}]}]}]}`},
		"automatic":                         {`{"messages":[]}`, anthropic.Edits{Automatic: true}, `{"messages":[],"cache_control":{"type":"ephemeral"}}`},
		"automatic for null":                {`{"cache_control":null,"messages":[]}`, anthropic.Edits{Automatic: true}, `{"cache_control":{"type":"ephemeral"},"messages":[]}`},
		"the client's automatic":            {`{"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[]}`, anthropic.Edits{Automatic: true}, `{"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[]}`},
		"drop":                              {`{"thinking":{"type":"adaptive" },"messages":[]}`, anthropic.Edits{Drop: true}, `{"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"} },"messages":[]}`},
		"drop in place of error":            {`{"thinking":{"block_binding":{"prefix_mismatch_behavior":"error"},"type":"enabled","budget_tokens":1024},"messages":[]}`, anthropic.Edits{Drop: true}, `{"thinking":{"block_binding":{"prefix_mismatch_behavior":"drop_block"},"type":"enabled","budget_tokens":1024},"messages":[]}`},
		"drop without thinking":             {`{"messages":[]}`, anthropic.Edits{Drop: true}, `{"messages":[],"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}}`},
		"effort":                            {`{"output_config":{ "effort" : "low", "format":{}},"messages":[]}`, anthropic.Edits{Effort: word("high")}, `{"output_config":{ "effort" : "high", "format":{}},"messages":[]}`},
		"effort without configuration":      {`{"messages":[]}`, anthropic.Edits{Effort: word("high")}, `{"messages":[],"output_config":{"effort":"high"}}`},
		"effort for null":                   {`{"output_config":null,"messages":[]}`, anthropic.Edits{Effort: word("high")}, `{"output_config":{"effort":"high"},"messages":[]}`},
		"effort in an empty configuration":  {`{"output_config":{ },"messages":[]}`, anthropic.Edits{Effort: word("high")}, `{"output_config":{"effort":"high"},"messages":[]}`},
		"effort beside others":              {`{"output_config":{"format":{} },"messages":[]}`, anthropic.Edits{Effort: word("high")}, `{"output_config":{"format":{},"effort":"high" },"messages":[]}`},
		"no effort, the only one":           {`{"output_config":{"effort":"low"},"messages":[]}`, anthropic.Edits{Effort: word("")}, `{"output_config":{},"messages":[]}`},
		"no effort, the first":              {`{"output_config":{"effort":"low", "format":{}},"messages":[]}`, anthropic.Edits{Effort: word("")}, `{"output_config":{"format":{}},"messages":[]}`},
		"no effort, the last":               {`{"output_config":{"format":{} , "effort":"low" },"messages":[]}`, anthropic.Edits{Effort: word("")}, `{"output_config":{"format":{} },"messages":[]}`},
		"no effort, none before":            {`{"output_config":{"format":{}},"messages":[]}`, anthropic.Edits{Effort: word("")}, `{"output_config":{"format":{}},"messages":[]}`},
		"no effort at all":                  {`{"messages":[]}`, anthropic.Edits{Effort: word("")}, `{"messages":[]}`},
		"diagnostics":                       {`{"messages":[]}`, anthropic.Edits{Diagnostics: []byte(`{"previous_message_id":null}`)}, `{"messages":[],"diagnostics":{"previous_message_id":null}}`},
		"the client's diagnostics":          {`{"diagnostics":{"previous_message_id":"m"},"messages":[]}`, anthropic.Edits{Diagnostics: []byte(`{"previous_message_id":null}`)}, `{"diagnostics":{"previous_message_id":"m"},"messages":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, apply(t, c.body, c.edits)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	body := `{"tools":[{"name":"a"}],"thinking":{"type":"between_tools"},"messages":[` + hi + `]}`
	for name, edits := range map[string]anthropic.Edits{
		"an insertion behind the end":  {Inserts: []continuity.Edit{{After: 2}}},
		"an insertion before it all":   {Inserts: []continuity.Edit{{After: -1}}},
		"a replacement of nothing":     {Replace: []anthropic.Replacement{{Index: 1}}},
		"two replacements of one":      {Replace: []anthropic.Replacement{{Index: 0, Bytes: []byte(hi)}, {Index: 0, Bytes: []byte(bye)}}},
		"a mark on nothing":            {Marks: []anthropic.Mark{{Of: anthropic.OfSystem}}},
		"a mark on what goes":          {Tools: texts(`{"name":"b"}`), Marks: []anthropic.Mark{{Of: anthropic.OfTools}}},
		"a mark on a message replaced": {Replace: []anthropic.Replacement{{Index: 0}}, Marks: []anthropic.Mark{{Of: anthropic.OfMessages}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := anthropic.Apply(nil, []byte(body), facts(t, body), &edits); err == nil || len(got) > 0 {
				t.Errorf("gives %s", got)
			}
		})
	}
	_, err := anthropic.Apply(nil, []byte(body), facts(t, body), &anthropic.Edits{Drop: true})
	if !errors.Is(err, anthropic.ErrBinding) {
		t.Errorf("between_tools takes a binding: %v", err)
	}
}

// The client's bytes between the edits are those that it sent, and the edits
// can be undone.
func TestApplyOnARealRequest(t *testing.T) {
	body := string(agentRequest(10, 20))
	f := facts(t, body)
	const inserted = `{"role":"system","content":[{"type":"text","text":"Be brief."}]}`
	edits := anthropic.Edits{
		Tools:       texts(`{"name":"frozen","input_schema":{"type":"object"}}`),
		Inserts:     []continuity.Edit{{After: 3, Bytes: []byte(inserted)}, {After: len(f.Messages), Bytes: []byte(inserted)}},
		Automatic:   true,
		Diagnostics: []byte(`{"previous_message_id":null}`),
	}
	got := apply(t, body, edits)
	after := facts(t, got)
	if len(after.Messages) != len(f.Messages)+2 || len(after.Tools) != 1 || after.Marks != f.Marks+1 || !after.Automatic {
		t.Fatalf("%d messages, %d tools, %d marks", len(after.Messages), len(after.Tools), after.Marks)
	}
	for i, m := range f.Messages {
		at := i
		if i >= 3 {
			at++
		}
		if after.Messages[at].Exact != m.Exact || after.Messages[at].Meaning != m.Meaning {
			t.Errorf("message %d has changed", i)
		}
	}
	undone := strings.ReplaceAll(got, ","+inserted, "")
	undone = strings.Replace(undone, `,"cache_control":{"type":"ephemeral"},"diagnostics":{"previous_message_id":null}}`, "}", 1)
	undone = strings.Replace(undone, `"tools":[`+string(edits.Tools[0])+`]`, `"tools":`+body[f.Tools[0].Span.Start-1:f.Tools[9].Span.End+1], 1)
	if undone != body {
		t.Error("the edits cannot be undone")
	}
}

func TestMarksOfElements(t *testing.T) {
	const mark = `{"type":"ephemeral"}`
	for name, c := range map[string]struct{ element, with, strip string }{
		"a tool":               {`{"name":"a"}`, `{"name":"a","cache_control":` + mark + `}`, `{"name":"a"}`},
		"a marked tool":        {`{"name":"a","cache_control":{},"strict":true}`, `{"name":"a","strict":true,"cache_control":` + mark + `}`, `{"name":"a","strict":true}`},
		"a hosted tool":        {`{"type":"web_search_20260318","name":"web_search"}`, `{"type":"web_search_20260318","name":"web_search","cache_control":` + mark + `}`, `{"type":"web_search_20260318","name":"web_search"}`},
		"a deferred tool":      {`{"name":"a","defer_loading":true}`, `{"name":"a","defer_loading":true}`, `{"name":"a","defer_loading":true}`},
		"text":                 {`{"type":"text","text":"x"}`, `{"type":"text","text":"x","cache_control":` + mark + `}`, `{"type":"text","text":"x"}`},
		"empty text":           {`{"type":"text","text":""}`, `{"type":"text","text":""}`, `{"type":"text","text":""}`},
		"thinking":             {thought, thought, thought},
		"a block nobody knows": {`{"type":"mcp_tool_listing"}`, `{"type":"mcp_tool_listing"}`, `{"type":"mcp_tool_listing"}`},
		"a hosted result":      {`{"type":"web_search_tool_result","content":[]}`, `{"type":"web_search_tool_result","content":[],"cache_control":` + mark + `}`, `{"type":"web_search_tool_result","content":[]}`},
		"a string":             {hi, hi, hi},
		"a message":            {bye, `{"role":"user","content":[{"type":"text","text":"bye","cache_control":` + mark + `}]}`, bye},
		"a scoped message":     {`{"role":"system","content":[{"type":"text","text":"x"}],"clear_at":"next_user_message"}`, `{"role":"system","content":[{"type":"text","text":"x"}],"clear_at":"next_user_message"}`, `{"role":"system","content":[{"type":"text","text":"x"}],"clear_at":"next_user_message"}`},
		"a definition":         {`{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"a","cache_control":{}}}}`, `{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"a","cache_control":{}}},"cache_control":` + mark + `}`, `{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"a"}}}`},
		"a user's key":         {`{"name":"a","input_schema":{"cache_control":{}}}`, `{"name":"a","input_schema":{"cache_control":{}},"cache_control":` + mark + `}`, `{"name":"a","input_schema":{"cache_control":{}}}`},
		"no JSON":              {`{"name":`, `{"name":`, `{"name":`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(anthropic.WithMark([]byte(c.element), []byte(mark))); got != c.with {
				t.Errorf("with a mark %s\nwant %s", got, c.with)
			}
			if got := string(anthropic.StripMark([]byte(c.element))); got != c.strip {
				t.Errorf("without %s\nwant %s", got, c.strip)
			}
		})
	}
}

func TestAsDeferred(t *testing.T) {
	for element, want := range map[string]string{
		`{"name":"a"}`: `{"name":"a","defer_loading":true}`,
		`{"name":"a","cache_control":{"type":"ephemeral"}}`:       `{"name":"a","defer_loading":true}`,
		`{"name":"a","defer_loading": false,"cache_control":{} }`: `{"name":"a","defer_loading": true }`,
		`{"name":"a","defer_loading":true}`:                       `{"name":"a","defer_loading":true}`,
	} {
		if got := string(anthropic.AsDeferred([]byte(element))); got != want {
			t.Errorf("%s gives %s, want %s", element, got, want)
		}
	}
}

// A directive's bytes stand in conversations for ever: they change only on
// purpose.
func TestRenderGolden(t *testing.T) {
	var out strings.Builder
	for _, d := range []anthropic.Directive{
		{Texts: []string{"Be brief."}},
		{Texts: []string{"a \"quoted\" \\ line\nand a tab\tand \x01 and é 😀", "", "second"}},
		{Remove: []string{"b", "a"}},
		{Add: []string{"c"}, Remove: []string{"a"}, Texts: []string{"x"}},
		{Add: []string{"a"}, Define: texts(`{"name":"new", "cache_control":{"type":"ephemeral"}, "input_schema":{"type":"object"}}`)},
		{Effort: "low"},
		{Texts: []string{"x"}, Effort: "high"},
	} {
		line := anthropic.Render(d)
		facts(t, `{"messages":[`+string(line)+`]}`)
		out.Write(line)
		out.WriteByte('\n')
	}
	path := filepath.Join("testdata", "directives.jsonl")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), out.String()); d != "" {
		t.Error(d)
	}
	if got := anthropic.Render(anthropic.Directive{Texts: []string{""}}); got != nil {
		t.Errorf("a directive that says nothing renders as %s", got)
	}
}
