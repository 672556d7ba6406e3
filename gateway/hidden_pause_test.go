package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"warmpath/gateway"
	"warmpath/rewrite"
)

// A client that knows pauses goes on from them itself, on routes with tools too, as long
// as there is nothing in the reply that it is not told of. What it then gets is found
// again as one reply with what came before.
func TestPausesOnRoutesWithTools(t *testing.T) {
	for _, stream := range []bool{false, true} {
		core, base := withTools(t, gateway.Options{}, "tell_user")
		client := speakers[rewrite.Messages]
		asks := func(script string) *rewrite.Conversation {
			c := says("Look. DO[" + script + "]")
			c.Dialect, c.Model, c.Stream = rewrite.Messages, models[rewrite.Messages], stream
			c.Thinking.Effort = "high"
			hosts(c)
			return c
		}
		t.Run(fmt.Sprintf("RP-04 WS-05 without a hidden call, stream %v", stream), func(t *testing.T) {
			core.Log.Clear()
			// Neighbouring replies count as one for the scripted model, which so does the
			// second step twice.
			c := asks(`think 20; say One.; search zürich; stop pause; then; say Found.; call tell_user {"message":"Two."}; then; say Three.`)
			reply, _ := client.ask(t, base, c)
			if got := strings.Join(spoken(reply), ""); got != "One." || reply.Stop.Reason != rewrite.StopPause {
				t.Fatalf("the client reads %q, and the reply stops for %s", got, reply.Stop.Reason)
			}
			if n := len(askedSince(t, core, 0)); n != 1 {
				t.Fatalf("the provider was asked %d times", n)
			}
			c.Items = append(c.Items, reply.Items...)
			reply, _ = client.ask(t, base, c)
			if got := strings.Join(strings.Fields(strings.Join(spoken(reply), "")), ""); got != "Found.Two.Found.Two.Three." || reply.Stop.Reason != rewrite.StopEnd {
				t.Fatalf("the client reads %q, and the reply stops for %s", got, reply.Stop.Reason)
			}
			c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "DO[say Next.]"}}})
			if reply, _ = client.ask(t, base, c); strings.Join(spoken(reply), "") != "Next." {
				t.Errorf("the client reads %q", spoken(reply))
			}
			records := askedSince(t, core, 0)
			if len(records) != 5 {
				t.Fatalf("the provider was asked %d times", len(records))
			}
			before, last := strings.Join(atoms(records[3].Body), "\n"), strings.Join(atoms(records[4].Body), "\n")
			if !strings.HasPrefix(last, before) || strings.Count(last, "Message shown to user.") != 2 {
				t.Errorf("the provider finds\n%s\nand not what it was sent before:\n%s", last, before)
			}
		})
		t.Run(fmt.Sprintf("RP-05 behind a hidden call, stream %v", stream), func(t *testing.T) {
			core.Log.Clear()
			c := asks(`say One.; call tell_user {"message":"Two."}; then; search zürich; stop pause; then; say Found.`)
			reply, _ := client.ask(t, base, c)
			if got := strings.Join(strings.Fields(strings.Join(spoken(reply), "")), ""); got != "One.Two.Found." || reply.Stop.Reason != rewrite.StopEnd {
				t.Errorf("the client reads %q, and the reply stops for %s", got, reply.Stop.Reason)
			}
			if n := len(askedSince(t, core, 0)); n != 3 {
				t.Errorf("the provider was asked %d times", n)
			}
		})
	}
}
