package completions_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/splice"
)

// FuzzReadEvent reads two events and then a whole reply into one report. Data
// that is no JSON object says nothing, and counters keep to their arithmetic.
func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(``), []byte(`{"id":"c","model":"m","created":1,"choices":[{"delta":{"content":"a","tool_calls":[{}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":4}}}`), []byte(``), []byte(`[DONE]`))
	f.Add([]byte(``), []byte(`{"choices":[{"usage":{"prompt_tokens":9,"prompt_cache_hit_tokens":10}}],"timings":{"cache_n":1,"prompt_n":2,"predicted_n":3}}`), []byte(`error`), []byte(`{"error":{"code":500}}`))
	f.Add([]byte(``), []byte(`{"x_groq":{"usage":{"prompt_tokens":1,"cache_creation_input_tokens":5,"total_tokens":6}}}`), []byte(``), []byte(`{"usage":{"num_cached_tokens":3}}`))
	f.Fuzz(func(t *testing.T, name1, data1, name2, data2 []byte) {
		var r rewrite.Report
		completions.ReadEvent(name1, data1, &r)
		check(t, data1, rewrite.Report{}, r)
		before := r
		completions.ReadEvent(name2, data2, &r)
		check(t, data2, before, r)
		before = r
		completions.ReadReply(data1, &r)
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
		facts, err := completions.Peek(body)
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
