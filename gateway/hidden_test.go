package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// withTools is a gateway in front of every provider that runs tools for all models.
func withTools(t testing.TB, opts gateway.Options, builtin ...string) (core *provider.Core, base string) {
	t.Helper()
	return everyProviderRouted(t, opts, map[string]catalog.RouteRow{"*": {Builtin: builtin}}, keepsReplies)
}

// keepsReplies keeps what clients go on from by its name, as gateways do.
func keepsReplies(cfg *config.Config) { cfg.Replies = config.Replies{Keep: true, TTL: time.Hour} }

func TestTellUserStreamsThrough(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("TU-03 TU-04 TU-05 WS-04 %s to %s, stream %v", from, to, stream), func(t *testing.T) {
					before := len(core.Log.All())
					c := &rewrite.Conversation{Dialect: from, Model: model, Stream: stream,
						Thinking: rewrite.Thinking{Effort: "high"},
						Items: []rewrite.Item{{Parts: []rewrite.Part{{
							Text: `Go on. DO[think 20; say One.; call tell_user {"message":"**Two**"}; then; think 20; say Three.]`,
						}}}},
					}
					if to == rewrite.Completions {
						c.Model = "chat/gpt-5.1"
					}
					status, body, _ := client.send(t, base, c)
					if status != 200 || strings.Contains(string(body), "tell_user") {
						t.Fatalf("status %d: %s", status, body)
					}
					reply, _ := client.ask(t, base, c)
					if got := strings.Join(spoken(reply), ""); got != "One.\n\n**Two**\n\nThree." {
						t.Errorf("the client reads %q", got)
					}
					if reply.Stop.Reason != rewrite.StopEnd {
						t.Errorf("it stopped for %s", reply.Stop.Reason)
					}
					records := core.Log.All()[before:]
					if len(records) != 4 {
						t.Fatalf("the provider was asked %d times", len(records))
					}
					for _, r := range records {
						if r.Verdict.Status != 200 {
							t.Errorf("the provider says %+v of %s", r.Verdict, r.Body)
						}
					}
					if !strings.Contains(records[3].Body, "Message shown to user.") {
						t.Errorf("the model was told %s", records[3].Body)
					}
					// Once in the user's words, once in the call.
					if n := strings.Count(records[3].Body, "**Two**"); n != 2 {
						t.Errorf("the message is %d times in what the model is told: %s", n, records[3].Body)
					}
				})
			}
		}
	}
}
