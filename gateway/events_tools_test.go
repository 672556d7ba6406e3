package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
)

// A reply whose tools the gateway runs is told by one line for each call of the
// provider, without the time that the tools take and with what the cache did.
func TestEventLogOfToolsHasEachCallOnce(t *testing.T) {
	const pause = time.Second
	tool := slowTool(func(context.Context, tools.Call) tools.Result {
		time.Sleep(pause)
		return gave("model", "user")
	})
	log := new(buffer)
	_, base := everyProviderRouted(t, gateway.Options{Events: log, Tools: []tools.Tool{tool}},
		map[string]catalog.RouteRow{"*": {Builtin: []string{"ask_user"}}}, func(c *config.Config) { c.Events = "-" })
	for _, stream := range []bool{true, false} {
		before := log.String()
		c := says(strings.Repeat("Long enough for a cache. ", 1000) + `DO[call ask_user {"n":1}; then; say End.]`)
		c.Model, c.Stream = models[rewrite.Messages], stream
		client := speakers[rewrite.Messages]
		client.ask(t, base, c)
		eventually(t, func() bool { return strings.Count(log.String(), "\n") >= strings.Count(before, "\n")+2 }, log.String)
		type line struct {
			Call   int
			Last   bool
			Reason string
			Stop   string
			Slow   bool
			Cached bool
		}
		var got []line
		for text := range strings.Lines(strings.TrimPrefix(log.String(), before)) {
			l := struct {
				line
				Cache    string
				Duration float64 `json:"duration_ms"`
			}{}
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatal(err)
			}
			l.Slow, l.Cached = l.Duration >= float64(pause/time.Millisecond), l.Cache != "unreported"
			got = append(got, l.line)
		}
		// The last line is of the whole request.
		want := []line{{1, true, "none", "tool_calls", false, true}, {2, true, "none", "stop", true, true}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stream %v: %s\n%s", stream, diff, log)
		}
	}
}
