package anthropic_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/splice"
)

// FuzzReadEvent reads two events and then a whole reply into one report. Data
// that is no JSON object says nothing, and counters keep to their arithmetic.
func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(`message_start`), []byte(`{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":3,"cache_read_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":5}}}}`), []byte(`message_delta`), []byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7,"iterations":[{"type":"message","input_tokens":1}]}}`))
	f.Add([]byte(``), []byte(`{"type":"content_block_start","content_block":{"type":"fallback","to":{"model":"n"}}}`), []byte(`error`), []byte(`{"error":{"type":"overloaded_error"}}`))
	f.Add([]byte(`content_block_delta`), []byte(`{}`), []byte(`message_stop`), []byte(`{"type":"message_stop"}`))
	f.Fuzz(func(t *testing.T, name1, data1, name2, data2 []byte) {
		var r rewrite.Report
		anthropic.ReadEvent(name1, data1, &r)
		check(t, data1, rewrite.Report{}, r)
		before := r
		anthropic.ReadEvent(name2, data2, &r)
		check(t, data2, before, r)
		before = r
		anthropic.ReadReply(data1, &r)
		check(t, nil, before, r)
	})
}

// check asks of a report what must hold after any event.
func check(t *testing.T, data []byte, before, after rewrite.Report) {
	t.Helper()
	if data != nil && !splice.Fields(data, func(_, _ []byte) bool { return true }) {
		if after.Usage != before.Usage || after.ID != before.ID || after.Model != before.Model || after.Failed != before.Failed {
			t.Fatalf("broken data says %+v", after)
		}
	}
	u := after.Usage
	for _, c := range []rewrite.Count{
		u.InputTotal, u.InputFresh, u.CacheRead, u.CacheWrite, u.CacheWrite5m, u.CacheWrite30m, u.CacheWrite1h,
		u.CacheWrite12h, u.OutputTotal, u.Reasoning, u.ToolInput, u.Context,
	} {
		if c.N < 0 || c.N > 0 && !c.Known {
			t.Fatalf("a count of %+v in %+v", c, u)
		}
	}
	if u.InputTotal.Known && u.InputTotal.N != u.InputFresh.N+u.CacheRead.N+u.CacheWrite.N {
		t.Fatalf("the parts are not the whole: %+v", u)
	}
	if after.Failed && !after.Ended {
		t.Fatalf("failed and not ended: %+v", after)
	}
}

// FuzzPeek asks that what is read of a body is in the body.
func FuzzPeek(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","stream":true}`, `{"mod\u0065l":"a\n","model":1}`, `[]`, `{"stream":false,"stream":1}`, `{"a":{"b":[{}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		facts, err := anthropic.Peek(body)
		if err != nil && facts != (rewrite.Facts{}) {
			t.Fatalf("%v, and yet %+v", err, facts)
		}
		if facts.ModelSpan.Len() > 0 {
			text, ok := splice.String(body[facts.ModelSpan.Start:facts.ModelSpan.End])
			if !ok || string(text) != facts.Model {
				t.Fatalf("%+v is not %q", facts, text)
			}
		}
	})
}
