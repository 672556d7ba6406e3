package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRemindersComeBackInALaterEpoch plays an agent that has dropped a reminder
// when an epoch begins, which so begins without it, and then brings it back. That
// changes what was sent in the epoch: the request goes on from where the reminder
// last stood, but as an epoch of its own and not as the one that it leaves,
// whichever of two gateways sees it.
func TestRemindersComeBackInALaterEpoch(t *testing.T) {
	t.Parallel()
	section := func(name string) func(*agent) {
		return func(a *agent) { a.sections[1] = rules(name, 1800) }
	}
	for name, test := range map[string]struct {
		before, epoch, back func(*agent)
	}{
		"SB-01 the older prefix cannot go on either": {
			before: func(a *agent) { a.echo.effort = "low" },
			// No message can say that the effort is left to the model.
			epoch: func(a *agent) { a.echo.effort = "" },
			back:  func(*agent) {},
		},
		"SB-01 the older prefix goes on": {
			before: func(*agent) {},
			// The directive would be too long.
			epoch: section("another"), back: section("one"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			core, origin := simulated(t)
			nodes := twoNodes(t, origin)
			s := newSession(t, core, "key", "claude-opus-5", 0)
			s.sections = []string{rules("stays", 2000), ""}
			section("one")(&s.agent)
			s.echo.reminds = true
			var epochs []string
			var sum usage
			for i, change := range []func(){
				func() {},
				func() { test.before(&s.agent) },
				func() { test.epoch(&s.agent); s.echo.reminds, s.echo.fleeting = false, true },
				func() { test.back(&s.agent); s.echo.fleeting = false },
				func() { s.echo.fleeting = true },
				func() { s.echo.fleeting = false },
			} {
				change()
				s.agent.turn++
				words := fmt.Sprintf(`Turn %d. DO[call alpha {"x":"1"}; then; say Done.]`, s.agent.turn)
				s.history = append(s.history, message{"user", s.remind([]any{map[string]any{"type": "text", "text": words}})})
				for s.ask(nodes[i%2], &sum) {
				}
				// Within an epoch, the prefix has been seen to stay.
				epochs = append(epochs, s.epoch)
			}
			conversation := strings.TrimSuffix(epochs[0], "0")
			var want []string
			for _, epoch := range []int{0, 0, 1, 2, 2, 2} {
				want = append(want, fmt.Sprint(conversation, epoch))
			}
			if diff := cmp.Diff(want, epochs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
