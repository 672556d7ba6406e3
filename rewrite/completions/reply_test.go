package completions_test

import (
	"fmt"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/completions"
)

func TestFinishReasons(t *testing.T) {
	for word, want := range map[string]struct {
		stop          rewrite.StopReason
		ended, failed bool
	}{
		`"stop"`:                         {rewrite.StopEnd, true, false},
		`"eos"`:                          {rewrite.StopEnd, true, false},
		`"tool_calls"`:                   {rewrite.StopTools, true, false},
		`"function_call"`:                {rewrite.StopTools, true, false},
		`"length"`:                       {rewrite.StopLength, true, false},
		`"model_length"`:                 {rewrite.StopLength, true, false},
		`"content_filter"`:               {rewrite.StopFilter, true, false},
		`"refusal"`:                      {rewrite.StopRefusal, true, false},
		`"error"`:                        {rewrite.StopError, true, true},
		`"insufficient_system_resource"`: {rewrite.StopError, true, true},
		`"abort"`:                        {rewrite.StopOther, true, false},
		`null`:                           {rewrite.StopUnknown, false, false},
		`""`:                             {rewrite.StopUnknown, false, false},
		`{}`:                             {rewrite.StopUnknown, false, false},
	} {
		t.Run(word, func(t *testing.T) {
			var r rewrite.Report
			completions.ReadEvent(nil, fmt.Appendf(nil, `{"choices":[{"finish_reason":%s,"delta":{}}]}`, word), &r)
			if r.Stop != want.stop || r.Ended != want.ended || r.Failed != want.failed {
				t.Errorf("got %s, ended %v, failed %v", r.Stop, r.Ended, r.Failed)
			}
		})
	}
}

func TestWhatCountsAsOutput(t *testing.T) {
	for delta, want := range map[string]struct{ output, tool bool }{
		`{"role":"assistant"}`:                       {false, false},
		`{"role":"assistant","content":""}`:          {false, false},
		`{"content":null,"tool_calls":[]}`:           {false, false},
		`{}`:                                         {false, false},
		`null`:                                       {false, false},
		`{"content":"a"}`:                            {true, false},
		`{"reasoning_content":"a"}`:                  {true, false},
		`{"reasoning":"a"}`:                          {true, false},
		`{"reasoning_details":[{"text":"a"}]}`:       {true, false},
		`{"audio":{"id":"a"}}`:                       {true, false},
		`{"tool_calls":[{"index":0}]}`:               {true, true},
		`{"function_call":{"name":"a"}}`:             {true, true},
		`{"content":"\"tool_calls\":[{\"index\":0"}`: {true, false},
	} {
		t.Run(delta, func(t *testing.T) {
			var r rewrite.Report
			completions.ReadEvent(nil, fmt.Appendf(nil, `{"choices":[{"index":0,"delta":%s,"finish_reason":null}]}`, delta), &r)
			if r.Output != want.output || r.ToolCall != want.tool || r.Ended {
				t.Errorf("output %v, tool call %v, ended %v", r.Output, r.ToolCall, r.Ended)
			}
		})
	}
}

func TestCacheLifetimes(t *testing.T) {
	var r rewrite.Report
	completions.ReadReply([]byte(`{"usage":{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":90,`+
		`"cache_write_tokens_details":{"ttl_5m_tokens":10,"ttl_30m_tokens":20,"ttl_1h_tokens":25,"ttl_12h_tokens":35}}}}`), &r)
	want := rewrite.Usage{
		InputTotal: rewrite.Tokens(1000), InputFresh: rewrite.Tokens(910), CacheRead: rewrite.Tokens(0), CacheWrite: rewrite.Tokens(90),
		CacheWrite5m: rewrite.Tokens(10), CacheWrite30m: rewrite.Tokens(20), CacheWrite1h: rewrite.Tokens(25), CacheWrite12h: rewrite.Tokens(35),
	}
	if r.Usage != want {
		t.Errorf("got %+v, want %+v", r.Usage, want)
	}
}

// A chunk that is about something else keeps what an earlier one said of usage.
func TestUsageStays(t *testing.T) {
	var r rewrite.Report
	completions.ReadEvent(nil, []byte(`{"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":5}}}`), &r)
	want := r.Usage
	for _, chunk := range []string{`{"usage":null,"choices":[]}`, `{"choices":[{"delta":{"content":"a"}}]}`, `{"usage":{}}`, `[DONE]`} {
		completions.ReadEvent(nil, []byte(chunk), &r)
		if r.Usage != want {
			t.Errorf("%s: usage became %+v", chunk, r.Usage)
		}
	}
}
