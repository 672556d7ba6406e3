package catalog_test

import (
	"os"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"

	"warmpath/gateway/catalog"
	"warmpath/rewrite"
)

func TestLimitsAreFoundByAnyName(t *testing.T) {
	for _, c := range []struct {
		dialect rewrite.Dialect
		model   string
		reasons rewrite.Reasoning
		asked   string
		most    int64
	}{
		{rewrite.Messages, "claude-opus-5-5", rewrite.ReasoningAlways, "effort", 0},
		{rewrite.Messages, "claude-opus-5-20260801", rewrite.ReasoningIfAsked, "effort", 0},
		{rewrite.Messages, "anthropic/claude-opus-4-5", rewrite.ReasoningIfAsked, "budget", 64000},
		{rewrite.Messages, "claude-opus-4-20250514", rewrite.ReasoningIfAsked, "budget", 32000},
		{rewrite.Messages, "us.anthropic.claude-haiku-4-5-20251001-v1:0", rewrite.ReasoningIfAsked, "budget", 64000},
		{rewrite.Messages, "claude-3-5-haiku@20241022", rewrite.ReasoningNever, "", 8192},
		{rewrite.Messages, "kimi-k3", rewrite.ReasoningUnknown, "", 0},
		{rewrite.Completions, "claude-opus-5-5", rewrite.ReasoningUnknown, "", 0},
		{rewrite.Completions, "openai/gpt-5-mini", rewrite.ReasoningAlways, "effort", 128000},
		{rewrite.Responses, "gpt-5.5", rewrite.ReasoningIfAsked, "effort", 128000},
		{rewrite.Responses, "gpt-4.1-mini", rewrite.ReasoningNever, "", 32768},
		{rewrite.Gemini, "gemini-2.5-flash-lite", rewrite.ReasoningIfAsked, "budget", 65536},
		{rewrite.Gemini, "gemini-3.1-pro-preview", rewrite.ReasoningAlways, "effort", 65536},
	} {
		l := catalog.Limits(c.dialect, c.model)
		if l.Reasons != c.reasons || l.Asked != c.asked || l.MostTokens != c.most {
			t.Errorf("%s %s: %+v", c.dialect, c.model, l)
		}
	}
	if l := catalog.Limits(rewrite.Messages, "claude-3-haiku-20240307"); l.UsualTokens != 4096 || !l.Within {
		t.Errorf("%+v", l)
	}
}

// Every word of the table means something.
func TestLimitsTable(t *testing.T) {
	data, err := os.ReadFile("limits.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string][]struct {
		Starts, Efforts, Refused []string
		Reasons, Asked           string
		Most                     int64
		Budget                   map[string]int64
		RefusedReasoning         []string `yaml:"refused_reasoning"`
	}
	if err := yaml.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	settings := []string{
		"temperature", "top_p", "top_k", "both", "stop", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs",
		"forced", "mixed", "prefill", "json", "schema",
	}
	known := func(word string, of ...string) {
		t.Helper()
		if !slices.Contains(of, word) {
			t.Errorf("%q is none of %q", word, of)
		}
	}
	for group, rows := range table {
		known(group, "messages", "openai", "gemini")
		seen := map[string]bool{}
		for _, row := range rows {
			known(row.Reasons, "", "never", "asked", "always")
			known(row.Asked, "", "effort", "budget")
			for _, effort := range row.Efforts {
				known(effort, "none", "minimal", "low", "medium", "high", "xhigh", "max")
			}
			for _, setting := range append(row.Refused, row.RefusedReasoning...) {
				known(setting, settings...)
			}
			for _, start := range row.Starts {
				if seen[start] {
					t.Errorf("%s stands twice", start)
				}
				seen[start] = true
			}
			if row.Asked == "budget" && row.Budget["least"] == 0 {
				t.Errorf("%v has no least budget", row.Starts)
			}
		}
	}
}
