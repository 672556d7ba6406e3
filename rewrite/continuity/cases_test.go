package continuity

import (
	"fmt"
	"strings"
	"testing"
)

// The cases of what a change says, where it says it and what stays, by their
// numbers. A client here is one that knows nothing of directives: it sends its
// tools, its prompt and its history, and what it changed is found out.

// The words of changes.
func added(text string) string   { return "say " + addedOpen + text + addedClose }
func removed(text string) string { return "say " + removedOpen + text + removedClose }
func swapped(a, b string) string { return "say " + hunk{a, b}.words() }
func prompt(day int) string      { return fmt.Sprintf("You are careful.\nToday is %d.\nBe brief.", day) }
func anotherDay(to int) string {
	return swapped(fmt.Sprintf("Today is %d.", to-1), fmt.Sprintf("Today is %d.", to))
}
func byReference() Abilities { return Abilities{Text: true, Reference: true} }
func lines(of string) string { return strings.Repeat(of+"\n", 2000) }

func TestDerivation(t *testing.T) {
	tell(t, map[string]story{
		"DV-01 nothing changed": {full, []turn{
			{"x=1,y=1|s|u", "x=1,y=1|s|u", Fresh},
			{"x=1,y=1|s|uau", "x=1,y=1|s|uau", None},
		}},
		"DV-02 section appended": {full, []turn{
			{"|s|u", "|s|u", Fresh},
			{"|s,t|uau", "|s|uau[" + added("t") + "]", None},
			{"|s,t|uauau", "|s|uau[" + added("t") + "]au", None},
		}},
		"DV-03 tool enabled": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"x=1,y=1||uau", "x=1,~y=1||uau[+y]", None},
			{"y=1,x=1||uauau", "x=1,~y=1||uau[+y]au", None},
		}},
		"DV-04 tool disabled": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"y=1||uau", "x=1,y=1||uau[-x]", None},
		}},
		"DV-05 one directive in a stable order": {full, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"y=1|s,t,v|uau", "x=1,~y=1|s|uau[" + added("t") + "; " + added("v") + "; -x; +y]", None},
		}},
		"DV-06 disabled and enabled before a reply": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1||uau", "x=1,y=1||uau[-y]", None},
			{"x=1,y=1||uauu", "x=1,y=1||uauu", None},
		}},
		"DV-06 disabled and enabled while it was held": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1||ua", "x=1,y=1||ua", None},
			{"x=1,y=1||uau", "x=1,y=1||uau", None},
		}},
		"DV-07 enabled already": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1||uau", "x=1,y=1||uau[-y]", None},
			{"x=1,y=1||uauau", "x=1,y=1||uau[-y]au[+y]", None},
			{"x=1,y=1||uauauau", "x=1,y=1||uau[-y]au[+y]au", None},
		}},
		"DV-08 section edited": {full, []turn{
			{"|" + prompt(1) + ",other|u", "|" + prompt(1) + ",other|u", Fresh},
			{"|" + prompt(2) + ",other|uau", "|" + prompt(1) + ",other|uau[" + anotherDay(2) + "]", None},
			{"|" + prompt(3) + ",other|uauau", "|" + prompt(1) + ",other|uau[" + anotherDay(2) + "]au[" + anotherDay(3) + "]", None},
		}},
		"DV-09 section removed": {full, []turn{
			{"|s,t|u", "|s,t|u", Fresh},
			{"|s|uau", "|s,t|uau[" + removed("t") + "]", None},
		}},
		"DV-10 sections in another order": {full, []turn{
			{"|s,t|u", "|s,t|u", Fresh},
			{"|t,s|uau", "|s,t|uau", None},
		}},
		"DV-11 the prompt as one text changes": {full, []turn{
			{"|" + prompt(1) + "|u", "|" + prompt(1) + "|u", Fresh},
			{"|" + prompt(2) + "|uau", "|" + prompt(1) + "|uau[" + anotherDay(2) + "]", None},
		}},
		"DV-11 the prompt is another one": {full, []turn{
			{"|" + lines("a") + "|u", "|" + lines("a") + "|u", Fresh},
			{"|" + lines("b") + "|uau", "|" + lines("b") + "|uau", DirectiveTooBig},
			{"|" + lines("b") + "|uauau", "|" + lines("b") + "|uauau", None},
		}},
		"DV-12 definition changed": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=2,y=1||uau", "x=1,y=1||uau[=x=2]", None},
			{"x=2,y=1||uauau", "x=1,y=1||uau[=x=2]au", None},
		}},
		"DV-12 where tools cannot be defined": {byReference(), []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"x=2||uau", "x=2||uau", ToolsChanged},
		}},
		"DV-13 a tool that was never there": {byReference(), []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"new=1,x=1||uau", "x=1,~new=1||uau[+new]", None},
			{"new=1,x=1,newer=1||uauau", "x=1,~new=1,~newer=1||uau[+new]au[+newer]", None},
		}},
		"PB-02 order and spelling of tools": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"y= 1,x=1||uau", "x=1,y=1||uau", None},
		}},
		"PB-11 two tools come and three go": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1,p=1,q=1,y=1||uau", "x=1,y=1,~p=1,~q=1||uau[+p; +q]", None},
			{"x=1||uauau", "x=1,y=1,~p=1,~q=1||uau[+p; +q]au[-y; -p; -q]", None},
		}},
		"PB-12 more tools than all the rest": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"x=1,y=" + lines("y") + "||uau", "x=1,~y=" + lines("y") + "||uau[+y]", None},
		}},
		"FB-02 deferred tools in the middle stay there": {full, []turn{
			{"x=1,~p=1||u", "x=1,~p=1||u", Fresh},
			{"~q=1,x=1,~p=1||uau", "x=1,~p=1,~q=1||uau", None},
		}},
		"FB-03 deferred tools come, change and go": {full, []turn{
			{"x=1,~p=1||u", "x=1,~p=1||u", Fresh},
			{"~p=2,x=1,~q=1||uau", "x=1,~p=2,~q=1||uau", None},
			{"x=1,~q=1||uauau", "x=1,~q=1||uauau", None},
		}},
	})
}

func TestPlacement(t *testing.T) {
	tell(t, map[string]story{
		"PL-01 before the first user message has gone anywhere else": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1||u", "x=1,y=1||u[-y]", None},
		}},
		"PL-02 between user and assistant": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1,y=1||uau", "x=1,y=1||uau", None},
			{"x=1||uau", "x=1,y=1||uau[-y]", None},
			{"x=1||uauau", "x=1,y=1||uau[-y]au", None},
		}},
		"PL-03 right after an assistant text message": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1||uau", "x=1,y=1||uau[-y]", None},
		}},
		"PL-04 between call and result": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"x=1,y=1||ucr", "x=1,~y=1||ucr[+y]", None},
		}},
		"PL-06 between two user messages": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1||uauu", "x=1,y=1||uauu[-y]", None},
		}},
		"PL-06 the client goes on without a reply": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"||uau", "x=1||uau[-x]", None},
			{"||uauu", "x=1||uauu[-x]", None},
			{"||uauuau", "x=1||uauu[-x]au", None},
		}},
		"PL-07 behind a paused turn only text": {full, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"x=1|s,t|uh", "x=1|s|uh[" + added("t") + "]", None},
		}},
		"PL-08 behind the last message": {full, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"x=1|s,t|uauauau", "x=1|s|uauauau[" + added("t") + "]", None},
		}},
		"PL-09 prefill holds": {full, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"|s,t|ua", "x=1|s|ua", None},
			{"|s,t|uau", "x=1|s|uau[" + added("t") + "; -x]", None},
		}},
		"PL-10 two changes in one gap": {full, []turn{
			{"x=1,y=1|s|u", "x=1,y=1|s|u", Fresh},
			{"x=1|s,t|uau", "x=1,y=1|s|uau[" + added("t") + "; -y]", None},
		}},
		"PL-10 two changes without a reply between": {full, []turn{
			{"x=1,y=1,z=1||u", "x=1,y=1,z=1||u", Fresh},
			{"x=1,y=1||uau", "x=1,y=1,z=1||uau[-z]", None},
			{"x=1||uau", "x=1,y=1,z=1||uau[-z][-y]", None},
			{"x=1||uauu", "x=1,y=1,z=1||uauu[-y; -z]", None},
			{"x=1||uauuau", "x=1,y=1,z=1||uauu[-y; -z]au", None},
		}},
		"PL-11 behind the client's own system messages": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"||uauss", "x=1||uauss[-x]", None},
			{"||uaussau", "x=1||uauss[-x]au", None},
		}},
		"PL-12 no messages": {full, []turn{
			{"x=1|s|", "x=1|s|", Fresh},
			{"|s,t|", "x=1|s|", None},
		}},
		"PL-12 no user message": {full, []turn{
			{"x=1|s|s", "x=1|s|s", Fresh},
			{"|s,t|s", "x=1|s|s", None},
		}},
		"PL-13 tool change while paused": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"||uh", "x=1||uh", None},
			{"||uhau", "x=1||uhau[-x]", None},
		}},
		"PL-13 text may go at once": {full, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"|s,t|uh", "x=1|s|uh[" + added("t") + "]", None},
			{"|s,t|uhau", "x=1|s|uh[" + added("t") + "]au[-x]", None},
		}},
		// What may follow the results of a mixed turn is not documented, so
		// nothing does.
		"PL-14 results of a turn with an open hosted call": {full, []turn{
			{"x=1||u", "x=1||u", Fresh},
			{"||uor", "x=1||uor", None},
			{"||uorau", "x=1||uorau[-x]", None},
		}},
	})
}

// A request that cannot be gone on with says what the client says, in its order.
func TestFlattening(t *testing.T) {
	tell(t, map[string]story{
		"FL-03 the same state goes out the same way": {Abilities{}, []turn{
			{"x=1,y=1|s|u", "x=1,y=1|s|u", Fresh},
			{"y=1|t|uau", "y=1|t|uau", ToolsChanged},
			{"y=1|t|uauau", "y=1|t|uauau", None},
			{"y=1|t|uauauau", "y=1|t|uauauau", None},
		}},
		"FL-04 as the client would have sent it": {Abilities{}, []turn{
			{"x=1,y=1|s,t|u", "x=1,y=1|s,t|u", Fresh},
			{"z=1,y=1,x=2|t|uau", "z=1,y=1,x=2|t|uau", ToolsChanged},
		}},
		"FL-04 but for the order of what is equal": {Abilities{}, []turn{
			{"x=1,y=1|s,t|u", "x=1,y=1|s,t|u", Fresh},
			{"y=1,x=1|t,s|uau", "x=1,y=1|s,t|uau", None},
		}},
		"FL-05 no tool is left": {Abilities{}, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"|s|uau", "|s|uau", ToolsChanged},
		}},
		"FL-06 text where tools are not changed": {Abilities{Text: true}, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"x=1|s,t|uau", "x=1|s|uau[" + added("t") + "]", None},
		}},
		"FL-06 text and tools together begin anew": {Abilities{Text: true}, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"y=1|s,t|uau", "y=1|s,t|uau", ToolsChanged},
			{"y=1|s,t,v|uauau", "y=1|s,t|uauau[" + added("v") + "]", None},
		}},
	})
}

func TestGates(t *testing.T) {
	tell(t, map[string]story{
		"GT-01 text needs its ability": {Abilities{Reference: true, Define: true}, []turn{
			{"x=1|s|u", "x=1|s|u", Fresh},
			{"x=1|s,t|uau", "x=1|s,t|uau", SystemChanged},
		}},
		"GT-02 tools need theirs": {byReference(), []turn{
			{"x=1,y=1|s|u", "x=1,y=1|s|u", Fresh},
			{"x=1|s|uau", "x=1,y=1|s|uau[-y]", None},
		}},
		"GT-03 text without tools": {Abilities{Text: true}, []turn{
			{"x=1,y=1|s|u", "x=1,y=1|s|u", Fresh},
			{"x=1,y=1|s,t|uau", "x=1,y=1|s|uau[" + added("t") + "]", None},
			{"x=1|s,t|uauau", "x=1|s,t|uauau", ToolsChanged},
		}},
		"GT-04 no abilities": {Abilities{}, []turn{
			{"x=1,y=1|s|u", "x=1,y=1|s|u", Fresh},
			{"y=1,x=1|s|uau", "x=1,y=1|s|uau", None},
			{"y=1|s|uauau", "y=1|s|uauau", ToolsChanged},
			{"y=1|t|uauauau", "y=1|t|uauauau", SystemChanged},
		}},
	})
}

func TestStability(t *testing.T) {
	tell(t, map[string]story{
		"SB-04 a change that sorts before the reply": {full, []turn{
			{"x=1,y=1|s|u", "x=1,y=1|s|u", Fresh},
			{"x=1,y=1|s|uau", "x=1,y=1|s|uau", None},
			// The first legal gap behind the change is the one that the reply has
			// closed.
			{"x=1|s,t|uauau", "x=1,y=1|s|uauau[" + added("t") + "; -y]", None},
		}},
		"SB-06 written otherwise": {full, []turn{
			{"x=1,y=1|s|u", "x=1,y=1|s|u", Fresh},
			{"x=1|s|uau", "x=1,y=1|s|uau[-y]", None},
			{"x= 1|s|uauau", "x=1,y=1|s|uau[-y]au", None},
		}},
		"SB-07 removed and added again": {full, []turn{
			{"x=1,y=1||u", "x=1,y=1||u", Fresh},
			{"x=1||uau", "x=1,y=1||uau[-y]", None},
			{"x=1,y=1||uauau", "x=1,y=1||uau[-y]au[+y]", None},
			{"x=1||uauauau", "x=1,y=1||uau[-y]au[+y]au[-y]", None},
		}},
		"SB-09 what was said stays said": {full, []turn{
			{"x=1|s,t|u", "x=1|s,t|u", Fresh},
			{"x=1|s|uau", "x=1|s,t|uau[" + removed("t") + "]", None},
			{"x=1|s,t|uauau", "x=1|s,t|uau[" + removed("t") + "]au[" + added("t") + "]", None},
			{"x=1|s|uauauau", "x=1|s,t|uau[" + removed("t") + "]au[" + added("t") + "]au[" + removed("t") + "]", None},
		}},
	})
}

// TestOrderNeverLeaks plans one request many times: what maps hold must not
// decide the order of anything.
func TestOrderNeverLeaks(t *testing.T) {
	t.Run("SB-03 many plans of one request", func(t *testing.T) {
		var names []string
		for i := range 40 {
			names = append(names, fmt.Sprintf("tool%02d=1", i))
		}
		s := &session{able: full}
		s.send(asked(strings.Join(names[:30], ",") + "|a,b,c,d,e|u"))
		begun, want := s.state, ""
		for i := range 50 {
			s.state = begun
			_, got := s.send(asked(strings.Join(names[20:], ",") + "|e,f,g,a,h|uau"))
			if i > 0 && got != want {
				t.Fatalf("plan %d sends\n%s\nthe first\n%s", i+1, got, want)
			}
			want = got
		}
	})
}
