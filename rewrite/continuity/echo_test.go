package continuity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// echoed is a request's history in shorthand, one word for each message: u is the
// user's and a a reply; c:x is a reply that calls, spelled x; !A and ?A behind u
// are reminders, of which the second is an inner one; + makes a message too long
// to be kept.
func echoed(history string) *Facts {
	w := &world{}
	f := &Facts{Model: "m"}
	for i, word := range strings.Fields(history) {
		length := 200
		if rest, long := strings.CutSuffix(word, "+"); long {
			word, length = rest, maxEcho+1
		}
		m := Message{Exact: hash(fmt.Sprint(i, word)), Span: w.span(strings.Repeat("m", length)), Blocks: 1}
		kind, spelling, _ := strings.Cut(word, ":")
		kind, _, _ = strings.Cut(kind, "!")
		kind, _, _ = strings.Cut(kind, "?")
		rest := hash(fmt.Sprint(i, kind))
		m.Meaning = rest
		switch kind {
		case "a", "c":
			m.Role, m.Signed, m.Spelled = Assistant, true, spelling != ""
		default:
			m.Meaning = hash(fmt.Sprint(i, word))
		}
		for _, note := range strings.FieldsFunc(strings.NewReplacer("!", " !", "?", " ?").Replace(word[1:]), func(r rune) bool { return r == ' ' }) {
			if note[0] != '!' && note[0] != '?' {
				continue
			}
			if m.Reminders == nil {
				m.Reminders = &Reminders{Rest: rest}
			}
			m.Reminders.Each = append(m.Reminders.Each, Reminder{Meaning: hash(note[1:]), Inner: note[0] == '?'})
		}
		f.Messages = append(f.Messages, m)
	}
	return f
}

var keeping = Abilities{Text: true, Keep: true}

// goOn plays histories one after the other and gives what each sends again and
// says. The state is proven unless it says otherwise.
func goOn(able Abilities, sealed bool, histories ...string) (got []string) {
	var state *State
	for _, history := range histories {
		facts := echoed(history)
		read := Reader{Restore: able.Keep && able.Text, Render: func(d *Directive) []byte { return []byte(strings.Join(d.Texts, ";")) }}
		var plan *Plan
		switch {
		case state == nil:
			plan = Begin("c", nil, Fresh, facts, able)
		case !state.follows(facts, read):
			got = append(got, "another history")
			continue
		default:
			plan = Continue(state, facts, able, read)
		}
		if state = plan.Next; sealed {
			state.Sealed = true
		}
		var did []string
		for _, again := range plan.Again {
			did = append(did, fmt.Sprint(again.At))
		}
		if plan.Said != nil {
			said := plan.Said.Texts[0]
			said = strings.TrimSuffix(strings.TrimPrefix(said, remindersOpen), remindersClose)
			did = append(did, strings.TrimSpace(strings.ReplaceAll(said, "\n", " ")))
		}
		got = append(got, strings.Join(did, ", "))
	}
	return got
}

func TestEchoes(t *testing.T) {
	const gone, back = "no longer applies: ", "applies again: "
	for name, c := range map[string]struct {
		able   Abilities
		loose  bool // nothing proves whose the conversation is
		plays  []string
		expect []string
	}{
		"SB-06 a reply is spelled otherwise": {keeping, false,
			[]string{"u", "u c:x u", "u c:y u a u", "u c:x u a u", "u c:z u a u a u"}, []string{"", "", "1", "", "1"}},
		"spelled otherwise, unproven": {keeping, true,
			[]string{"u", "u c:x u", "u c:y u a u"}, []string{"", "", "1"}},
		"in the request that begins it": {keeping, false,
			[]string{"u c:x u", "u c:y u a u"}, []string{"", "1"}},
		"nothing is kept": {Abilities{Text: true}, false,
			[]string{"u", "u c:x u", "u c:y u a u"}, []string{"", "", ""}},
		"too long to be kept": {keeping, false,
			[]string{"u", "u c:x+ u", "u c:y+ u a u"}, []string{"", "", ""}},
		"a reminder is dropped": {keeping, false,
			[]string{"u!A", "u a u", "u a u a u", "u a u a u a u"}, []string{"", "0, " + gone + "1", "0", "0"}},
		"one of two": {keeping, false,
			[]string{"u!A!B", "u!B a u", "u a u a u"}, []string{"", "0, " + gone + "1", "0, " + gone + "2"}},
		"it moves on": {keeping, false,
			[]string{"u!A", "u a u!A", "u a u a u!A", "u a u a u a u"}, []string{"", "0", "0, 2", "0, 2, 4, " + gone + "1 " + gone + "2 " + gone + "3"}},
		"another takes its place": {keeping, false,
			[]string{"u!A", "u a u!B", "u a u a u!C"}, []string{"", "0, " + gone + "1", "0, 2, " + gone + "2"}},
		"it comes back": {keeping, false,
			[]string{"u!A", "u a u", "u!A a u a u", "u a u a u a u"}, []string{"", "0, " + gone + "1", back + "1", "0, " + gone + "1"}},
		"an inner one": {keeping, false,
			[]string{"u", "u c:x u?A", "u c:x u a u"}, []string{"", "", "2"}},
		"inner ones count": {keeping, false,
			[]string{"u?A!B", "u a u"}, []string{"", "0, " + gone + "2"}},
		"before the reply the client goes on": {keeping, false,
			[]string{"u!A", "u a u", "u a u u", "u a u u a u"}, []string{"", "0, " + gone + "1", "0, " + gone + "1", "0"}},
		"held where nothing may be said": {keeping, false,
			[]string{"u!A", "u a", "u a u"}, []string{"", "0", "0, " + gone + "1"}},
		"it is dropped, unproven": {keeping, true,
			[]string{"u!A", "u a u"}, []string{"", "another history"}},
		"it is dropped where nothing can be said": {Abilities{Keep: true}, false,
			[]string{"u!A", "u a u"}, []string{"", "another history"}},
		"it is dropped and was not kept": {keeping, false,
			[]string{"u!A+", "u a u"}, []string{"", "another history"}},
		"it changes": {keeping, false,
			[]string{"u!A", "u!B a u"}, []string{"", "another history"}},
		"one is added": {keeping, false,
			[]string{"u!A", "u!A!B a u"}, []string{"", "another history"}},
		"FB-23 the first of all is added": {keeping, false,
			[]string{"u", "u!A a u"}, []string{"", "another history"}},
		"they change places": {keeping, false,
			[]string{"u!A!B", "u!B!A a u"}, []string{"", "another history"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.expect, goOn(c.able, !c.loose, c.plays...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A client that names its conversation proves whose a dropped reminder was.
func TestRemindersOfANamedConversation(t *testing.T) {
	begun := echoed("u!A")
	begun.Session = "name"
	state := Begin("c", nil, Fresh, begun, keeping).Next
	for name, want := range map[string]bool{"name": true, "another": false, "": false} {
		facts := echoed("u a u")
		facts.Session = name
		if got := state.follows(facts, Reader{Restore: true}); got != want {
			t.Errorf("by the name %q: %v", name, got)
		}
	}
}

// Two requests can be compared of which the newer one is shorter.
func TestEchoesOfAShorterRequest(t *testing.T) {
	begun := Begin("c", nil, Fresh, echoed("u c:x u!A"), keeping).Next
	plan := Continue(begun, echoed("u"), keeping, Reader{Restore: true})
	if plan.Again != nil || len(plan.Next.Echoes) != 0 {
		t.Errorf("sends %v again, notes %v", plan.Again, plan.Next.Echoes)
	}
}

// What is kept for one conversation is bounded, and what is beyond goes out as
// the client has it.
func TestEchoesAreBounded(t *testing.T) {
	history := []string{"u"}
	for range 4 * maxEchoes / maxEcho {
		history = append(history, "c:x", "u")
	}
	facts := echoed(strings.Join(history, " "))
	last := len(facts.Messages) - 1
	facts.Messages[last].Reminders = &Reminders{Each: []Reminder{{}}}
	for i := range facts.Messages {
		facts.Messages[i].Span.End = facts.Messages[i].Span.Start + maxEcho/2
	}
	plan := Begin("c", nil, Fresh, facts, keeping)
	if n := plan.Next.Echoed.Replies; n > maxEchoes || n < maxEchoes-maxEcho {
		t.Errorf("%d bytes are kept", n)
	}
	kept := 0
	for _, e := range plan.Next.Echoes {
		if e.Kept {
			kept++
		}
	}
	if !plan.Next.Echoes[len(plan.Next.Echoes)-1].Kept {
		t.Error("replies leave no room for reminders")
	}
	if want := 2*maxEchoes/maxEcho + 1; kept != want || len(plan.Keep) != want {
		t.Errorf("%d messages are kept and %d noted, want %d", len(plan.Keep), kept, want)
	}
}

// The provider's own spelling goes out from the first time on.
func TestRepliesAsMade(t *testing.T) {
	made := hash("as made")
	read := Reader{Made: func(at int) (Hash, bool) { return made, at == 1 }}
	begun := Begin("c", nil, Fresh, echoed("u"), keeping).Next
	first := Continue(begun, echoed("u c:x u"), keeping, read)
	again := Continue(first.Next, echoed("u c:y u a u"), keeping, read)
	for i, plan := range []*Plan{first, again} {
		if !slices.Equal(plan.Again, []Again{{At: 1, Kept: made}}) {
			t.Errorf("request %d sends %v again", i+2, plan.Again)
		}
	}
	if !slices.Contains(first.Keep, Keep{Hash: made}) || len(again.Keep) != 0 {
		t.Errorf("keeps %v, then %v", first.Keep, again.Keep)
	}
	if plan := Continue(begun, echoed("u c:x+ u"), keeping, read); plan.Again != nil {
		t.Error("what cannot be kept goes out as made")
	}
}
