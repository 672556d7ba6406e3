package anthropic_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	simulated "warmpath/fixtures/provider/anthropic"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
)

// sim is the simulated API with what its log tells.
type sim struct {
	*simulated.Provider
	core *provider.Core
}

func newSim() *sim {
	core := provider.New(provider.Options{Clock: provider.NewManualClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))})
	return &sim{simulated.New(core, simulated.Options{}), core}
}

// ask sends a body and gives the status, the reply and what the log says of it.
func (s *sim) ask(body, betas string) (int, gjson.Result, provider.Record) {
	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(body))
	r.Header.Set("X-Api-Key", "key-1")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	if betas != "" {
		r.Header.Set("Anthropic-Beta", betas)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	rec, _ := s.core.Log.Last()
	return w.Code, gjson.Parse(w.Body.String()), rec
}

// accepted is ask for a request that has to be accepted.
func (s *sim) accepted(t *testing.T, body, betas string) (gjson.Result, provider.Record) {
	t.Helper()
	code, reply, rec := s.ask(body, betas)
	if code != 200 {
		t.Fatalf("status %d: %s\nrequest: %s", code, reply, body)
	}
	return reply, rec
}

const changes = "inline-tools-2026-09-15,mid-conversation-output-config-2026-07-01,thinking-binding-controls-2026-08-01"

func request(tools, system string, messages ...string) string {
	return `{"model":"claude-opus-5-5","max_tokens":4096,"tools":[` + tools + `],"system":` + system + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

// schema is a tool that is long enough for the cache, and the same one with its
// schema written in another order.
func schema(name string) (first, again string) {
	words := strings.Repeat(name+" reads what it is asked to read. ", 40)
	first = fmt.Sprintf(`{"name":%q,"description":%q,"input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`, name, words)
	again = fmt.Sprintf(`{"description":%q,"input_schema":{"properties":{"path":{"type":"string"}},"type":"object"},"name":%q}`, words, name)
	return first, again
}

func turn(text string) string { return `{"role":"user","content":"DO[think 20; say ` + text + `.]"}` }

// A client that changes its tools and its system prompt keeps its cache and its
// thinking if what was sent first is sent again and the change is said at the
// tail. Without, the provider reads nothing from its cache and refuses.
func TestProviderSeesOnePrefix(t *testing.T) {
	s := newSim()
	read, readAgain := schema("read")
	write, writeAgain := schema("write")
	late, _ := schema("late")
	const system, newSystem = `[{"type":"text","text":"Work with care. It is Monday."}]`, `"Work with care. It is Tuesday."`

	automatic := anthropic.Edits{Automatic: true}
	reply, before := s.accepted(t, apply(t, request(read+","+write, system, turn("one")), automatic), changes)
	history := []string{turn("one"), `{"role":"assistant","content":` + reply.Get("content").Raw + `}`, turn("two")}

	// The client lists its tools in another order and spelling, without one.
	client := request(readAgain+","+late, newSystem, history...)
	if code, _, rec := s.ask(apply(t, client, automatic), changes); code != 400 || !strings.Contains(rec.Verdict.Message, "different conversation") {
		t.Fatalf("status %d for an edited prefix: %s", code, rec.Verdict.Message)
	}

	redefined := `{"name":"write","description":"Writes.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}`
	directives := []anthropic.Directive{
		{Texts: []string{"It is Tuesday now."}, Remove: []string{"write"}, Add: []string{"late"}},
		{Define: texts(redefined), Effort: "high"},
		{Remove: []string{"late"}},
		{Effort: "low"},
	}
	wantTools := [][]string{{"read", "late"}, {"read", "write", "late"}, {"read", "write"}, {"read", "write"}}
	edits := anthropic.Edits{
		Automatic: true,
		Tools:     texts(read, write, string(anthropic.AsDeferred([]byte(late)))),
		System:    texts(`{"type":"text","text":"Work with care. It is Monday."}`),
	}
	for i, d := range directives {
		edits.Inserts = append(edits.Inserts, continuity.Edit{After: len(history), Bytes: anthropic.Render(d)})
		// What the client sends of tools and system no longer matters.
		reply, now := s.accepted(t, apply(t, request(writeAgain, newSystem, history...), edits), changes)
		if got, want := now.Charge.Read, before.Charge.Read+before.Charge.Written; got != want || got == 0 {
			t.Errorf("directive %d: %d tokens read, %d were cached", i, got, want)
		}
		if !strings.HasPrefix(now.Seen.Prompt, before.Seen.Prompt[:strings.LastIndex(before.Seen.Prompt, "<user>")]) {
			t.Errorf("directive %d: another prefix:\n%s\n%s", i, before.Seen.Prompt, now.Seen.Prompt)
		}
		offered := map[string]bool{}
		for _, name := range now.Seen.ToolNames() {
			offered[name] = true
		}
		for _, name := range wantTools[i] {
			if !offered[name] || len(offered) != len(wantTools[i]) {
				t.Errorf("directive %d: offered %v, want %v", i, now.Seen.ToolNames(), wantTools[i])
				break
			}
		}
		for _, block := range now.Seen.Thinking {
			if !block.Kept {
				t.Errorf("directive %d: %s was dropped: %s", i, block.Path, block.Reason)
			}
		}
		history = append(history, `{"role":"assistant","content":`+reply.Get("content").Raw+`}`, turn("go on"))
		before = now
	}
}

// Where the prefix is lost, the provider goes on without the thinking instead
// of refusing, and says so at an index that leads back to the client's message.
func TestProviderDropsThinking(t *testing.T) {
	s := newSim()
	read, again := schema("read")
	reply, _ := s.accepted(t, request(read, `"Monday."`, turn("one")), changes)
	history := []string{turn("one"), `{"role":"assistant","content":` + reply.Get("content").Raw + `}`, turn("two")}
	said := []continuity.Edit{{After: 1, Bytes: anthropic.Render(anthropic.Directive{Texts: []string{"Be brief."}})}}
	dropping := anthropic.Edits{Drop: true, Inserts: said}

	edited := apply(t, request(again, `"Tuesday."`, history...), anthropic.Edits{Inserts: said})
	code, refusal, _ := s.ask(edited, changes)
	if message := refusal.Get("error.message").String(); code != 400 || !strings.HasPrefix(message, "messages.2.content.0") {
		t.Fatalf("status %d: %s", code, message)
	}
	back := func(n int) int { return n - 1 }
	if got := string(anthropic.MapIndex([]byte(refusal.Raw), back)); gjson.Get(got, "error.message").String()[:10] != "messages.1" {
		t.Errorf("mapped to %s", got)
	}

	reply, _ = s.accepted(t, apply(t, request(again, `"Tuesday."`, history...), dropping), changes)
	if path := reply.Get("input_transformations.0.path").String(); path != "messages.2.content.0" {
		t.Fatalf("transformed at %s: %s", path, reply)
	}
	mapped := gjson.ParseBytes(anthropic.MapIndex([]byte(reply.Raw), back))
	if path := mapped.Get("input_transformations.0.path").String(); path != "messages.1.content.0" {
		t.Errorf("mapped to %s", path)
	}
}
