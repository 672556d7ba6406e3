package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"warmpath/gateway/config"
	"warmpath/gateway/console"
)

// What stands in a record is of its own request, however many are served at
// once: their memory is used again as soon as each has been answered.
func TestRecordsHoldOnlyTheirOwn(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	g, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet, cfg.Records.Context = true, true })
	const agents, turns = 8, 6
	var all sync.WaitGroup
	for i := range agents {
		m := newMover(t, core, base)
		m.key = fmt.Sprint("key-", i)
		all.Go(func() {
			for turn := range turns {
				m.system = fmt.Sprintf("version %d of OWNER%d. ", turn, i) + strings.Repeat(fmt.Sprintf("Rule of OWNER%d. ", i), 2000)
				if _, status, got, _ := m.say(""); status != 200 {
					t.Errorf("status %d: %s", status, got)
					return
				}
			}
		})
	}
	all.Wait()
	_, text := send(t, "GET", "http://"+g.AdminAddr()+"/api/requests?limit=1000", "")
	var list struct{ Requests []console.Request }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, row := range list.Requests {
		for _, change := range row.Continuity.Changes {
			if !strings.Contains(change.New, "OWNER") {
				continue
			}
			seen++
			_, owner, _ := strings.Cut(change.New, "OWNER")
			if own := "OWNER" + owner[:1]; strings.Count(change.Old+change.New, "OWNER") != strings.Count(change.Old+change.New, own) {
				t.Errorf("one record holds words of several agents: %q and %q", change.Old, change.New)
			}
		}
	}
	if seen < agents*(turns-1) {
		t.Errorf("%d changes, want %d", seen, agents*(turns-1))
	}
}
