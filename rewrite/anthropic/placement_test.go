package anthropic_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/legal"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// planned sends a request that begins a conversation, and a second one that has
// another tool and another prompt, and gives what the second one becomes.
func planned(t *testing.T, first, second []string) string {
	t.Helper()
	able := continuity.Abilities{Text: true, Reference: true, Define: true}
	body := func(tools, system string, messages []string) string {
		return `{"model":"claude-opus-5-5","max_tokens":9,"tools":[` + tools + `],"system":"` + system + `","messages":[` + strings.Join(messages, ",") + `]}`
	}
	const one, two = `{"name":"one","input_schema":{"type":"object"}}`, `{"name":"two","input_schema":{"type":"object"}}`
	before := body(one, "Be kind.", first)
	state := continuity.Begin("c", nil, continuity.Fresh, facts(t, before), able).Next
	now := body(one+","+two, "Be kind.\\nBe brief.", second)
	plan := continuity.Continue(state, facts(t, now), able, continuity.Reader{
		Now:  func(s rewrite.Span) string { return splice.Text([]byte(now[s.Start:s.End])) },
		Kept: func(continuity.Hash) (string, bool) { return "Be kind.", true },
		Render: func(d *continuity.Directive) []byte {
			return anthropic.Render(anthropic.Directive{Texts: d.Texts, Remove: d.Remove, Add: d.Add})
		},
	})
	edits := anthropic.Edits{Inserts: plan.Inserts, Text: []byte(`"Be kind."`)}
	if plan.Tools != nil {
		edits.Tools = texts(one, string(anthropic.AsDeferred([]byte(two))))[:len(plan.Tools)]
	}
	sent := apply(t, now, edits)
	for _, v := range legal.Check([]byte(sent), []string{"inline-tools-2026-09-15"}, "") {
		t.Errorf("illegal: %s", v)
	}
	return sent
}

// outline is the roles of a request's messages by their first letter, with what
// our own ones hold.
func outline(body string) string {
	var out strings.Builder
	gjson.Get(body, "messages").ForEach(func(_, m gjson.Result) bool {
		role := m.Get("role").String()
		if role != "system" || m.Get("content").Type == gjson.String {
			out.WriteString(role[:1])
			return true
		}
		var kinds []string
		for _, kind := range m.Get("content.#.type").Array() {
			kinds = append(kinds, kind.String())
		}
		out.WriteString("[" + strings.Join(kinds, " ") + "]")
		return true
	})
	return out.String()
}

// What a message holds decides what may stand behind it.
func TestPlacementByContent(t *testing.T) {
	const (
		twoCalls   = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"one","input":{}},{"type":"tool_use","id":"t2","name":"one","input":{}}]}`
		twoResults = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t2","content":"b"}]}`
		resultText = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t2","content":"b"},{"type":"text","text":"and"}]}`
		search     = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}`
		paused     = `{"role":"assistant","content":[` + search + `,{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}`
		mixed      = `{"role":"assistant","content":[` + search + `,{"type":"tool_use","id":"t1","name":"one","input":{}}]}`
		oneResult  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}`
		theirs     = `{"role":"system","content":"Plan mode is on."}`
	)
	for name, test := range map[string]struct {
		messages []string
		want     string
	}{
		"PL-05 behind all results of parallel calls":  {[]string{hi, twoCalls, twoResults}, "uau[text tool_addition]"},
		"PL-05 and behind words beside them":          {[]string{hi, twoCalls, resultText}, "uau[text tool_addition]"},
		"PL-07 text behind a hosted result":           {[]string{hi, paused}, "ua[text]"},
		"PL-08 behind the last message":               {[]string{hi, ok, bye}, "uau[text tool_addition]"},
		"PL-11 behind the agent's own":                {[]string{hi, ok, bye, theirs, theirs}, "uauss[text tool_addition]"},
		"PL-14 nothing behind results of mixed turns": {[]string{hi, mixed, oneResult}, "uau"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outline(planned(t, []string{hi}, test.messages)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
