package continuity

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withEffort gives a request with an effort: u, a, c and r as in a world, s is a
// message of the client's that sets an effort, e an empty one.
func withEffort(request string) *Facts {
	words := strings.Fields(request)
	w := &world{messages: words[0]}
	facts := w.facts()
	for i, kind := range words[0] {
		if kind == 's' {
			facts.Messages[i].Effort, facts.Messages[i].Bare = "low", true
		}
	}
	for _, word := range words[1:] {
		switch word {
		case "rigid":
			facts.Rigid = true
		case "thread":
			facts.Threads = true
		case "none":
		default:
			facts.Effort = word
		}
	}
	return facts
}

// Each request goes out with an effort at the top, and with messages that set it
// after a number of the client's.
func TestEffort(t *testing.T) {
	able := Abilities{Text: true, Effort: true}
	for name, c := range map[string]struct {
		able   Abilities
		plays  []string
		expect []string
	}{
		"it changes": {able,
			[]string{"u high", "uau low", "uauau low", "uauauau medium"},
			[]string{"high", "high 2=low", "high 2=low", "high 2=low 6=medium"}},
		"it changes back": {able,
			[]string{"u high", "uau low", "uauau high"}, []string{"high", "high 2=low", "high 2=low 4=high"}},
		"from the default": {able,
			[]string{"u none", "uau low", "uauau low"}, []string{"none", "none 2=low", "none 2=low"}},
		"to the default": {able,
			[]string{"u high", "uau none", "uauau none"}, []string{"high", "none", "none"}},
		"to the default again": {able,
			[]string{"u none", "uau low", "uauau none", "uauauau none"}, []string{"none", "none 2=low", "none effort_changed", "none"}},
		"to a word that is none": {able,
			[]string{"u high", "uau tiny"}, []string{"high", "tiny"}},
		"FB-11 the client says it": {able,
			[]string{"u high", "uasu low", "uasuau low", "uasuauau high"}, []string{"high", "high", "high", "high 7=high"}},
		"the client says another": {able,
			[]string{"u high", "uasu medium"}, []string{"high", "high"}},
		"while a call is open it waits": {able,
			[]string{"u high", "ucr low", "ucrau low", "ucrauau low"}, []string{"high", "high", "high 4=low", "high 4=low"}},
		"behind a paused turn it waits": {able,
			[]string{"u high", "uh low", "uhu low", "uhuau low"}, []string{"high", "high", "high", "high 4=low"}},
		"the same request with another": {able,
			[]string{"u high", "uau high", "uau low", "uauau low"}, []string{"high", "high", "high", "high 4=low"}},
		"a retry": {able,
			[]string{"u high", "uau low", "uau low"}, []string{"high", "high 2=low", "high 2=low"}},
		"no reply comes": {able,
			[]string{"u high", "uau low", "uauu low", "uauuau low"}, []string{"high", "high 2=low", "high 2=low", "high 2=low"}},
		"a model without": {Abilities{Text: true},
			[]string{"u high", "uau low", "uauau low"}, []string{"high", "low", "low"}},
		"a thread": {able,
			[]string{"u high thread", "uau low thread", "uauau low"}, []string{"high", "low", "low"}},
		"a thread after all": {able,
			[]string{"u high", "uau low", "uauau medium thread", "uauauau medium"},
			[]string{"high", "high 2=low", "medium 2=low 4=medium", "medium 2=low 4=medium"}},
		"thinking that takes no other": {able,
			[]string{"u high", "uau low rigid", "uauau low"}, []string{"high", "low", "low"}},
		"thinking that takes no other any more": {able,
			[]string{"u high", "uau low", "uauau low rigid", "uauauau low"}, []string{"high", "high 2=low", "low effort_changed", "low"}},
	} {
		t.Run(name, func(t *testing.T) {
			var state *State
			var got []string
			for _, request := range c.plays {
				facts := withEffort(request)
				read := Reader{Render: func(d *Directive) []byte { return []byte("=" + d.Effort) }}
				plan := &Plan{}
				if state == nil {
					plan = Begin("c", nil, None, facts, c.able)
				} else {
					plan = Continue(state, facts, c.able, read)
				}
				state = plan.Next
				top := facts.Effort
				if plan.Effort != nil {
					top = *plan.Effort
				}
				if top == "" {
					top = "none"
				}
				for _, insert := range plan.Inserts {
					top += fmt.Sprintf(" %d%s", insert.After, insert.Bytes)
				}
				if plan.Epoch != None {
					top += " " + string(plan.Epoch)
				}
				got = append(got, top)
			}
			if diff := cmp.Diff(c.expect, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
