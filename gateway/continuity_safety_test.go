package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"warmpath/fixtures/provider"
)

// stranger is one of many agents that nothing but their own words tells apart:
// they have one key, open with the same words and hear the same replies.
type stranger struct {
	name     string // in every text and tool of its own, and nowhere else
	rng      *rand.Rand
	model    string
	common   string // what all of its company's prompts begin with
	own      []string
	tools    []string
	history  []message
	plain    bool // has no words of its own but in reminders
	examples bool // begins with the examples that all of them were given
	session  string
}

const (
	greeting = "hi DO[say Hello! How can I help you today?]"
	goOn     = "go on DO[say Sure.]"
)

func (s *stranger) word(of string) string { return s.name + "-" + of }

func (s *stranger) change() {
	if s.plain {
		return
	}
	switch s.rng.IntN(6) {
	case 0:
		s.own = append(s.own, s.word(fmt.Sprint("rule-", len(s.own))))
	case 1:
		if len(s.own) > 1 {
			s.own = s.own[:len(s.own)-1]
		}
	case 2:
		s.own[0] = s.word(fmt.Sprint("customer-", s.rng.IntN(100)))
	case 3:
		s.tools = append(s.tools, s.word(fmt.Sprintf("tool%d-%d", len(s.tools), s.rng.IntN(1000))))
	case 4:
		s.tools = s.tools[:max(1, len(s.tools)-1)]
	}
}

func (s *stranger) system() []any {
	blocks := []any{map[string]any{"type": "text", "text": s.common}}
	for _, text := range s.own {
		blocks = append(blocks, map[string]any{"type": "text", "text": text})
	}
	return blocks
}

func (s *stranger) body() map[string]any {
	tools := []any{}
	for _, name := range s.tools {
		tools = append(tools, map[string]any{"name": name, "description": name, "input_schema": map[string]any{"type": "object"}})
	}
	messages := slices.Clone(s.history)
	if s.rng.IntN(2) == 0 {
		// What it was reminded of before has no place in its history for once.
		for i := range messages[:len(messages)-1] {
			if blocks, ok := messages[i].Content.([]any); ok && messages[i].Role == "user" {
				messages[i].Content = forgetful(blocks)
			}
		}
	}
	return map[string]any{"model": s.model, "max_tokens": 100, "system": s.system(), "tools": tools, "messages": messages}
}

func (s *stranger) say(text string) {
	blocks := []any{map[string]any{"type": "text", "text": text}}
	if s.rng.IntN(2) == 0 {
		note := noteOpen + s.word("note") + noteShut
		blocks = append(blocks, map[string]any{"type": "text", "text": note})
	}
	s.history = append(s.history, message{"user", blocks})
}

// fewShots are the examples of a framework, with an identifier that stands in
// some vendor's documentation.
func fewShots() []message {
	return []message{
		{"user", "What is the weather?"},
		{"assistant", []any{map[string]any{"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "weather", "input": map[string]any{}}}},
		{"user", []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_01A09q90qw90lq917835lq9", "content": "15 degrees"}}},
		{"assistant", "15 degrees."},
	}
}

// ask sends a request under the name of who sends it.
func ask(t *testing.T, base, who, session string, request map[string]any) (content json.RawMessage, header http.Header) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "the company's only key")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Who", who)
	if session != "" {
		req.Header.Set("X-Claude-Code-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: status %d: %s (%v)\n%s", who, resp.StatusCode, answer, err, body)
	}
	var reply struct{ Content json.RawMessage }
	if err := json.Unmarshal(answer, &reply); err != nil {
		t.Fatal(err)
	}
	return reply.Content, resp.Header
}

func header(record *provider.Record, name string) string {
	for _, field := range record.Headers {
		if strings.EqualFold(field[0], name) {
			return field[1]
		}
	}
	return ""
}

// TestNobodyReadsAnothersWords plays strangers at once and looks for the words
// of each in what was sent for the others. This is the one fault that nothing
// could make good.
func TestNobodyReadsAnothersWords(t *testing.T) {
	t.Parallel()
	const strangers, turns = 24, 6
	core, origin := simulated(t)
	nodes := twoNodes(t, origin)
	models := []string{"claude-opus-4-8", "claude-opus-5", "claude-opus-5-5"}
	for _, model := range models {
		var all sync.WaitGroup
		for i := range strangers {
			s := &stranger{
				name: fmt.Sprintf("stranger%02d", i), rng: rand.New(rand.NewPCG(uint64(i), 7)), model: model,
				common:   strings.Repeat("All agents of this company are polite. ", 50),
				examples: i%3 == 0,
			}
			s.own, s.tools = []string{s.word("customer")}, []string{"shared", s.word("tool")}
			if i%4 == 0 {
				// Everything but one word is equal.
				s.tools = []string{"shared"}
			}
			if i%4 == 1 {
				s.plain, s.own, s.tools = true, []string{"A rule of all."}, []string{"shared"}
			}
			if i%5 == 0 {
				s.session = s.name
			}
			if s.examples {
				s.history = fewShots()
			}
			all.Go(func() {
				for turn := range turns {
					if s.say(goOn); turn == 0 && !s.examples {
						s.history = nil
						s.say(greeting)
					}
					content, _ := ask(t, nodes[s.rng.IntN(2)], s.name, s.session, s.body())
					if s.rng.IntN(4) == 0 {
						// It asks again, otherwise.
						s.change()
						content, _ = ask(t, nodes[s.rng.IntN(2)], s.name, s.session, s.body())
					}
					s.history = append(s.history, message{"assistant", content})
					if i%3 == 1 && turn == 1 {
						// Its framework makes a call up, with an identifier that only looks
						// as if it were the provider's.
						s.say("go on")
						s.history = append(s.history, fewShots()[1:]...)
					}
					s.change()
				}
			})
		}
		all.Wait()
	}
	records := core.Log.All()
	if len(records) < strangers*turns*len(models) {
		t.Fatalf("the log has only %d requests", len(records))
	}
	found := 0
	for i := range records {
		who := header(&records[i], "x-who")
		for j := range strangers {
			other := fmt.Sprintf("stranger%02d", j)
			if other != who && strings.Contains(records[i].Body, other) {
				if found++; found < 4 {
					t.Errorf("words of %s in a request of %s: %s", other, who, strings.ReplaceAll(records[i].Body, "All agents of this company are polite. ", ""))
				}
			}
		}
	}
	if found > 0 {
		t.Errorf("%d of %d requests held words of others", found, len(records))
	}
}
