package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
)

// facts reads a body that has to be readable.
func facts(t *testing.T, body string) *continuity.Facts {
	t.Helper()
	if !json.Valid([]byte(body)) {
		t.Fatalf("the case is no JSON: %s", body)
	}
	f, err := anthropic.ReadFacts([]byte(body))
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return f
}

// shape leaves out what differs with every byte.
var shape = cmp.Options{
	cmpopts.IgnoreFields(continuity.Facts{}, "Params", "ModelSpan"),
	cmpopts.IgnoreFields(continuity.Tool{}, "Meaning", "Exact", "Span", "Mark"),
	cmpopts.IgnoreFields(continuity.Section{}, "Meaning", "Exact", "Span", "Mark", "Text"),
	cmpopts.IgnoreFields(continuity.Message{}, "Meaning", "Exact", "Span", "Seal", "Mark", "Marks"),
}

func TestReadFactsOfTheRequest(t *testing.T) {
	for name, c := range map[string]struct {
		members string
		want    continuity.Facts
	}{
		"model":                       {`"model":"claude-opus-5-5",`, continuity.Facts{Model: "claude-opus-5-5"}},
		"stream":                      {`"stream":true,`, continuity.Facts{Stream: true}},
		"no stream":                   {`"stream":null,`, continuity.Facts{}},
		"effort":                      {`"output_config":{"format":null,"effort":"high"},`, continuity.Facts{Effort: "high"}},
		"null effort":                 {`"output_config":{"effort":null},`, continuity.Facts{}},
		"forced tool":                 {`"tool_choice":{"type":"tool","name":"read"},`, continuity.Facts{Forced: "read", Demands: true}},
		"thinking between tools":      {`"thinking":{"display":"omitted","type":"between_tools"},`, continuity.Facts{Rigid: true}},
		"no thinking":                 {`"thinking":{"type":"disabled"},`, continuity.Facts{Rigid: true}},
		"adaptive thinking":           {`"thinking":{"type":"adaptive"},`, continuity.Facts{}},
		"any tool":                    {`"tool_choice":{"type":"any"},`, continuity.Facts{Demands: true}},
		"automatic mark":              {`"cache_control":{"type":"ephemeral"},`, continuity.Facts{Marks: 1, Automatic: true}},
		"diagnostics":                 {`"diagnostics":{"previous_message_id":null},`, continuity.Facts{Diagnoses: true}},
		"null diagnostics":            {`"diagnostics":null,`, continuity.Facts{}},
		"no automatic mark":           {`"cache_control":null,`, continuity.Facts{}},
		"continued thread":            {`"thread":{"type":"continue","previous_message_id":"msg_1"},`, continuity.Facts{Thread: true, Threads: true}},
		"created thread":              {`"thread":{"type":"create"},`, continuity.Facts{Threads: true}},
		"everything null":             {`"tools":null,"system":null,"thread":null,"tool_choice":null,"output_config":null,`, continuity.Facts{}},
		"members nobody knows":        {`"metadata":{"cache_control":{"type":"ephemeral"}},"x":[1,{"a":[]}],`, continuity.Facts{}},
		"marks of every kind":         {`"tools":[{"name":"a","cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],`, continuity.Facts{Marks: 2, Tools: []continuity.Tool{{Name: "a"}}, Sections: []continuity.Section{{}}}},
		"a null mark is none":         {`"tools":[{"name":"a","cache_control":null}],`, continuity.Facts{Tools: []continuity.Tool{{Name: "a"}}}},
		"a key of the user's is none": {`"tools":[{"name":"a","input_schema":{"properties":{"cache_control":{"type":"object"}}}}],`, continuity.Facts{Tools: []continuity.Tool{{Name: "a"}}}},
		"system as a string":          {`"system":"Be brief.",`, continuity.Facts{Sections: []continuity.Section{{}}}},
		"attribution":                 {`"system":[{"type":"text","text":"x-anthropic-billing-header: v=1; c=2;"},{"type":"text","text":"x"}],`, continuity.Facts{Sections: []continuity.Section{{Volatile: true}, {}}}},
		"a prompt that begins so":     {`"system":[{"type":"text","text":"x-anthropic-billing-header: v=1\nYou are an agent."}],`, continuity.Facts{Sections: []continuity.Section{{}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := facts(t, `{`+c.members+`"messages":[]}`)
			if d := cmp.Diff(&c.want, got, shape); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadFactsOfParams(t *testing.T) {
	params := func(members string) continuity.Params { return facts(t, `{`+members+`"messages":[]}`).Params }
	same := map[string][2]string{
		"what no cache knows": {`"max_tokens":1,"stream":true,"metadata":{},"stop_sequences":["x"],`, ``},
		"null is absence":     {`"thinking":null,"tool_choice": null ,`, ``},
		"another order":       {`"thinking":{"type":"adaptive"},"speed":"fast",`, `"speed":"fast","thinking": {"type":"adaptive"} ,`},
	}
	for name, pair := range same {
		if params(pair[0]) != params(pair[1]) {
			t.Errorf("%s: %s and %s are taken for different", name, pair[0], pair[1])
		}
	}
	for i, member := range []string{
		`"tool_choice":{"type":"any"}`, `"thinking":{"type":"adaptive"}`, `"output_config":{"effort":"low"}`, `"output_format":{}`,
		`"context_management":{"edits":[]}`, `"speed":"fast"`, `"mcp_servers":[]`,
	} {
		var none continuity.Params
		if got := params(member + `,`); got[i] == 0 || got == none {
			t.Errorf("%s is not noted in its place: %v", member, got)
		}
	}
}

func TestReadFactsOfTools(t *testing.T) {
	for name, c := range map[string]struct {
		tool string
		want continuity.Tool
	}{
		"a client's":              {`{"name":"read","input_schema":{"type":"object"}}`, continuity.Tool{Name: "read"}},
		"a client's, typed":       {`{"type":"custom","name":"read"}`, continuity.Tool{Name: "read"}},
		"a null type":             {`{"type":null,"name":"read"}`, continuity.Tool{Name: "read"}},
		"an escaped name":         {`{"name":"r\u0065ad"}`, continuity.Tool{Name: "read"}},
		"deferred":                {`{"name":"a","defer_loading":true}`, continuity.Tool{Name: "a", Deferred: true}},
		"not deferred":            {`{"name":"a","defer_loading":false}`, continuity.Tool{Name: "a"}},
		"a hosted one":            {`{"type":"web_search_20260318","name":"web_search"}`, continuity.Tool{Name: "web_search", Family: "web_search"}},
		"without a date":          {`{"type":"tool_search_tool_bm25","name":"tool_search_tool_bm25"}`, continuity.Tool{Name: "tool_search_tool_bm25", Family: "tool_search_tool_bm25", Fixed: true}},
		"no date at all":          {`{"type":"bash_2025012x","name":"bash"}`, continuity.Tool{Name: "bash", Family: "bash_2025012x", Fixed: true}},
		"a set of tools":          {`{"type":"browser_toolset_20260801"}`, continuity.Tool{Name: "browser_toolset", Family: "browser_toolset", Fixed: true}},
		"a deferred set":          {`{"type":"browser_toolset_20260801","configs":{"a":{"defer_loading":true},"b":{"defer_loading":true}}}`, continuity.Tool{Name: "browser_toolset", Family: "browser_toolset", Fixed: true, Deferred: true}},
		"a server's":              {`{"type":"mcp_toolset","mcp_server_name":"crm"}`, continuity.Tool{Name: "mcp_toolset:crm", Family: "mcp_toolset", Fixed: true}},
		"a server's, deferred":    {`{"type":"mcp_toolset","mcp_server_name":"crm","default_config":{"defer_loading":true},"configs":{"a":{"enabled":true}}}`, continuity.Tool{Name: "mcp_toolset:crm", Family: "mcp_toolset", Fixed: true, Deferred: true}},
		"a server's, all but one": {`{"type":"mcp_toolset","mcp_server_name":"crm","default_config":{"defer_loading":true},"configs":{"a":{"defer_loading":true},"b":{"defer_loading":false}}}`, continuity.Tool{Name: "mcp_toolset:crm", Family: "mcp_toolset", Fixed: true}},
		"a server's, only one":    {`{"type":"mcp_toolset","mcp_server_name":"crm","configs":{"a":{"defer_loading":true}}}`, continuity.Tool{Name: "mcp_toolset:crm", Family: "mcp_toolset", Fixed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got := facts(t, `{"tools":[`+c.tool+`],"messages":[]}`)
			if d := cmp.Diff([]continuity.Tool{c.want}, got.Tools, shape); d != "" {
				t.Error(d)
			}
		})
	}
}

const (
	toolUse   = `{"type":"tool_use","id":"toolu_01A09q90qw90lq91","name":"read","input":{}}`
	searching = `{"type":"server_tool_use","id":"srvtoolu_01A09q90qw90lq","name":"web_search","input":{"query":"q"}}`
	found     = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_01A09q90qw90lq","content":[]}`
	thought   = `{"type":"thinking","thinking":"","signature":"EqoBCkgIARABGAIiQL8"}`
)

func said(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

func TestReadFactsOfMessages(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		want    continuity.Message
	}{
		"a string":                {`{"role":"user","content":"hi"}`, continuity.Message{Blocks: 1}},
		"two blocks":              {`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{}}]}`, continuity.Message{Blocks: 2}},
		"the role behind":         {`{"content":[{"type":"text","text":"a"}],"role":"assistant"}`, continuity.Message{Role: continuity.Assistant, Blocks: 1}},
		"space before the role":   {`{ "role" : "assistant" , "content" : "a" }`, continuity.Message{Role: continuity.Assistant, Blocks: 1}},
		"a call":                  {said(toolUse), continuity.Message{Role: continuity.Assistant, Blocks: 1, Calls: true, Signed: true}},
		"a call that is counted":  {said(`{"type":"tool_use","id":"call_1","name":"a","input":{}}`), continuity.Message{Role: continuity.Assistant, Blocks: 1, Calls: true}},
		"a call that is named":    {said(`{"type":"tool_use","id":"functions.get_weather_forecast:0","name":"a","input":{}}`), continuity.Message{Role: continuity.Assistant, Blocks: 1, Calls: true}},
		"results":                 {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"},{"type":"tool_result","tool_use_id":"toolu_2","content":"x"}]}`, continuity.Message{Blocks: 2, Results: true}},
		"results and text":        {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"},{"type":"text","text":"x"}]}`, continuity.Message{Blocks: 2}},
		"thinking":                {said(thought), continuity.Message{Role: continuity.Assistant, Blocks: 1, Bound: true, Signed: true}},
		"thinking of no provider": {said(`{"type":"thinking","thinking":"hm","signature":""}`), continuity.Message{Role: continuity.Assistant, Blocks: 1, Bound: true}},
		"redacted thinking":       {said(`{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix/Laf"}`), continuity.Message{Role: continuity.Assistant, Blocks: 1, Bound: true, Signed: true}},
		"a hosted call":           {said(searching, found), continuity.Message{Role: continuity.Assistant, Blocks: 2, HostedTail: true, Signed: true}},
		"a hosted call and text":  {said(searching, found, `{"type":"text","text":"x"}`), continuity.Message{Role: continuity.Assistant, Blocks: 3, Signed: true}},
		"an open hosted call":     {said(searching), continuity.Message{Role: continuity.Assistant, Blocks: 1, HostedOpen: true, Signed: true}},
		"one of two open":         {said(searching, `{"type":"mcp_tool_use","id":"mcptoolu_1","name":"a","input":{}}`, found), continuity.Message{Role: continuity.Assistant, Blocks: 3, HostedOpen: true, HostedTail: true, Signed: true}},
		"a late hosted result":    {said(found, toolUse), continuity.Message{Role: continuity.Assistant, Blocks: 2, Calls: true, Signed: true}},
		"the client's own system": {`{"role":"system","content":"Be brief."}`, continuity.Message{Role: continuity.System, Blocks: 1}},
		"a scoped one":            {`{"role":"system","content":"x","clear_at":"next_user_message"}`, continuity.Message{Role: continuity.System, Blocks: 1, Scoped: true}},
		"one that stays":          {`{"role":"system","content":"x","clear_at":"never"}`, continuity.Message{Role: continuity.System, Blocks: 1}},
		"effort only":             {`{"role":"system","content":[],"output_config":{"effort":"low"}}`, continuity.Message{Role: continuity.System, Bare: true, Effort: "low"}},
		"a user cannot sign":      {`{"role":"user","content":[` + toolUse + `,` + thought + `]}`, continuity.Message{Blocks: 2}},
		"the key of an argument":  {said(`{"type":"tool_use","id":"a","name":"a","input":{"signature":"EqoBCkgIARABGAIiQL8"}}`), continuity.Message{Role: continuity.Assistant, Blocks: 1, Calls: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got := facts(t, `{"messages":[`+c.message+`]}`)
			if d := cmp.Diff([]continuity.Message{c.want}, got.Messages, shape); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadFactsCountsMarks(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	for name, c := range map[string]struct {
		message string
		marks   int
	}{
		"a block":            {`{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]}`, 1},
		"a nested block":     {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a",` + mark + `}],` + mark + `}]}`, 2},
		"a change of tools":  {`{"role":"system","content":[{"type":"tool_removal","tool":{"type":"tool_reference","name":"a"},` + mark + `}]}`, 1},
		"inside it":          {`{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"a",` + mark + `}}}]}`, 1},
		"an argument is not": {`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"a","input":{` + mark + `}}]}`, 0},
		"null is not":        {`{"role":"user","content":[{"type":"text","text":"a","cache_control":null}]}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := facts(t, `{"messages":[`+c.message+`]}`); got.Marks != c.marks {
				t.Errorf("%d marks, want %d", got.Marks, c.marks)
			}
		})
	}
}

func TestReadFactsSpans(t *testing.T) {
	body := "\n{ \"tools\" : [ {\"name\":\"a\" , \"cache_control\":{\"ttl\":\"1h\"} }, {\"cache_control\":{}, \"name\":\"b\"} ],\n" +
		`"system":[ {"type":"text", "text":"s\u0041", "cache_control" : {} } ], "messages": [ {"role":"user","content":"x"} ] } `
	f := facts(t, body)
	text := func(s rewrite.Span) string { return body[s.Start:s.End] }
	got := []string{
		text(f.Tools[0].Span), text(f.Tools[0].Mark), text(f.Tools[1].Span), text(f.Tools[1].Mark),
		text(f.Sections[0].Span), text(f.Sections[0].Mark), text(f.Sections[0].Text), text(f.Messages[0].Span),
	}
	want := []string{
		`{"name":"a" , "cache_control":{"ttl":"1h"} }`, ` , "cache_control":{"ttl":"1h"}`,
		`{"cache_control":{}, "name":"b"}`, `"cache_control":{}, `,
		`{"type":"text", "text":"s\u0041", "cache_control" : {} }`, `, "cache_control" : {}`, `"s\u0041"`,
		`{"role":"user","content":"x"}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	whole := facts(t, `{"system":"Be \"brief\".","messages":[]}`).Sections[0]
	if whole.Text != whole.Span || whole.Text.Len() != len(`"Be \"brief\"."`) {
		t.Errorf("a system prompt that is a string: %+v", whole)
	}
}

func TestReadFactsRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"no JSON":                   `{`,
		"no object":                 `[]`,
		"no messages":               `{"model":"m"}`,
		"text behind":               `{"messages":[]} x`,
		"messages twice":            `{"messages":[],"messages":[]}`,
		"messages of a wrong type":  `{"messages":{}}`,
		"a message of a wrong type": `{"messages":["hi"]}`,
		"no role":                   `{"messages":[{"content":"hi"}]}`,
		"an unknown role":           `{"messages":[{"role":"tool","content":"hi"}]}`,
		"a role twice":              `{"messages":[{"role":"user","content":"hi","role":"assistant"}]}`,
		"no content":                `{"messages":[{"role":"user"}]}`,
		"content of a wrong type":   `{"messages":[{"role":"user","content":{}}]}`,
		"a block of a wrong type":   `{"messages":[{"role":"user","content":["hi"]}]}`,
		"a block without a type":    `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`,
		"a type of a wrong type":    `{"messages":[{"role":"user","content":[{"type":1}]}]}`,
		"a mark twice":              `{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{},"cache_control":{}}]}]}`,
		"a mark of a wrong type":    `{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":"x"}]}]}`,
		"tools of a wrong type":     `{"tools":{},"messages":[]}`,
		"a tool without a name":     `{"tools":[{"input_schema":{}}],"messages":[]}`,
		"a system of a wrong type":  `{"system":1,"messages":[]}`,
		"a system of images":        `{"system":[{"type":"image","source":{}}],"messages":[]}`,
		"a model of a wrong type":   `{"model":1,"messages":[]}`,
		"a broken escape":           `{"messages":[{"role":"user","content":"\x"}]}`,
		"a control character":       "{\"messages\":[{\"role\":\"user\",\"content\":\"\n\"}]}",
		"nesting too deep":          `{"messages":[],"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			if f, err := anthropic.ReadFacts([]byte(body)); err == nil {
				t.Errorf("read as %+v", f)
			}
		})
	}
}

// Facts whose model got another name are those of the renamed body.
func TestRenamedFacts(t *testing.T) {
	const prompt = `"tools":[{"name":"a","input_schema":{},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]`
	const messages = `"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_01A09q90qw90lq","name":"a","input":{}}]}]`
	for name, body := range map[string]string{
		"first":  `{"model":"MODEL",` + prompt + `,` + messages + `}`,
		"second": `{` + prompt + `, "model" : "MODEL" , ` + messages + `}`,
		"last":   `{` + prompt + `,` + messages + `,"stream":true,"model":"MODEL"}`,
	} {
		for _, renamed := range []string{"m", "a-much-longer-name"} {
			facts, err := anthropic.ReadFacts([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			facts.Rename(renamed, len(renamed)+2)
			want, err := anthropic.ReadFacts([]byte(strings.Replace(body, "MODEL", renamed, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, facts); diff != "" {
				t.Errorf("%s as %s (-want +got):\n%s", name, renamed, diff)
			}
		}
	}
}
