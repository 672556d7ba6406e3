package metrics

import (
	"testing"

	"warmpath/rewrite"
)

func TestFindModel(t *testing.T) {
	n := newNames([]string{"gpt-5", "gpt-5-mini", "claude-sonnet-4-5", "gemini-pro"})
	tests := map[string]string{
		"gpt-5":                        "gpt-5",
		"gpt-5-2025-08-07":             "gpt-5",
		"gpt-5-mini-2025-08-07":        "gpt-5-mini",
		"claude-sonnet-4-5-20250929":   "claude-sonnet-4-5",
		"claude-sonnet-4-5@20250929":   "claude-sonnet-4-5",
		"gemini-pro-001":               "gemini-pro",
		"gpt-5-0613":                   "gpt-5",
		"gpt-5-nano":                   "other",
		"gpt-5-2025x08-07":             "other",
		"gpt-5-1":                      "other",
		"-001":                         "other",
		"":                             "none",
		"claude-sonnet-4-5-20250929-x": "other",
	}
	for name, want := range tests {
		if got := n.list[n.findModel(name)]; got != want {
			t.Errorf("findModel(%q) = %q, want %q", name, got, want)
		}
	}
}

// Every reason must be placed: it can end a request before a provider is
// chosen, after, or both.
func TestEveryReasonIsPlaced(t *testing.T) {
	for _, r := range rewrite.Reasons {
		if !beforeProvider(r) && !withProvider(r) {
			t.Errorf("reason %s is counted nowhere", r)
		}
	}
}
