package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type object = map[string]any

// rover is an agent that does all that agents are seen to do. Two of one seed
// do the same, so that one can go straight to the provider and one through the
// gateway.
type rover struct {
	rng    *rand.Rand
	key    string
	base   []string
	model  string
	models []string // it switches among

	tools    []object
	system   any
	history  []object
	thinking object
	betas    []string
	headers  [][2]string
	marks    string
	more     object // members of the body
	servers  []object
	tail     []object // system messages of its own at the end
	turn     int
	made     int
	stream   bool
	strings  bool   // writes its texts as strings
	reply    string // the identifier of the newest
	result   string // what its tools say
	usage    usage
	again    rewriting
	input    string // of its calls, instead of {}
}

func newRover(seed uint64, key string, base ...string) *rover {
	r := &rover{rng: rand.New(rand.NewPCG(seed, 3)), key: key, base: base, more: object{}, result: "done"}
	r.models = [][]string{
		{"claude-opus-5-5"}, {"claude-sonnet-5-5"}, {"claude-opus-5"}, {"claude-opus-4-8"}, {"claude-haiku-5-5"},
		{"claude-fable-5-1"}, {"claude-sonnet-5"}, {"claude-sonnet-4-5"}, {"claude-opus-5-5", "claude-sonnet-5-5"},
		{"claude-opus-4-8", "claude-opus-5-5", "claude-sonnet-4-5"},
	}[seed%10]
	r.model = r.models[0]
	for _, name := range []string{"alpha", "beta", "gamma"} {
		r.tools = append(r.tools, r.tool(name))
	}
	r.system = []any{textBlock("You are careful.\nToday is 1." + strings.Repeat("\nA rule that stays.", 150)), textBlock("House rules:\n- test")}
	return r
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

func (r *rover) tool(name string) object {
	r.made++
	return object{"name": name, "description": fmt.Sprint("Version ", r.made, strings.Repeat(".", 200)), "input_schema": object{"type": "object", "properties": object{}}}
}

func (r *rover) has(name string) int {
	return slices.IndexFunc(r.tools, func(t object) bool { return t["name"] == name })
}

func (r *rover) drop(is func(object) bool) { r.tools = slices.DeleteFunc(slices.Clone(r.tools), is) }

// roves are what it does between two turns. Most are undone or done otherwise by
// a later one.
var roves = map[string]func(*rover){
	"does nothing": func(*rover) {},
	"adds a tool":  func(r *rover) { r.tools = append(slices.Clone(r.tools), r.tool(fmt.Sprint("tool", r.made))) },
	"inserts a tool": func(r *rover) {
		r.tools = slices.Insert(slices.Clone(r.tools), 0, r.tool(fmt.Sprint("tool", r.made)))
	},
	"drops a tool": func(r *rover) {
		if len(r.tools) > 1 {
			i := r.rng.IntN(len(r.tools))
			r.tools = slices.Delete(slices.Clone(r.tools), i, i+1)
		}
	},
	"drops all tools": func(r *rover) { r.tools = nil },
	"edits a tool": func(r *rover) {
		if i := r.has("beta"); i >= 0 {
			r.tools = slices.Clone(r.tools)
			r.tools[i] = r.tool("beta")
		}
	},
	"brings one back": func(r *rover) {
		if r.has("alpha") < 0 {
			r.tools = append(slices.Clone(r.tools), r.tool("alpha"))
		}
	},
	"FB-02 defers tools": func(r *rover) {
		deferred := r.tool(fmt.Sprint("late", r.made))
		deferred["defer_loading"] = true
		r.tools = slices.Insert(slices.Clone(r.tools), len(r.tools)/2, deferred)
	},
	"FB-03 drops deferred tools": func(r *rover) { r.drop(func(t object) bool { return t["defer_loading"] == true }) },
	"edits deferred tools": func(r *rover) {
		r.tools = slices.Clone(r.tools)
		for i, t := range r.tools {
			if t["defer_loading"] == true {
				r.tools[i] = r.tool(t["name"].(string))
				r.tools[i]["defer_loading"] = true
			}
		}
	},
	"loads deferred tools": func(r *rover) {
		r.tools = slices.Clone(r.tools)
		for i, t := range r.tools {
			if t["defer_loading"] == true {
				r.tools[i] = maps.Clone(t)
				delete(r.tools[i], "defer_loading")
			}
		}
	},
	"searches by the provider's search": func(r *rover) {
		if r.has("tool_search_tool_bm25") < 0 {
			r.tools = append([]object{{"type": "tool_search_tool_bm25", "name": "tool_search_tool_bm25"}}, r.tools...)
		}
	},
	"searches the web": func(r *rover) {
		if i := r.has("web_search"); i >= 0 {
			r.drop(func(t object) bool { return t["name"] == "web_search" })
			return
		}
		r.tools = append(slices.Clone(r.tools), object{"type": "web_search_20250305", "name": "web_search", "max_uses": 3})
	},
	"upgrades its web search": func(r *rover) {
		if i := r.has("web_search"); i >= 0 {
			r.tools = slices.Clone(r.tools)
			r.tools[i] = object{"type": "web_search_20260318", "name": "web_search", "max_uses": 3}
		}
	},
	"uses a shell": func(r *rover) {
		if i := r.has("bash"); i >= 0 {
			r.drop(func(t object) bool { return t["name"] == "bash" })
			return
		}
		r.tools = append(slices.Clone(r.tools), object{"type": "bash_20250124", "name": "bash"})
	},
	"adds or removes a server": func(r *rover) {
		r.betas = union(r.betas, "mcp-client-2025-11-20")
		if len(r.servers) > 0 {
			r.servers = nil
			r.drop(func(t object) bool { return t["type"] == "mcp_toolset" })
			return
		}
		r.servers = []object{{"type": "url", "url": "https://example.com/mcp", "name": "alpha"}}
		r.tools = append(slices.Clone(r.tools), object{"type": "mcp_toolset", "mcp_server_name": "alpha"})
	},
	"lists a tool twice": func(r *rover) {
		if len(r.tools) > 0 {
			r.tools = append(slices.Clone(r.tools), r.tools[0])
		}
	},
	"lists no tool twice": func(r *rover) {
		seen := map[any]bool{}
		r.drop(func(t object) bool {
			again := seen[t["name"]] && t["name"] != nil
			seen[t["name"]] = true
			return again
		})
	},
	"PB-12 has many tools": func(r *rover) {
		for range 60 {
			r.tools = append(slices.Clip(r.tools), r.tool(fmt.Sprint("tool", r.made)))
		}
	},
	"another day": func(r *rover) {
		blocks, ok := r.system.([]any)
		if !ok {
			return
		}
		blocks = slices.Clone(blocks)
		blocks[0] = textBlock(fmt.Sprint("You are careful.\nToday is ", r.turn, ".", strings.Repeat("\nA rule that stays.", 150)))
		r.system = blocks
	},
	"adds a section": func(r *rover) {
		if blocks, ok := r.system.([]any); ok {
			r.system = append(slices.Clone(blocks), textBlock(fmt.Sprintf("Mode %d is on.", r.turn)))
		}
	},
	"drops a section": func(r *rover) {
		if blocks, ok := r.system.([]any); ok && len(blocks) > 1 {
			r.system = slices.Clone(blocks[:len(blocks)-1])
		}
	},
	"writes its prompt as a string": func(r *rover) {
		if blocks, ok := r.system.([]any); ok {
			r.system = blocks[0].(object)["text"]
		}
	},
	"writes its prompt as blocks": func(r *rover) {
		if text, ok := r.system.(string); ok {
			r.system = []any{textBlock(text)}
		}
	},
	"has another prompt": func(r *rover) { r.system = []any{textBlock(fmt.Sprintf("You make titles, %d.", r.turn))} },
	"has no prompt":      func(r *rover) { r.system = nil },
	"has a prompt again": func(r *rover) {
		r.system = []any{textBlock("You are careful.\nToday is 1." + strings.Repeat("\nA rule that stays.", 150))}
	},
	"FB-01 writes strings":  func(r *rover) { r.strings = !r.strings },
	"streams":               func(r *rover) { r.stream = !r.stream },
	"marks nothing":         func(r *rover) { r.marks = "" },
	"marks the last":        func(r *rover) { r.marks = "last" },
	"CB-01 marks four":      func(r *rover) { r.marks = "four" },
	"CB-04 marks for hours": func(r *rover) { r.marks = "hours" },
	"FB-53 marks the first": func(r *rover) { r.marks = "first" },
	"FB-56 marks at large":  func(r *rover) { r.marks = "automatic" },
	"marks by all means":    func(r *rover) { r.marks = "automatic and three" },
	"CB-03 marks a tool":    func(r *rover) { r.marks = "tool" },
	"FB-11 by message": func(r *rover) {
		if r.model == "claude-opus-5-5" || r.model == "claude-opus-5" {
			r.betas = union(r.betas, "mid-conversation-output-config-2026-07-01")
			r.tail = append(r.tail, object{"role": "system", "content": []any{}, "output_config": object{"effort": "low"}})
		}
	},
	"FB-04 says it itself": func(r *rover) {
		if r.mid() {
			r.tail = append(r.tail, object{"role": "system", "content": "The repository is read-only, " + fmt.Sprint(r.turn)})
		}
	},
	"says it for a turn": func(r *rover) {
		if r.mid() {
			r.betas = union(r.betas, "mid-conversation-system-clear-at-2026-08-21")
			r.tail = append(r.tail, object{"role": "system", "content": []any{textBlock("Hurry.")}, "clear_at": "next_user_message"})
		}
	},
	"FB-48 changes the effort": func(r *rover) {
		r.more["output_config"] = object{"effort": []string{"low", "medium", "high"}[r.rng.IntN(3)]}
	},
	"thinks by default":       func(r *rover) { r.thinking = nil },
	"FB-21 thinks adaptively": func(r *rover) { r.thinking = object{"type": "adaptive"} },
	"thinks aloud":            func(r *rover) { r.thinking = object{"type": "adaptive", "display": "summarized"} },
	"thinks silently":         func(r *rover) { r.thinking = object{"type": "adaptive", "display": "omitted"} },
	"thinks in updates": func(r *rover) {
		r.betas = union(r.betas, "thinking-display-updates-2026-08-18")
		r.thinking = object{"type": "adaptive", "display": "updates"}
	},
	"thinks between tools":         func(r *rover) { r.thinking = object{"type": "between_tools"} },
	"does not think":               func(r *rover) { r.thinking = object{"type": "disabled"} },
	"thinks by a budget":           func(r *rover) { r.thinking = object{"type": "enabled", "budget_tokens": 1024} },
	"wants errors for its edits":   func(r *rover) { r.binding("error") },
	"wants thinking to be dropped": func(r *rover) { r.binding("drop_block") },
	"demands a call":               func(r *rover) { r.more["tool_choice"] = object{"type": "any"} },
	"FL-07 demands alpha":          func(r *rover) { r.more["tool_choice"] = object{"type": "tool", "name": "alpha"} },
	"FL-05 wants no call":          func(r *rover) { r.more["tool_choice"] = object{"type": "none"} },
	"leaves it to the model":       func(r *rover) { delete(r.more, "tool_choice") },
	"DV-14 changes a parameter":    func(r *rover) { r.more["stop_sequences"] = []any{fmt.Sprint("stop", r.turn)} },
	"FB-12 sends what nobody knows": func(r *rover) {
		r.betas = union(r.betas, "claude-code-20250219")
		r.more["safeguards"] = object{"a": r.turn}
	},
	"FB-10 switches the model": func(r *rover) { r.model = r.models[r.rng.IntN(len(r.models))] },
	"SB-05 clears a result": func(r *rover) {
		for i, m := range r.history[:max(0, len(r.history)-2)] {
			blocks, ok := m["content"].([]any)
			if !ok || m["role"] != "user" {
				continue
			}
			if result, ok := blocks[0].(object); ok && result["type"] == "tool_result" && result["content"] != "cleared" {
				r.history = slices.Clone(r.history)
				r.history[i] = object{"role": "user", "content": append([]any{object{"type": "tool_result", "tool_use_id": result["tool_use_id"], "content": "cleared"}}, blocks[1:]...)}
				return
			}
		}
	},
	"FB-16 compacts": func(r *rover) { r.history = []object{{"role": "user", "content": fmt.Sprint("Summary of ", r.turn)}} },
	"rewinds": func(r *rover) {
		for i := len(r.history) - 2; i > 0; i-- {
			blocks, ok := r.history[i]["content"].([]any)
			if r.history[i]["role"] == "user" && (!ok || blocks[0].(object)["type"] == "text") {
				r.history = slices.Clone(r.history[:i])
				return
			}
		}
	},
	"shows an image": func(r *rover) {
		r.history = append(r.history, object{"role": "user", "content": []any{
			object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}, textBlock("look"),
		}})
	},
	"shows a document": func(r *rover) {
		r.history = append(r.history, object{"role": "user", "content": []any{
			object{"type": "document", "source": object{"type": "text", "media_type": "text/plain", "data": "a text"}, "citations": object{"enabled": true}}, textBlock("read"),
		}})
	},
	"FB-22 resumes": func(r *rover) {
		// All of its history is written anew.
		var again []object
		text, _ := json.Marshal(r.history)
		_ = json.Unmarshal(text, &again)
		r.history = again
	},
}

func union(set []string, value string) []string {
	if slices.Contains(set, value) {
		return set
	}
	return append(slices.Clone(set), value)
}

// mid reports a model that takes system messages.
func (r *rover) mid() bool { return r.model != "claude-sonnet-5" && r.model != "claude-sonnet-4-5" }

func (r *rover) binding(behavior string) {
	r.betas = union(r.betas, "thinking-binding-controls-2026-08-01")
	r.thinking = object{"type": "adaptive", "block_binding": object{"prefix_mismatch_behavior": behavior}}
}

// body writes the request.
func (r *rover) body() object {
	body := object{"model": r.model, "max_tokens": 4000, "stream": r.stream}
	maps.Copy(body, r.more)
	if r.tools != nil {
		body["tools"] = r.tools
	}
	if r.system != nil {
		body["system"] = r.system
	}
	if r.thinking != nil {
		body["thinking"] = r.thinking
	}
	if r.servers != nil {
		body["mcp_servers"] = r.servers
	}
	messages := make([]object, len(r.history))
	for i, m := range r.history {
		messages[i] = maps.Clone(m)
		blocks, ok := m["content"].([]any)
		if !ok || m["role"] != "user" || len(blocks) != 1 || !r.strings {
			continue
		}
		if block, ok := blocks[0].(object); ok && block["type"] == "text" {
			messages[i]["content"] = block["text"]
		}
	}
	r.again.write(messages)
	body["messages"] = messages
	return r.marked(body)
}

// marked sets the marks as one kind of agent does.
func (r *rover) marked(body object) object {
	mark := func(ttl string) object {
		if ttl == "" {
			return object{"type": "ephemeral"}
		}
		return object{"type": "ephemeral", "ttl": ttl}
	}
	section := func(ttl string) {
		if blocks, ok := body["system"].([]any); ok && len(blocks) > 0 {
			blocks = slices.Clone(blocks)
			blocks[len(blocks)-1] = with(blocks[len(blocks)-1].(object), mark(ttl))
			body["system"] = blocks
		}
	}
	tool := func(ttl string) {
		if len(r.tools) > 0 && r.tools[len(r.tools)-1]["defer_loading"] != true {
			tools := slices.Clone(r.tools)
			tools[len(tools)-1] = with(tools[len(tools)-1], mark(ttl))
			body["tools"] = tools
		}
	}
	messages := body["messages"].([]object)
	block := func(i int, ttl string) {
		if i < 0 || messages[i]["role"] != "user" {
			return
		}
		switch content := messages[i]["content"].(type) {
		case string:
			messages[i]["content"] = []any{with(textBlock(content), mark(ttl))}
		case []any:
			content = slices.Clone(content)
			content[len(content)-1] = with(content[len(content)-1].(object), mark(ttl))
			messages[i]["content"] = content
		}
	}
	last, before := -1, -1
	for i, m := range messages {
		if m["role"] == "user" {
			last, before = i, last
		}
	}
	switch r.marks {
	case "last":
		section("")
		block(last, "")
	case "four":
		tool("")
		section("")
		block(before, "")
		block(last, "")
	case "hours":
		tool("1h")
		section("1h")
		block(last, "5m")
	case "first":
		block(0, "")
	case "automatic":
		body["cache_control"] = mark("")
	case "automatic and three":
		body["cache_control"] = mark("")
		tool("1h")
		section("1h")
		block(before, "")
	case "tool":
		tool("")
	}
	return body
}

func with(o, mark object) object {
	o = maps.Clone(o)
	o["cache_control"] = mark
	return o
}

// post sends a body and gives status, content and error of the answer.
func (r *rover) post(t *testing.T, path string, body object) (status int, content []any, message string) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", r.base[r.turn%len(r.base)]+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", r.key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	if len(r.betas) > 0 {
		req.Header.Set("Anthropic-Beta", strings.Join(r.betas, ","))
	}
	for _, field := range r.headers {
		req.Header.Set(field[0], field[1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range inputs.FindAllSubmatch(answer, 3) {
		n, _ := strconv.ParseInt(string(count[2]), 10, 64)
		if r.usage.total += n; string(count[1]) == "cache_read_" {
			r.usage.read += n
		}
	}
	var reply struct {
		ID      string
		Content []any
		Error   struct{ Message string }
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		reply.Content = folded(t, answer)
	} else if err := json.Unmarshal(answer, &reply); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	r.reply = reply.ID
	return resp.StatusCode, reply.Content, reply.Error.Message
}

// inputs are the counts of a reply's prompt, which are the first in a stream too.
var inputs = regexp.MustCompile(`"(cache_read_|cache_creation_|)input_tokens":(\d+)`)

// folded is the content that the events of a stream make.
func folded(t *testing.T, stream []byte) (content []any) {
	t.Helper()
	for line := range strings.SplitSeq(string(stream), "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		var event struct {
			Type         string
			ContentBlock object `json:"content_block"`
			Delta        object
		}
		if !ok || json.Unmarshal([]byte(data), &event) != nil {
			continue
		}
		switch event.Type {
		case "content_block_start":
			content = append(content, event.ContentBlock)
		case "content_block_delta":
			block := content[len(content)-1].(object)
			for name, value := range event.Delta {
				switch name {
				case "text", "thinking", "signature":
					old, _ := block[name].(string)
					block[name] = old + value.(string)
				case "partial_json":
					old, _ := block["partial"].(string)
					block["partial"] = old + value.(string)
				case "citation":
					old, _ := block["citations"].([]any)
					block["citations"] = append(old, value)
				}
			}
		case "content_block_stop":
			block := content[len(content)-1].(object)
			if text, ok := block["partial"].(string); ok {
				delete(block, "partial")
				var input object
				if text != "" && json.Unmarshal([]byte(text), &input) == nil {
					block["input"] = input
				}
			}
		case "error":
			t.Fatalf("an error in the stream: %s", data)
		}
	}
	return content
}

// say adds the user's next words, and what the agent itself says at the tail.
func (r *rover) say() {
	r.turn++
	name := "alpha"
	if len(r.tools) > 0 {
		if n, ok := r.tools[r.rng.IntN(len(r.tools))]["name"].(string); ok {
			name = n
		}
	}
	scripts := []string{
		"DO[text 30]", "DO[think 20; text 20]", "DO[call " + name + " {\"x\":\"1\",\"a\":2}]", "DO[say Yes.]",
		"DO[think 10; call " + name + " {\"x\":\"2\"}; call " + name + " {\"x\":\"3\"}]", "DO[search cats]", "DO[think 5; search dogs; stop pause]",
	}
	r.history = append(slices.Clip(r.history), object{"role": "user", "content": []any{textBlock(fmt.Sprintf("Turn %d. %s", r.turn, scripts[r.rng.IntN(len(scripts))]))}})
	r.remind()
	r.history = append(r.history, r.tail...)
	r.tail = nil
}

// hear adds the reply, and the results of what it called.
func (r *rover) hear(content []any) (goesOn bool) {
	if len(content) == 0 {
		return false
	}
	r.history = append(slices.Clip(r.history), object{"role": "assistant", "content": content})
	var results []any
	open := map[any]bool{}
	for _, b := range content {
		block := b.(object)
		switch block["type"] {
		case "tool_use":
			results = append(results, object{"type": "tool_result", "tool_use_id": block["id"], "content": []any{textBlock(r.result)}})
		case "server_tool_use":
			open[block["id"]] = true
		default:
			delete(open, block["tool_use_id"])
		}
	}
	if len(results) > 0 {
		r.history = append(r.history, object{"role": "user", "content": results})
		if len(open) == 0 {
			r.remind()
		}
	}
	return len(results)+len(open) > 0
}

// forget takes all thinking out of the history, as an agent does that has been
// refused for it.
func (r *rover) forget() {
	r.history = slices.Clone(r.history)
	for i, m := range r.history {
		blocks, ok := m["content"].([]any)
		if !ok || m["role"] != "assistant" {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(blocks), func(b any) bool {
			kind := b.(object)["type"]
			return kind == "thinking" || kind == "redacted_thinking"
		})
		if len(left) == 0 {
			left = []any{textBlock("...")}
		}
		r.history[i] = object{"role": "assistant", "content": left}
	}
}

// again is chance that does not depend on what was made of it before.
func again(seed, turn int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), uint64(turn)+100)) }

// mend brings the agent back to what providers accept, after a refusal that was
// its own fault.
func (r *rover) mend() {
	r.thinking, r.marks, r.tail = nil, "last", nil
	delete(r.more, "tool_choice")
	delete(r.more, "output_config")
	r.drop(func(t object) bool { return t["type"] != nil || t["defer_loading"] == true })
	roves["lists no tool twice"](r)
	r.servers = nil
	if len(r.tools) == 0 {
		r.tools = []object{r.tool("alpha")}
	}
	r.history = []object{{"role": "user", "content": fmt.Sprint("Once more, ", r.turn)}}
}
