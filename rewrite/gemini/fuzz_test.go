package gemini_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/splice"
)

// FuzzReadEvent reads two events and then a whole reply into one report. Data
// that is no JSON object says nothing, and counters keep to their arithmetic.
func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(``), []byte(`{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"functionCall":{}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":3,"toolUsePromptTokenCount":2}}`), []byte(``), []byte(`{"usageMetadata":{"cachedContentTokenCount":30,"thoughtsTokenCount":5},"responseId":"r"}`))
	f.Add([]byte(``), []byte(`{"promptFeedback":{"blockReason":"SAFETY"}}`), []byte(``), []byte(`{"error":{"code":503,"status":"UNAVAILABLE"}}`))
	f.Fuzz(func(t *testing.T, name1, data1, name2, data2 []byte) {
		var r rewrite.Report
		gemini.ReadEvent(name1, data1, &r)
		check(t, data1, rewrite.Report{}, r)
		before := r
		gemini.ReadEvent(name2, data2, &r)
		check(t, data2, before, r)
		before = r
		gemini.ReadReply(data1, &r)
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
		facts, err := gemini.Peek(body)
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
