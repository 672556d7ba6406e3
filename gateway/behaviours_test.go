package gateway_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"warmpath/fixtures/provider"
)

// What agents change, in few words.

func server(name string) func(*rover) {
	return func(r *rover) {
		r.tools = append(slices.Clone(r.tools), r.tool("mcp__"+name+"__one"), r.tool("mcp__"+name+"__two"))
	}
}

// serverInFront sorts the tools of a server to the front.
func serverInFront(name string) func(*rover) {
	return func(r *rover) {
		r.tools = append([]object{r.tool(name + "_one"), r.tool(name + "_two")}, r.tools...)
	}
}

func without(names ...string) func(*rover) {
	return func(r *rover) {
		r.drop(func(t object) bool { name, _ := t["name"].(string); return slices.Contains(names, name) })
	}
}

// line changes words of the last section of the prompt.
func line(old, new string) func(*rover) {
	return func(r *rover) {
		sections := slices.Clone(r.system.([]any))
		last := len(sections) - 1
		sections[last] = textBlock(strings.Replace(sections[last].(object)["text"].(string), old, new, 1))
		r.system = sections
	}
}

func onModel(model string) func(*rover) { return func(r *rover) { r.model = model } }

func hears(text string) func(*rover) {
	return func(r *rover) { r.tail = append(r.tail, object{"role": "system", "content": text}) }
}

func more(name string, value any) func(*rover) {
	return func(r *rover) { r.more = maps.Clone(r.more); r.more[name] = value }
}

func all(moves ...func(*rover)) func(*rover) {
	return func(r *rover) {
		for _, does := range moves {
			does(r)
		}
	}
}

// deferred are tools that are not read before they are asked for.
func (r *rover) deferred(names ...string) (tools []object) {
	for _, name := range names {
		tools = append(tools, object{"name": name, "description": name, "input_schema": object{"type": "object"}, "defer_loading": true})
	}
	return tools
}

// first replaces the content of the first message.
func (r *rover) first(change func(content []any) []any) {
	r.history = slices.Clone(r.history)
	r.history[0] = object{"role": "user", "content": change(slices.Clone(r.history[0]["content"].([]any)))}
}

// results replaces what tools said in the history.
func (r *rover) results(change func(i int, text string) string) {
	r.history = slices.Clone(r.history)
	n := 0
	for i, m := range r.history {
		blocks, _ := m["content"].([]any)
		if m["role"] != "user" || len(blocks) == 0 || blocks[0].(object)["type"] != "tool_result" {
			continue
		}
		result := maps.Clone(blocks[0].(object))
		result["content"] = []any{textBlock(change(n, result["content"].([]any)[0].(object)["text"].(string)))}
		r.history[i] = object{"role": "user", "content": append([]any{result}, blocks[1:]...)}
		n++
	}
}

func (r *rover) dropReminders() {
	r.results(func(_ int, text string) string { return strings.TrimSuffix(text, "\n"+reminder) })
}

const reminder = "<system-reminder>\nMind the todo list.\n</system-reminder>"

// side is a small request without tools.
func side(system string) func(*rover) object {
	return func(r *rover) object {
		return object{"model": r.model, "max_tokens": 100, "system": []any{textBlock(system)}, "messages": []object{{"role": "user", "content": "Turn this into a title. DO[say A title]"}}}
	}
}

// version is the line by which a coding agent says what it is, which the
// provider takes out.
func version(suffix string) object {
	return textBlock("x-anthropic-billing-header: cc_version=2.1." + suffix + ";")
}

// asItCame checks that tools, prompt and history are the client's own.
func asItCame(t *testing.T, client object, record *provider.Record) {
	t.Helper()
	var upstream object
	if err := json.Unmarshal([]byte(record.Body), &upstream); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(client)
	var own object
	_ = json.Unmarshal(text, &own)
	for _, name := range []string{"tools", "system", "messages"} {
		unmark(own[name])
		if unmark(upstream[name]); !reflect.DeepEqual(own[name], upstream[name]) {
			t.Errorf("%s is not what the client sent", name)
		}
	}
}

// holds checks that the provider got some text.
func holds(text string) func(*testing.T, object, *provider.Record) {
	return func(t *testing.T, _ object, record *provider.Record) {
		t.Helper()
		if !strings.Contains(record.Body, text) {
			t.Errorf("the provider did not get %s", text)
		}
	}
}

var claude = map[string]behaviour{
	"FB-01 a block becomes a string when its mark moves on": {
		agent: func(r *rover) { r.strings = true },
		moves: []move{{}, {does: server("a"), said: "+mcp__a__one +mcp__a__two"}},
	},
	"FB-02 loads deferred tools in the middle of the list": {
		agent: func(r *rover) { r.tools = append(r.tools, r.deferred("DeferredToolPlaceholder")...) },
		moves: []move{{does: func(r *rover) {
			r.tools = slices.Concat(r.tools[:2], r.deferred("WebFetch"), r.tools[2:4], r.deferred("mcp__a__one", "DeferredToolPlaceholder"))
		}}},
	},
	"FB-03 deferred tools change places when a server is gone": {
		agent: func(r *rover) {
			r.tools = append(r.tools, r.deferred("mcp__a__one", "WebFetch", "DeferredToolPlaceholder")...)
		},
		moves: []move{{does: func(r *rover) {
			r.tools = slices.Concat(r.tools[:4], r.deferred("DeferredToolPlaceholder", "WebFetch"))
		}}},
	},
	"FB-04 says itself that a server has come": {
		newer: true,
		moves: []move{
			{does: hears("A server named a is connected."), sent: holds("A server named a is connected.")},
			{does: hears("The server named a is gone."), sent: asItCame},
		},
	},
	"FB-05 adds the tools of a server": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{does: server("b"), said: "+mcp__b__one +mcp__b__two"},
		{does: without("mcp__a__one", "mcp__a__two", "mcp__b__one", "mcp__b__two"), said: "-mcp__a__one -mcp__a__two -mcp__b__one -mcp__b__two"},
	}},
	"FB-06 adds them without any beta": {moves: []move{{
		does: server("a"), said: "+mcp__a__one +mcp__a__two",
		sent: func(t *testing.T, _ object, record *provider.Record) {
			if !slices.Contains(betasOf(record), "inline-tools-2026-09-15") {
				t.Errorf("the betas are %q", betasOf(record))
			}
		},
	}}},
	"FB-07 resumes without two tools of the middle": {moves: []move{{does: without("Edit", "Read"), said: "-Edit -Read"}}},
	"FB-08 switches to a model of its line, without the thinking": {
		model: "claude-sonnet-4-5", forgets: true,
		agent: more("thinking", object{"type": "enabled", "budget_tokens": 1024}),
		moves: []move{{does: all(onModel("claude-opus-4-5"), (*rover).forget), epoch: "fresh", sent: asItCame}},
	},
	"FB-09 switches to a newer model, with its reminders elsewhere": {
		model: "claude-sonnet-4-5",
		agent: func(r *rover) { r.history = []object{{"role": "user", "content": []any{textBlock(reminder)}}} },
		moves: []move{{epoch: "fresh", sent: asItCame, does: func(r *rover) {
			r.model, r.thinking = "claude-opus-5-5", object{"type": "adaptive"}
			r.history = slices.Insert(slices.Clone(r.history[1:]), 1, object{"role": "system", "content": reminder})
		}}},
	},
	"FB-10 switches the model and back": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{does: onModel("claude-opus-5"), epoch: "fresh", sent: asItCame},
		// What was said on the first model is still there.
		{does: onModel("claude-opus-5-5"), said: "+mcp__a__one +mcp__a__two"},
	}},
	"FB-11 changes the effort by a message": {
		newer: true,
		agent: func(r *rover) { r.betas = []string{"mid-conversation-output-config-2026-07-01"} },
		moves: []move{{sent: holds(`"output_config":{"effort":"low"}`), does: func(r *rover) {
			more("output_config", object{"effort": "low"})(r)
			r.tail = append(r.tail, object{"role": "system", "content": []any{}, "output_config": object{"effort": "low"}})
		}}},
	},
	"FB-12 enters and leaves a mode": {
		newer: true,
		agent: func(r *rover) { r.betas = []string{"claude-code-20250219"} },
		moves: []move{
			{does: all(hears("Plan mode is on."), more("safeguards", object{"plan": true})), sent: holds(`"safeguards":{"plan":true}`)},
			{does: func(r *rover) { delete(r.more, "safeguards"); hears("Plan mode is off.")(r) }, sent: asItCame},
		},
	},
	"FB-13 resumes on another day": {newer: true, moves: []move{{does: hears("Today is Tuesday."), sent: asItCame}}},
	"FB-14 a memory file beside the next words": {moves: []move{{does: func(r *rover) {
		r.history = append(slices.Clip(r.history), object{"role": "user", "content": []any{textBlock("<system-reminder>\nCLAUDE.md: Be brief.\n</system-reminder>")}})
	}}}},
	"FB-14 and beside the first words, for once": {
		agent: func(r *rover) {
			r.history = []object{{"role": "user", "content": []any{textBlock("Hello."), textBlock(reminder)}}}
		},
		moves: []move{
			{said: "[reminders -1]", does: func(r *rover) { r.first(func(content []any) []any { return content[:1] }) }},
			{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		},
	},
	"FB-15 asks for a summary of all": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{warm: true, side: func(r *rover) object {
			body := r.body()
			messages := slices.Clone(body["messages"].([]object))
			body["messages"] = append(messages, object{"role": "user", "content": []any{textBlock("Summarize all of it. DO[say A summary.]")}})
			return body
		}},
	}},
	"FB-16 goes on from a summary": {
		agent: func(r *rover) { r.system = append([]any{version("1")}, r.system.([]any)...) },
		moves: []move{{epoch: "fresh", sent: asItCame, does: func(r *rover) {
			r.history = nil
			r.system = append([]any{version("2")}, r.system.([]any)[1:]...)
			hearsFirst(r, "This session continues another one. Summary: all is well.")
		}}},
	},
	"FB-17 starts another session with another version line": {
		agent: func(r *rover) { r.system = append([]any{version("1")}, r.system.([]any)...) },
		moves: []move{
			{epoch: "fresh", sent: asItCame, does: func(r *rover) {
				r.history = nil
				r.system = append([]any{version("2")}, r.system.([]any)[1:]...)
			}},
		},
	},
	"FB-18 resumes with a prompt that stays": {moves: []move{{sent: asItCame}, {sent: asItCame}}},
	"FB-19 sends other betas with each request": {
		agent: func(r *rover) { r.betas = []string{"claude-code-20250219", "context-management-2025-06-27"} },
		moves: []move{
			{does: func(r *rover) { r.betas = []string{"claude-code-20250219"} }},
			{does: all(server("a"), func(r *rover) { r.betas = nil }), said: "+mcp__a__one +mcp__a__two"},
			{does: func(r *rover) {
				r.betas = []string{"context-management-2025-06-27", "fine-grained-tool-streaming-2025-05-14"}
			}},
		},
	},
	"FB-20 starts an agent of its own": {
		agent: func(r *rover) { r.headers = [][2]string{{"x-claude-code-session-id", "session"}} },
		moves: []move{{side: func(r *rover) object {
			r.headers = append(slices.Clip(r.headers), [2]string{"x-claude-code-agent-id", "agent"})
			body := side("You are an agent that looks for files.")(r)
			body["tools"] = []object{r.tool("Glob")}
			return body
		}, does: func(r *rover) { r.headers = r.headers[:1] }}},
	},
	"FB-22 resumes with a server, and reminders in results are gone": {
		agent: func(r *rover) { r.result = "done\n" + reminder },
		moves: []move{
			{does: all(server("a"), line("main", "other"), (*rover).dropReminders),
				said: "[Branch: main. -> Branch: other.] +mcp__a__one +mcp__a__two"},
			{does: (*rover).dropReminders},
		},
	},
	"FB-22 resumes, and reminders are gone and come back": {
		agent: func(r *rover) { r.again.reminds = true },
		moves: []move{
			{does: func(r *rover) { r.again.forgets = true }, said: "[reminders -1 -3 -4 -6]"},
			{does: func(r *rover) { r.again.reminds = false }, said: "[reminders -7 -9]"},
			// They are back when it resumes once more.
			{does: func(r *rover) { r.again.forgets = false }, said: "[reminders +1 +3 +4 +6 +7 +9]"},
		},
	},
	"FB-23 puts a memory file before everything": {moves: []move{
		// What stands before the first message cannot be said behind it.
		{rewrites: true, epoch: "fresh", sent: asItCame, does: func(r *rover) {
			r.first(func(content []any) []any { return append([]any{textBlock("CLAUDE.md: Be brief.")}, content...) })
			line("Branch: main.", "Branch: main, CLAUDE.md is new.")(r)
		}},
		{},
	}},
	"FB-22 adds a reminder to what it has sent": {moves: []move{
		{},
		{rewrites: true, epoch: "history_rewritten", does: func(r *rover) {
			r.results(func(i int, text string) string { return text + map[bool]string{true: "\n" + reminder}[i == 1] })
		}},
		{},
	}},
	"FB-24 clears large results": {moves: []move{
		{},
		{rewrites: true, epoch: "history_rewritten", does: func(r *rover) {
			r.results(func(i int, text string) string {
				if i == 0 {
					return "[cleared]"
				}
				return text
			})
		}},
		{},
	}},
	"FB-25 sends small requests at the side": {moves: []move{
		{side: side("Is this a new topic?")}, {side: side("You make titles.")}, {side: side("You guess what comes next.")},
	}},
	"FB-26 switches the model, which prompt and tools name": {moves: []move{{
		does: all(onModel("claude-opus-5"), line("Model: one.", "Model: two."), func(r *rover) { r.tools[0] = r.tool("Bash") }), epoch: "fresh", sent: asItCame,
	}}},
}

// hearsFirst begins a history with the user's words.
func hearsFirst(r *rover, text string) {
	r.history = append(r.history, object{"role": "user", "content": []any{textBlock(text)}})
}

var others = map[string]behaviour{
	"FB-21 agent-sdk turns thinking off": {
		model: "claude-sonnet-4-5", forgets: true,
		agent: func(r *rover) {
			r.thinking = object{"type": "enabled", "budget_tokens": 1024}
			r.betas = []string{"context-management-2025-06-27"}
			more("context_management", object{"edits": []any{object{"type": "clear_thinking_20251015", "keep": "all"}}})(r)
		},
		moves: []move{{rewrites: true, sent: asItCame, does: func(r *rover) {
			r.thinking, r.more = object{"type": "disabled"}, object{"temperature": 1}
		}}},
	},
	"FB-43 opencode has a memory file edited": {moves: []move{
		{does: line("Branch: main.", "Branch: main.\nAGENTS.md: Be brief."), said: "[+AGENTS.md: Be brief.]"},
		{does: line("Be brief.", "Be long."), said: "[AGENTS.md: Be brief. -> AGENTS.md: Be long.]"},
	}},
	"FB-44 opencode resumes on another day": {moves: []move{
		{does: line("Monday", "Tuesday"), said: "[Today is Monday. -> Today is Tuesday.]"},
		{does: line("Tuesday", "Wednesday"), said: "[Today is Tuesday. -> Today is Wednesday.]"},
	}},
	"FB-45 opencode sorts a server to the front and tells of it": {moves: []move{
		{does: all(serverInFront("a"), line("main.", "main.\nServer a: ask it.")), said: "[+Server a: ask it.] +a_one +a_two"},
		{does: all(without("a_one", "a_two"), line("\nServer a: ask it.", "")), said: "[-Server a: ask it.] -a_one -a_two"},
	}},
	"FB-46 opencode switches the model, which the prompt names": {moves: []move{
		{does: all(onModel("claude-opus-5"), line("one.", "two.")), epoch: "fresh", sent: asItCame},
		{does: all(onModel("claude-opus-5-5"), line("two.", "one."))},
	}},
	"FB-47 opencode asks for a title first": {
		agent: func(r *rover) { r.headers = [][2]string{{"x-session-id", "session"}} },
		moves: []move{{side: side("You make titles.")}},
	},
	"FB-48 opencode and pi change the effort": {
		model: "claude-opus-5-5",
		moves: []move{
			{does: all(more("output_config", object{"effort": "high"}), more("max_tokens", 8000)), said: "effort=high"},
			{does: more("output_config", object{"effort": "low"}), said: "effort=low"},
		},
	},
	"FB-49 pi switches the model and makes thinking text": {moves: []move{{epoch: "fresh", sent: asItCame, does: func(r *rover) {
		r.model = "claude-opus-5"
		for i, m := range r.history {
			blocks, _ := m["content"].([]any)
			if m["role"] != "assistant" || len(blocks) == 0 || blocks[0].(object)["type"] != "thinking" {
				continue
			}
			r.history[i] = object{"role": "assistant", "content": append([]any{textBlock("I thought about it.")}, blocks[1:]...)}
		}
	}}}},
	"FB-50 pi resumes on another day, with a memory file before the date": {moves: []move{
		{does: all(line("Today is Monday.", "AGENTS.md: Be brief.\nToday is Monday."), line("Monday", "Tuesday")), said: "[Today is Monday. -> AGENTS.md: Be brief.\nToday is Tuesday.]"},
	}},
	"FB-51 pi resumes with fewer tools, which the prompt lists": {
		agent: line("main.", "main.\nTools: Bash, Edit, Read, Write."),
		moves: []move{{does: all(without("Edit", "Write"), line("Edit, Read, Write", "Read")), said: "[Tools: Bash, Edit, Read, Write. -> Tools: Bash, Read.] -Edit -Write"}},
	},
	"FB-52 pi switches the provider and comes back": {moves: []move{
		{does: server("a"), said: "+mcp__a__one +mcp__a__two"},
		{does: func(r *rover) {
			// A turn that another provider answered.
			hearsFirst(r, "Turn elsewhere.")
			r.history = append(r.history, object{"role": "assistant", "content": []any{textBlock("Answered elsewhere.")}})
		}},
	}},
	"FB-53 cline's only mark never moves": {
		agent: func(r *rover) { r.marks = "first" },
		moves: []move{{}, {}, {sent: holds(`"cache_control":{"type":"ephemeral"}`)}, {}},
	},
	"FB-54 an agent that writes calls in another order": {
		agent: func(r *rover) { r.again.respells, r.input = true, `{"b":[1.0,{"d":1,"c":2}],"a":"<é>"}` },
		moves: []move{{sent: holds(`{"b":[1.0,{"d":1,"c":2}],"a":"<é>"}`)}, {}, {sent: holds(`{"b":[1.0,{"d":1,"c":2}],"a":"<é>"}`)}},
	},
	"FB-56 langchain asks for automatic marks": {
		agent: func(r *rover) { r.marks = "automatic" },
		moves: []move{
			{sent: holds(`"cache_control":{"type":"ephemeral"}`)},
			{does: server("a"), said: "+mcp__a__one +mcp__a__two", sent: func(t *testing.T, _ object, record *provider.Record) {
				if n := strings.Count(record.Body, `"cache_control"`); n != 1 {
					t.Errorf("%d marks, want the client's only", n)
				}
			}},
		},
	},
}

// TestBehaviours plays what agents were seen to do on the Messages API, by the
// numbers of the list of them.
func TestBehaviours(t *testing.T) {
	t.Parallel()
	for _, behaviours := range []map[string]behaviour{claude, others} {
		for name, b := range behaviours {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b.play(t, false)
			})
			if b.model == "" && !b.newer {
				t.Run(name+", on an older model", func(t *testing.T) {
					t.Parallel()
					b.play(t, true)
				})
			}
		}
	}
}
