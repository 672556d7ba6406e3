package relay

import (
	"testing"
	"time"

	"warmpath/rewrite"
)

func TestDislikesAreForgotten(t *testing.T) {
	var d disliked
	at := time.Unix(1_700_000_000, 0)
	place := toolsPlace{provider: "a", model: "m"}
	if !d.empty() {
		t.Error("something is disliked from the beginning")
	}
	d.add(place, 3, at)
	for name, tc := range map[string]struct {
		place toolsPlace
		own   int
		after time.Duration
		want  bool
	}{
		"the same":           {place, 3, 0, true},
		"more of a client's": {place, 4, time.Minute, true},
		"fewer":              {place, 2, 0, false},
		"another model":      {toolsPlace{provider: "a", model: "n"}, 3, 0, false},
		"another list":       {toolsPlace{provider: "a", model: "m", list: listHead([]byte("x"))}, 3, 0, false},
		"after its time":     {place, 3, believed, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := d.has(tc.place, tc.own, at.Add(tc.after)); got != tc.want {
				t.Errorf("disliked: %v", got)
			}
		})
	}
	if d.add(place, 1, at); !d.has(place, 1, at) {
		t.Error("the least number does not hold")
	}
	if d.add(place, 2, at.Add(time.Second)); !d.has(place, 1, at) {
		t.Error("a later refusal beside more tools has raised the least number")
	}
	if d.add(toolsPlace{model: "n"}, 0, at.Add(2*believed)); len(d.found) != 1 {
		t.Errorf("%d findings are kept, want the one that holds", len(d.found))
	}
}

func TestOwnTools(t *testing.T) {
	for name, tc := range map[string]struct {
		dialect rewrite.Dialect
		body    string
		want    int
	}{
		"none":         {rewrite.Messages, `{"messages":[]}`, 0},
		"two":          {rewrite.Completions, `{"tools":[{},{}]}`, 2},
		"no array":     {rewrite.Gemini, `{"tools":null}`, 0},
		"declarations": {rewrite.Gemini, `{"tools":[{"functionDeclarations":[{},{}]},{"google_search":{}},{"function_declarations":[{}]}]}`, 4},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ownTools(tc.dialect, []byte(tc.body)); got != tc.want {
				t.Errorf("%d tools, want %d", got, tc.want)
			}
		})
	}
}

func TestNamesOfUnknownTools(t *testing.T) {
	h := &hidden{names: map[string]string{"desk__ask": "desk.ask", "tell_user": "tell_user"}}
	for text, want := range map[string]string{
		"":                                 "",
		"nothing":                          "nothing",
		"tell_user":                        unknownTool,
		"no tell_user_2, no xtell_user":    "no tell_user_2, no xtell_user",
		"Tool 'tell_user': desk.ask":       "Tool '" + unknownTool + "': " + unknownTool,
		"tool-tell_user tell_user: x_y":    "tool-tell_user " + unknownTool + ": x_y",
		"desk__ask, desk__asks, desk__ask": unknownTool + ", desk__asks, " + unknownTool,
	} {
		if got := h.unnamed(text); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
	if none := (*hidden)(nil); none.named([]byte("tell_user")) || none.unnamed("tell_user") != "tell_user" {
		t.Error("names are left out where nothing is hidden")
	}
	fault := &rewrite.Fault{Type: "t", Message: "tell_user is wrong"}
	if told := h.unblamed(fault); told.Message != unknownTool+" is wrong" || told.Type != "t" || fault.Message != "tell_user is wrong" {
		t.Errorf("the client is told %+v of %+v", told, fault)
	}
}
