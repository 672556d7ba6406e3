package continuity

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// world is a request in shorthand: tools as name=definition, with a leading ~
// for a deferred one and ! for one that is fixed, sections as text, messages as one letter each: u user,
// a assistant, s system, c assistant that calls, r results, h assistant paused
// behind a hosted result, o assistant with an open hosted call, b bound thinking.
type world struct {
	tools    []string
	sections []string
	messages string
	bytes    []string // what spans point at
}

func hash(text string) Hash {
	sum := sha256.Sum256([]byte(text))
	return Hash(sum[:16])
}

// span makes up a place for an element, by which a test finds it again.
func (w *world) span(text string) rewrite.Span {
	w.bytes = append(w.bytes, text)
	at := 1000 * len(w.bytes)
	return rewrite.Span{Start: at, End: at + max(len(text), 1)}
}

func (w *world) at(s rewrite.Span) string { return w.bytes[s.Start/1000-1] }

func (w *world) facts() *Facts {
	w.bytes = nil
	f := &Facts{Model: "m"}
	for _, tool := range w.tools {
		plain, deferred := strings.CutPrefix(tool, "~")
		plain, fixed := strings.CutPrefix(plain, "!")
		name, definition, _ := strings.Cut(plain, "=")
		// Spaces are spelling, not meaning.
		f.Tools = append(f.Tools, Tool{Name: name, Meaning: hash(strings.TrimSpace(definition)), Exact: hash(plain), Span: w.span(tool), Deferred: deferred, Fixed: fixed})
	}
	for _, text := range w.sections {
		span := w.span(text)
		f.Sections = append(f.Sections, Section{Meaning: hash(text), Exact: hash(text), Span: span, Text: span})
	}
	for i, kind := range w.messages {
		m := Message{Meaning: hash(fmt.Sprint(i, kind)), Span: w.span(strings.Repeat("m", 200)), Blocks: 1}
		switch kind {
		case 'a', 'b', 'c', 'h', 'o':
			m.Role, m.Signed = Assistant, true
			m.Bound, m.Calls, m.HostedTail, m.HostedOpen = kind == 'b', kind == 'c', kind == 'h', kind == 'o'
		case 's':
			m.Role = System
		case 'r':
			m.Results = true
		}
		f.Messages = append(f.Messages, m)
	}
	return f
}

// session plays requests one after the other on one state and keeps their texts.
type session struct {
	able  Abilities
	state *State
	kept  map[Hash]string
	lost  bool
}

var full = Abilities{Text: true, Reference: true, Define: true, Binding: true}

func (s *session) send(w world) (*Plan, string) {
	facts := w.facts()
	read := Reader{
		Now:    w.at,
		Kept:   func(h Hash) (string, bool) { text, ok := s.kept[h]; return text, ok && !s.lost },
		Render: func(d *Directive) []byte { return []byte(w.words(d)) },
	}
	var plan *Plan
	if s.state == nil {
		plan = Begin("c", nil, Fresh, facts, s.able)
	} else {
		plan = Continue(s.state, facts, s.able, read)
	}
	if s.kept == nil {
		s.kept = map[Hash]string{}
	}
	for _, keep := range plan.Keep {
		s.kept[keep.Hash] = w.at(keep.Span)
	}
	s.state = plan.Next
	return plan, s.upstream(&w, plan)
}

// words is a directive in shorthand.
func (w *world) words(d *Directive) string {
	var parts []string
	for _, text := range d.Texts {
		parts = append(parts, "say "+text)
	}
	for _, name := range d.Remove {
		parts = append(parts, "-"+name)
	}
	for _, name := range d.Add {
		parts = append(parts, "+"+name)
	}
	for _, span := range d.Define {
		parts = append(parts, "="+w.at(span))
	}
	return strings.Join(parts, "; ")
}

// upstream is the request as it goes out: tools|sections|messages.
func (s *session) upstream(w *world, plan *Plan) string {
	bytes := func(pieces []Piece, own []string) string {
		if pieces == nil {
			return strings.Join(own, ",")
		}
		var out []string
		for _, piece := range pieces {
			text := s.kept[piece.Kept]
			if piece.FromRequest() {
				text = w.at(piece.Span)
			}
			if piece.Deferred {
				text = "~" + strings.TrimPrefix(text, "~")
			}
			out = append(out, text)
		}
		return strings.Join(out, ",")
	}
	var messages []string
	inserts := plan.Inserts
	for i := 0; i <= len(w.messages); i++ {
		for len(inserts) > 0 && inserts[0].After == i {
			messages = append(messages, "["+string(inserts[0].Bytes)+"]")
			inserts = inserts[1:]
		}
		if i < len(w.messages) {
			messages = append(messages, w.messages[i:i+1])
		}
	}
	return bytes(plan.Tools, w.tools) + "|" + bytes(plan.Sections, w.sections) + "|" + strings.Join(messages, "")
}

func TestContinue(t *testing.T) {
	date := func(day int) string { return fmt.Sprintf("You are careful.\nToday is %d.\nBe brief.", day) }
	said := func(day int) string {
		return "say " + hunk{fmt.Sprintf("Today is %d.", day-1), fmt.Sprintf("Today is %d.", day)}.words()
	}
	type turn struct {
		world
		want  string
		epoch Reason
	}
	tests := map[string]struct {
		able  Abilities
		turns []turn
	}{
		"DV-01 nothing changed": {full, []turn{
			{world{[]string{"x=1", "y=1"}, []string{"s"}, "u", nil}, "x=1,y=1|s|u", Fresh},
			{world{[]string{"x=1", "y=1"}, []string{"s"}, "uau", nil}, "x=1,y=1|s|uau", None},
		}},
		"DV-02 section appended": {full, []turn{
			{world{nil, []string{"s"}, "u", nil}, "|s|u", Fresh},
			{world{nil, []string{"s", "t"}, "uau", nil}, "|s|uau[say " + addedOpen + "t" + addedClose + "]", None},
			{world{nil, []string{"s", "t"}, "uauau", nil}, "|s|uau[say " + addedOpen + "t" + addedClose + "]au", None},
		}},
		"DV-03 tool enabled": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{[]string{"x=1", "y=1"}, nil, "uau", nil}, "x=1,~y=1||uau[+y]", None},
			{world{[]string{"y=1", "x=1"}, nil, "uauau", nil}, "x=1,~y=1||uau[+y]au", None},
		}},
		"DV-04 tool disabled": {full, []turn{
			{world{[]string{"x=1", "y=1"}, nil, "u", nil}, "x=1,y=1||u", Fresh},
			{world{[]string{"y=1"}, nil, "uau", nil}, "x=1,y=1||uau[-x]", None},
		}},
		"DV-05 one directive in a stable order": {full, []turn{
			{world{[]string{"x=1"}, []string{"s"}, "u", nil}, "x=1|s|u", Fresh},
			{world{[]string{"y=1"}, []string{"s", "t", "v"}, "uau", nil},
				"x=1,~y=1|s|uau[say " + addedOpen + "t" + addedClose + "; say " + addedOpen + "v" + addedClose + "; -x; +y]", None},
		}},
		"DV-07 back unchanged": {full, []turn{
			{world{[]string{"x=1", "y=1"}, nil, "u", nil}, "x=1,y=1||u", Fresh},
			{world{[]string{"x=1"}, nil, "uau", nil}, "x=1,y=1||uau[-y]", None},
			{world{[]string{"x=1", "y=1"}, nil, "uauau", nil}, "x=1,y=1||uau[-y]au[+y]", None},
			{world{[]string{"x=1", "y=1"}, nil, "uauauau", nil}, "x=1,y=1||uau[-y]au[+y]au", None},
		}},
		"DV-08 section edited": {full, []turn{
			{world{nil, []string{date(1), "other"}, "u", nil}, "|" + date(1) + ",other|u", Fresh},
			{world{nil, []string{date(2), "other"}, "uau", nil}, "|" + date(1) + ",other|uau[" + said(2) + "]", None},
			{world{nil, []string{date(3), "other"}, "uauau", nil}, "|" + date(1) + ",other|uau[" + said(2) + "]au[" + said(3) + "]", None},
		}},
		"DV-09 section removed": {full, []turn{
			{world{nil, []string{"s", "t"}, "u", nil}, "|s,t|u", Fresh},
			{world{nil, []string{"s"}, "uau", nil}, "|s,t|uau[say " + removedOpen + "t" + removedClose + "]", None},
		}},
		"DV-10 sections in another order": {full, []turn{
			{world{nil, []string{"s", "t"}, "u", nil}, "|s,t|u", Fresh},
			{world{nil, []string{"t", "s"}, "uau", nil}, "|s,t|uau", None},
		}},
		"DV-12 definition changed": {full, []turn{
			{world{[]string{"x=1", "y=1"}, nil, "u", nil}, "x=1,y=1||u", Fresh},
			{world{[]string{"x=2", "y=1"}, nil, "uau", nil}, "x=1,y=1||uau[=x=2]", None},
			{world{[]string{"x=2", "y=1"}, nil, "uauau", nil}, "x=1,y=1||uau[=x=2]au", None},
		}},
		"DV-12 where tools cannot be defined": {Abilities{Text: true, Reference: true}, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{[]string{"x=2"}, nil, "uau", nil}, "x=2||uau", ToolsChanged},
		}},
		"PB-02 order and spelling of tools": {full, []turn{
			{world{[]string{"x=1", "y=1"}, nil, "u", nil}, "x=1,y=1||u", Fresh},
			{world{[]string{"y= 1", "x=1"}, nil, "uau", nil}, "x=1,y=1||uau", None},
		}},
		"PL-04 between call and result": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{[]string{"x=1", "y=1"}, nil, "ucr", nil}, "x=1,~y=1||ucr[+y]", None},
		}},
		"PL-07 behind a paused turn only text": {full, []turn{
			{world{[]string{"x=1"}, []string{"s"}, "u", nil}, "x=1|s|u", Fresh},
			{world{[]string{"x=1"}, []string{"s", "t"}, "uh", nil}, "x=1|s|uh[say " + addedOpen + "t" + addedClose + "]", None},
		}},
		"PL-09 prefill holds": {full, []turn{
			{world{[]string{"x=1"}, []string{"s"}, "u", nil}, "x=1|s|u", Fresh},
			{world{nil, []string{"s", "t"}, "ua", nil}, "x=1|s|ua", None},
			{world{nil, []string{"s", "t"}, "uau", nil}, "x=1|s|uau[say " + addedOpen + "t" + addedClose + "; -x]", None},
		}},
		"PL-11 behind the client's own system message": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{nil, nil, "uaus", nil}, "x=1||uaus[-x]", None},
			{world{nil, nil, "uausau", nil}, "x=1||uaus[-x]au", None},
		}},
		"PL-13 tool change while paused": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{nil, nil, "uh", nil}, "x=1||uh", None},
			{world{nil, nil, "uhau", nil}, "x=1||uhau[-x]", None},
		}},
		"mixed turn with an open hosted call": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{nil, nil, "uor", nil}, "x=1||uor", None},
			{world{nil, nil, "uorau", nil}, "x=1||uorau[-x]", None},
		}},
		"the client goes on without a reply": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{nil, nil, "uau", nil}, "x=1||uau[-x]", None},
			{world{nil, nil, "uauu", nil}, "x=1||uauu[-x]", None},
			{world{nil, nil, "uauuau", nil}, "x=1||uauu[-x]au", None},
		}},
		"a retry is the same request": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{nil, nil, "uau", nil}, "x=1||uau[-x]", None},
			{world{nil, nil, "uau", nil}, "x=1||uau[-x]", None},
		}},
		"GT-04 no abilities": {Abilities{}, []turn{
			{world{[]string{"x=1", "y=1"}, []string{"s"}, "u", nil}, "x=1,y=1|s|u", Fresh},
			{world{[]string{"y=1", "x=1"}, []string{"s"}, "uau", nil}, "x=1,y=1|s|uau", None},
			{world{[]string{"y=1"}, []string{"s"}, "uauau", nil}, "y=1|s|uauau", ToolsChanged},
			{world{[]string{"y=1"}, []string{"t"}, "uauauau", nil}, "y=1|t|uauauau", SystemChanged},
		}},
		"FB-03 deferred tools stay in place": {full, []turn{
			{world{[]string{"x=1", "~p=1"}, nil, "u", nil}, "x=1,~p=1||u", Fresh},
			{world{[]string{"~q=1", "x=1", "~p=1"}, nil, "uau", nil}, "x=1,~p=1,~q=1||uau", None},
		}},
		"FB-03 deferred tools come, change and go": {full, []turn{
			{world{[]string{"x=1", "~p=1"}, nil, "u", nil}, "x=1,~p=1||u", Fresh},
			{world{[]string{"~p=2", "x=1", "~q=1"}, nil, "uau", nil}, "x=1,~p=2,~q=1||uau", None},
			{world{[]string{"x=1", "~q=1"}, nil, "uauau", nil}, "x=1,~q=1||uauau", None},
		}},
		"a deferred tool that is loaded stays": {full, []turn{
			{world{[]string{"x=1", "~p=1"}, nil, "u", nil}, "x=1,~p=1||u", Fresh},
			{world{[]string{"x=1", "p=1"}, nil, "uau", nil}, "x=1,~p=1||uau[+p]", None},
			{world{[]string{"x=1"}, nil, "uauau", nil}, "x=1,~p=1||uau[+p]au[-p]", None},
		}},
		"tools that no directive can change": {full, []turn{
			{world{[]string{"x=1", "!m=1"}, nil, "u", nil}, "x=1,!m=1||u", Fresh},
			{world{[]string{"!m=1", "x=1", "y=1"}, nil, "uau", nil}, "x=1,!m=1,~y=1||uau[+y]", None},
			{world{[]string{"x=1", "y=1"}, nil, "uauau", nil}, "x=1,y=1||uauau", ToolsChanged},
			{world{[]string{"x=1", "y=1", "!m=1"}, nil, "uauauau", nil}, "x=1,y=1,!m=1||uauauau", ToolsChanged},
		}},
		"the first tools of all": {full, []turn{
			{world{nil, []string{"s"}, "u", nil}, "|s|u", Fresh},
			{world{[]string{"x=1"}, []string{"s"}, "uau", nil}, "x=1|s|uau", ToolsChanged},
		}},
		"PL-10 two changes without a reply between": {full, []turn{
			{world{[]string{"x=1", "y=1", "z=1"}, nil, "u", nil}, "x=1,y=1,z=1||u", Fresh},
			{world{[]string{"x=1", "y=1"}, nil, "uau", nil}, "x=1,y=1,z=1||uau[-z]", None},
			{world{[]string{"x=1"}, nil, "uau", nil}, "x=1,y=1,z=1||uau[-z][-y]", None},
			{world{[]string{"x=1"}, nil, "uauu", nil}, "x=1,y=1,z=1||uauu[-y; -z]", None},
			{world{[]string{"x=1"}, nil, "uauuau", nil}, "x=1,y=1,z=1||uauu[-y; -z]au", None},
		}},
		"PB-12 more tools than all the rest": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{[]string{"x=1", "y=" + strings.Repeat("y", 900)}, nil, "uau", nil}, "x=1,~y=" + strings.Repeat("y", 900) + "||uau[+y]", None},
		}},
		"one name twice is the provider's to judge": {full, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{[]string{"x=1", "x=1"}, nil, "uau", nil}, "x=1,x=1||uau", ToolsChanged},
		}},
		"thinking is dropped with its prefix": {Abilities{Text: true, Binding: true}, []turn{
			{world{[]string{"x=1"}, nil, "u", nil}, "x=1||u", Fresh},
			{world{[]string{"y=1"}, nil, "ubu", nil}, "y=1||ubu", ToolsChanged},
		}},
		"a directive too long": {full, []turn{
			{world{nil, []string{strings.Repeat("a\n", 10)}, "u", nil}, "|" + strings.Repeat("a\n", 10) + "|u", Fresh},
			{world{nil, []string{strings.Repeat("b\n", 2000)}, "uau", nil}, "|" + strings.Repeat("b\n", 2000) + "|uau", DirectiveTooBig},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &session{able: test.able}
			for i, turn := range test.turns {
				plan, got := s.send(turn.world)
				if got != turn.want {
					t.Errorf("turn %d sends\n%s\nwant\n%s", i+1, got, turn.want)
				}
				if plan.Epoch != turn.epoch {
					t.Errorf("turn %d: epoch %q, want %q", i+1, plan.Epoch, turn.epoch)
				}
				if plan.Drop != (turn.epoch == ToolsChanged && test.able.Binding) && i > 0 {
					if strings.Contains(turn.messages, "b") {
						t.Errorf("turn %d: drop = %v", i+1, plan.Drop)
					}
				}
			}
		})
	}
}

func TestLostTextBeginsAnEpoch(t *testing.T) {
	s := &session{able: full}
	s.send(world{nil, []string{"s"}, "u", nil})
	s.lost = true
	if plan, _ := s.send(world{nil, []string{"t"}, "uau", nil}); plan.Epoch != BytesLost {
		t.Errorf("epoch %q, want %q", plan.Epoch, BytesLost)
	}
}

// A plan never changes the state it began from: other branches go on from it.
func TestStatesAreImmutable(t *testing.T) {
	s := &session{able: full}
	s.send(world{[]string{"x=1", "y=1"}, []string{"s"}, "u", nil})
	s.send(world{[]string{"x=1"}, []string{"s", "t"}, "uau", nil})
	fork := s.state
	before := fmt.Sprintf("%+v", *fork)
	var wants []string
	for _, w := range []world{
		{[]string{"x=1", "z=1"}, []string{"s"}, "uauau", nil},
		{[]string{"x=2", "y=1"}, []string{"s", "t", "v"}, "uauau", nil},
		{nil, nil, "uauau", nil},
	} {
		s.state = fork
		_, got := s.send(w)
		s.state = fork
		_, again := s.send(w)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("the same branch is sent differently: %s", diff)
		}
		wants = append(wants, got)
	}
	if after := fmt.Sprintf("%+v", *fork); after != before {
		t.Errorf("the state changed from\n%s\nto\n%s", before, after)
	}
	if wants[0] == wants[1] || wants[1] == wants[2] {
		t.Error("different branches are sent alike")
	}
}
