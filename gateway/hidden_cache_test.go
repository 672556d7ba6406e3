package gateway_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	"warmpath/gateway/catalog"
	"warmpath/rewrite"
)

// marksLikeAgents marks a conversation as Claude Code does: the instruction, and the
// last two messages, of which one is the model's.
func marksLikeAgents(c *rewrite.Conversation) {
	if c.Dialect != rewrite.Messages {
		return
	}
	for i := range c.System {
		c.System[i].Mark = rewrite.Mark{Set: true, TTL: "1h"}
	}
	for i := range c.Items {
		c.Items[i].Mark = rewrite.Mark{}
		for j := range c.Items[i].Parts {
			c.Items[i].Parts[j].Mark = rewrite.Mark{}
		}
	}
	marks := map[rewrite.Role]bool{}
	for i := range slices.Backward(c.Items) {
		item := &c.Items[i]
		if marks[item.Side()] || item.Kind == rewrite.ItemReasoning {
			continue
		}
		if marks[item.Side()] = true; item.Kind == rewrite.ItemMessage {
			item.Parts[len(item.Parts)-1].Mark.Set = true
		} else {
			item.Mark.Set = true
		}
	}
}

// hiddenTurns are turns with hidden rounds, with calls of the client's, and with both.
var hiddenTurns = []string{
	`think 20; say One.; call tell_user {"message":"Two."}; then; think 20; say Three.`,
	`say One.; call clock {}; then; think 20; call tell_user {"message":"Two."}; then; say Three.`,
	`think 20; call tell_user {"message":"One."}; call clock {}; call tell_user {"message":"Two."}; then; think 20; say Three.`,
	`say Plain.`,
	`call tell_user {"message":"One."}; then; call tell_user {"message":"Two."}; then; say Three.`,
	`say Bye.`,
}

// step is what caches without marks are counted in at most, in tokens.
const cacheStep = 256

// reads reports whether a request has read all that the one before has left behind.
func reads(now, before *provider.Charge) bool {
	if before.Written+before.Read > 0 && now.Read < before.Read+before.Written {
		return false
	}
	return before.Written > 0 || now.Read >= before.Total-cacheStep || now.Read == now.Total
}

// marksReplies reports whether something of the model's is marked, where a dialect has
// marks on it.
func marksReplies(d rewrite.Dialect, body string) bool {
	marked := d != rewrite.Messages && d != rewrite.Converse
	for _, m := range gjson.Get(body, "messages").Array() {
		marked = marked || m.Get("role").Str == "assistant" && (strings.Contains(m.Raw, `"cache_control"`) || strings.Contains(m.Raw, `"cachePoint"`))
	}
	return marked
}

// Each request reads from the cache what the one before has written, whatever was
// hidden between them, and whether the gateway has begun anew meanwhile.
func TestHiddenRoundsReadTheCache(t *testing.T) {
	m := newMortal(t, map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}}})
	for from, client := range speakers {
		for to, model := range models {
			for _, restarts := range []bool{false, true} {
				t.Run(fmt.Sprintf("WS-05 %s to %s, restarts %v", from, to, restarts), func(t *testing.T) {
					system := fmt.Sprintf("%s %s %v. ", from, to, restarts) + strings.Repeat("You are careful with clocks. ", 1500)
					c := &rewrite.Conversation{Dialect: from, Model: model, System: []rewrite.Part{{Text: system}}, Thinking: rewrite.Thinking{Effort: "high"}}
					if offers(c); to == rewrite.Completions {
						c.Model = "chat/gpt-5.1"
					}
					var before *provider.Charge
					seen := len(m.core.Log.All())
					for turn, script := range hiddenTurns {
						c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: fmt.Sprintf("Turn %d. DO[%s]", turn, script)}}})
						for calls := 1; calls > 0; {
							if restarts && turn%2 == 1 {
								m.boot()
							}
							marksLikeAgents(c)
							reply, _ := client.ask(t, m.base, c)
							calls = answersAll(c, reply.Items)
							for _, r := range askedSince(t, m.core, seen) {
								seen++
								if before != nil && !reads(r.Charge, before) {
									t.Errorf("turn %d reads %+v after %+v", turn, r.Charge, before)
								}
								before = r.Charge
								if from == rewrite.Messages && turn > 0 && !marksReplies(to, r.Body) {
									t.Errorf("turn %d: no mark of the client's is left on what the model has said: %s", turn, r.Body[len(system):])
								}
							}
						}
					}
					if before.Read < 10_000 {
						t.Errorf("the cache was of no use: %+v", before)
					}
				})
			}
		}
	}
}

// When all is lost that was kept of hidden calls, thinking that is bound to them is left
// out: no request is refused, neither then nor later.
func TestLostLedgersUnderBoundThinking(t *testing.T) {
	m := newMortal(t, map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}}})
	for from, client := range speakers {
		for _, to := range []rewrite.Dialect{rewrite.Messages, rewrite.Converse} {
			for lost := 1; lost < len(hiddenTurns); lost++ {
				t.Run(fmt.Sprintf("WS-06 %s to %s, lost after %d", from, to, lost), func(t *testing.T) {
					c := &rewrite.Conversation{Dialect: from, Model: models[to], Thinking: rewrite.Thinking{Effort: "high"},
						System: []rewrite.Part{{Text: fmt.Sprint(from, to, lost)}}}
					offers(c)
					seen, refused := len(m.core.Log.All()), 0
					for turn, script := range hiddenTurns {
						if turn == lost {
							m.loses()
						}
						c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: fmt.Sprintf("Turn %d. DO[%s]", turn, script)}}})
						for calls := 1; calls > 0; {
							marksLikeAgents(c)
							reply, _ := client.ask(t, m.base, c)
							calls = answersAll(c, reply.Items)
						}
						for _, r := range m.core.Log.All()[seen:] {
							if seen++; r.Verdict.Status != 200 {
								refused++
								t.Errorf("turn %d: %+v", turn, r.Verdict)
							}
						}
					}
					if refused > 0 {
						t.Errorf("%d requests are refused, want none", refused)
					}
				})
			}
		}
	}
}
