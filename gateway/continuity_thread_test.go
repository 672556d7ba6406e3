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
		_, origin := simulated(t)
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
		if stopped[1] {
			t.Errorf("seed %d: through stopped", seed)
		}
	}
}
