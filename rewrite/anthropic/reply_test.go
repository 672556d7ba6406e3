package anthropic_test

import (
	"fmt"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

func TestStopReasons(t *testing.T) {
	for word, want := range map[string]rewrite.StopReason{
		`"end_turn"`:                      rewrite.StopEnd,
		`"stop_sequence"`:                 rewrite.StopEnd,
		`"tool_use"`:                      rewrite.StopTools,
		`"max_tokens"`:                    rewrite.StopLength,
		`"model_context_window_exceeded"`: rewrite.StopLength,
		`"pause_turn"`:                    rewrite.StopPause,
		`"compaction"`:                    rewrite.StopCompaction,
		`"refusal"`:                       rewrite.StopRefusal,
		`"something_new"`:                 rewrite.StopOther,
		`null`:                            rewrite.StopUnknown,
	} {
		t.Run(word, func(t *testing.T) {
			var stream, whole rewrite.Report
			anthropic.ReadEvent([]byte("message_delta"), fmt.Appendf(nil, `{"delta":{"stop_reason":%s}}`, word), &stream)
			anthropic.ReadReply(fmt.Appendf(nil, `{"type":"message","stop_reason":%s}`, word), &whole)
			if stream.Stop != want || whole.Stop != want || stream.Ended || !whole.Ended {
				t.Errorf("stream %s, whole %s, want %s", stream.Stop, whole.Stop, want)
			}
		})
	}
}

func TestWhatCountsAsOutput(t *testing.T) {
	for _, c := range []struct {
		name, data   string
		output, tool bool
	}{
		{"content_block_start", `{"content_block":{"type":"text","text":""}}`, false, false},
		{"content_block_start", `{"content_block":{"type":"thinking","thinking":""}}`, false, false},
		{"content_block_start", `{"content_block":{"type":"fallback","to":{"model":"m"}}}`, false, false},
		{"content_block_start", `{"content_block":null}`, false, false},
		{"content_block_start", `{"content_block":{"type":"tool_use","input":{}}}`, true, true},
		{"content_block_start", `{"content_block":{"type":"server_tool_use"}}`, true, false},
		{"content_block_start", `{"content_block":{"type":"redacted_thinking","data":"Q"}}`, true, false},
		{"content_block_delta", `{"delta":{"type":"thinking_delta"}}`, true, false},
		{"content_block_stop", `{"index":0}`, false, false},
		{"ping", `{}`, false, false},
	} {
		t.Run(c.name+c.data, func(t *testing.T) {
			var r rewrite.Report
			anthropic.ReadEvent([]byte(c.name), []byte(c.data), &r)
			if r.Output != c.output || r.ToolCall != c.tool {
				t.Errorf("output %v, tool call %v", r.Output, r.ToolCall)
			}
		})
	}
}

// A tool call or another model in a whole reply is noted as in a stream.
func TestBlocksOfAWholeReply(t *testing.T) {
	var r rewrite.Report
	anthropic.ReadReply([]byte(`{"type":"message","model":"m","content":[{"type":"fallback","to":{"model":"n"}},{"type":"tool_use","id":"t"}]}`), &r)
	if r.Model != "n" || !r.ToolCall || !r.Output {
		t.Errorf("got %+v", r)
	}
}
