package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite/continuity"
)

// asker is a provider that answers what it is asked about its cache, whole or as
// a stream, and numbers its replies.
type asker struct {
	*double
	asked []string // what each request asked, empty for nothing
	betas []string
}

// missed is what the asker says of its cache.
const missed = `{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":41000}}`

func newAsker(t *testing.T) *asker {
	a := &asker{}
	a.double = newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var body struct {
			Stream      bool
			Diagnostics json.RawMessage
		}
		if err := json.Unmarshal(text, &body); err != nil {
			t.Error(err)
		}
		a.asked = append(a.asked, string(body.Diagnostics))
		a.betas = append(a.betas, r.Header.Get("Anthropic-Beta"))
		n := len(a.asked)
		said := ""
		if len(body.Diagnostics) > 0 && string(body.Diagnostics) != "null" {
			said = `"diagnostics":` + missed + `,`
		}
		message := fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m",%s"content":[`, n, said)
		call := fmt.Sprintf(`{"type":"tool_use","id":"toolu_01AbCdEf23456789X%d","name":"a","input":{}}`, n)
		const usage = `"usage":{"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":9000,"output_tokens":5}`
		if !body.Stream {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, message+call+`],"stop_reason":"tool_use",`+usage+`}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":%s],%s}}\n\n", message, usage)
		_, _ = fmt.Fprintf(w, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":%s}\n\n", call)
		_, _ = io.WriteString(w, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"+
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n"+
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	})
	return a
}

// question is a conversation's next request after so many replies of the asker.
func question(replies int, tools, more string) string {
	messages := `{"role":"user","content":[{"type":"text","text":"begin","cache_control":{"type":"ephemeral"}}]}`
	for n := 1; n <= replies; n++ {
		messages += fmt.Sprintf(`,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_01AbCdEf23456789X%d","name":"a","input":{}}]}`, n)
		messages += fmt.Sprintf(`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01AbCdEf23456789X%d","content":"x"}]}`, n)
	}
	list := ""
	for name := range strings.FieldsSeq(tools) {
		list += `,{"name":"` + name + `","input_schema":{"type":"object"}}`
	}
	return `{"model":"claude-opus-5",` + more + `"tools":[` + strings.TrimPrefix(list, ",") + `],"messages":[` + messages + `]}`
}

func TestTheProviderIsAskedForTheReason(t *testing.T) {
	t.Parallel()
	const first, second = `{"previous_message_id":null}`, `{"previous_message_id":"msg_%d"}`
	turn := func(n int) string { return fmt.Sprintf(second, n) }
	tests := map[string]struct {
		asking continuity.Asking
		stream bool
		own    string   // of the client's
		tools  []string // of each request
		asked  []string // by each request
		beta   bool     // goes along with each request
		told   bool     // the client hears of it
	}{
		"always":           {asking: continuity.AskAlways, tools: []string{"a b", "a b", "a b"}, asked: []string{first, turn(1), turn(2)}, beta: true},
		"always, streamed": {asking: continuity.AskAlways, stream: true, tools: []string{"a b", "a b", "a b"}, asked: []string{first, turn(1), turn(2)}, beta: true},
		// Each request but the first misses. That is no edit.
		"it only misses":            {asking: continuity.AskEdited, tools: []string{"a b", "a b", "a b", "a b"}, asked: []string{"", "", "", ""}},
		"once it is edited":         {asking: continuity.AskEdited, tools: []string{"a b", "a b c", "a b c"}, asked: []string{"", first, turn(2)}},
		"edited, streamed":          {asking: continuity.AskEdited, stream: true, tools: []string{"a b", "a b c", "a b c"}, asked: []string{"", first, turn(2)}},
		"never":                     {asking: continuity.AskNever, tools: []string{"a b", "a b c", "a b c"}, asked: []string{"", "", ""}},
		"the client asks":           {asking: continuity.AskAlways, own: `"diagnostics":{"previous_message_id":"msg_7"},`, tools: []string{"a b", "a b c"}, asked: []string{turn(7), turn(7)}, told: true},
		"the client asks, streamed": {asking: continuity.AskAlways, stream: true, own: `"diagnostics":{"previous_message_id":"msg_7"},`, tools: []string{"a b", "a b c"}, asked: []string{turn(7), turn(7)}, told: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			provider := newAsker(t)
			_, base, _ := start(t, provider.URL, func(cfg *config.Config) { cfg.Continuity.Diagnostics = test.asking })
			more := test.own
			if test.stream {
				more += `"stream":true,`
			}
			for i, tools := range test.tools {
				resp, got := send(t, "POST", base+"/v1/messages", question(i, tools, more))
				if resp.StatusCode != 200 || provider.asked[i] != test.asked[i] {
					t.Fatalf("request %d: status %d, the provider is asked %q, want %q", i, resp.StatusCode, provider.asked[i], test.asked[i])
				}
				if told := strings.Contains(got, "diagnostics"); told != test.told {
					t.Errorf("request %d: the client hears of it: %t\n%s", i, told, got)
				}
				if !strings.Contains(got, fmt.Sprintf(`"id":"msg_%d","type":"message","role":"assistant","model":"m","`, i+1)) || !strings.Contains(got, "toolu_01") {
					t.Errorf("request %d: the client got %s", i, got)
				}
				if beta := strings.Contains(provider.betas[i], "cache-diagnosis"); beta != test.beta {
					t.Errorf("request %d: betas are %q", i, provider.betas[i])
				}
			}
		})
	}
}

// An agent that changes nothing, and is read from the cache, is not interfered
// with unless that is asked for.
func TestWhoChangesNothingIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	e := &explained{agent: newAgent(rand.New(rand.NewPCG(1, 1)), "claude-opus-5-5"), t: t, core: core}
	e.start(origin, gateway.Options{}, func(cfg *config.Config) {
		cfg.Continuity = config.Continuity{Diagnostics: continuity.AskEdited}
	})
	for range 3 {
		e.turn()
	}
	for _, record := range core.Log.All() {
		if strings.Contains(record.Body, "diagnostics") {
			t.Fatalf("the provider is asked: %s", short(record.Body))
		}
	}
}

// A server that does not know the question is asked once.
func TestARefusedQuestionIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words  string
		refuse func(betas, body string) bool
	}{
		"the member": {"diagnostics: Extra inputs are not permitted", func(_, body string) bool { return strings.Contains(body, `"diagnostics"`) }},
		"the beta": {
			"Unexpected value(s) `cache-diagnosis-2026-04-07` for the `anthropic-beta` header.",
			func(betas, _ string) bool { return strings.Contains(betas, "cache-diagnosis") },
		},
		"without a word of it": {"prompt is too long", func(_, body string) bool { return strings.Contains(body, `"diagnostics"`) }},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPicky(t, func(betas, body string) string { return when(c.refuse(betas, body), c.words) })
			g, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Continuity.Diagnostics = continuity.AskAlways })
			a := &pupil{t: t, base: base, model: "claude-opus-5-5", tools: "a b", system: "A prompt.", opening: "hi"}
			learned := c.words != "prompt is too long"
			for turn := range 3 {
				before := p.count()
				own := a.body()
				if status, got := a.ask(); status != 200 {
					t.Fatalf("turn %d: %d %s", turn, status, got)
				}
				want := 2
				if turn > 0 && learned {
					want = 1
				}
				if calls := p.count() - before; calls != want {
					t.Errorf("turn %d: it cost %d calls, want %d", turn, calls, want)
				}
				if last := p.last(t).body; turn > 0 && stripped(last) != own {
					t.Errorf("turn %d: the provider got %s", turn, last)
				}
			}
			_, page := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", "")
			if counted := strings.Contains(page, `warmpath_retreats_total{reason="diagnostics"} 1`); counted != learned {
				t.Errorf("the retreat is counted: %t", counted)
			}
		})
	}
}

// A stream that breaks while an event is held back ends with whole events and
// the error, which a client can read.
func TestAStreamBreaksWithinWhatIsHeld(t *testing.T) {
	t.Parallel()
	const ping, half = "event: ping\ndata: {\"type\":\"ping\"}\n\n", "event: message_start\ndata: {\"type\":\"message_sta"
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ping+half)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Continuity.Diagnostics = continuity.AskAlways })
	_, got := send(t, "POST", base+"/v1/messages", question(0, "a b", `"stream":true,`))
	if rest, ok := strings.CutPrefix(got, ping+"event: error\ndata: {"); !ok || !strings.HasSuffix(rest, "}\n\n") || strings.Contains(got, "message_sta") {
		t.Errorf("the client got %q", got)
	}
}
