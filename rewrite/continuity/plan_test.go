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

// story is a conversation of a client's requests with what goes out for each of
// them, both written tools|sections|messages.
type story struct {
	able  Abilities
	turns []turn
}

type turn struct {
	client, upstream string
	epoch            Reason
}

// asked reads a client's request in shorthand.
func asked(request string) world {
	list := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	}
	parts := strings.SplitN(request, "|", 3)
	return world{tools: list(parts[0]), sections: list(parts[1]), messages: parts[2]}
}

func tell(t *testing.T, stories map[string]story) {
	t.Helper()
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			s := &session{able: story.able}
			for i, turn := range story.turns {
				bound := s.state != nil && s.state.Drop
				plan, got := s.send(asked(turn.client))
				if got != turn.upstream {
					t.Errorf("turn %d sends\n%s\nwant\n%s", i+1, got, turn.upstream)
				}
				if plan.Epoch != turn.epoch {
					t.Errorf("turn %d: epoch %q, want %q", i+1, plan.Epoch, turn.epoch)
				}
				if thinks := strings.Contains(asked(turn.client).messages, "b"); thinks && story.able.Binding && plan.Drop != (bound || i > 0 && turn.epoch != None) {
					t.Errorf("turn %d: drop = %v", i+1, plan.Drop)
				}
			}
		})
	}
}

func TestContinue(t *testing.T) {
	tell(t, map[string]story{
		"a retry is the same request": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"||uau", "x=1||uau[-x]", None},
			{"||uau", "x=1||uau[-x]", None},
		}},
		"a deferred tool that is loaded stays": {full, []turn{
			{"x=1,~p=1||u", "x=1,~p=1||u", Fresh},
			{"x=1,p=1||uau", "x=1,~p=1||uau[+p]", None},
			{"x=1||uauau", "x=1,~p=1||uau[+p]au[-p]", None},
		}},
		"tools that no directive can change": {full, []turn{
			{"x=1,!m=1||u", "x=1,!m=1||u", Fresh},
			{"!m=1,x=1,y=1||uau", "x=1,!m=1,~y=1||uau[+y]", None},
			{"x=1,y=1||uauau", "x=1,y=1||uauau", ToolsChanged},
			{"x=1,y=1,!m=1||uauauau", "x=1,y=1,!m=1||uauauau", ToolsChanged},
		}},
		"the first tools of all": {full, []turn{
			{"|s|u", "|s|u", Fresh},
			{"x=1|s|uau", "x=1|s|uau", ToolsChanged},
		}},
		"one name twice is the provider's to judge": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"x=1,x=1||uau", "x=1,x=1||uau", ToolsChanged},
		}},
		"thinking is dropped with its prefix": {Abilities{Text: true, Binding: true}, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"y=1||ubu", "y=1||ubu", ToolsChanged},
			{"y=1||ububu", "y=1||ububu", None},
		}},
		"thinking stays where its prefix does": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"y=1||ubu", "x=1,~y=1||ubu[-x; +y]", None},
		}},
	})
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
