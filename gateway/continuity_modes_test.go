package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"warmpath/fixtures/provider"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// mover is an agent that edits its prompt after its first turn.
type mover struct {
	t        *testing.T
	core     *provider.Core
	base     string
	key      string
	model    string
	tools    []string
	system   string
	messages []string
}

func newMover(t *testing.T, core *provider.Core, base string) *mover {
	return &mover{t: t, core: core, base: base, key: t.Name(), model: "claude-opus-5-5", tools: []string{"alpha", "beta"}, system: "Be brief."}
}

// say plays a turn in some mode, or in the configured one. It gives what the
// client sent and got.
func (m *mover) say(mode string) (sent string, status int, got string, header http.Header) {
	m.t.Helper()
	m.messages = append(m.messages, `{"role":"user","content":"go on DO[think 5; say fine]"}`)
	tools := make([]string, len(m.tools))
	for i, name := range m.tools {
		tools[i] = `{"name":"` + name + `","input_schema":{"type":"object"}}`
	}
	sent = `{"model":"` + m.model + `","max_tokens":100,"thinking":{"type":"adaptive"},"tools":[` + strings.Join(tools, ",") +
		`],"system":"` + m.system + `","messages":[` + strings.Join(m.messages, ",") + `]}`
	req, err := http.NewRequest("POST", m.base+"/v1/messages", strings.NewReader(sent))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", m.key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	if mode != "" {
		req.Header.Set("Warmpath-Mode", mode)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	if resp.StatusCode == 200 {
		var reply struct{ Content json.RawMessage }
		if err := json.Unmarshal(answer, &reply); err != nil {
			m.t.Fatal(err)
		}
		m.messages = append(m.messages, `{"role":"assistant","content":`+string(reply.Content)+`}`)
	}
	return sent, resp.StatusCode, string(answer), resp.Header
}

// must is say for turns that have to succeed.
func (m *mover) must(mode string) (sent, got string, header http.Header) {
	m.t.Helper()
	sent, status, got, header := m.say(mode)
	if status != 200 {
		m.t.Fatalf("status %d: %s", status, got)
	}
	return sent, got, header
}

func (m *mover) edit() {
	m.tools, m.system = append(m.tools, "gamma"), "Be brief. Be kind."
}

func TestObservedRequestsAreOnlyPlanned(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"", "observe"} {
		t.Run("asked "+asked, func(t *testing.T) {
			core, origin := simulated(t)
			g, base, _ := start(t, origin, func(cfg *config.Config) {
				if cfg.Quiet = true; asked == "" {
					cfg.Mode = rewrite.ModeObserve
				}
			})
			m := newMover(t, core, base)
			m.model = "claude-opus-5" // thinking is not bound there: edits succeed straight
			for turn := range 4 {
				if turn == 2 {
					m.edit()
				}
				sent, _, header := m.must(asked)
				record := lastRecord(core)
				if record.Body != sent {
					t.Fatalf("turn %d: sent %s, arrived %s", turn, sent, record.Body)
				}
				if betas := betasOf(record); len(betas) > 0 {
					t.Errorf("turn %d: betas %s", turn, betas)
				}
				edits := map[int]string{2: "3", 3: "3"}[turn] // tools, system, and a directive
				if edits == "" {
					edits = "0"
				}
				if header.Get("Warmpath-Mode") != "observe" || header.Get("Warmpath-Edits") != edits || header.Get("Warmpath-Repaired") != "" {
					t.Errorf("turn %d: want %s edits, got %v", turn, edits, header)
				}
			}
			_, text := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", "")
			for _, want := range []string{`warmpath_edits_total{kind="directive_text"} 0`, `warmpath_observed_edits_total{kind="directive_text"} 1`} {
				if !strings.Contains(text, want) {
					t.Errorf("no %s", want)
				}
			}
		})
	}
}

// Who was edited before and is no more has thinking in its history that was made
// under a prefix which it does not know.
func TestLoweredModeKeepsAConversationGoing(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	_, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet = true })
	for _, lowered := range []string{"off", "observe"} {
		t.Run(lowered, func(t *testing.T) {
			m := newMover(t, core, base)
			m.must("")
			m.edit()
			if _, _, header := m.must(""); header.Get("Warmpath-Edits") != "3" {
				t.Fatalf("nothing was edited: %v", header)
			}
			for range 2 {
				sent, got, header := m.must(lowered)
				if header.Get("Warmpath-Repaired") != "drop_block" || strings.Contains(got, "input_transformations") {
					t.Errorf("%v: %s", header, got)
				}
				if body := lastRecord(core).Body; strings.Replace(body, `,"block_binding":{"prefix_mismatch_behavior":"drop_block"}`, "", 1) != sent {
					t.Errorf("sent %s, arrived %s", sent, body)
				}
			}
			// Switched on again it goes on as well.
			m.must("")
		})
	}
}

// What the client breaks itself is not mended in modes that leave it alone.
func TestLoweredModesMendOnlyTheGatewaysOwn(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	_, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet = true })
	for _, lowered := range []string{"off", "observe"} {
		t.Run(lowered, func(t *testing.T) {
			m := newMover(t, core, base)
			m.must(lowered)
			m.edit()
			if _, status, got, _ := m.say(lowered); status != 400 || !strings.Contains(got, "bound to a different conversation") {
				t.Errorf("status %d: %s", status, got)
			}
			if n := len(core.Log.All()); lastRecord(core).Verdict.Status != 400 {
				t.Errorf("%d requests, the last with %d", n, lastRecord(core).Verdict.Status)
			}
		})
	}
}

// What was only planned was never sent, and the client has taken none of it back.
func TestATurnInObserveModeRewritesNothing(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	g, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet = true })
	m := newMover(t, core, base)
	m.model = "claude-opus-5" // thinking is not bound there
	m.must("")
	m.edit()
	_, _, before := m.must("")
	// It is planned as the next turn of what was sent, and so is the one behind it.
	for range 2 {
		sent, _, observed := m.must("observe")
		if lastRecord(core).Body != sent {
			t.Errorf("sent %s, arrived %s", sent, lastRecord(core).Body)
		}
		for _, name := range []string{"Warmpath-Conversation", "Warmpath-Edits"} {
			if before.Get(name) != observed.Get(name) {
				t.Errorf("%s was %q, observed %q", name, before.Get(name), observed.Get(name))
			}
		}
	}
	_, _, now := m.must("")
	for _, name := range []string{"Warmpath-Conversation", "Warmpath-Epoch"} {
		if before.Get(name) != now.Get(name) {
			t.Errorf("%s was %q, now %q", name, before.Get(name), now.Get(name))
		}
	}
	rewritesNothing(t, g.AdminAddr())
}

// Short ends are the same in many conversations, and so are beginnings.
func TestAnothersTurnRewritesNothing(t *testing.T) {
	t.Parallel()
	_, origin := simulated(t)
	g, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet = true })
	play := func(second string, modes ...string) (header http.Header) {
		var history []string
		for i, mode := range modes {
			words := map[int]string{0: "Begin.", 1: second}[i]
			if words == "" {
				words = "Next."
			}
			history = append(history, `{"role":"user","content":"`+words+` DO[say Done.]"}`)
			req, err := http.NewRequest("POST", base+"/v1/messages", strings.NewReader(
				`{"model":"claude-opus-5","max_tokens":100,"system":"Be brief.","messages":[`+strings.Join(history, ",")+`]}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Api-Key", "one")
			req.Header.Set("Anthropic-Version", "2023-06-01")
			req.Header.Set("Warmpath-Mode", mode)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("status %d: %s (%v)", resp.StatusCode, answer, err)
			}
			history, header = append(history, `{"role":"assistant","content":[{"type":"text","text":"Done."}]}`), resp.Header
		}
		return header
	}
	play("One.", "on", "on", "on", "on")
	if header := play("Another.", "on", "on", "off", "on"); header.Get("Warmpath-Epoch") != "0" {
		t.Errorf("began an epoch: %v", header)
	}
	rewritesNothing(t, g.AdminAddr())
}

func rewritesNothing(t *testing.T, admin string) {
	t.Helper()
	if _, page := send(t, "GET", "http://"+admin+"/api/requests?limit=100", ""); strings.Contains(page, "history_rewritten") {
		t.Errorf("a history was rewritten: %s", page)
	}
	if _, page := send(t, "GET", "http://"+admin+"/metrics", ""); !strings.Contains(page, `warmpath_epochs_total{reason="history_rewritten"} 0`) {
		t.Error("an epoch was counted")
	}
}

func TestUnknownModeIsRefused(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	_, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet = true })
	m := newMover(t, core, base)
	_, status, got, _ := m.say("fast")
	const want = `{"type":"error","error":{"type":"invalid_request_error","message":"The header warmpath-mode is \"fast\". Send off, observe or on, or leave it out."}`
	if status != 400 || !strings.HasPrefix(got, want[:len(want)-1]) {
		t.Errorf("status %d: %s", status, got)
	}
	if n := len(core.Log.All()); n > 0 {
		t.Errorf("%d requests reached the provider", n)
	}
}
