package gateway_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
)

func TestThreads(t *testing.T) {
	t.Parallel()
	t.Run("FB-55 the JavaScript SDK goes on with new messages only", threads)
}

// threads plays an agent that begins a thread with all of its history,
// goes on with new messages only, and edits itself whenever it begins anew. What
// succeeds straight succeeds through, and after an edit what straight is refused.
func threads(t *testing.T) {
	edits := []string{"adds a tool", "drops a tool", "another day", "edits a tool", "adds a section", "brings one back", "does nothing", "thinks silently"}
	for seed := range 12 {
		_, straightTo := simulated(t)
		core, origin := simulated(t)
		agents := []*rover{newRover(uint64(seed%3), "k", straightTo), newRover(uint64(seed%3), "k", twoNodes(t, origin)...)}
		stopped := make([]bool, len(agents))
		for turn := range 8 {
			name := edits[rand.New(rand.NewPCG(uint64(seed), uint64(turn))).IntN(len(edits))]
			var statuses []int
			for i, r := range agents {
				if stopped[i] {
					continue
				}
				r.rng, r.betas, r.marks = again(seed, turn), union(r.betas, "message-threads-2026-08-12"), "automatic"
				roves[name](r)
				// What goes on in a thread is the provider's own, whatever the agent
				// makes of it when it begins anew.
				r.again.respells = seed%2 == 1
				r.say()
				thread, sent := object{"type": "create"}, 0
				if turn == 4 {
					thread = nil // it goes without for once
				}
				for rounds, goesOn := 0, true; goesOn && rounds < 4; rounds++ {
					body := r.body()
					if body["messages"] = body["messages"].([]object)[sent:]; sent > 0 {
						delete(body, "tools")
						delete(body, "system")
					}
					if thread != nil {
						body["thread"] = maps.Clone(thread)
					}
					status, content, message := r.post(t, "/v1/messages", body)
					if status != 200 {
						if i == 1 {
							t.Fatalf("seed %d, turn %d, %s, round %d: %s", seed, turn, name, rounds, message)
						}
						// Its edit has cost the straight one its conversation.
						stopped[i] = true
						break
					}
					statuses = append(statuses, status)
					before := len(r.history)
					if goesOn = r.hear(content); thread != nil {
						thread, sent = object{"type": "continue", "previous_message_id": r.reply}, before+1
					}
				}
			}
			if slices.Contains(statuses, http.StatusBadRequest) {
				t.Fatal(fmt.Sprint(statuses))
			}
		}
		for _, record := range core.Log.All() {
			if record.Verdict.Status != 200 {
				t.Errorf("seed %d: refused on the way: %s", seed, record.Verdict.Message)
			}
		}
		if stopped[1] {
			t.Errorf("seed %d: through stopped", seed)
		}
	}
}

// What a model called in a thread is the provider's to keep; the agent that
// begins anew sends it as its library spells it, and thinking behind it stands
// on what the provider kept.
func TestCallsInAThread(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	r := newRover(0, "k", twoNodes(t, origin)...)
	r.model, r.again.respells, r.stream = "claude-opus-5-5", true, false
	r.betas = []string{"message-threads-2026-08-12"}
	const call = `call alpha {"b":1.0,"c":2,"a":3}; then; `
	words := "DO[" + call + call + "think 5; say Done.]"
	for turn := range 3 {
		r.turn++
		r.history = append(r.history, object{"role": "user", "content": []any{textBlock(fmt.Sprintf("Turn %d. %s", turn, words))}})
		thread, sent := object{"type": "create"}, 0
		for goesOn := true; goesOn; {
			body := r.body()
			if body["messages"] = body["messages"].([]object)[sent:]; sent > 0 {
				delete(body, "tools")
				delete(body, "system")
			}
			body["thread"] = maps.Clone(thread)
			status, content, message := r.post(t, "/v1/messages", body)
			if status != 200 {
				t.Fatalf("turn %d: %d %s", turn, status, message)
			}
			before := len(r.history)
			goesOn = r.hear(content)
			thread, sent = object{"type": "continue", "previous_message_id": r.reply}, before+1
		}
	}
	for _, record := range core.Log.All() {
		if record.Verdict.Status != 200 {
			t.Fatalf("refused on the way: %s", record.Verdict.Message)
		}
		for _, thinking := range record.Seen.Thinking {
			if !thinking.Kept {
				t.Errorf("thinking is lost: %+v", thinking)
			}
		}
	}
}
