package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"warmpath/rewrite"
)

// spoken is what a reply says.
func spoken(r *rewrite.Reply) (said []string) {
	for i := range r.Items {
		for _, part := range r.Items[i].Parts {
			if r.Items[i].Kind == rewrite.ItemMessage {
				said = append(said, part.Text)
			}
		}
	}
	return said
}

// A reply that was cut off at its bound on tokens is gone on with where that is asked
// for: the client gets one reply, without what the model repeats.
func TestReplyThatWasCutOffIsGoneOnWith(t *testing.T) {
	core, base := everyProvider(t, nil)
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, stream %v", from, to, stream), func(t *testing.T) {
					c := &rewrite.Conversation{Dialect: from, Model: model, Stream: stream, Items: []rewrite.Item{{Parts: []rewrite.Part{{
						Text: "Tell. DO[say It rained in Zürich, and the; stop length; then; say and the sun shone; stop length; then; say sun shone on the lakes.]",
					}}}}}
					before := len(core.Log.All())
					reply, _ := client.ask(t, base, c, "Warmpath-Continue", "on")
					// Chat Completions has one text, whatever stands between its pieces.
					said := spoken(reply)
					if from == rewrite.Completions {
						said = []string{strings.Join(said, "")}
					}
					if len(said) != 1 || said[0] != "It rained in Zürich, and the sun shone on the lakes." {
						t.Errorf("the model said %q", said)
					}
					if reply.Stop.Reason != rewrite.StopEnd {
						t.Errorf("it stopped for %s", reply.Stop.Reason)
					}
					if n := len(core.Log.All()) - before; n != 3 {
						t.Errorf("the provider was asked %d times", n)
					}
					for _, record := range core.Log.All()[before:] {
						if record.Verdict.Status != 200 {
							t.Errorf("the provider says %+v", record.Verdict)
						}
					}
					reply, _ = client.ask(t, base, c)
					if said := spoken(reply); len(said) != 1 || said[0] != "It rained in Zürich, and the" || reply.Stop.Reason != rewrite.StopLength {
						t.Errorf("not asked to go on, the model said %q and stopped for %s", said, reply.Stop.Reason)
					}
				})
			}
		}
	}
}

// What has called a tool, has to keep a form, or has a bound of the client's own is
// not gone on with; and nothing is without end.
func TestChainHasItsBounds(t *testing.T) {
	core, base := everyProvider(t, nil)
	client := speakers[rewrite.Completions]
	tools := []rewrite.Tool{{Name: "weather", Schema: rewrite.JSON(`{"type":"object"}`)}}
	for _, tc := range []struct {
		name   string
		script string
		change func(*rewrite.Conversation)
		asked  int
	}{
		{"a call", `say Well; call weather {}; stop length`, func(c *rewrite.Conversation) { c.Tools = tools }, 1},
		{"a form", "say Well; stop length", func(c *rewrite.Conversation) {
			c.Format = rewrite.Format{Kind: "schema", Name: "a", Schema: rewrite.JSON(`{"type":"object","properties":{},"additionalProperties":false}`)}
		}, 1},
		{"a bound of the client's", "say Well; stop length", func(c *rewrite.Conversation) { c.Sampling.MaxTokens = rewrite.JSON("50") }, 1},
		{"no end", "say Well; stop length; then; say more; stop length; then; say more; stop length; then; say more; stop length; then; " +
			"say more; stop length; then; say more; stop length; then; say more; stop length; then; say more", func(*rewrite.Conversation) {}, 6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &rewrite.Conversation{Dialect: rewrite.Completions, Model: models[rewrite.Messages],
				Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Tell. DO[" + tc.script + "]"}}}}}
			tc.change(c)
			before := len(core.Log.All())
			client.ask(t, base, c, "Warmpath-Continue", "on")
			if n := len(core.Log.All()) - before; n != tc.asked {
				t.Errorf("the provider was asked %d times, want %d", n, tc.asked)
			}
		})
	}
}

// RP-05: a provider that has paused is asked to go on, with what it has said so far
// as it has said it.
func TestPausesAreGoneOnFrom(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("RP-05 stream %v", stream), func(t *testing.T) {
			core, base := everyProvider(t, nil)
			client := speakers[rewrite.Messages]
			c := &rewrite.Conversation{Dialect: rewrite.Messages, Model: models[rewrite.Messages], Stream: stream,
				Tools: []rewrite.Tool{{Kind: rewrite.ToolHosted, Capability: "web_search", Payload: rewrite.Payload{Format: "messages/tool", Value: rewrite.JSON(`{"type":"web_search_20250305","name":"web_search"}`)}}},
				Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Look. DO[search zürich; stop pause; then; say Found.]"}}}}}
			reply, _ := client.ask(t, base, c, "Warmpath-Continue", "on")
			said := spoken(reply)
			if len(said) == 0 || said[len(said)-1] != "Found." || reply.Stop.Reason != rewrite.StopEnd {
				t.Errorf("the model said %q and stopped for %s", said, reply.Stop.Reason)
			}
			records := core.Log.All()
			if len(records) != 2 || !strings.Contains(records[1].Body, `"srvtoolu_`) {
				t.Errorf("the provider was asked %d times: %s", len(records), records[len(records)-1].Body)
			}
		})
	}
}
