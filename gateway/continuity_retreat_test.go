package gateway_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"warmpath/gateway/config"
	"warmpath/rewrite/continuity"
)

// The texts of refusals, as the provider is documented or was seen to write them.
const (
	boundText     = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	placeText     = "messages.3: role 'system' must precede an 'assistant' message or end the array"
	unknownText   = "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."
	changeText    = "messages.3.content.0: tool_addition blocks are not supported for this model."
	effortText    = "messages.6.output_config: Extra inputs are not permitted"
	betaText      = "Unexpected value(s) `inline-tools-2026-09-15` for the `anthropic-beta` header. Please consult our documentation or try again without the header."
	bindingText   = "thinking.adaptive.block_binding: Extra inputs are not permitted"
	deferText     = "tools.2.custom.defer_loading: Extra inputs are not permitted"
	fourText      = "A maximum of 4 blocks with cache_control may be provided. Found 5."
	lifetimeText  = "messages.0.content.4.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
	automaticText = "cache_control: Extra inputs are not permitted"
	tooLongText   = "prompt is too long: 200001 tokens > 200000 maximum"
)

// picky is a provider that refuses what it is told to, and answers everything
// else with a thought and a call.
type picky struct {
	*double
	refuse func(betas, body string) string
	status int // of refusals, 400 if zero
	calls  int
}

func newPicky(t *testing.T, refuse func(betas, body string) string) *picky {
	p := &picky{refuse: refuse}
	p.double = newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if words := p.refuse(r.Header.Get("Anthropic-Beta"), string(body)); words != "" {
			w.WriteHeader(cmp.Or(p.status, 400))
			_, _ = io.WriteString(w, refusal(words))
			return
		}
		p.calls++
		_, _ = fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"","signature":"EqoBCkgIARABGAIiQL8%d"},{"type":"tool_use","id":"toolu_01AbCdEf23456789X%d","name":"a","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":5}}`, p.calls, p.calls)
	})
	return p
}

func refusal(words string) string {
	text, _ := json.Marshal(words)
	return `{"type":"error","error":{"type":"invalid_request_error","message":` + string(text) + `},"request_id":"req_1"}`
}

// pupil is an agent of few words: its tools by name, its prompt, its turns.
type pupil struct {
	t        *testing.T
	base     string
	model    string
	tools    string
	system   string
	extra    string // members in front
	opening  string
	messages []string
}

func (p *pupil) body() string {
	var tools []string
	for name := range strings.FieldsSeq(p.tools) {
		tools = append(tools, `{"name":"`+name+`","input_schema":{"type":"object"}}`)
	}
	messages := slices.Clone(p.messages)
	for i := range messages[:max(0, len(messages)-1)] {
		messages[i] = strings.Replace(messages[i], `,"cache_control":{"type":"ephemeral"}`, "", 1)
	}
	return `{"model":"` + p.model + `","max_tokens":100,` + p.extra + `"tools":[` + strings.Join(tools, ",") + `],"system":[{"type":"text","text":"` + p.system + `"}],"messages":[` + strings.Join(messages, ",") + `]}`
}

// ask sends the next request and gives what the client got.
func (p *pupil) ask() (status int, got string) {
	p.t.Helper()
	if len(p.messages) == 0 {
		p.messages = []string{`{"role":"user","content":[{"type":"text","text":"` + p.opening + `","cache_control":{"type":"ephemeral"}}]}`}
	}
	resp, got := send(p.t, "POST", p.base+"/v1/messages", p.body())
	if resp.StatusCode == 200 {
		var reply struct {
			Content json.RawMessage
		}
		if err := json.Unmarshal([]byte(got), &reply); err != nil {
			p.t.Fatal(err)
		}
		var blocks []struct{ ID string }
		_ = json.Unmarshal(reply.Content, &blocks)
		p.messages = append(p.messages, `{"role":"assistant","content":`+string(reply.Content)+`}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+blocks[1].ID+`","content":"x","cache_control":{"type":"ephemeral"}}]}`)
	}
	return resp.StatusCode, got
}

func TestRetreats(t *testing.T) {
	t.Parallel()
	has := strings.Contains
	tests := map[string]struct {
		model  string
		extra  string
		change func(*pupil)
		refuse func(betas, body string) string
		calls  int  // that the changed request costs
		own    bool // the client's own bytes went out in the end
		after  int  // that the next request costs
		other  int  // that the same change costs another conversation
		holds  string
		beta   string
	}{
		"PB-14 bound thinking": {
			change: func(p *pupil) { p.messages = p.messages[1:]; p.messages[0] = `{"role":"user","content":"edited"}` },
			refuse: func(_, body string) string { return when(has(body, "edited") && !has(body, "drop_block"), boundText) },
			calls:  2, holds: `"drop_block"`, beta: "thinking-binding-controls", after: 1, other: 2,
		},
		"bound thinking that cannot be dropped": {
			model: "claude-sonnet-5-5", extra: `"thinking":{"type":"between_tools"},`,
			change: func(p *pupil) { p.messages[0] = `{"role":"user","content":"edited"}` },
			refuse: func(_, body string) string { return when(has(body, "edited") && has(body, "signature"), boundText) },
			calls:  2, holds: `"between_tools"`, after: 1, other: 2,
		},
		"GT-08 a misplaced message": {
			change: func(p *pupil) { p.system += " New." },
			refuse: func(_, body string) string { return when(has(body, `"role":"system"`), placeText) },
			calls:  2, own: true, after: 1, other: 2,
		},
		"GT-01 an unknown role": {
			change: func(p *pupil) { p.system += " New." },
			refuse: func(_, body string) string { return when(has(body, `"role":"system"`), unknownText) },
			calls:  2, own: true, after: 1, other: 1,
		},
		"GT-02 changes of tools": {
			change: func(p *pupil) { p.tools = "a b c" },
			refuse: func(_, body string) string { return when(has(body, `tool_addition`), changeText) },
			calls:  2, own: true, after: 1, other: 1,
		},
		"GT-03 an unknown beta": {
			change: func(p *pupil) { p.tools = "a b c" },
			refuse: func(betas, _ string) string { return when(has(betas, "inline-tools"), betaText) },
			calls:  1, after: 1, other: 1, holds: "tool_addition", beta: "mid-conversation-tool-changes",
		},
		"efforts that messages cannot set": {
			change: lowers,
			refuse: func(_, body string) string { return when(has(body, `"content":[],"output_config"`), effortText) },
			calls:  2, own: true, after: 1, other: 1,
		},
		"a model without efforts": {
			change: lowers,
			refuse: func(_, body string) string {
				return when(has(body, `"content":[],"output_config"`), "messages.6.output_config: output_config on system messages is not supported for this model.")
			},
			calls: 2, own: true, after: 1, other: 1,
		},
		"the beta of efforts": {
			change: lowers,
			refuse: func(betas, _ string) string {
				return when(has(betas, "output-config"), strings.Replace(betaText, "inline-tools-2026-09-15", "mid-conversation-output-config-2026-07-01", 1))
			},
			calls: 1, own: true, after: 1, other: 1, beta: "inline-tools",
		},
		"an unknown field of a tool": {
			change: func(p *pupil) { p.tools = "a b c" },
			refuse: func(_, body string) string { return when(has(body, "defer_loading"), deferText) },
			calls:  2, own: true, after: 1, other: 1,
		},
		"fields that are the client's": {
			change: func(p *pupil) { p.tools, p.system = "a b c", p.system+" New." },
			refuse: func(_, body string) string {
				return when(has(body, `"role":"system"`), "messages.3.content.0.foo: Extra inputs are not permitted")
			},
			calls: 2, own: true, after: 1, other: 2,
		},
		"a beta that was not at fault": {
			change: func(p *pupil) { p.tools = "a b c" },
			refuse: func(betas, body string) string {
				switch {
				case !has(body, "tool_addition"):
					return ""
				case has(betas, "inline-tools"):
					return betaText
				}
				return tooLongText
			},
			calls: 3, own: true, after: 1, other: 3,
		},
		"betas that are named one by one": {
			change: lowers,
			refuse: func(betas, _ string) string {
				for _, beta := range []string{"inline-tools-2026-09-15", "mid-conversation-output-config-2026-07-01"} {
					if has(betas, beta) {
						return strings.Replace(betaText, "inline-tools-2026-09-15", beta, 1)
					}
				}
				return ""
			},
			calls: 1, own: true, after: 1, other: 1, beta: "mid-conversation-tool-changes",
		},
		"an unknown control of thinking": {
			change: func(p *pupil) { p.tools = "" },
			refuse: func(_, body string) string {
				switch {
				case has(body, "block_binding"):
					return bindingText
				case has(body, "tool_removal"):
					return tooLongText
				}
				return ""
			},
			calls: 3, own: true, after: 1, other: 2,
		},
		"CB-01 too many marks": {
			change: func(p *pupil) { p.system += " New." },
			refuse: func(_, body string) string { return when(strings.Count(body, "cache_control") > 1, fourText) },
			calls:  2, holds: "instructions-changed", after: 1, other: 2,
		},
		"CB-04 the order of lifetimes": {
			change: func(p *pupil) { p.system += " New." },
			refuse: func(_, body string) string { return when(strings.Count(body, "cache_control") > 1, lifetimeText) },
			calls:  2, holds: "instructions-changed", after: 1, other: 2,
		},
		"anything else": {
			change: func(p *pupil) { p.system += " New." },
			refuse: func(_, body string) string { return when(has(body, "instructions-changed"), tooLongText) },
			calls:  2, own: true, after: 1, other: 2,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.model == "" {
				test.model = "claude-opus-5-5"
			}
			p := newPicky(t, test.refuse)
			_, base, _ := start(t, p.URL, nil)
			play := func(opening string) (a *pupil, calls int) {
				a = &pupil{t: t, base: base, model: test.model, tools: "a b", system: "A prompt. And some more of it.", extra: test.extra, opening: opening}
				for range 2 {
					if status, got := a.ask(); status != 200 {
						t.Fatalf("before: %d %s", status, got)
					}
				}
				test.change(a)
				own, before := a.body(), p.count()
				if status, got := a.ask(); status != 200 {
					t.Fatalf("the client got %d %s", status, got)
				}
				last := p.last(t)
				if test.own && stripped(last.body) != own {
					t.Errorf("the provider got %s\nwant the client's own %s", last.body, own)
				}
				if !strings.Contains(last.body, test.holds) || !strings.Contains(last.header.Get("Anthropic-Beta"), test.beta) {
					t.Errorf("the provider got %q %s\nwant %q %s", last.header.Get("Anthropic-Beta"), last.body, test.beta, test.holds)
				}
				return a, p.count() - before
			}
			a, calls := play("one")
			if calls != test.calls {
				t.Errorf("it cost %d calls, want %d", calls, test.calls)
			}
			before := p.count()
			if status, got := a.ask(); status != 200 || p.count()-before != test.after {
				t.Errorf("the next one got %d %s with %d calls, want %d", status, got, p.count()-before, test.after)
			}
			if _, calls := play("two"); calls != test.other {
				t.Errorf("another conversation's cost %d calls, want %d", calls, test.other)
			}
		})
	}
}

// lowers goes on with words of the user's, and asks for less effort.
func lowers(p *pupil) {
	p.messages = append(p.messages, `{"role":"assistant","content":"done"}`,
		`{"role":"user","content":[{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}]}`)
	p.extra = `"output_config":{"effort":"low"},`
}

func when(refused bool, words string) string {
	if refused {
		return words
	}
	return ""
}

// stripped leaves out what the last rung adds for thinking of a lost prefix.
func stripped(body string) string {
	return strings.Replace(body, `,"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}}`, "}", 1)
}

// Servers that speak the dialect have other words, and other statuses, for what
// they do not take. Nobody is refused what would have been taken from it itself.
func TestRefusalsOfOtherStatuses(t *testing.T) {
	t.Parallel()
	const words = "that is not here"
	for _, test := range []struct {
		status, retries int
		change          func(*pupil)
		calls, own      int // for an edited request, and for one that is not
	}{
		{422, 0, instructed, 2, 1},
		{413, 0, instructed, 2, 1},
		{413, 0, reordered, 2, 1},
		{403, 0, instructed, 2, 1},
		{404, 0, instructed, 2, 1},
		{404, 0, extended, 2, 1},
		{404, 0, reordered, 1, 1}, // nothing in it explains that
		{501, 0, instructed, 2, 1},
		{500, 0, instructed, 2, 1},
		{500, 1, instructed, 3, 2},
		{503, 0, instructed, 1, 1},
		{429, 0, instructed, 1, 1},
	} {
		t.Run(fmt.Sprint(test.status, test.retries, test.calls), func(t *testing.T) {
			own := ""
			p := newPicky(t, func(_, body string) string { return when(own != "" && stripped(body) != own, words) })
			p.status = test.status
			_, base, _ := start(t, p.URL, func(cfg *config.Config) {
				cfg.Retries, cfg.Continuity.Diagnostics = test.retries, continuity.AskNever
			})
			for _, opening := range []string{"one", "two"} {
				own = ""
				a := &pupil{t: t, base: base, model: "claude-opus-5-5", tools: "a b", system: "A prompt. And more.", opening: opening}
				a.ask()
				a.ask()
				test.change(a)
				own = a.body()
				before := p.count()
				status, got := a.ask()
				if mended := test.calls > test.own; mended != (status == 200) || !mended && (status != test.status || got != refusal(words)) {
					t.Errorf("%s: the client got %d %s", opening, status, got)
				}
				if calls := p.count() - before; calls != test.calls {
					t.Errorf("%s: it cost %d calls, want %d", opening, calls, test.calls)
				}
			}
			// Who is sent as it came, and is refused, hears it.
			own = ""
			b := &pupil{t: t, base: base, model: "claude-opus-5-5", tools: "a b", system: "A prompt.", opening: "hi"}
			b.ask()
			own = "nothing"
			before := p.count()
			if status, got := b.ask(); status != test.status || got != refusal(words) || p.count()-before != test.own {
				t.Errorf("the client got %d %s for %d calls", status, got, p.count()-before)
			}
		})
	}
}

func instructed(p *pupil) { p.system += " New." }
func extended(p *pupil)   { p.tools = "a b c" }
func reordered(p *pupil)  { p.tools = "b a" }

// What no edit of ours can have caused reaches the client byte for byte, and
// nothing is sent again.
func TestTheClientsOwnErrorsPass(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{
		"marks": fourText, "lifetimes": lifetimeText, "a system message": placeText, "an unknown role": unknownText,
		"tools": changeText, "a field": deferText, "a mark": automaticText, "too long": tooLongText,
		"a beta of its own": "Unexpected value(s) `foo-2030-01-01` for the `anthropic-beta` header.",
		"signature":         "messages.1.content.0: Invalid `signature` in `thinking` block",
	} {
		t.Run(name, func(t *testing.T) {
			refuse := ""
			p := newPicky(t, func(string, string) string { return refuse })
			_, base, _ := start(t, p.URL, nil)
			a := &pupil{t: t, base: base, model: "claude-opus-5-5", tools: "a b", system: "A prompt.", opening: "hi"}
			a.ask()
			before := p.count()
			refuse = words
			if status, got := a.ask(); status != 400 || got != refusal(words) {
				t.Errorf("the client got %d %s", status, got)
			}
			if p.count() != before+1 {
				t.Errorf("the provider was asked %d times", p.count()-before)
			}
			// The refused request has left nothing behind.
			refuse = ""
			own := a.body()
			if status, _ := a.ask(); status != 200 || p.last(t).body != own {
				t.Errorf("after it the provider got %s, want %s", p.last(t).body, own)
			}
		})
	}
}

// A provider that refuses everything is asked a bounded number of times, and its
// last word is about the client's own request.
func TestRetreatsEnd(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{
		"bound": boundText, "place": placeText, "beta": betaText, "field": deferText, "marks": fourText, "else": tooLongText,
	} {
		t.Run(name, func(t *testing.T) {
			refuse := ""
			p := newPicky(t, func(string, string) string { return refuse })
			_, base, _ := start(t, p.URL, nil)
			a := &pupil{t: t, base: base, model: "claude-opus-5-5", tools: "a b", system: "A prompt. With some more.", opening: "hi"}
			a.ask()
			a.ask()
			a.tools, refuse = "b c", words
			before := p.count()
			status, got := a.ask()
			if status != 400 || got != refusal(words) {
				t.Errorf("the client got %d %s", status, got)
			}
			if n := p.count() - before; n < 2 || n > 4 {
				t.Errorf("the provider was asked %d times", n)
			}
			if last := stripped(p.last(t).body); last != a.body() {
				t.Errorf("at last the provider got %s, want %s", last, a.body())
			}
			// Nothing was learned from it, and nothing has changed.
			refuse = ""
			before = p.count()
			if status, _ := a.ask(); status != 200 || p.count() != before+1 {
				t.Errorf("after it: %d with %d calls", status, p.count()-before)
			}
			if body := p.last(t).body; !strings.Contains(body, "tool_removal") || strings.Contains(body, "drop_block") {
				t.Errorf("after it the provider got %s", body)
			}
		})
	}
}

// An agent that edits nothing is silent: its own bytes go out, and only a beta
// header goes along.
func TestSilence(t *testing.T) {
	t.Parallel()
	p := newPicky(t, func(string, string) string { return "" })
	_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Quiet = true })
	a := &pupil{t: t, base: base, model: "claude-opus-5-5", tools: "a b", system: "A prompt.", opening: "hi", extra: ` "metadata" : {"user_id":"\u0041"} , `}
	for turn := range 6 {
		own := a.body
		if turn == 0 {
			own = func() string { return strings.Replace(a.body(), `"messages":[]`, `"messages":[`+a.messages[0]+`]`, 1) }
		}
		want := ""
		if turn > 0 {
			want = own()
		}
		if status, got := a.ask(); status != 200 {
			t.Fatalf("%d %s", status, got)
		}
		last := p.last(t)
		if turn > 0 && last.body != want {
			t.Errorf("turn %d: the provider got %s\nwant %s", turn, last.body, want)
		}
		if beta := last.header.Get("Anthropic-Beta"); beta != "inline-tools-2026-09-15,mid-conversation-output-config-2026-07-01" {
			t.Errorf("turn %d: the betas are %q", turn, beta)
		}
	}
}
