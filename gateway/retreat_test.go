package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// refusing is a provider that answers 400 with some words to every request that
// holds, in header or body, what it does not know.
func refusing(t *testing.T, unknown func(r *http.Request, body string) string) *double {
	t.Helper()
	return newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if words := unknown(r, string(body)); words != "" {
			w.WriteHeader(400)
			text, _ := json.Marshal(words)
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, text)
			return
		}
		_, _ = io.WriteString(w, calling)
	})
}

// calling is a reply that only one conversation can go on from.
const calling = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5","content":[{"type":"tool_use","id":"toolu_01AbCdEf23456789XyZ","name":"a","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":5}}`

const turnTwo = `{"model":"claude-opus-5","tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"c","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_01AbCdEf23456789XyZ","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01AbCdEf23456789XyZ","content":"x"}]}]}`
const turnOne = `{"model":"claude-opus-5","tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"b","input_schema":{"type":"object"}},{"name":"c","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}]}`

func TestARefusedBetaIsGivenUpForTheModel(t *testing.T) {
	p := refusing(t, func(r *http.Request, _ string) string {
		if strings.Contains(r.Header.Get("Anthropic-Beta"), "inline-tools") {
			return "Unexpected value(s) `inline-tools-2026-09-15` for the `anthropic-beta` header."
		}
		return ""
	})
	_, base, _ := start(t, p.URL, nil)
	for i, calls := range []int{2, 3, 4} {
		if resp, got := send(t, "POST", base+"/v1/messages", turnOne); resp.StatusCode != 200 || got != calling {
			t.Fatalf("request %d: %d %s", i, resp.StatusCode, got)
		}
		if p.count() != calls {
			t.Errorf("after request %d the provider was called %d times, want %d: it must be asked for the beta only once", i, p.count(), calls)
		}
		if body := p.last(t).body; body != turnOne {
			t.Errorf("the provider got %s", body)
		}
	}
}

func TestARefusedDirectiveIsGivenUp(t *testing.T) {
	p := refusing(t, func(_ *http.Request, body string) string {
		if strings.Contains(body, `"role":"system"`) {
			return "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."
		}
		return ""
	})
	_, base, _ := start(t, p.URL, nil)
	send(t, "POST", base+"/v1/messages", turnOne)
	calls := p.count()
	resp, got := send(t, "POST", base+"/v1/messages", turnTwo)
	if p.count() != calls+2 {
		t.Errorf("the provider was called %d times for it, want twice", p.count()-calls)
	}
	if resp.StatusCode != 200 || got != calling {
		t.Errorf("the client got %d %s", resp.StatusCode, got)
	}
	if body := p.last(t).body; body != turnTwo {
		t.Errorf("the provider got %s, want the client's own", body)
	}
}

// What the client itself gets wrong is for the client to hear about, and costs
// nobody else anything.
func TestTheClientsOwnFaultTeachesNothing(t *testing.T) {
	const words = "foo: Extra inputs are not permitted"
	p := refusing(t, func(_ *http.Request, body string) string {
		if strings.Contains(body, `"foo"`) {
			return words
		}
		return ""
	})
	_, base, _ := start(t, p.URL, nil)
	wrong := strings.Replace(turnOne, `{"model"`, `{"foo":1,"model"`, 1)
	if resp, got := send(t, "POST", base+"/v1/messages", wrong); resp.StatusCode != 400 || !strings.Contains(got, words) {
		t.Errorf("the client got %d %s", resp.StatusCode, got)
	}
	send(t, "POST", base+"/v1/messages", turnOne)
	if beta := p.last(t).header.Get("Anthropic-Beta"); !strings.Contains(beta, "inline-tools") {
		t.Errorf("after a client's fault the betas are %q: the model has lost its abilities", beta)
	}
}

// What is counted is what went out in the end, and was accepted.
func TestWhatIsGivenUpIsNotCountedAsDone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		refuse  func(body string) bool
		status  int
		retreat string // counts of a kind
		epoch   string
		edit    string
	}{
		"nothing given up":       {func(string) bool { return false }, 200, "0", "0", "1"},
		"edits given up":         {func(body string) bool { return strings.Contains(body, `"role":"system"`) }, 200, "1", "1", "0"},
		"the client's own fault": {func(body string) bool { return strings.Contains(body, "New.") }, 400, "0", "0", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPicky(t, func(_, body string) string { return when(test.refuse(body), tooLongText) })
			g, base, _ := start(t, p.URL, nil)
			a := &pupil{t: t, base: base, model: "claude-opus-5-5", tools: "a b", system: "A prompt. And more.", opening: "one"}
			a.ask()
			a.ask()
			a.system += " New."
			if status, got := a.ask(); status != test.status {
				t.Fatalf("the client got %d %s", status, got)
			}
			_, page := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", "")
			for _, want := range []string{
				`warmpath_retreats_total{reason="other"} ` + test.retreat,
				`warmpath_epochs_total{reason="retreat"} ` + test.epoch,
				`warmpath_epochs_total{reason="fresh"} 1`,
				`warmpath_edits_total{kind="directive_text"} ` + test.edit,
			} {
				if !strings.Contains(page, want+"\n") {
					t.Errorf("not counted: %s", want)
				}
			}
		})
	}
}
