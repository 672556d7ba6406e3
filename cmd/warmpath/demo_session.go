package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// demoAgent is what an agent sends anew with every request: tools, system
// prompt and history. The turns of the demonstration change it the way real
// agents do.
type demoAgent struct {
	tools   []string
	date    string
	rules   string
	history []demoMessage
}

type demoMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// demoTurn is one request of the agent: what it changed before, and what the
// user says.
type demoTurn struct {
	what   string
	change func(*demoAgent)
	say    string
}

// demoTurns is the session: long stretches of plain work, and one of each kind
// of edit that agents make to what they have sent before.
var demoTurns = []demoTurn{
	{say: "Read the project and tell me what it is. DO[call read_file {\"path\":\"README.md\"}]"},
	{say: "Now the sources. DO[call read_file {\"path\":\"main.go\"}; call list_files {\"path\":\".\"}]"},
	{say: "Explain the main loop. DO[text 300]"},
	{say: "Where are errors handled? DO[call search {\"pattern\":\"err\"}]"},
	{what: "a tool server connects: two tools more", change: func(a *demoAgent) { a.tools = append(a.tools, "issues_list", "issues_show") },
		say: "List the open issues. DO[call issues_list {}]"},
	{say: "Show the first. DO[call issues_show {\"number\":1}]"},
	{say: "Plan a fix. DO[text 400]"},
	{what: "the date in the system prompt changes", change: func(a *demoAgent) { a.date = "2026-11-30" },
		say: "Start with the parser. DO[call edit_file {\"path\":\"parser.go\",\"text\":\"package parser\"}]"},
	{say: "Run the tests. DO[call shell {\"command\":\"go test ./...\"}]"},
	{say: "What failed? DO[text 250]"},
	{what: "the tools come in another order", change: func(a *demoAgent) { slices.Sort(a.tools) },
		say: "Fix it. DO[call edit_file {\"path\":\"parser.go\",\"text\":\"package parser // fixed\"}]"},
	{say: "And again. DO[call shell {\"command\":\"go test ./...\"}]"},
	{say: "Explain the change. DO[text 300]"},
	{what: "the tool server is gone: two tools less", change: func(a *demoAgent) {
		a.tools = slices.DeleteFunc(a.tools, func(name string) bool { return strings.HasPrefix(name, "issues_") })
	}, say: "Write the changelog. DO[call edit_file {\"path\":\"CHANGELOG.md\",\"text\":\"fixed the parser\"}]"},
	{say: "Look at it. DO[call read_file {\"path\":\"CHANGELOG.md\"}]"},
	{what: "a rule is added to the system prompt", change: func(a *demoAgent) { a.rules += "\nPlan mode is on: change no files." },
		say: "Plan the next step. DO[text 400]"},
	{say: "Which files would change? DO[call search {\"pattern\":\"parser\"}]"},
	{say: "How long will it take? DO[text 120]"},
	{what: "the rule is gone again", change: func(a *demoAgent) { a.rules = strings.TrimSuffix(a.rules, "\nPlan mode is on: change no files.") },
		say: "Do it. DO[call edit_file {\"path\":\"lexer.go\",\"text\":\"package lexer\"}]"},
	{say: "Test it. DO[call shell {\"command\":\"go test ./...\"}]"},
	{what: "a tool's description is edited", change: func(a *demoAgent) { a.tools[len(a.tools)-1] += "*" },
		say: "Commit. DO[call shell {\"command\":\"git commit -am lexer\"}]"},
	{say: "Summarize the session. DO[text 300]"},
}

// turnUsage is what the provider charged for the requests of one turn.
type turnUsage struct {
	what                  string
	cached, written, rest int64
	output                int64
	// refused is how often the provider took back the turn: thinking in the
	// history was bound to what the agent had changed.
	refused int
}

func (u turnUsage) total() int64 { return u.cached + u.written + u.rest }

// cost is the input's price in tokens at the plain price: a read costs a tenth
// and a write for five minutes a quarter more.
func (u turnUsage) cost() float64 {
	return 0.1*float64(u.cached) + 1.25*float64(u.written) + float64(u.rest)
}

// playSession plays all turns against one base URL.
func playSession(base, key, model string, step func()) ([]turnUsage, error) {
	agent := &demoAgent{
		tools: []string{"shell", "read_file", "edit_file", "search", "list_files"},
		date:  "2026-11-29",
		rules: strings.Repeat("Follow the house style, keep changes small and say what you verified. ", 60),
	}
	var usages []turnUsage
	for i, turn := range demoTurns {
		if turn.change != nil {
			turn.change(agent)
		}
		agent.history = append(agent.history, demoMessage{"user", []any{map[string]any{"type": "text", "text": thoughtful(turn.say)}}})
		usage, err := agent.converse(base, key, model)
		if err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, err)
		}
		usage.what = turn.what
		usages = append(usages, usage)
		step()
	}
	return usages, nil
}

// thoughtful has the model think before it does what it is told.
func thoughtful(say string) string { return strings.Replace(say, "DO[", "DO[think 60; ", 1) }

// converse sends requests until the model wants no more tools.
func (a *demoAgent) converse(base, key, model string) (turnUsage, error) {
	var sum turnUsage
	for {
		reply, err := a.request(base, key, model)
		if errors.Is(err, errBound) && a.forget() {
			sum.refused++
			continue
		}
		if err != nil {
			return sum, err
		}
		sum.cached += reply.Usage.Read
		sum.written += reply.Usage.Written
		sum.rest += reply.Usage.Fresh
		sum.output += reply.Usage.Output
		a.history = append(a.history, demoMessage{"assistant", reply.Content})
		if reply.Stop != "tool_use" {
			return sum, nil
		}
		a.history = append(a.history, demoMessage{"user", a.results(reply.Content)})
	}
}

// errBound is a refusal of thinking that was made under another prefix.
var errBound = errors.New("the thinking is bound to another prefix")

// forget leaves all thinking out of the history, which is what an agent can do
// about such a refusal by itself. It returns false if there was none.
func (a *demoAgent) forget() (some bool) {
	for i, message := range a.history {
		content, ok := message.Content.(json.RawMessage)
		if !ok {
			continue
		}
		var blocks []json.RawMessage
		_ = json.Unmarshal(content, &blocks) // what the simulated provider wrote
		kept := slices.DeleteFunc(slices.Clone(blocks), func(block json.RawMessage) bool {
			return bytes.HasPrefix(block, []byte(`{"type":"thinking"`))
		})
		if len(kept) < len(blocks) {
			some = true
			text, _ := json.Marshal(kept)
			a.history[i].Content = json.RawMessage(text)
		}
	}
	return some
}

// results answers each call with some text of the size that tools return.
func (a *demoAgent) results(content json.RawMessage) []any {
	var blocks []struct{ Type, ID, Name string }
	_ = json.Unmarshal(content, &blocks) // what the simulated provider just wrote
	var results []any
	for _, block := range blocks {
		if block.Type == "tool_use" {
			results = append(results, map[string]any{
				"type": "tool_result", "tool_use_id": block.ID,
				"content": strings.Repeat("the output of "+block.Name+", line by line\n", 40),
			})
		}
	}
	return results
}

type demoReply struct {
	Content json.RawMessage
	Stop    string `json:"stop_reason"`
	Usage   struct {
		Fresh   int64 `json:"input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Written int64 `json:"cache_creation_input_tokens"`
		Output  int64 `json:"output_tokens"`
	}
}

// request sends one request with the marks that agents usually set: on the
// system prompt and on the newest message.
func (a *demoAgent) request(base, key, model string) (*demoReply, error) {
	body, err := json.Marshal(map[string]any{
		"model": model, "max_tokens": 4096, "tools": a.definitions(), "messages": a.marked(),
		"system": []any{map[string]any{"type": "text", "text": a.system(), "cache_control": ephemeral}},
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: 30 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusBadRequest && bytes.Contains(answer, []byte("bound to a different conversation")) {
		return nil, errBound
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the provider answered %d: %s", resp.StatusCode, answer)
	}
	reply := new(demoReply)
	return reply, json.Unmarshal(answer, reply)
}

var ephemeral = map[string]string{"type": "ephemeral"}

func (a *demoAgent) system() string {
	return "You are a careful engineer. Today is " + a.date + ".\n" + a.rules
}

func (a *demoAgent) definitions() []any {
	definitions := make([]any, 0, len(a.tools))
	for _, tool := range a.tools {
		name, edited := strings.CutSuffix(tool, "*")
		about := strings.Repeat("Use "+name+" when the task asks for it. ", 20)
		if edited {
			about += "Now with care."
		}
		definitions = append(definitions, map[string]any{
			"name": name, "description": about,
			"input_schema": map[string]any{"type": "object", "properties": map[string]any{"path": map[string]string{"type": "string"}}},
		})
	}
	return definitions
}

// marked is the history with a mark on its last block.
func (a *demoAgent) marked() []demoMessage {
	messages := slices.Clone(a.history)
	last := &messages[len(messages)-1]
	blocks := slices.Clone(last.Content.([]any))
	block := map[string]any{"cache_control": ephemeral}
	maps.Copy(block, blocks[len(blocks)-1].(map[string]any))
	blocks[len(blocks)-1] = block
	last.Content = blocks
	return messages
}
