package gateway_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"warmpath/cache"
	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// ofCaches are situations in which caches are met, missed and kept warm.
var ofCaches = map[string]func(*testing.T){
	"every miss": func(t *testing.T) {
		for name, miss := range misses {
			t.Run(name, func(t *testing.T) { miss.ask(t) })
		}
	},
	"edits":          func(t *testing.T) { changed(t, nil) },
	"edits observed": func(t *testing.T) { changed(t, func(cfg *config.Config) { cfg.Mode = rewrite.ModeObserve }) },
	"efforts and echoes": func(t *testing.T) {
		for _, mode := range []rewrite.Mode{rewrite.ModeOn, rewrite.ModeObserve} {
			p := newPicky(t, func(string, string) string { return "" })
			_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Mode = mode })
			a := &pupil{t: t, base: base, model: able, tools: "a b", system: "A prompt.", opening: "hi"}
			a.ask()
			a.ask()
			lowers(a)
			a.ask()
			miss := misses["messages_changed"] // The agent spells what it was told in its own way.
			miss.mode = mode
			miss.ask(t)
		}
	},
	"an effort that nothing can say": func(t *testing.T) {
		p := newPicky(t, func(string, string) string { return "" })
		_, base, _ := start(t, p.URL, nil)
		a := &pupil{t: t, base: base, model: able, tools: "a b", system: "A prompt.", opening: "hi"}
		a.ask()
		lowers(a)
		a.ask()
		a.extra = ""
		a.ask()
	},
	"retreats": func(t *testing.T) {
		has := strings.Contains
		for name, c := range map[string]struct {
			change func(*pupil)
			refuse func(betas, body string) string
		}{
			"bound_thinking": {func(p *pupil) { p.messages = p.messages[1:]; p.messages[0] = `{"role":"user","content":"edited"}` },
				func(_, body string) string { return when(has(body, "edited") && !has(body, "drop_block"), boundText) }},
			"system_message": {instructed, func(_, body string) string { return when(has(body, `"role":"system"`), unknownText) }},
			"beta": {extended, func(betas, body string) string {
				return when(has(body, "tool_addition") && has(betas, "inline-tools"), betaText)
			}},
			"marks": {instructed, func(_, body string) string { return when(strings.Count(body, "cache_control") > 1, fourText) }},
			"other": {instructed, func(_, body string) string { return when(has(body, "instructions-changed"), tooLongText) }},
		} {
			t.Run(name, func(t *testing.T) {
				p := newPicky(t, c.refuse)
				_, base, _ := start(t, p.URL, nil)
				a := &pupil{t: t, base: base, model: able, tools: "a b", system: "A prompt. And more.", opening: "one"}
				a.ask()
				a.ask()
				c.change(a)
				if status, got := a.ask(); status != 200 {
					t.Errorf("%d %s", status, got)
				}
			})
		}
	},
	"tools that are refused": func(t *testing.T) {
		d, _, base := withDislikes(t)
		d.got(dislikes("tell_user", 400, "no tools here"))
		asksFor(t, 200, base+"/v1/messages", `{"model":"`+models[rewrite.Messages]+`","max_tokens":100,"messages":[{"role":"user","content":"DO[say Yes.]"}]}`,
			"x-api-key", "k", "anthropic-version", "2023-06-01")
	},
	"a question that is refused": func(t *testing.T) {
		p := newPicky(t, func(_, body string) string {
			return when(strings.Contains(body, `"diagnostics"`), "diagnostics: Extra inputs are not permitted")
		})
		_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Continuity.Diagnostics = continuity.AskAlways })
		a := &pupil{t: t, base: base, model: able, tools: "a b", system: "A prompt.", opening: "hi"}
		a.ask()
	},
	"another's thinking": func(t *testing.T) { thinksElsewhere(t) },
	"what cannot be planned": func(t *testing.T) {
		p := newProvider(t, answerWith(reply))
		_, base, _ := start(t, p.URL, nil)
		asksFor(t, 200, base+"/v1/messages", `{"model":"`+able+`","messages":[{"role":"user","content":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+`}]}`)
	},
	"a state too large for its store": func(t *testing.T) {
		_, origin := simulated(t)
		e := &explained{agent: newAgent(rand.New(rand.NewPCG(1, 1)), able), t: t}
		e.start(origin, gateway.Options{Store: narrow{cache.NewMemory(1 << 20)}}, nil)
		e.sections = []string{rules("long", 300)}
		e.turn()
	},
	"a cold prefix that many need": func(t *testing.T) {
		_, origin := simulated(t)
		_, base, _ := start(t, origin, nil)
		var all sync.WaitGroup
		for worker := range 3 {
			all.Go(func() {
				_, _, _ = postMessages(t, base, "k", fmt.Appendf(nil, `{"model":"claude-opus-4-8","max_tokens":100,"system":[{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"part %d DO[first 500ms; say done]"}]}`,
					strings.Repeat("A rule of this house. ", 1000), worker))
			})
		}
		all.Wait()
	},
}

// narrow is a store that takes nothing long.
type narrow struct{ cache.Store }

func (n narrow) Set(ctx context.Context, entries ...cache.Entry) error {
	for i := range entries {
		if len(entries[i].Value) > 1000 {
			return cache.ErrTooLarge
		}
	}
	return n.Store.Set(ctx, entries...)
}
