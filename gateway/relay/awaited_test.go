package relay_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/lineage"
	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/anthropic"
	"warmpath/gateway/catalog"
	"warmpath/gateway/prompt"
	"warmpath/gateway/relay"
	"warmpath/gateway/tools"
	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// While a person thinks, a provider's cache may expire: the call that follows misses,
// and its record and the metrics say that it was the wait.
func TestAWaitIsTheReason(t *testing.T) {
	for name, tc := range map[string]struct {
		wait time.Duration
		want continuity.Miss
	}{
		"WT-10 longer than the cache lives": {6 * time.Minute, continuity.AwaitedMiss},
		"WT-10 shorter":                     {4 * time.Minute, continuity.NoMiss},
	} {
		t.Run(name, func(t *testing.T) {
			clock := provider.NewManualClock(time.Now())
			server := httptest.NewServer(anthropic.New(provider.New(provider.Options{Clock: clock}), anthropic.Options{}))
			defer server.Close()
			snapshot, problems := catalog.Build(catalog.Settings{
				Addresses: map[string]string{"anthropic": server.URL}, Routes: map[string]catalog.RouteRow{"*": {Builtin: []string{"ask_user"}}},
			})
			if problems != nil {
				t.Fatal(problems)
			}
			registry := metrics.NewRegistry()
			counted := metrics.New(registry, nil, nil)
			book := prompt.New(prompt.Options{Settings: prompt.Settings{Expiry: time.Hour, Grace: time.Second}, Counter: counted, Log: slog.New(slog.DiscardHandler)})
			defer book.Close()
			set := tools.NewSet(tools.Limits{}, tools.NewAskUser(book))
			var misses []continuity.Miss
			client := upstream.New(upstream.Config{Connect: time.Second, Head: 5 * time.Second})
			defer client.Close()
			r := relay.New(&relay.Settings{
				Catalog: snapshot, Mode: rewrite.ModeOn, Marks: true, Silence: 5 * time.Second, DecodedBody: 1 << 20, Prompts: book,
				Tools: func(context.Context, *catalog.Route) *tools.Set { return set },
			}, client, counted, lineage.New(cache.NewMemory(1<<20), time.Hour), func(r *relay.Record) { misses = append(misses, r.Verdict.Miss) })
			r.SetClock(clock.Now)

			answered := make(chan error, 1)
			go func() {
				operator := prompt.Who{Operator: true}
				for range 1000 {
					if open := book.List(prompt.Filter{Who: operator, State: "open"}); len(open) > 0 {
						clock.Advance(tc.wait)
						answered <- book.Answer(t.Context(), operator, open[0].ID, prompt.Reply{Action: prompt.Accept, Content: rewrite.JSON(`{"q1":"yes"}`)})
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
				answered <- fmt.Errorf("nobody was asked")
			}()
			words := `DO[say One.; call ask_user {"questions":[{"kind":"text","text":"Go on?"}]}; then; say Two.]` + strings.Repeat(" More of it.", 3000)
			reply := r.Serve(t.Context(), &relay.Request{
				Dialect: rewrite.Messages, Operation: relay.OpGenerate, Method: "POST", Path: []byte("/v1/messages"),
				Fields: []upstream.Field{
					{Name: []byte("x-api-key"), Value: []byte("k")}, {Name: []byte("anthropic-version"), Value: []byte("2023-06-01")}, {Name: []byte("content-type"), Value: []byte("application/json")},
					{Name: []byte(prompt.CapabilitiesHeader), Value: []byte(prompt.CapableForm)},
				},
				Body:    []byte(`{"model":"claude-opus-5-5","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"` + strings.ReplaceAll(words, `"`, `\"`) + `","cache_control":{"type":"ephemeral"}}]}]}`),
				Arrived: clock.Now(),
			})
			var whole strings.Builder
			if _, err := io.Copy(&whole, reply.Body); err != nil || reply.Status != 200 || !strings.Contains(whole.String(), "Two.") {
				t.Fatalf("status %d, %v: %s", reply.Status, err, whole.String())
			}
			_ = reply.Body.Close()
			if err := <-answered; err != nil {
				t.Fatal(err)
			}
			if want := []continuity.Miss{continuity.ColdMiss, tc.want}; !slices.Equal(misses, want) {
				t.Errorf("the calls missed for %q, want %q", misses, want)
			}
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			awaited := false
			for _, family := range families {
				for _, m := range family.GetMetric() {
					for _, label := range m.GetLabel() {
						awaited = awaited || label.GetValue() == "person_awaited" && m.GetCounter().GetValue() == 1
					}
				}
			}
			if awaited != (tc.want == continuity.AwaitedMiss) {
				t.Errorf("that a person was awaited is counted: %v", awaited)
			}
		})
	}
}
