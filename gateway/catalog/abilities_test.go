package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/catalog"
	"warmpath/rewrite/continuity"
)

func TestAbilities(t *testing.T) {
	all := continuity.Abilities{Text: true, Reference: true, Define: true, Binding: true, Automatic: true}
	unbound := continuity.Abilities{Text: true, Reference: true, Define: true, Automatic: true}
	byName := continuity.Abilities{Text: true, Reference: true}
	tests := map[string]struct {
		endpoint, model string
		want            continuity.Abilities
	}{
		"newest model":              {"anthropic", "claude-opus-5-5", all},
		"dated name":                {"anthropic", "claude-opus-5-20260801", unbound},
		"a number that is no date":  {"anthropic", "claude-opus-5-2026080x", continuity.Abilities{}},
		"model without":             {"anthropic", "claude-sonnet-5", continuity.Abilities{Automatic: true}},
		"longer name of a listed":   {"anthropic", "claude-opus-5-6", continuity.Abilities{}},
		"unknown model":             {"anthropic", "gpt-5", continuity.Abilities{}},
		"elsewhere only by name":    {"bedrock", "claude-opus-5", byName},
		"an endpoint that copies":   {"", "claude-opus-5", continuity.Abilities{}},
		"an endpoint nobody listed": {"nowhere", "claude-opus-5", continuity.Abilities{}},
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
