package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/cache"
	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/anthropic"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/console"
	"warmpath/gateway/prompt"
	"warmpath/gateway/tools"
	"warmpath/gateway/tools/mcp"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// explained is an agent whose requests are looked at through the console.
type explained struct {
	*agent
	t       *testing.T
	core    *provider.Core
	base    string
	store   *deaf
	own     string // the gateway that is looked at
	admin   string
	written func([]byte) []byte // how the agent writes a body, nil for plainly
	sent    map[string]int      // requests, by where to
}

// turn says something long, by which the model calls a tool and is done, and
// sends what comes of it.
func (e *explained) turn() {
	e.t.Helper()
	e.agent.turn++
	words := fmt.Sprintf("Turn %d. DO[call alpha {\"x\":\"1\"}; then; say Done.]\n%s", e.agent.turn, rules("words", 100))
	e.history = append(e.history, message{"user", []any{map[string]any{"type": "text", "text": words}}})
	for e.ask() {
	}
}

// ask sends one request and reports whether another one must follow.
func (e *explained) ask() (called bool) {
	e.t.Helper()
	body := e.body()
	if e.written != nil {
		body = e.written(body)
	}
	status, answer, _ := postMessages(e.t, e.base, "k", body)
	e.sent[strings.TrimSuffix(e.base, "/p/elsewhere")]++
	var got struct{ Content json.RawMessage }
	if err := json.Unmarshal(answer, &got); err != nil || status != 200 {
		e.t.Fatalf("status %d: %s", status, answer)
	}
	return e.hear(got.Content)
}

// newest is the row of the newest request.
func (e *explained) newest() console.Request {
	e.t.Helper()
	var list struct{ Requests []console.Request }
	eventually(e.t, func() bool {
		_, body := send(e.t, "GET", e.admin+"/api/requests?limit=1000", "")
		return json.Unmarshal([]byte(body), &list) == nil && len(list.Requests) == e.sent[e.own]
	}, func() string { return fmt.Sprintf("%d requests are shown", len(list.Requests)) })
	return list.Requests[0]
}

func (e *explained) start(origin string, opts gateway.Options, change func(*config.Config)) {
	g, base, _ := startWith(e.t, origin, opts, change)
	e.base, e.own, e.admin, e.sent = base, base, "http://"+g.AdminAddr(), map[string]int{}
}

// world is a provider that is as strict as it can be.
func world(t *testing.T) (*provider.Core, string) {
	core := provider.New(provider.Options{})
	server := httptest.NewServer(anthropic.New(core, anthropic.Options{BetasInPrefix: true}))
	t.Cleanup(server.Close)
	return core, server.URL
}

func rules(name string, n int) string {
	return name + strings.Repeat("\nA rule of "+name+".", n)
}

// able is a model that takes changes in mid-conversation, and unable one that takes none.
const able, unable = "claude-opus-5-5", "claude-sonnet-4-6"

// missing is a conversation whose last request misses its cache.
type missing struct {
	model  string
	mode   rewrite.Mode // on unless set
	config func(*config.Config)
	play   func(e *explained)
	want   console.Miss
	epoch  string
}

// misses lead to every reason but those that need time to pass.
var misses = map[string]missing{
	"cold_start": {
		model: able, play: func(*explained) {},
		want: console.Miss{Reason: "cold_start", Source: "gateway", By: "client"},
	},
	"below_minimum": {
		model: able, play: func(e *explained) { e.sections, e.tools = []string{"Be brief."}, []string{"alpha"} },
		want: console.Miss{Reason: "below_minimum", Source: "gateway", By: "client"},
	},
	"tools_changed": {
		model: unable, play: func(e *explained) { e.turn(); e.turn(); e.tools = append(e.tools, "delta") },
		want: console.Miss{Reason: "tools_changed", Source: "gateway", By: "client"},
	},
	"tools_changed, says the provider": {
		model: unable, config: func(cfg *config.Config) { cfg.Continuity.Diagnostics = continuity.AskAlways },
		play: func(e *explained) { e.turn(); e.turn(); e.tools = append(e.tools, "delta") },
		want: console.Miss{Reason: "tools_changed", Source: "provider", By: "client"},
	},
	"tools_changed, observed": {
		model: able, mode: rewrite.ModeObserve,
		play: func(e *explained) { e.turn(); e.turn(); e.tools = append(e.tools, "delta") },
		want: console.Miss{Reason: "tools_changed", Source: "gateway", By: "client"},
	},
	"tools_changed, without any proof": {
		// Nothing tells this conversation from another that began alike.
		model: able, play: func(e *explained) {
			for range 2 {
				e.history = append(e.history, message{"user", []any{map[string]any{"type": "text", "text": "DO[say This.]" + rules("words", 90)}}})
				e.ask()
			}
			e.tools = append(e.tools, "delta")
		},
		want: console.Miss{Reason: "tools_changed", Source: "gateway", By: "client"}, epoch: "fresh",
	},
	"system_changed": {
		model: unable, play: func(e *explained) { e.turn(); moods["another day"](e.agent) },
		want: console.Miss{Reason: "system_changed", Source: "gateway", By: "client"},
	},
	"messages_changed": {
		model: unable, mode: rewrite.ModeObserve,
		play: func(e *explained) {
			e.history = []message{
				{"user", []any{map[string]any{"type": "text", "text": "Begin."}}},
				{"assistant", []any{map[string]any{"type": "tool_use", "id": "toolu_01AbCdEf23456789XyZ", "name": "alpha", "input": map[string]any{"x": "1", "y": "2"}}}},
				{"user", []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_01AbCdEf23456789XyZ", "content": rules("result", 50)}}},
			}
			e.turn()
			e.written = func(body []byte) []byte {
				return bytes.Replace(body, []byte(`{"x":"1","y":"2"}`), []byte(`{"y":"2","x":"1"}`), 1)
			}
		},
		want: console.Miss{Reason: "messages_changed", Source: "gateway", By: "client"},
	},
	"params_changed": {
		model: able, play: func(e *explained) {
			e.turn()
			e.written = func(body []byte) []byte {
				return append([]byte(`{"tool_choice":{"type":"auto","disable_parallel_tool_use":true},`), body[1:]...)
			}
		},
		want: console.Miss{Reason: "params_changed", Source: "gateway", By: "client"},
	},
	"betas_changed": {
		model: able, config: func(cfg *config.Config) { cfg.Continuity.EarlyBetas = false },
		play: func(e *explained) { e.turn(); e.turn(); e.tools = append(e.tools, "delta") },
		// That is what early betas are for.
		want: console.Miss{Reason: "betas_changed", Source: "gateway", By: "gateway"},
	},
	"history_rewritten": {
		model: able, play: func(e *explained) {
			e.turn()
			e.turn()
			e.turn()
			e.history[4].Content = []any{map[string]any{"type": "text", "text": "Something else. " + rules("words", 90)}}
		},
		want: console.Miss{Reason: "history_rewritten", Source: "gateway", By: "client"}, epoch: "history_rewritten",
	},
	"history_rewritten at its end": {
		model: able, play: func(e *explained) {
			e.turn()
			e.turn()
			e.history[4].Content = []any{map[string]any{"type": "text", "text": "Something else. " + rules("words", 90)}}
		},
		want: console.Miss{Reason: "history_rewritten", Source: "gateway", By: "client"}, epoch: "history_rewritten",
	},
	"history_rewritten from the front": {
		model: able, play: func(e *explained) { e.turn(); e.turn(); e.turn(); e.history = e.history[4:] },
		want: console.Miss{Reason: "history_rewritten", Source: "gateway", By: "client"}, epoch: "fresh",
	},
	"epoch": {
		model: "claude-opus-5", play: func(e *explained) {
			e.sections = []string{rules("one", 2000), rules("two", 1900)}
			e.turn()
			e.turn()
			e.sections[1] = rules("three", 1700)
		},
		want: console.Miss{Reason: "epoch", Source: "gateway", By: "client"}, epoch: "directive_too_big",
	},
	"epoch, for want of the store": {
		// What the gateway had edited goes out as the client has it.
		model: able, play: func(e *explained) {
			e.turn()
			e.tools = append(e.tools, "delta")
			e.sections[0] = "At first. " + e.sections[0]
			e.turn()
			e.store.off.Store(true)
		},
		want: console.Miss{Reason: "epoch", Source: "gateway", By: "gateway"}, epoch: "bytes_lost",
	},
	"epoch, for want of the store before": {
		model: able, play: func(e *explained) {
			e.turn()
			e.tools = append(e.tools, "delta")
			e.sections[0] = "At first. " + e.sections[0]
			e.turn()
			e.store.off.Store(true)
			e.turn()
			e.store.off.Store(false)
		},
		want: console.Miss{Reason: "epoch", Source: "gateway", By: "gateway"},
	},
	"model_changed": {
		model: able, play: func(e *explained) { e.turn(); e.turn(); e.model = "claude-opus-5" },
		want: console.Miss{Reason: "model_changed", Source: "gateway", By: "client"}, epoch: "fresh",
	},
	"route_changed": {
		model: able, play: func(e *explained) { e.turn(); e.turn(); e.base += "/p/elsewhere" },
		want: console.Miss{Reason: "route_changed", Source: "gateway", By: "client"}, epoch: "fresh",
	},
	"provider_unexplained": {
		model: able, play: func(e *explained) { e.turn(); e.turn(); e.core.Cache.Clear() },
		want: console.Miss{Reason: "provider_unexplained", Source: "gateway", By: "provider"},
	},
	"unknown": {
		model: able, play: func(e *explained) {
			_, other := world(e.t)
			_, e.base, _ = startWith(e.t, other, gateway.Options{Store: cache.NewMemory(1 << 20)}, nil)
			e.turn()
			e.base = e.own
		},
		want: console.Miss{Reason: "unknown", Source: "gateway", By: "unknown"}, epoch: "fresh",
	},
}

// ask plays a conversation through a whole gateway, and sends its last request.
func (m *missing) ask(t *testing.T) *explained {
	core, origin := world(t)
	_, elsewhere := world(t)
	e := &explained{agent: newAgent(rand.New(rand.NewPCG(1, 1)), m.model), t: t, core: core}
	e.store = &deaf{Store: cache.NewMemory(8 << 20)}
	e.start(origin, gateway.Options{Store: e.store}, func(cfg *config.Config) {
		if m.mode != 0 {
			cfg.Mode = m.mode
		}
		var problems []catalog.Problem
		cfg.Catalog, problems = catalog.Build(catalog.Settings{
			Addresses: map[string]string{"anthropic": origin},
			Providers: map[string]catalog.Row{"elsewhere": {BaseURL: elsewhere, Dialects: []string{"messages"}}},
		})
		if problems != nil {
			t.Fatal(problems)
		}
		if m.config != nil {
			m.config(cfg)
		}
	})
	m.play(e)
	e.history = append(e.history, message{"user", []any{map[string]any{"type": "text", "text": "DO[say Done.]"}}})
	e.ask()
	return e
}

// TestEveryMissIsGivenItsReason plays what leads to each reason. That a cache has
// expired is tested where time can be set.
func TestEveryMissIsGivenItsReason(t *testing.T) {
	t.Parallel()
	var seen []string
	for name, test := range misses {
		t.Run(name, func(t *testing.T) {
			e := test.ask(t)
			got := e.newest()
			if got.Miss == nil {
				t.Fatalf("no miss: read %v of %v", *got.Read, *got.Input)
			}
			if diff := cmp.Diff(test.want, *got.Miss, cmpopts.IgnoreFields(console.Miss{}, "Expected", "Missed")); diff != "" {
				t.Errorf("(-want +got):\n%s\n%+v %+v", diff, got.Miss, got.Continuity)
			}
			nothing := slices.Contains([]string{"cold_start", "below_minimum", "unknown"}, got.Miss.Reason)
			if missed := got.Miss.Missed; (missed == 0) != nothing || missed > got.Miss.Expected {
				t.Errorf("%d tokens missed of %d", missed, got.Miss.Expected)
			}
			if test.epoch != "" && got.Continuity.Began != test.epoch {
				t.Errorf("the epoch is for %q, want %q", got.Continuity.Began, test.epoch)
			}
			_, page := send(t, "GET", e.admin+"/metrics", "")
			line := fmt.Sprintf("warmpath_cache_breaks_total{by=%q,reason=%q,source=%q} ", test.want.By, test.want.Reason, test.want.Source)
			if _, count, _ := strings.Cut(page, line); count == "" || count[0] < '1' {
				t.Errorf("the metrics do not count %s", line)
			}
		})
		seen = append(seen, test.want.Reason)
	}
	for _, reason := range metrics.MissReasons {
		if !slices.Contains(seen, reason) && reason != string(continuity.ExpiryMiss) && reason != string(continuity.AwaitedMiss) {
			t.Errorf("no case comes to %s", reason)
		}
	}
}

func wordsOf[T ~string](all []T) (words []string) {
	for _, word := range all {
		words = append(words, string(word))
	}
	return words
}

func namesOfAll[T fmt.Stringer](all []T) (names []string) {
	for _, one := range all {
		names = append(names, one.String())
	}
	return names
}

// The closed sets are written down twice, because metrics know no conversations. What
// is in the one only would panic when it is counted.
func TestMetricsKnowEveryWord(t *testing.T) {
	for name, pair := range map[string][2][]string{
		"reasons": {wordsOf(continuity.Misses), metrics.MissReasons},
		"sources": {continuity.MissSources, metrics.MissSources},
		"causers": {continuity.MissCausers, metrics.MissCausers},
		"epochs": {append(wordsOf([]continuity.Reason{
			continuity.Fresh, continuity.ToolsChanged, continuity.SystemChanged, continuity.DirectiveTooBig, continuity.BytesLost,
			continuity.EffortChanged, continuity.HistoryRewritten,
		}), "retreat"), metrics.EpochReasons},
		"prompts":           {namesOfAll(prompt.Kinds), metrics.PromptKinds},
		"outcomes":          {namesOfAll(prompt.Outcomes), metrics.PromptOutcomes},
		"boards":            {prompt.BoardOps, metrics.PromptSharingOps},
		"servers":           {mcp.Outcomes, metrics.ServerOutcomes},
		"sources of tools":  {[]string{tools.SourceBuiltin, tools.SourceMCP}, metrics.ToolSources},
		"operations":        {wordsOf(cache.Ops()), metrics.StoreOps},
		"reasons of stores": {wordsOf(cache.Reasons()), metrics.StoreReasons},
	} {
		if diff := cmp.Diff(slices.Sorted(slices.Values(pair[0])), slices.Sorted(slices.Values(pair[1]))); diff != "" {
			t.Errorf("%s (-theirs +metrics):\n%s", name, diff)
		}
	}
}
