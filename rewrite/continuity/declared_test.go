package continuity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// intent reads a declared request in shorthand: the catalogue with * for what is
// offered from the start and ! for what is fixed, then the history in the letters
// of world, with changes in brackets: [-x +y "text"].
func intent(catalogue, history string) *Declared {
	d := &Declared{}
	for name := range strings.FieldsSeq(catalogue) {
		bare := strings.Trim(name, "*!")
		d.Catalogue = append(d.Catalogue, Tool{Name: bare, Fixed: strings.HasPrefix(name, "!")})
		if strings.HasSuffix(name, "*") {
			d.Offered = append(d.Offered, bare)
		}
	}
	var w world
	for rest := history; rest != ""; {
		if rest[0] != '[' {
			w.messages, rest = w.messages+rest[:1], rest[1:]
			continue
		}
		inside, behind, _ := strings.Cut(rest[1:], "]")
		rest = behind
		c := Change{At: len(w.messages)}
		for word := range strings.FieldsSeq(inside) {
			switch word[0] {
			case '-':
				c.Remove = append(c.Remove, word[1:])
			case '+':
				c.Add = append(c.Add, word[1:])
			default:
				c.Texts = append(c.Texts, word)
			}
		}
		d.Changes = append(d.Changes, c)
	}
	d.Messages = w.facts().Messages
	return d
}

// laid writes a layout as tools|prompt|history, deferred tools with ~.
func laid(d *Declared, l *Layout) string {
	var tools []string
	for _, e := range l.Tools {
		name := d.Catalogue[e.Index].Name
		if e.Deferred {
			name = "~" + name
		}
		tools = append(tools, name)
	}
	var out strings.Builder
	out.WriteString(strings.Join(tools, ",") + "|" + strings.Join(l.Prompt, ",") + "|")
	letters, said := letters(d), l.Said
	for i := 0; i <= len(letters); i++ {
		for len(said) > 0 && said[0].After == i {
			words := slices.Clone(said[0].Texts)
			for _, name := range said[0].Remove {
				words = append(words, "-"+name)
			}
			for _, name := range said[0].Add {
				words = append(words, "+"+name)
			}
			out.WriteString("[" + strings.Join(words, " ") + "]")
			said = said[1:]
		}
		if i < len(letters) {
			out.WriteByte(letters[i])
		}
	}
	return out.String()
}

// letters are the messages of a request as intent read them.
func letters(d *Declared) string {
	var out []byte
	for _, m := range d.Messages {
		switch {
		case m.Role == User && m.Results:
			out = append(out, 'r')
		case m.Role == User:
			out = append(out, 'u')
		case m.Role == System:
			out = append(out, 's')
		case m.HostedTail:
			out = append(out, 'h')
		case m.HostedOpen:
			out = append(out, 'o')
		case m.Calls:
			out = append(out, 'c')
		default:
			out = append(out, 'a')
		}
	}
	return string(out)
}

func TestDeclare(t *testing.T) {
	const tools = "x* y* z"
	byName := Abilities{Text: true, Reference: true}
	tests := map[string]struct {
		able      Abilities
		catalogue string
		// turns are the client's histories with the layouts that they come to.
		turns [][2]string
	}{
		"DV-01 the start": {byName, tools, [][2]string{
			{"u", "x,~y,~z||u[+y]"}, {"uau", "x,~y,~z||u[+y]au"},
		}},
		"DV-06 disabled and enabled before the next gap": {byName, tools, [][2]string{
			{"ua[-y][+y]u", "x,~y,~z||u[+y]au"},
		}},
		"DV-07 enabled already": {byName, tools, [][2]string{
			{"ua[+y]u", "x,~y,~z||u[+y]au"},
		}},
		"PL-01 before the first user message": {byName, tools, [][2]string{
			{"[-x +z one]u", "x,~y,~z||u[one -x +y +z]"},
		}},
		"PL-02 between user and assistant": {byName, tools, [][2]string{
			{"u[one]au", "x,~y,~z||u[one +y]au"},
		}},
		"PL-03 right after an assistant text message": {byName, tools, [][2]string{
			{"ua[one]u", "x,~y,~z||u[+y]au[one]"},
		}},
		"PL-04 between call and result": {byName, tools, [][2]string{
			{"uc[+z]r", "x,~y,~z||u[+y]cr[+z]"},
		}},
		"PL-06 between two user messages": {byName, tools, [][2]string{
			{"u[+z]u", "x,~y,~z||uu[+y +z]"},
		}},
		"PL-07 PL-13 behind a paused turn": {byName, tools, [][2]string{
			{"uh[one +z]", "x,~y,~z||u[+y]h[one]"},
			{"uh[one +z]au", "x,~y,~z||u[+y]h[one]au[+z]"},
		}},
		"PL-08 at the end": {byName, tools, [][2]string{
			{"uau[+z]", "x,~y,~z||u[+y]au[+z]"},
		}},
		"PL-09 prefill holds": {byName, tools, [][2]string{
			{"ua[+z]", "x,~y,~z||u[+y]a"}, {"ua[+z]u", "x,~y,~z||u[+y]au[+z]"},
		}},
		"PL-10 two changes in one gap": {byName, tools, [][2]string{
			{"ua[one -x][two +z]u", "x,~y,~z||u[+y]au[one two -x +z]"},
		}},
		"PL-11 the client's own system messages": {byName, tools, [][2]string{
			{"ua[+z]us", "x,~y,~z||u[+y]aus[+z]"},
		}},
		"PL-12 no user message": {byName, tools, [][2]string{
			{"", "x,~y,~z||"}, {"s", "x,~y,~z||s"},
		}},
		"PL-14 results of a mixed turn": {byName, tools, [][2]string{
			{"uo[one]r", "x,~y,~z||u[+y]or"}, {"uo[one]rau", "x,~y,~z||u[+y]orau[one]"},
		}},
		"FL-01 texts in the prompt": {Abilities{}, tools, [][2]string{
			{"u[one]au[two]", "x,y|one,two|uau"},
		}},
		"FL-02 tools in the catalogue's order": {Abilities{}, tools, [][2]string{
			{"uau[-x +z]", "y,z||uau"},
		}},
		"FL-03 the same state the same way": {Abilities{}, tools, [][2]string{
			{"u[one -y]au", "x|one|uau"}, {"u[one -y]auau", "x|one|uauau"},
		}},
		"FL-05 no tool is left": {Abilities{}, tools, [][2]string{
			{"uau[-x -y]", "||uau"},
		}},
		"FL-06 text, but no tools": {Abilities{Text: true}, tools, [][2]string{
			{"ua[one -x +z]u", "y,z||uau[one]"},
		}},
		"SB-04 a late change goes past what was sent": {byName, tools, [][2]string{
			{"uau", "x,~y,~z||u[+y]au"}, {"uau[+z]au", "x,~y,~z||u[+y]auau[+z]"},
			{"uau[+z]auau", "x,~y,~z||u[+y]auau[+z]au"},
		}},
		"SB-04 and may stand before one that was sent": {byName, tools, [][2]string{
			{"uau[+z]", "x,~y,~z||u[+y]au[+z]"}, {"u[-z]au[+z]au", "x,~y,~z||u[+y]au[+z]au"},
			{"u[-x]au[+z]auau", "x,~y,~z||u[+y]au[+z]auau[-x]"},
		}},
		"SB-05 the history is cut": {byName, tools, [][2]string{
			{"uauau[+z]", "x,~y,~z||u[+y]auau[+z]"}, {"u[+z]", "x,~y,~z||u[+y +z]"},
		}},
		"SB-07 removed and added again": {byName, tools, [][2]string{
			{"uau[-y]", "x,~y,~z||u[+y]au[-y]"}, {"uau[-y]au[+y]", "x,~y,~z||u[+y]au[-y]au[+y]"},
			{"uau[-y]au[+y]auau", "x,~y,~z||u[+y]au[-y]au[+y]auau"},
		}},
		"GT-05 names that are not there": {byName, tools, [][2]string{
			{"uau[-nobody]", "x,~y,~z||u[+y]au"}, {"uau[-nobody]au[+nobody +z]", "x,~y,~z||u[+y]auau[+z]"},
		}},
		"GT-06 left out the same way each time": {byName, tools, [][2]string{
			{"uau[-nobody one +z]", "x,~y,~z||u[+y]au[one +z]"}, {"uau[-nobody one +z]au", "x,~y,~z||u[+y]au[one +z]au"},
		}},
		"no tool is offered from the start": {byName, "x y", [][2]string{
			{"u", "x,~y||u[-x]"}, {"uau[+y]", "x,~y||u[-x]au[+y]"},
		}},
		"a fixed tool is the anchor": {byName, "x* !s* y", [][2]string{
			{"uau[-s]", "~x,s,~y||u[+x]au"},
		}},
		"a fixed tool that is not offered": {byName, "x* !s y", [][2]string{
			{"uau[+s]", "x,~y||uau"},
		}},
		"a fixed tool that is not offered, and no other": {byName, "!s x y", [][2]string{
			{"u", "x,~y||u[-x]"},
		}},
		"no tools at all": {byName, "", [][2]string{
			{"uau[one]", "||uau[one]"},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var places Places
			for i, turn := range test.turns {
				d := intent(test.catalogue, turn[0])
				layout, err := Declare(d, test.able, places)
				if err != nil {
					t.Fatal(err)
				}
				if got := laid(d, layout); got != turn[1] {
					t.Errorf("turn %d: %s becomes\n%s\nwant\n%s", i+1, turn[0], got, turn[1])
				}
				places = layout.Places
			}
		})
	}
}

func TestDeclareNamesWhatItLeavesOut(t *testing.T) {
	d := intent("x* !s*", "u[-nobody -s +x]au[+nobody -other]")
	for range 20 {
		layout, err := Declare(d, full, Places{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(layout.Unknown); got != "[nobody s other]" {
			t.Errorf("left out %s", got)
		}
	}
}

func TestDeclareKnowsWhatIsWithheld(t *testing.T) {
	for name, test := range map[string]struct {
		forced, history string
		withheld        bool
	}{
		"FL-07 offered":      {"x", "u", false},
		"FL-07 withheld":     {"z", "u", true},
		"FL-07 withdrawn":    {"x", "uau[-x]", true},
		"FL-07 offered late": {"z", "uau[+z]", false},
		"FL-07 unknown":      {"nobody", "u", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, able := range []Abilities{{}, {Text: true}, full} {
				d := intent("x* y* z", test.history)
				d.Forced = test.forced
				if _, err := Declare(d, able, Places{}); errors.Is(err, ErrWithheld) != test.withheld {
					t.Errorf("%+v: %v", able, err)
				}
			}
		})
	}
}
