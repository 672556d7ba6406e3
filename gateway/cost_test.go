package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"warmpath/fixtures/show"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// A host in a region, whose stream is of frames: what it has read and written is
// priced apart, whatever the client speaks.
func TestBedrockCallsAreCharged(t *testing.T) {
	for name, test := range map[string]struct{ details, cost string }{
		"PB-24 for five minutes": {`,"cacheDetails":[{"ttl":"5m","inputTokens":32435}]`, `{"total":0.259543625,"fresh":0.000055,"read":0.036498,"write":0.222990625}`},
		"PB-24 for one hour":     {`,"cacheDetails":[{"ttl":"1h","inputTokens":32435}]`, `{"total":0.393338,"fresh":0.000055,"read":0.036498,"write":0.356785}`},
		"PB-24 without a word":   {``, `{"total":0.259543625,"fresh":0.000055,"read":0.036498,"write":0.222990625}`},
	} {
		t.Run(name, func(t *testing.T) {
			frames := show.Frames(t, `messageStart {"role":"assistant"}
contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"hi"}}
contentBlockStop {"contentBlockIndex":0}
messageStop {"stopReason":"end_turn"}
metadata {"usage":{"inputTokens":10,"cacheReadInputTokens":66360,"cacheWriteInputTokens":32435`+test.details+`,"outputTokens":0,"totalTokens":98805}}`)
			origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
				_, _ = w.Write(frames)
			}))
			t.Cleanup(origin.Close)
			snapshot, problems := catalog.Build(catalog.Settings{Providers: map[string]catalog.Row{"bedrock": {BaseURL: origin.URL}}})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			log := new(buffer)
			_, base, _ := startWith(t, origin.URL, gateway.Options{Events: log}, func(c *config.Config) { c.Events, c.Catalog = "-", snapshot })
			asked := 0
			for from, client := range speakers {
				c := &rewrite.Conversation{Dialect: from, Model: "bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0", Stream: true, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
				if status, body, _ := client.send(t, base, c); status != 200 {
					t.Fatalf("%s: status %d: %s", from, status, body)
				}
				asked++
			}
			eventually(t, func() bool { return strings.Count(log.String(), "\n") == asked }, log.String)
			if got := strings.Count(log.String(), fmt.Sprintf(`"cost_usd":%s`, test.cost)); got != asked || asked < 4 {
				t.Errorf("%d of %d calls cost %s: %s", got, asked, test.cost, log)
			}
		})
	}
}
