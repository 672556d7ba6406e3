package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"warmpath/gateway"
	asking "warmpath/gateway/question"
)

// With nobody there nothing is opened, so that there is nothing to wait for: neither of
// the model's questions nor of those of servers.
func TestNobodyIsWaitedFor(t *testing.T) {
	servers := lockServer(t, asksInAResult, true)
	for name, c := range map[string]struct{ script, told string }{
		"ask_user": {asksUser, asking.Tell(asking.Unasked, nil, nil)},
		"a server": {opensADoor, "The door stays shut: cancel."},
	} {
		t.Run("WT-07 "+name, func(t *testing.T) {
			p := withLock(t, gateway.Options{}, servers, nil)
			requests := 0
			for from := range speakers {
				got := p.begin(t, from, c.script).rest(t)
				if told := lastRecord(p.core).Body; !strings.Contains(got, "Two.") || !strings.Contains(told, c.told) {
					t.Errorf("%s: the client reads %s, the model %s", from, got, told)
				}
				requests++
			}
			// The list has those that are over, too.
			if _, list := request(t, "GET", "http://"+p.gateway.AdminAddr()+"/api/prompts", ""); !list.Get("prompts").IsArray() || list.Get("prompts.#").Int() != 0 {
				t.Errorf("prompts were opened: %s", list)
			}
			_, page := admin(t, p.gateway, "/metrics")
			for _, want := range []string{
				fmt.Sprintf(`warmpath_prompts_total{kind="question",outcome="nobody"} %d`, requests),
				`warmpath_prompt_wait_seconds_count{kind="question"} 0`, "warmpath_prompts_open 0",
			} {
				if !strings.Contains(string(page), "\n"+want+"\n") {
					t.Errorf("%s is not in the metrics", want)
				}
			}
		})
	}
}
