package gemini_test

import (
	"fmt"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/gemini"
)

func TestFinishReasons(t *testing.T) {
	for word, want := range map[string]struct {
		stop  rewrite.StopReason
		ended bool
	}{
		`"STOP"`:                      {rewrite.StopEnd, true},
		`"MAX_TOKENS"`:                {rewrite.StopLength, true},
		`"CONTINUATION"`:              {rewrite.StopPause, true},
		`"SAFETY"`:                    {rewrite.StopFilter, true},
		`"RECITATION"`:                {rewrite.StopFilter, true},
		`"SPII"`:                      {rewrite.StopFilter, true},
		`"MALFORMED_FUNCTION_CALL"`:   {rewrite.StopMalformed, true},
		`"UNEXPECTED_TOOL_CALL"`:      {rewrite.StopMalformed, true},
		`"LANGUAGE"`:                  {rewrite.StopOther, true},
		`"FINISH_REASON_UNSPECIFIED"`: {rewrite.StopUnknown, false},
		`""`:                          {rewrite.StopUnknown, false},
		`null`:                        {rewrite.StopUnknown, false},
	} {
		t.Run(word, func(t *testing.T) {
			var r rewrite.Report
			gemini.ReadEvent(nil, fmt.Appendf(nil, `{"candidates":[{"finishReason":%s}]}`, word), &r)
			if r.Stop != want.stop || r.Ended != want.ended || r.Output {
				t.Errorf("got %s, ended %v, output %v", r.Stop, r.Ended, r.Output)
			}
		})
	}
}

func TestWhatCountsAsOutput(t *testing.T) {
	for part, want := range map[string]struct{ output, tool bool }{
		`{"text":""}`:                        {false, false},
		`{"text":"","thoughtSignature":"q"}`: {false, false},
		`{"thought":true}`:                   {false, false},
		`{"text":"a","thought":true}`:        {true, false},
		`{"text":"a"}`:                       {true, false},
		`{"functionCall":{"name":"f"}}`:      {true, true},
		`{"executableCode":{"code":"1"}}`:    {true, false},
	} {
		t.Run(part, func(t *testing.T) {
			var r rewrite.Report
			gemini.ReadEvent(nil, fmt.Appendf(nil, `{"candidates":[{"content":{"role":"model","parts":[%s]}}]}`, part), &r)
			if r.Output != want.output || r.ToolCall != want.tool {
				t.Errorf("output %v, tool call %v", r.Output, r.ToolCall)
			}
		})
	}
}

// An error without a status is known by its number.
func TestErrorWithoutStatus(t *testing.T) {
	var r rewrite.Report
	gemini.ReadReply([]byte(`{"error":{"code":429,"message":"slow"}}`), &r)
	if !r.Failed || r.ErrorType != "429" {
		t.Errorf("failed %v, type %q", r.Failed, r.ErrorType)
	}
}
