package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/catalog"
	"warmpath/rewrite/continuity"
)

func TestAbilities(t *testing.T) {
	all := continuity.Abilities{Text: true, Reference: true, Define: true, Binding: true, Automatic: true, Diagnostics: true, Minimum: 512, Effort: true}
	unbound := continuity.Abilities{Text: true, Reference: true, Define: true, Automatic: true, Diagnostics: true, Minimum: 512, Effort: true}
	byName := continuity.Abilities{Text: true, Reference: true}
	tests := map[string]struct {
		endpoint, model string
		want            continuity.Abilities
	}{
		"newest model":              {"anthropic", "claude-opus-5-5", all},
		"dated name":                {"anthropic", "claude-opus-5-20260801", unbound},
		"a number that is no date":  {"anthropic", "claude-opus-5-2026080x", continuity.Abilities{}},
		"model without":             {"anthropic", "claude-sonnet-5", continuity.Abilities{Automatic: true, Diagnostics: true, Minimum: 1024}},
		"longer name of a listed":   {"anthropic", "claude-opus-5-6", continuity.Abilities{}},
		"unknown model":             {"anthropic", "gpt-5", continuity.Abilities{}},
		"elsewhere only by name":    {"bedrock", "claude-opus-5", byName},
		"an endpoint that copies":   {"", "claude-opus-5", continuity.Abilities{}},
		"an endpoint nobody listed": {"nowhere", "claude-opus-5", continuity.Abilities{}},
		"a cloud's name":            {"bedrock", "us.anthropic.claude-opus-4-8-20260301-v1:0", byName},
		"another cloud's name":      {"google", "claude-opus-4-8@20260301", byName},
		"no name":                   {"anthropic", "", continuity.Abilities{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := &catalog.Provider{Endpoint: test.endpoint}
			if diff := cmp.Diff(test.want, p.Abilities(test.model)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The address may change, what stands behind it does not.
func TestAnotherAddressKeepsTheAbilities(t *testing.T) {
	snapshot, problems := catalog.Build(catalog.Settings{Addresses: map[string]string{"anthropic": "http://127.0.0.1:1"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, _ := snapshot.Provider("anthropic")
	if !p.Abilities("claude-opus-5").Text {
		t.Error("the abilities are gone")
	}
}

// Who runs a server that copies a vendor's knows better what it accepts.
func TestOwnAbilities(t *testing.T) {
	build := func(rows map[string]map[string]string) (*catalog.Provider, []catalog.Problem) {
		snapshot, problems := catalog.Build(catalog.Settings{Providers: map[string]catalog.Row{"anthropic": {Abilities: rows}}})
		if len(problems) > 0 {
			return nil, problems
		}
		p, _ := snapshot.Provider("anthropic")
		return p, nil
	}
	p, problems := build(map[string]map[string]string{
		"house-model":   {"text": "true", "tools": "reference"},
		"claude-opus-5": {"marks": "automatic", "binding": "true", "diagnostics": "true"},
	})
	if problems != nil {
		t.Fatal(problems)
	}
	for model, want := range map[string]continuity.Abilities{
		"house-model":     {Text: true, Reference: true},
		"claude-opus-5":   {Automatic: true, Binding: true, Diagnostics: true},
		"claude-opus-5-5": {Text: true, Reference: true, Define: true, Binding: true, Automatic: true, Diagnostics: true, Minimum: 512, Effort: true},
	} {
		if diff := cmp.Diff(want, p.Abilities(model)); diff != "" {
			t.Errorf("%s: %s", model, diff)
		}
	}
	_, problems = build(map[string]map[string]string{"m": {"tools": "all", "text": "yes"}})
	want := []catalog.Problem{
		{Path: []string{"providers", "anthropic", "abilities", "m", "text"}, Message: `is "yes"; write true or false`},
		{Path: []string{"providers", "anthropic", "abilities", "m", "tools"}, Message: `is "all"; write none or reference or definition`},
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
}
