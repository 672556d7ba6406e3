package relay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/cache/lineage"
	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/anthropic"
	"warmpath/gateway/catalog"
	"warmpath/gateway/relay"
	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// waiter is an agent that lets time pass between its turns.
type waiter struct {
	t        *testing.T
	relay    *relay.Relay
	clock    *provider.ManualClock
	messages []string
	mark     string
	last     relay.Record
}

func (w *waiter) ask(after time.Duration) {
	w.t.Helper()
	w.clock.Advance(after)
	words := fmt.Sprintf("Message %d. DO[think 5; say Yes.]%s", len(w.messages), strings.Repeat(" More of it.", 300))
	w.messages = append(w.messages, `{"role":"user","content":[{"type":"text","text":"`+words+`"`+w.mark+`}]}`)
	body := `{"model":"claude-opus-5-5","max_tokens":1000,"messages":[` + strings.Join(w.messages, ",") + `]}`
	last := len(w.messages) - 1
	w.messages[last] = strings.Replace(w.messages[last], w.mark, "", 1)
	reply := w.relay.Serve(w.t.Context(), &relay.Request{
		Dialect: rewrite.Messages, Operation: relay.OpGenerate, Method: "POST", Path: []byte("/v1/messages"),
		Fields: []upstream.Field{
			{Name: []byte("x-api-key"), Value: []byte("k")},
			{Name: []byte("anthropic-version"), Value: []byte("2023-06-01")},
			{Name: []byte("content-type"), Value: []byte("application/json")},
		},
		Body: []byte(body), Arrived: w.clock.Now(),
	})
	var whole strings.Builder
	if _, err := io.Copy(&whole, reply.Body); err != nil || reply.Status != 200 {
		w.t.Fatalf("status %d, %v: %s", reply.Status, err, whole.String())
	}
	_ = reply.Body.Close()
	var got struct{ Content json.RawMessage }
	if err := json.Unmarshal([]byte(whole.String()), &got); err != nil {
		w.t.Fatal(err)
	}
	w.messages = append(w.messages, `{"role":"assistant","content":`+string(got.Content)+`}`)
}

// A provider's cache lives from the start of the request that wrote or read it.
func TestExpiryIsTheReason(t *testing.T) {
	const minutes, hour = `,"cache_control":{"type":"ephemeral"}`, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	tests := map[string]struct {
		mark  string
		after []time.Duration
		want  continuity.Miss
	}{
		"within five minutes":         {minutes, []time.Duration{4 * time.Minute}, continuity.NoMiss},
		"behind five minutes":         {minutes, []time.Duration{6 * time.Minute}, continuity.ExpiryMiss},
		"each turn lets it live on":   {minutes, []time.Duration{4 * time.Minute, 4 * time.Minute, 4 * time.Minute}, continuity.NoMiss},
		"an hour if that is paid for": {hour, []time.Duration{50 * time.Minute}, continuity.NoMiss},
		"behind an hour":              {hour, []time.Duration{61 * time.Minute}, continuity.ExpiryMiss},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			clock := provider.NewManualClock(time.Now())
			server := httptest.NewServer(anthropic.New(provider.New(provider.Options{Clock: clock}), anthropic.Options{}))
			defer server.Close()
			snapshot, problems := catalog.Build(catalog.Settings{Addresses: map[string]string{"anthropic": server.URL}})
			if problems != nil {
				t.Fatal(problems)
			}
			w := &waiter{t: t, clock: clock, mark: test.mark}
			settings := &relay.Settings{Catalog: snapshot, Mode: rewrite.ModeOn, Silence: 5 * time.Second, DecodedBody: 1 << 20}
			client := upstream.New(upstream.Config{Connect: time.Second, Head: 5 * time.Second})
			w.relay = relay.New(settings, client, metrics.New(metrics.NewRegistry(), nil, nil), lineage.New(cache.NewMemory(1<<20), time.Hour),
				func(r *relay.Record) { w.last = *r })
			w.ask(0)
			if w.last.Verdict.Miss != continuity.ColdMiss {
				t.Fatalf("the first request: %+v", w.last.Verdict)
			}
			for _, after := range test.after {
				w.ask(after)
			}
			if got := w.last.Verdict; got.Miss != test.want || (got.Missed > 0) != (test.want != continuity.NoMiss) {
				t.Errorf("got %+v, want %q; usage %+v", got, test.want, w.last.Report.Usage)
			}
		})
	}
}
