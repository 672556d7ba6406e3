package gateway_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/cache"
	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

// numbered are cases that show in whole sessions, by their numbers.
var numbered = map[string]behaviour{
	"DV-14 a parameter changes": {moves: []move{
		{does: all(more("stop_sequences", []any{"END"}), more("max_tokens", 500)), sent: asItCame},
		{does: more("metadata", object{"user_id": "u"}), sent: asItCame},
	}},
	"FL-05 no tool is left": {model: "claude-sonnet-4-5", moves: []move{
		{does: func(r *rover) { r.tools = nil }, epoch: "tools_changed", sent: func(t *testing.T, client object, record *provider.Record) {
			asItCame(t, client, record)
			for _, name := range []string{"tools", "tool_choice"} {
				if gjson.Get(record.Body, name).Exists() {
					t.Errorf("%s is there", name)
				}
			}
		}},
	}},
	"SB-05 drops its oldest turns": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{epoch: "fresh", sent: asItCame, rewrites: true, does: func(r *rover) {
			turns := 0
			for i, m := range r.history {
				blocks, _ := m["content"].([]any)
				if m["role"] == "user" && blocks[0].(object)["type"] == "text" {
					if turns++; turns == 2 {
						r.history = r.history[i:]
						return
					}
				}
			}
		}},
		{},
	}},
	"SB-05 changes its first words, and nothing is known of it any more": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{epoch: "fresh", sent: asItCame, rewrites: true, does: func(r *rover) {
			r.first(func([]any) []any { return []any{textBlock("Other words.")} })
		}},
		{},
	}},
	"SB-05 changes a result behind what was said": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{},
		{epoch: "history_rewritten", said: "+mcp__a__one +mcp__a__two", rewrites: true, does: func(r *rover) {
			r.results(func(i int, text string) string { return map[bool]string{true: "other", false: text}[i == 3] })
		}},
		{},
	}},
	"GT-07 switched to a model without the abilities": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{does: all(onModel("claude-sonnet-4-5"), (*rover).forget), epoch: "fresh", sent: asItCame},
		{does: server("b"), epoch: "tools_changed", sent: asItCame},
	}},
	"GT-07 and back, to what was said there": {moves: []move{
		{does: line("Monday", "Tuesday"), said: "[Today is Monday. -> Today is Tuesday.]"},
		{does: onModel("claude-sonnet-5"), epoch: "fresh", sent: asItCame},
		{does: onModel("claude-opus-5-5"), said: "[Today is Monday. -> Today is Tuesday.]"},
	}},
	"CB-05 marks move and change in number": {
		agent: func(r *rover) { r.marks = "four" },
		moves: []move{
			{does: func(r *rover) { r.marks = "hours" }}, {does: func(r *rover) { r.marks = "last" }},
			{does: func(r *rover) { r.marks = "automatic and three" }}, {does: func(r *rover) { r.marks = "" }},
		},
	},
	"PB-02 two servers list their tools anew": {
		agent: func(r *rover) {
			for i := range 6 {
				r.tools = append(r.tools, r.tool(fmt.Sprint("mcp__a__", i)), r.tool(fmt.Sprint("mcp__b__", i)))
			}
		},
		moves: []move{
			{does: func(r *rover) { slices.Reverse(r.tools) }},
			{does: func(r *rover) { r.tools = append(r.tools[3:], r.tools[:3]...) }},
		},
	},
	"PB-02 and one of them is too late for once": {
		agent: listed("late_one", "late_two"),
		moves: []move{
			{does: without("late_one", "late_two"), said: "-late_one -late_two"},
			{does: listed("late_one", "late_two"), said: "+late_one +late_two"},
		},
	},
	"PB-04 PB-05 reminders and steering stay where they stand": {newer: true, moves: []move{
		{does: hears("Mind the todo list.")},
		{does: all(hears("The user says: use tabs."), hears("Mind the todo list."))},
		{does: hears("A command in the background has ended.")},
	}},
	"PB-11 tools come and go": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{does: without("Edit", "mcp__a__one", "mcp__a__two"), said: "-Edit -mcp__a__one -mcp__a__two"},
	}},
}

// listed adds tools that are always the same.
func listed(names ...string) func(*rover) {
	return func(r *rover) {
		for _, name := range names {
			r.tools = append(slices.Clip(r.tools), object{"name": name, "input_schema": object{"type": "object"}})
		}
	}
}

func TestNumberedCases(t *testing.T) {
	t.Parallel()
	for name, b := range numbered {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b.play(t, false)
		})
	}
}

// A call is demanded of a tool that is withheld: the provider says what is wrong
// with that, and nothing is remembered of it.
func TestWithheldToolIsDemanded(t *testing.T) {
	t.Parallel()
	t.Run("FL-07 a demand for a tool that is withheld", func(t *testing.T) {
		core, origin := simulated(t)
		_, base, _ := startWith(t, origin, gateway.Options{}, func(cfg *config.Config) { cfg.Quiet = true })
		r := roverLike("claude-opus-5", "key", base)
		p := &taped{t: t, core: core, rover: r, lax: true, prompts: map[string]string{}}
		p.turn1(t)
		without("Edit")(r)
		r.more["tool_choice"] = object{"type": "tool", "name": "Edit"}
		r.begin()
		status, _, message := r.post(t, "/v1/messages", r.body())
		if status != 400 || !strings.Contains(message, "Edit") {
			t.Errorf("status %d: %s", status, message)
		}
		record := lastRecord(core)
		if strings.Contains(record.Body, `"role":"system"`) || strings.Contains(gjson.Get(record.Body, "tools").Raw, `"Edit"`) {
			t.Errorf("the provider got %s", short(record.Body))
		}
		delete(r.more, "tool_choice")
		if status, _, message = r.post(t, "/v1/messages", r.body()); status != 200 {
			t.Fatalf("status %d: %s", status, message)
		}
		if own := ownMessages(t, r.body(), lastRecord(core).Body); !slices.Equal(own, []string{"-Edit"}) {
			t.Errorf("the model is told %q", own)
		}
	})
}

// turn1 plays a turn of which nothing is wanted but that it succeeds.
func (p *taped) turn1(t *testing.T) {
	t.Helper()
	p.begin()
	for goesOn := true; goesOn; {
		status, content, message := p.post(t, "/v1/messages", p.body())
		if status != 200 {
			t.Fatalf("status %d: %s", status, message)
		}
		goesOn = p.hear(content)
	}
}

// The store is lost between two turns: the old places of what was said are not
// guessed.
func TestLostStore(t *testing.T) {
	t.Parallel()
	t.Run("SB-08 the store is lost", func(t *testing.T) {
		core, origin := simulated(t)
		var bases []string
		for range 2 {
			_, base, _ := startWith(t, origin, gateway.Options{}, func(cfg *config.Config) { cfg.Quiet = true })
			bases = append(bases, base)
		}
		r := roverLike("claude-opus-5-5", "key", bases[0])
		p := &taped{t: t, core: core, rover: r}
		p.turn1(t)
		server("a")(r)
		line("Monday", "Tuesday")(r)
		p.turn1(t)
		r.base = bases[1:]
		r.begin()
		if status, _, message := r.post(t, "/v1/messages", r.body()); status != 200 {
			t.Fatalf("status %d: %s", status, message)
		}
		asItCame(t, r.body(), lastRecord(core))
	})
}

// The same bytes go out the same way, whoever sends them and however often.
func TestOneBodyGoesOutOneWay(t *testing.T) {
	t.Parallel()
	t.Run("PB-01 SB-03 one body, many times", func(t *testing.T) {
		p := newPicky(t, func(string, string) string { return "" })
		store := shared{cache.NewMemory(64 << 20)}
		var bases []string
		for range 3 {
			_, base, _ := startWith(t, p.URL, gateway.Options{Store: store}, func(cfg *config.Config) { cfg.Quiet = true })
			bases = append(bases, base)
		}
		tools := func(from, n int) string {
			var out []string
			for i := from; i < n; i++ {
				out = append(out, fmt.Sprintf(`{"name":"tool%02d","description":"d","input_schema":{"type":"object","$defs":{"z":{"type":"string"},"a":{"enum":["b","a"]}},"properties":{"e":{"$ref":"#/$defs/z"},"d":{"type":"number"},"c":{"type":"array","items":{"$ref":"#/$defs/a"}},"b":{},"a":{}},"required":["e","a"]}}`, i))
			}
			return strings.Join(out, ",")
		}
		one := `{"model":"claude-opus-5","max_tokens":9,"tools":[` + tools(0, 12) + `],"messages":[{"role":"user","content":"hi"}]}`
		resp, answer := send(t, "POST", bases[0]+"/v1/messages", one)
		if resp.StatusCode != 200 || p.last(t).body != one {
			t.Fatalf("%d: the provider got %s", resp.StatusCode, p.last(t).body)
		}
		id := gjson.Get(answer, "content.1.id").String()
		two := `{"model":"claude-opus-5","max_tokens":9,"tools":[` + tools(3, 15) + `],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":` +
			gjson.Get(answer, "content").Raw + `},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"x"}]}]}`
		sums := map[[32]byte]int{}
		for i := range 50 {
			if resp, got := send(t, "POST", bases[i%len(bases)]+"/v1/messages", two); resp.StatusCode != 200 {
				t.Fatalf("%d: %s", resp.StatusCode, got)
			}
			sums[sha256.Sum256([]byte(p.last(t).body))]++
		}
		if len(sums) != 1 {
			t.Errorf("one body went out in %d ways", len(sums))
		}
		if body := p.last(t).body; !strings.Contains(body, "tool_addition") {
			t.Errorf("nothing was said: %s", body)
		}
	})
}

// An endpoint of which nothing is known gets what the client sent, whatever its
// models are called.
func TestUnknownEndpoint(t *testing.T) {
	t.Parallel()
	t.Run("PB-03 a system message in the middle", func(t *testing.T) {
		p := newPicky(t, func(string, string) string { return "" })
		_, base, _ := start(t, p.URL, nil)
		for _, model := range []string{"house-model", "claude-like-model", "my/claude-opus-5-5-tuned"} {
			const one = `{"role":"user","content":"hi"}`
			for _, messages := range []string{one, one + `,{"role":"assistant","content":[{"type":"text","text":"ok"}]},{"role":"user","content":"go on"},{"role":"system","content":"Mind it."}`} {
				body := `{"max_tokens":9,"messages":[` + messages + `],"model":"` + model + `","system":"s"}`
				if resp, got := send(t, "POST", base+"/v1/messages", body); resp.StatusCode != 200 {
					t.Fatalf("%d: %s", resp.StatusCode, got)
				}
				if got := p.last(t).body; got != body {
					t.Errorf("the provider got %s\nwant %s", got, body)
				}
			}
		}
	})
}

// What stands in a history goes out byte for byte, whatever is edited before and
// behind it.
func TestHistoryPasses(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string][]string{
		"PB-12 references to deferred tools": {
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":[{"type":"tool_reference","tool_name":"late"}]}]}`,
		},
		"PB-13 thinking without its text": {
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"x"}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"EqoBCkgIARABGAIiQL8x"},{"type":"text","text":"ok"}]}`,
			`{"role":"user","content":"go on"}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"EqoBCkgIARABGAIiQL8y"},{"type":"text","text":""}]}`,
			`{"role":"user","content":"and on"}`,
		},
		"PB-19 a hosted call beside one of the client's": {
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"x"}]}`,
			`{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://e.com","title":"t","encrypted_content":"EqgfCioIARgBIiQ3","page_age":null}]},{"type":"tool_use","id":"toolu_add","name":"add_numbers","input":{"b":2,"a":1}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_add","content":"3"}]}`,
		},
		"PB-20 hosted pairs that nobody knows": {
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"x"}]}`,
			`{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_9","name":"future_tool","input":{}},{"type":"future_tool_result","tool_use_id":"srvtoolu_9","content":{"type":"future","data":[1.0,2]}},{"type":"text","text":"so"}]}`,
			`{"role":"user","content":"go on"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPicky(t, func(string, string) string { return "" })
			_, base, _ := start(t, p.URL, nil)
			a := &pupil{t: t, base: base, model: "claude-opus-5", tools: "a b", system: "A prompt. With some more, and even more words.", opening: "hi", extra: `"tool_choice":{"type":"auto"},`}
			if status, got := a.ask(); status != 200 {
				t.Fatalf("%d %s", status, got)
			}
			id := gjson.Get(a.messages[2], "content.0.tool_use_id").String()
			a.messages = a.messages[:2]
			for _, m := range messages {
				a.messages = append(a.messages, strings.Replace(m, "%s", id, 1))
			}
			a.tools, a.system = "c a", "A prompt. With some more, and even other words."
			resp, got := send(t, "POST", base+"/v1/messages", a.body(), "Anthropic-Beta", "advanced-tool-use-2025-11-20")
			if resp.StatusCode != 200 {
				t.Fatalf("%d %s", resp.StatusCode, got)
			}
			last := p.last(t)
			for _, m := range a.messages {
				m = strings.Replace(m, `,"cache_control":{"type":"ephemeral"}`, "", 1)
				if !strings.Contains(last.body, m) {
					t.Errorf("the provider did not get %s\nbut %s", m, last.body)
				}
			}
			if !strings.Contains(last.body, "tool_addition") || !strings.Contains(last.body, "instructions-changed") {
				t.Errorf("nothing was said: %s", last.body)
			}
			if beta := last.header.Get("Anthropic-Beta"); !strings.HasPrefix(beta, "advanced-tool-use-2025-11-20,") {
				t.Errorf("the betas are %q", beta)
			}
		})
	}
}

// A request that counts tokens is planned as the one that it counts for, but
// begins nothing and is none of what was done.
func TestCountingTokensIsNotCounted(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	g, base, _ := startWith(t, origin, gateway.Options{}, func(cfg *config.Config) { cfg.Quiet = true })
	r := roverLike("claude-opus-5-5", "key", base)
	p := &taped{t: t, core: core, rover: r, admin: "http://" + g.AdminAddr()}
	p.turn1(t)
	p.newEpochs()
	server("a")(r)
	r.begin()
	body := r.body()
	delete(body, "max_tokens")
	delete(body, "stream")
	if status, _, message := r.post(t, "/v1/messages/count_tokens", body); status != 200 {
		t.Fatalf("status %d: %s", status, message)
	}
	if own := ownMessages(t, body, lastRecord(core).Body); !slices.Equal(own, []string{"+mcp__a__one +mcp__a__two"}) {
		t.Errorf("counted with %q", own)
	}
	other := object{"model": r.model, "messages": []object{{"role": "user", "content": "How long is this?"}}}
	if status, _, message := r.post(t, "/v1/messages/count_tokens", other); status != 200 {
		t.Fatalf("status %d: %s", status, message)
	}
	if began := p.newEpochs(); len(began) > 0 {
		t.Errorf("it begins %v", began)
	}
	if _, text := send(t, "GET", p.admin+"/metrics", ""); !strings.Contains(text, `warmpath_edits_total{kind="tool_addition"} 0`) {
		t.Error("what is only counted is counted as said")
	}
}
