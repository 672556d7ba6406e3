package responses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/show"
	"warmpath/rewrite/responses"
)

func TestReadNames(t *testing.T) {
	for body, want := range map[string]responses.Names{
		`{"model":"m","input":"hi"}`:                                                  {Keep: true, Input: []byte(`"hi"`)},
		`{"store":false,"previous_response_id":"resp_wp_1"}`:                          {Previous: "resp_wp_1"},
		`{"conversation":{"id":"conv_1"}}`:                                            {Keep: true, Conversation: true},
		`{"conversation":null}`:                                                       {Keep: true},
		`{"store":null,"previous_response_id":null}`:                                  {Keep: true},
		`{"input":[{"role":"user"},{"content":"x","role":"assistant"}]}`:              {Keep: true, Answered: true, Input: []byte(`[{"role":"user"},{"content":"x","role":"assistant"}]`)},
		`{"input":[{"type":"function_call"}]}`:                                        {Keep: true, Answered: true, Input: []byte(`[{"type":"function_call"}]`)},
		`{"input":[{"type":"function_call_output","call_id":"c"},{"role":"system"}]}`: {Keep: true, Input: []byte(`[{"type":"function_call_output","call_id":"c"},{"role":"system"}]`)},
		`[]`: {Keep: true},
	} {
		if diff := cmp.Diff(want, responses.ReadNames([]byte(body))); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestReferences(t *testing.T) {
	for input, want := range map[string][]string{
		`"hi"`: nil,
		`[{"type":"item_reference","id":"msg_wp_a_1_0"}]`:                                             {"msg_wp_a_1_0"},
		`[{"id":"rs_wp_a_12"},{"id":"rs_1"}]`:                                                         {"rs_wp_a_12"},
		`[{"id":"msg_wp_a_1","role":"user","content":"x"},{"id":"fc_wp_a_1","type":"function_call"}]`: nil,
		`[{"type":null,"id":"msg_wp_a_1"},7,null,"x",[1],{}]`:                                         {"msg_wp_a_1"},
	} {
		if diff := cmp.Diff(want, responses.References([]byte(input))); diff != "" {
			t.Errorf("%s: %s", input, diff)
		}
	}
}

func TestReplyOf(t *testing.T) {
	for item, want := range map[string]string{
		"msg_wp_abc_0": "resp_wp_abc", "fc_wp_a_b_12": "resp_wp_a_b", "msg_1": "", "": "", "_wp_": "", "msg_wp_abc": "", "msg_wp__1": "", "resp_wp_abc": "",
	} {
		if got := responses.ReplyOf(item); got != want {
			t.Errorf("%q belongs to %q, want %q", item, got, want)
		}
	}
	for name, own := range map[string]bool{"resp_wp_1": true, "resp_1": false, "": false, "msg_wp_1": false} {
		if responses.Own(name) != own {
			t.Errorf("%q is ours: %v", name, !own)
		}
	}
}

func TestExtended(t *testing.T) {
	for body, want := range map[string]bool{
		`{"input":[{"type":"function_call_output","output":[{"type":"input_text","text":"a"}]}]}`:   false,
		`{"input":[{"type":"function_call_output","output":"\"output\":[{\"type\":\"text\"}]"}]}`:   false,
		`{"input":[{"type":"function_call_output","output": [{"type":"text","text":"a"}]}]}`:        true,
		`{"input":[{"type":"function_call_output","output":[{"uri":"u","type":"resource_link"}]}]}`: true,
		`{"input":[{"type":"reasoning","output":[],"summary":[{"type":"text"}]},{"role":"user"}]}`:  false,
		`{"model":"m","input":"hi"}`:                                            false,
		`{"input":"I like \"warmpath\", \"warmpath:directive\""}`:               false,
		`{"input":[{"role":"user","content":[{"type":"warmpath:x"}]}]}`:         false,
		`{"input":[{"role":"user","content":"my_wp_plugin"}]}`:                  false,
		`{"input":[{"id":"msg_wp_1_0","role":"assistant","content":"a"}]}`:      true,
		`{"warmpath":{"offered":[]},"input":"hi"}`:                              true,
		`{"include":["reasoning.encrypted_content","warmpath:usage"]}`:          true,
		`{"input":[{"role":"user"},{"blocks":[],"type":"warmpath:directive"}]}`: true,
	} {
		if responses.Extended([]byte(body)) != want {
			t.Errorf("%s: %v", body, !want)
		}
	}
}

// The golden file has a request, the turns before it, and what becomes of it.
func TestGoldenContinue(t *testing.T) {
	show.Each(t, "testdata/continue", func(t *testing.T, g *show.File) {
		var past []responses.Past
		for line := range strings.Lines(g.Text("past")) {
			past = append(past, responses.Past{Input: []byte(gjson.Get(line, "input").Raw), Reply: []byte(gjson.Get(line, "reply").Raw)})
		}
		find := func(id string) []byte {
			for i := range past {
				if item := responses.Item(past[i].Reply, id); item != nil {
					return item
				}
			}
			return nil
		}
		body, _ := g.Section("request")
		before := past
		if !strings.Contains(body, `"previous_response_id":"`) {
			before = nil
		}
		whole := responses.Continue([]byte(body), before, find)
		if !json.Valid(whole) {
			t.Fatalf("no JSON: %s", whole)
		}
		g.Want(t, *update, "whole", string(whole))
		own := responses.ReadNames([]byte(body)).Input
		list := responses.AppendInputItems(nil, "resp_wp_next", before, own, find, responses.Page{Ascending: true, Limit: 100})
		if !json.Valid(list) {
			t.Fatalf("no JSON: %s", list)
		}
		g.Want(t, *update, "list", string(list))
	})
}

// FuzzContinue asks that nothing breaks a continuation, and that what stood in the
// turns stands in the request.
func FuzzContinue(f *testing.F) {
	f.Add(`{"previous_response_id":"resp_wp_1","input":[{"role":"user","content":"x"}]}`, `"hi"`, `{"output":[{"id":"msg_wp_1_0"}]}`)
	f.Add(`{"input":"a","previous_response_id":"r"}`, `[{"a":1}]`, `{}`)
	f.Fuzz(func(t *testing.T, body, input, reply string) {
		if !json.Valid([]byte(body)) || !json.Valid([]byte(input)) || !json.Valid([]byte(reply)) || responses.ReadNames([]byte(body)).Previous == "" {
			t.Skip()
		}
		whole := responses.Continue([]byte(body), []responses.Past{{Input: []byte(input), Reply: []byte(reply)}}, func(string) []byte { return nil })
		if !json.Valid(whole) {
			t.Errorf("%s", whole)
		}
	})
}

func TestPages(t *testing.T) {
	own := []byte(`[{"role":"user","content":"a"},{"role":"user","content":"b","id":"mine"},{"role":"user","content":"c"}]`)
	for name, c := range map[string]struct {
		page responses.Page
		ids  string
		more bool
	}{
		"newest first":       {responses.Page{Limit: 2}, `["item_wp_1_2","mine"]`, true},
		"all, oldest first":  {responses.Page{Limit: 9, Ascending: true}, `["item_wp_1_0","mine","item_wp_1_2"]`, false},
		"behind one of them": {responses.Page{Limit: 9, Ascending: true, After: "mine"}, `["item_wp_1_2"]`, false},
		"behind the last":    {responses.Page{Limit: 9, After: "item_wp_1_0"}, `[]`, false},
	} {
		list := gjson.ParseBytes(responses.AppendInputItems(nil, "resp_wp_1", nil, own, func(string) []byte { return nil }, c.page))
		if got := list.Get("data.#.id").Raw; got != c.ids || list.Get("has_more").Bool() != c.more {
			t.Errorf("%s: %s", name, list)
		}
		if ids := list.Get("data.#.id").Array(); len(ids) > 0 && (list.Get("first_id").Str != ids[0].Str || list.Get("last_id").Str != ids[len(ids)-1].Str) {
			t.Errorf("%s: %s", name, list)
		}
	}
}
