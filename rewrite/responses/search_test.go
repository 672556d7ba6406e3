package responses_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

const (
	clientSearch = `{"type":"tool_search","execution":"client","description":"Finds tools.","parameters":{"type":"object"}}`
	searchCall   = `{"type":"tool_search_call","id":"tsc_1","call_id":"call_1","status":"completed","execution":"client","arguments":{"query": "x"}}`
	searchOutput = `{"type":"tool_search_output","id":"tso_1","call_id":"call_1","status":"completed","execution":"client",` +
		`"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f","defer_loading":true,"parameters":{}}]}]}`
)

// A client that looks for tools itself, as Codex does for those of its servers, is
// asked to by a call of a function where the provider speaks another dialect; what
// it has found is the result, and is offered from there on.
func TestSearchesOfTheClient(t *testing.T) {
	body := `{"model":"m","tools":[` + clientSearch + `],"input":[{"role":"user","content":"find x"},` + searchCall + `,` + searchOutput + `]}`
	c, err := responses.DecodeRequest([]byte(body), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range c.Items {
		item := &c.Items[i]
		text := ""
		for _, part := range item.Parts {
			text += part.Text
		}
		got = append(got, item.Kind.String()+" "+item.Call.ID+" "+item.Call.Name+string(item.Call.Arguments)+text)
	}
	want := []string{
		"message  find x", `call call_1 tool_search{"query": "x"}`, "result call_1 tool_searchFound, and offered from now on: n__f", "directive  ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"f"}, c.Items[3].Directive.Add); diff != "" {
		t.Error(diff)
	}
	if tool := c.Tools[0]; tool.Kind != rewrite.ToolFunction || tool.Name != "tool_search" || string(tool.Schema) != `{"type":"object"}` || c.Group("f") != "n" {
		t.Errorf("tools %+v", c.Tools)
	}
	again, err := responses.EncodeRequest(c, "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	if tool := gjson.GetBytes(again, "tools.0").Raw; tool != clientSearch {
		t.Errorf("a provider of this dialect gets %s", tool)
	}
	if items := gjson.GetBytes(again, "input").Array(); len(items) != 3 || items[1].Raw != searchCall || items[2].Raw != searchOutput {
		t.Errorf("a provider of this dialect gets %s", items)
	}
}

// The call comes to the client as one of its search.
func TestCallsOfTheClientsSearch(t *testing.T) {
	c, err := responses.DecodeRequest([]byte(`{"model":"m","tools":[`+clientSearch+`],"input":"x"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	reply := &rewrite.Reply{ID: "r", Stop: rewrite.Stop{Reason: rewrite.StopTools}, Items: []rewrite.Item{{
		Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: "call_1", Name: "tool_search", Arguments: rewrite.JSON(`{"query": "x"}`)},
	}}}
	o := responses.EncoderOptions{Request: c}
	want := `{"type":"tool_search_call","id":"tsc_wp_r_0","call_id":"call_1","status":"completed","execution":"client","arguments":{"query": "x"}}`
	if got := gjson.GetBytes(responses.EncodeReply(nil, reply, o), "output").Raw; got != "["+want+"]" {
		t.Errorf("got %s", got)
	}
	encoder := responses.NewEncoder(o)
	var stream []byte
	reply.Tell(func(e *rewrite.Event) { stream = encoder.Append(stream, e) })
	checkGrammar(t, string(stream))
}
