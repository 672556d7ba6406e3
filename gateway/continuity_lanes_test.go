package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warmpath/fixtures/provider"
	"warmpath/gateway/config"
)

// TestLanes plays what one session of an agent sends beside its main loop, over
// the same history: none of it may get the main loop's words or move it, but the
// compaction, which is the main loop in all but its tools, goes out behind the
// whole of its prefix.
func TestLanes(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"claude-opus-5-5", "claude-opus-5", "claude-opus-4-8"} {
		t.Run(model, func(t *testing.T) {
			core, origin := simulated(t)
			nodes := twoNodes(t, origin)
			var history []any
			tools := []string{"main-one", "main-two"}
			system := []any{textBlock("main-prompt, day 1." + strings.Repeat("\nmain-rule.", 100))}
			request := func(tools []string, system any, messages []any) object {
				list := []any{}
				for _, name := range tools {
					list = append(list, object{"name": name, "description": name + strings.Repeat(".", 100), "input_schema": object{"type": "object"}})
				}
				body := object{"model": model, "max_tokens": 1000, "tools": list, "messages": messages, "cache_control": object{"type": "ephemeral"}}
				if system != nil {
					body["system"] = system
				}
				return body
			}
			play := func(who string, body object) (content []any, record *provider.Record) {
				raw, _ := ask(t, nodes[len(history)%2], who, "session", body)
				if err := json.Unmarshal(raw, &content); err != nil {
					t.Fatal(err)
				}
				return content, lastRecord(core)
			}
			var before, conversation string
			for turn := range 8 {
				switch turn {
				case 2:
					tools = append(tools, "main-three")
				case 4:
					system = []any{textBlock("main-prompt, day 2." + strings.Repeat("\nmain-rule.", 100))}
				case 6:
					tools = slices.Delete(tools, 0, 1)
				}
				history = append(history, object{"role": "user", "content": []any{textBlock(fmt.Sprintf("Turn %d. DO[think 10; call main-two {}]", turn))}})

				_, record := play("main", request(tools, system, history))
				if before != "" && !strings.HasPrefix(record.Seen.Prompt, before) {
					t.Fatalf("turn %d: the main loop's prefix breaks: ...%s", turn, clip(record.Seen.Prompt[len(record.Seen.Prompt)-300:]))
				}
				before = record.Seen.Prompt
				_, header := ask(t, nodes[0], "main", "session", request(tools, system, history)) // sent again
				if c := header.Get("Warmpath-Conversation"); conversation != "" && c != conversation {
					t.Fatalf("turn %d: the conversation was %s, now %s", turn, conversation, c)
				} else {
					conversation = c
				}
				content, _ := play("main", request(tools, system, history))

				// FB-25 titles, FB-20 sub-agents and suggestions, over the same history.
				for _, side := range []struct {
					tools  []string
					system any
				}{
					{nil, []any{textBlock("side-prompt: make a title of this.")}},
					{nil, nil},
					{[]string{"side-tool"}, []any{textBlock("side-prompt: you are an expert." + strings.Repeat("\nside-rule.", 100))}},
					{[]string{"side-tool"}, "side-prompt: you suggest what to do next."},
				} {
					_, record := play("side", request(side.tools, side.system, history))
					if strings.Contains(record.Body, "main-rule") || strings.Contains(record.Body, `"name":"main-one"`) {
						t.Fatalf("turn %d: words of the main loop in another role's request: %s", turn, record.Body)
					}
				}
				history = append(history, object{"role": "assistant", "content": content})
				results := []any{}
				for _, b := range content {
					if b := b.(object); b["type"] == "tool_use" {
						results = append(results, object{"type": "tool_result", "tool_use_id": b["id"], "content": "done"})
					}
				}
				if turn > 0 {
					// FB-15: the request that summarizes, without any tools.
					summary := append(slices.Clone(results), textBlock("Summarize all of it. DO[say a summary]"))
					_, record := play("compaction", request(nil, system, append(slices.Clone(history), object{"role": "user", "content": summary})))
					if !strings.HasPrefix(record.Seen.Prompt, before) {
						t.Fatalf("turn %d: the compaction does not read the main loop's prefix", turn)
					}
					if len(record.Seen.Tools) > 0 {
						t.Fatalf("turn %d: the compaction may call %v", turn, record.Seen.ToolNames())
					}
				}
				history = append(history, object{"role": "user", "content": results})
			}
			for _, record := range core.Log.All() {
				if who := header(&record, "x-who"); who != "side" && strings.Contains(record.Body, "side-") {
					t.Errorf("words of another role in a request of the %s: %s", who, record.Body)
				}
			}
		})
	}
}

// A prompt that has lost most of its words is another role's. It is not grafted
// onto what the conversation was before it had those words: what was said since
// would be gone from its history, and no epoch would tell.
func TestALaneIsNoOlderTurn(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	_, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet = true })
	rulesOf := func(name string, n int) object { return textBlock(name + strings.Repeat("\n"+name+" has a rule.", n)) }
	first, second, third := rulesOf("first", 20), rulesOf("second", 20), rulesOf("third", 40)
	var history []any
	turn := func(sections ...any) (conversation, edits string) {
		history = append(history, object{"role": "user", "content": fmt.Sprint("Turn ", len(history), ". DO[think 5; say fine]")})
		raw, header := ask(t, base, "main", "session", object{"model": "claude-opus-5", "max_tokens": 1000, "system": sections, "messages": history})
		history = append(history, object{"role": "assistant", "content": raw})
		return header.Get("Warmpath-Conversation") + " " + header.Get("Warmpath-Epoch"), header.Get("Warmpath-Edits")
	}
	turn(first, second)
	main, _ := turn(first, second)
	if now, edits := turn(first, second, third); now != main || edits != "2" {
		t.Fatalf("%s edits in %s", edits, now)
	}
	if now, _ := turn(first, second, third); now != main {
		t.Fatalf("went on as %s", now)
	}
	role, edits := turn(first)
	if body := lastRecord(core).Body; role == main || edits != "0" || strings.Contains(body, "second") {
		t.Errorf("%s edits as %s, which was %s: %s", edits, role, main, body)
	}
	if now, edits := turn(first); now != role || edits != "0" {
		t.Errorf("%s edits as %s, which was %s", edits, now, role)
	}
	if now, _ := turn(first, second, third); now != main || !strings.Contains(lastRecord(core).Body, "third has a rule") {
		t.Errorf("went on as %s, which was %s", now, main)
	}
}

// An agent that goes on in many ways from one history, all of which hear the same
// words, goes on with each of them behind its own prefix.
func TestManyWaysFromOneHistory(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	_, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet = true })
	prompt := "A prompt." + strings.Repeat("\nA rule that stays.", 50)
	turn := func(system string, history []any, words string) (more []any, prompt string) {
		history = append(slices.Clone(history), object{"role": "user", "content": words})
		raw, _ := ask(t, base, "agent", "", object{"model": "claude-opus-5", "max_tokens": 1000, "system": system, "messages": history})
		return append(history, object{"role": "assistant", "content": raw}), lastRecord(core).Seen.Prompt
	}
	begun, _ := turn(prompt, nil, "Begin. DO[think 5; say fine]")
	begun, _ = turn(prompt, begun, "Go on. DO[say fine]")
	type way struct {
		system, prompt string
		history        []any
	}
	var ways []way
	for i := range 24 {
		w := way{system: fmt.Sprint(prompt, "\nWay ", i, ".")}
		w.history, w.prompt = turn(w.system, begun, "Try it. DO[say the same]")
		ways = append(ways, w)
	}
	for i, w := range ways {
		if _, now := turn(w.system, w.history, "And on. DO[say fine]"); !strings.HasPrefix(now, w.prompt) {
			t.Errorf("way %d: ...%s\ndoes not go on from\n...%s", i, clip(now[len(now)-300:]), clip(w.prompt[len(w.prompt)-300:]))
		}
	}
}
