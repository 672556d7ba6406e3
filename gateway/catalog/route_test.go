package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/catalog"
)

func TestTheNearestPatternIsTheRoute(t *testing.T) {
	s, problems := catalog.Build(catalog.Settings{Routes: map[string]catalog.RouteRow{
		"*":                  {Builtin: []string{"tell_user"}},
		"claude-*":           {Audience: "off"},
		"claude-opus-*":      {MCP: []string{"files"}},
		"claude-opus-5":      {Events: "off"},
		"openrouter/vendor*": {},
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for model, want := range map[string]string{
		"claude-opus-5": "claude-opus-5", "claude-opus-5-5": "claude-opus-*", "claude-haiku-5": "claude-*",
		"gpt-5": "*", "": "*", "openrouter/vendor/small": "openrouter/vendor*", "claude-opus-": "claude-opus-*",
	} {
		if got := s.Route(model).Pattern; got != want {
			t.Errorf("%q is on the route %q, want %q", model, got, want)
		}
	}
	got := s.Route("claude-opus-5")
	if diff := cmp.Diff(&catalog.Route{Pattern: "claude-opus-5", Audience: true}, got); diff != "" || got.Tools() {
		t.Error(diff)
	}
	if off := s.Route("claude-x"); off.Audience || !off.Events || off.Tools() {
		t.Errorf("%+v", off)
	}
	if !s.Route("gpt-5").Tools() || !s.Route("claude-opus-9").Tools() {
		t.Error("a route with tools says that it has none")
	}
}

func TestARequestWithoutARouteIsAsEver(t *testing.T) {
	if diff := cmp.Diff(&catalog.Route{Audience: true, Events: true}, catalog.Default().Route("any")); diff != "" {
		t.Error(diff)
	}
}

func TestFaultyRoutesAreReported(t *testing.T) {
	_, problems := catalog.Build(catalog.Settings{Routes: map[string]catalog.RouteRow{
		"a*b": {}, "": {},
		"c": {Builtin: []string{"tell_user", "shout"}, MCP: []string{"No Name"}, Audience: "maybe", Events: "1"},
	}})
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	want := []string{
		"routes. is not a pattern; write a model as clients do, or the beginning of one and a *",
		"routes.a*b is not a pattern; write a model as clients do, or the beginning of one and a *",
		`routes.c.audience is "maybe"; write on or off`,
		`routes.c.events is "1"; write on or off`,
		`routes.c.tools.builtin has "shout", which is no tool of the gateway; write tell_user or ask_user`,
		`routes.c.tools.mcp has "No Name", which is not a name for a server; use lower-case letters, digits, - and _`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
