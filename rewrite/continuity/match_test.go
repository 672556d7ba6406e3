package continuity

import (
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	// A prompt of ten lines, so that one of them is a tenth of it.
	prompt := func(first string) string { return first + strings.Repeat("\na rule that stays", 9) }
	common := world{[]string{"x=1", "y=1"}, []string{prompt("mine......")}, "u", nil}
	type change func(*State)
	sealed := func(s *State) { s.Sealed = true }
	named := func(s *State) { s.Session = "name" }
	edited := func(bytes string) change {
		return func(s *State) { s.Edits = append(s.Edits, Edit{After: 1, Bytes: []byte(bytes)}) }
	}
	dropping := func(s *State) { s.Drop = true }
	tests := map[string]struct {
		states  [][]change // oldest first
		sealed  bool
		request world
		session string
		unsaid  bool // the reply holds nothing of the provider's
		want    int  // index of the chosen state, -1 for none
	}{
		"its own, unproven":                    {states: [][]change{{}}, request: common},
		"its own in another order":             {states: [][]change{{}}, request: world{[]string{"y=1", "x= 1"}, common.sections, "uau", nil}},
		"another's tools, unproven":            {states: [][]change{{}}, request: world{[]string{"x=1"}, common.sections, "uau", nil}, want: -1},
		"another's prompt, unproven":           {states: [][]change{{}}, request: world{common.tools, []string{prompt("another's.")}, "uau", nil}, want: -1},
		"another's deferred tool, unproven":    {states: [][]change{{}}, request: world{[]string{"x=1", "y=1", "~z=1"}, common.sections, "uau", nil}, want: -1},
		"equal, but edited, unproven":          {states: [][]change{{edited("e")}}, request: common, want: -1},
		"equal, but dropping, unproven":        {states: [][]change{{dropping}}, request: common, want: -1},
		"changed, sealed":                      {states: [][]change{{sealed}}, request: world{[]string{"x=1"}, []string{prompt("changed...")}, "uau", nil}},
		"changed, by its name":                 {states: [][]change{{named}}, session: "name", unsaid: true, request: world{common.tools, []string{prompt("changed...")}, "uau", nil}},
		"changed, by another name":             {states: [][]change{{named}}, session: "other", unsaid: true, request: world{common.tools, []string{prompt("changed...")}, "uau", nil}, want: -1},
		"no name is no name":                   {states: [][]change{{}}, request: world{common.tools, []string{prompt("changed...")}, "uau", nil}, want: -1},
		"other tools, by its name":             {states: [][]change{{named}}, session: "name", unsaid: true, request: world{[]string{"a=1", "b=1"}, []string{prompt("changed...")}, "uau", nil}, want: -1},
		"a compaction without tools":           {states: [][]change{{sealed}}, request: world{nil, common.sections, "uau", nil}},
		"another role":                         {states: [][]change{{sealed}}, request: world{common.tools, []string{"make a title"}, "uau", nil}, want: -1},
		"a role of a part of the prompt":       {states: [][]change{{sealed}}, request: world{common.tools, []string{"mine......"}, "uau", nil}, want: -1},
		"a role without a prompt":              {states: [][]change{{sealed}}, request: world{common.tools, nil, "uau", nil}, want: -1},
		"its lane among roles":                 {states: [][]change{{sealed, edited("e")}, {sealed}}, sealed: true, request: common, want: 1},
		"the newest of the same":               {states: [][]change{{sealed}, {sealed}}, request: world{[]string{"x=1"}, common.sections, "uau", nil}, want: 1},
		"one of two ways, nobody knows which":  {states: [][]change{{sealed, edited("a")}, {sealed, edited("b")}}, unsaid: true, request: world{[]string{"x=1"}, common.sections, "uau", nil}, want: -1},
		"the only way":                         {states: [][]change{{sealed, edited("a")}}, unsaid: true, request: world{[]string{"x=1"}, common.sections, "uau", nil}},
		"a way whose reply would have told":    {states: [][]change{{sealed, edited("a")}}, request: world{[]string{"x=1"}, common.sections, "uau", nil}, want: -1},
		"a way whose reply has told":           {states: [][]change{{sealed, edited("a")}}, sealed: true, request: world{[]string{"x=1"}, common.sections, "uau", nil}},
		"the same request again":               {states: [][]change{{sealed, edited("a")}}, request: common},
		"the same request with other tools":    {states: [][]change{{sealed}}, request: world{[]string{"x=1"}, common.sections, "u", nil}, want: -1},
		"sealed, with another's at its side":   {states: [][]change{{}, {sealed, edited("a")}}, sealed: true, request: world{[]string{"x=1"}, common.sections, "uau", nil}, want: 1},
		"nothing is known":                     {request: common, want: -1},
		"text that is lost proves no one's":    {states: [][]change{{sealed}}, request: world{common.tools, []string{"lost"}, "uau", nil}, want: -1},
		"a prompt of one line, of many before": {states: [][]change{{sealed}}, request: world{common.tools, []string{"a rule that stays"}, "uau", nil}, want: -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := common
			begun := Begin("c", nil, Fresh, w.facts(), full).Next
			var states []*State
			for _, changes := range test.states {
				s := *begun
				for _, change := range changes {
					change(&s)
				}
				states = append(states, &s)
			}
			facts := test.request.facts()
			facts.Session = test.session
			for i := range facts.Messages {
				if facts.Messages[i].Role == Assistant && !test.unsaid {
					facts.Messages[i].Seal.End = 1
				}
			}
			choice := Choice{Facts: facts, Read: Reader{
				Now:  test.request.at,
				Kept: func(h Hash) (string, bool) { return common.sections[0], h == hash(common.sections[0]) },
			}}
			got := choice.Choose(states, test.sealed)
			if test.want < 0 && got != nil || test.want >= 0 && (got == nil || got != states[test.want]) {
				t.Errorf("chose %+v of %d", got, len(states))
			}
		})
	}
}

// What stands under a shorter history is looked at after that of a longer one
// was refused.
func TestChooseGoesDown(t *testing.T) {
	prompt := "mine" + strings.Repeat("\na rule that stays", 9)
	common := world{[]string{"x=1", "y=1"}, []string{prompt}, "uau", nil}
	begun := Begin("c", nil, Fresh, common.facts(), full).Next
	like := func(change func(*State)) *State {
		s := *begun
		s.Sealed = true
		change(&s)
		return &s
	}
	another := []Effective{{Meaning: hash("another role"), Text: hash("another role")}}
	role := func(s *State) { s.Sections, s.Text = nil, another }
	way := func(said string, epoch int) *State {
		return like(func(s *State) { s.Epoch, s.Edits = epoch, []Edit{{After: 1, Bytes: []byte(said)}} })
	}
	for name, test := range map[string]struct {
		newer   []*State
		older   *State
		request world
		chosen  bool
	}{
		"another conversation's role": {
			newer:   []*State{like(func(s *State) { role(s); s.Conversation = "other" })},
			older:   like(func(*State) {}),
			request: common, chosen: true,
		},
		"its own conversation's role":     {newer: []*State{like(role)}, older: like(func(*State) {}), request: common},
		"a role that nothing proves":      {newer: []*State{like(func(s *State) { role(s); s.Sealed = false })}, older: like(func(*State) {}), request: common, chosen: true},
		"ways nobody tells apart":         {newer: []*State{way("a", 1), way("b", 2)}, older: way("", 1), request: world{[]string{"x=1"}, common.sections, "uau", nil}, chosen: true},
		"ways in an epoch of their own":   {newer: []*State{way("a", 1), way("b", 2)}, older: way("", 0), request: world{[]string{"x=1"}, common.sections, "uau", nil}},
		"the same request in another way": {newer: []*State{like(func(s *State) { role(s); s.Sent = 4 })}, older: like(func(*State) {}), request: common, chosen: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range append(slices.Clone(test.newer), test.older) {
				if s.Sent == begun.Sent {
					s.Sent = 1
				}
			}
			choice := Choice{Facts: test.request.facts(), Read: Reader{
				Now: test.request.at,
				Kept: func(h Hash) (string, bool) {
					return map[Hash]string{hash(prompt): prompt, hash("another role"): "another role"}[h], true
				},
			}}
			if got := choice.Choose(test.newer, false); got != nil {
				t.Fatalf("chose %+v of the newer", got)
			}
			if got := choice.Choose([]*State{test.older}, false); (got != nil) != test.chosen {
				t.Errorf("chose %+v of the older", got)
			}
		})
	}
}

// A request that goes on from an older state because its reminders are not those
// of a newer one has a history that the client has changed.
func TestChooseKnowsWhatTheClientHasLeft(t *testing.T) {
	for name, test := range map[string]struct {
		newer, older, request string
		change                func(newer *State)
		left                  bool
	}{
		"a reminder comes back that the newer epoch never had": {newer: "u a u", older: "u!A", request: "u!A a u a u", left: true},
		"a reminder is new": {newer: "u a u a u", older: "u", request: "u a u!A a u a u", left: true},
		"a dropped one is not at hand": {newer: "u a u!A", older: "u", request: "u a u a u", left: true,
			change: func(s *State) { s.Echoes[0].Kept = false }},
		"of another conversation":      {newer: "u a u", older: "u!A", request: "u!A a u a u", change: func(s *State) { s.Conversation = "other" }},
		"of nobody in particular":      {newer: "u a u", older: "u!A", request: "u!A a u a u", change: func(s *State) { s.Sealed = false }},
		"of a request without a reply": {newer: "u a u!B", older: "u", request: "u a u!A"},
	} {
		t.Run(name, func(t *testing.T) {
			begun := func(history string, epoch int) *State {
				s := Begin("c", nil, Fresh, echoed(history), keeping).Next
				s.Epoch, s.Sealed = epoch, true
				return s
			}
			newer, older := begun(test.newer, 1), begun(test.older, 0)
			if test.change != nil {
				test.change(newer)
			}
			choice := Choice{Facts: echoed(test.request), Read: Reader{Restore: true}}
			if got := choice.Choose([]*State{newer}, false); got != nil {
				t.Fatalf("chose %+v of the newer", got)
			}
			if got := choice.Choose([]*State{older}, false); got != older {
				t.Fatalf("chose %+v of the older", got)
			}
			if (choice.Left == newer) != test.left || choice.Left != nil && choice.Left != newer {
				t.Errorf("left %+v, want the newer: %v", choice.Left, test.left)
			}
		})
	}
}
