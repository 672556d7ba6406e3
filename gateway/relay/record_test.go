package relay

import (
	"errors"
	"strings"
	"testing"
	"time"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

func TestLine(t *testing.T) {
	arrived := time.Date(2026, 11, 29, 9, 8, 7, 0, time.UTC)
	usage := rewrite.Usage{InputTotal: rewrite.Tokens(18_400), CacheRead: rewrite.Tokens(17_020), CacheWrite: rewrite.Tokens(0), OutputTotal: rewrite.Tokens(220)}
	tests := map[string]struct {
		record Record
		want   string
	}{
		"stream": {
			Record{Arrived: arrived, Dialect: rewrite.Messages, Operation: OpGenerate, Provider: "anthropic", Model: "claude-opus-5", Stream: true, Status: 200,
				TimeToFirstToken: 310 * time.Millisecond, Duration: 4200 * time.Millisecond, Report: rewrite.Report{Usage: usage, Stop: rewrite.StopTools}},
			"09:08:07 messages anthropic claude-opus-5 200 4.2s first 310ms in 18.4k (cached 17.0k, written 0, 92%) out 220 tool_calls",
		},
		"a miss": {
			Record{Arrived: arrived, Dialect: rewrite.Messages, Operation: OpGenerate, Provider: "anthropic", Model: "claude-opus-5", Status: 200,
				Duration: time.Second, Report: rewrite.Report{Usage: usage}, Verdict: continuity.Verdict{Miss: continuity.ToolsMiss, Expected: 18_000, Missed: 12_345}},
			"09:08:07 messages anthropic claude-opus-5 200 1.0s in 18.4k (cached 17.0k, written 0, 92%) missed 12.3k: tools_changed out 220",
		},
		"usage without cache figures": {
			Record{Arrived: arrived, Dialect: rewrite.Completions, Operation: OpGenerate, Provider: "ollama", Model: "m", Status: 200, Duration: 90 * time.Second,
				Report: rewrite.Report{Usage: rewrite.Usage{InputTotal: rewrite.Tokens(9_999)}, Stop: rewrite.StopEnd}},
			"09:08:07 chat ollama m 200 1m30s in 9999 out ? stop",
		},
		"failure": {
			Record{Arrived: arrived, Dialect: rewrite.Gemini, Operation: OpCountTokens, Provider: "gemini", Status: 502, Retries: 2, Reason: rewrite.ReasonUnreachable, Cause: errors.New("private")},
			"09:08:07 gemini/count_tokens gemini 502 0ms retries 2 [unreachable]",
		},
		"a model of another provider, which has no key": {
			Record{Arrived: arrived, Dialect: rewrite.Messages, Operation: OpGenerate, Provider: "anthropic", Model: "gpt-5.5", Status: 404, Reason: rewrite.ReasonProvider, Withheld: "openai"},
			"09:08:07 messages anthropic gpt-5.5 404 0ms [provider] openai has no key in the configuration",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.record.Line(); got != test.want {
				t.Errorf("Line() =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestShownName(t *testing.T) {
	for name, want := range map[string]string{
		"claude-opus-5":              "claude-opus-5",
		"modell-ü/x:free":            "modell-ü/x:free",
		"a\x1b[31m\nforged line 200": "a?[31m?forged?line?200",
		"bad\xffbytes":               "bad?bytes",
		strings.Repeat("x", 3<<20):   strings.Repeat("x", longestName) + "…",
	} {
		if got := shownName(name); got != want {
			t.Errorf("shownName(%.40q) = %.200q, want %.200q", name, got, want)
		}
	}
}
