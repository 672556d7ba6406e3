package gateway_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache/disk"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

// TestRestart kills the gateway between any two turns: the next one must send
// what the first would have sent.
func TestRestart(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	folder := t.TempDir()
	play := func(restart bool, key string) (prompts []string) {
		var base string
		stop := func() {}
		boot := func() {
			stop()
			store, err := disk.Open(folder+key, disk.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g, address, _ := startWith(t, origin, gateway.Options{Store: store}, func(cfg *config.Config) { cfg.Quiet = true })
			base, stop = address, func() { _ = g.Stop(t.Context()) }
		}
		boot()
		defer func() { stop() }()
		a := newAgent(rand.New(rand.NewPCG(7, 7)), "claude-opus-5-5")
		for _, mood := range []string{"does nothing", "adds a tool", "another day", "sorts its tools", "edits a tool", "drops a tool", "adds a section", "brings one back", "spells its past otherwise", "reminds", "changes its effort", "forgets its reminders", "does nothing"} {
			moods[mood](a)
			a.say()
			if restart {
				boot()
			}
			for called := true; called; {
				status, answer, _ := postMessages(t, base, key, a.body())
				var got struct{ Content json.RawMessage }
				if err := json.Unmarshal(answer, &got); err != nil || status != 200 {
					t.Fatalf("after %q: status %d: %s", mood, status, answer)
				}
				prompts = append(prompts, toolsAndDirectives(lastRecord(core).Body))
				called = a.hear(got.Content)
			}
		}
		return prompts
	}
	if diff := cmp.Diff(play(false, "a"), play(true, "b")); diff != "" {
		t.Errorf("a restart changes what is sent (-without +with):\n%s", diff)
	}
}

// toolsAndDirectives is what the gateway decides of a request: the rest holds
// identifiers that differ from run to run.
func toolsAndDirectives(body string) string {
	var request struct {
		Tools, System json.RawMessage
		Messages      []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		return err.Error()
	}
	out := string(request.Tools) + "\n" + string(request.System)
	for i, m := range request.Messages {
		if m.Role == "system" {
			out += fmt.Sprintf("\n%d: %s", i, m.Content)
		}
	}
	return out
}
