package rewrite_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/sse"
)

// PB-25: what the tap reads does not depend on how the network cuts the stream.
func TestStreamInAnyChunks(t *testing.T) {
	eachGolden(t, func(t *testing.T, d dialect, g golden) {
		want := describe(d.tap(g.stream, len(g.stream)))
		for _, size := range []int{1, 2, 3, 7, 100} {
			if diff := cmp.Diff(want, describe(d.tap(g.stream, size))); diff != "" {
				t.Fatalf("chunks of %d: %s", size, diff)
			}
		}
	})
}

// PB-26: an event that was cut says either everything or nothing, so a stream
// that is cut anywhere reports what it did after one of its whole events. The
// numbers of events are noted before an event is known to be whole.
func TestStreamCutAnywhere(t *testing.T) {
	eachGolden(t, func(t *testing.T, d dialect, g golden) {
		states := []rewrite.Report{{}}
		var r rewrite.Report
		var s sse.Splitter
		read := func(e sse.Event) {
			d.readEvent(e.Name, e.Data, &r)
			state := r
			state.Sequence = 0
			states = append(states, state)
		}
		s.Feed([]byte(g.stream), read)
		s.Close(read)
		after := 0
		var tap rewrite.Report
		var whole sse.Splitter
		for n := range len(g.stream) {
			// The stream so far, and then its end.
			got, cut := tap, whole
			cut.Close(func(e sse.Event) { d.readEvent(e.Name, e.Data, &got) })
			got.Sequence = 0
			for after < len(states) && !same(got, states[after]) {
				after++
			}
			if after == len(states) {
				t.Fatalf("cut after %q: the report is that of no whole event:\n%s", g.stream[:n], describe(got))
			}
			whole.Feed([]byte(g.stream[n:n+1]), func(e sse.Event) { d.readEvent(e.Name, e.Data, &tap) })
		}
	})
}

// same compares what two reports say.
func same(a, b rewrite.Report) bool {
	activities := reflect.DeepEqual(a.Activity, b.Activity)
	a.Activity, b.Activity = nil, nil
	return activities && a == b
}

// The counters of every provider end up in the one arithmetic.
func TestUsageArithmetic(t *testing.T) {
	known := 0
	eachGolden(t, func(t *testing.T, d dialect, g golden) {
		r := d.tap(g.stream, 1<<20)
		u := r.Usage
		if !u.InputTotal.Known {
			return
		}
		known++
		if sum := u.InputFresh.N + u.CacheRead.N + u.CacheWrite.N; sum != u.InputTotal.N {
			t.Errorf("fresh, read and write are %d, the total %d", sum, u.InputTotal.N)
		}
		if u.Reasoning.N > u.OutputTotal.N {
			t.Errorf("reasoning is %d, the output %d", u.Reasoning.N, u.OutputTotal.N)
		}
	})
	if known < 30 {
		t.Errorf("only %d cases report usage", known)
	}
}

// nasty is a message that would break an error built without escaping.
const nasty = "a \"quote\", a \\, a line\nend, a tab\t, <html> & é🙂 \u2028data: x\x00\xff"

func failures() (all []*rewrite.Failure) {
	for _, reason := range rewrite.Reasons {
		all = append(all, &rewrite.Failure{Reason: reason, Message: nasty})
	}
	return all
}

func TestErrorBodiesAreJSON(t *testing.T) {
	for kind, d := range dialects {
		t.Run(kind.String(), func(t *testing.T) {
			for _, f := range failures() {
				for _, id := range []string{"", "req_\"1\""} {
					body := d.appendError([]byte("kept"), f, id)
					rest, ok := strings.CutPrefix(string(body), "kept")
					if !ok || !json.Valid([]byte(rest)) || strings.ContainsAny(rest, "\n\r") {
						t.Errorf("%s: %s", f.Reason, body)
					}
					checkNoNullError(t, rest)
					var r rewrite.Report
					d.readReply([]byte(rest), &r)
					if !r.Failed || !r.Ended || r.ErrorType == "" || r.Stop != rewrite.StopError {
						t.Errorf("%s: does not read as an error: %s", rest, describe(r))
					}
				}
			}
		})
	}
}

// PB-26: whatever a stream has said so far, the error that ends it is whole
// events, reads as a failure in the same dialect, and never as an end.
func TestStreamErrorsEndAnyStream(t *testing.T) {
	eachGolden(t, func(t *testing.T, d dialect, g golden) {
		for _, f := range failures() {
			r := d.tap(g.stream, 1<<20)
			before := r
			out := string(d.appendStreamError([]byte("data: x\n\n"), f, &r))
			if r != before {
				t.Fatal("writing the error changed the report")
			}
			events, ok := strings.CutPrefix(out, "data: x\n\n")
			if !ok || !strings.HasSuffix(events, "\n\n") || strings.Contains(events, "[DONE]") {
				t.Fatalf("%q", out)
			}
			checkNoNullError(t, events)
			after := before
			after.Failed, after.Ended, after.ErrorType, after.Stop = false, false, "", rewrite.StopUnknown
			var s sse.Splitter
			count := 0
			s.Feed([]byte(events), func(e sse.Event) {
				count++
				if !json.Valid(e.Data) {
					t.Errorf("not JSON: %s", e.Data)
				}
				d.readEvent(e.Name, e.Data, &after)
			})
			if count != 1 || !s.AtBoundary() {
				t.Errorf("%d events in %q", count, events)
			}
			if !after.Failed || !after.Ended || after.ErrorType == "" || after.Stop != rewrite.StopError {
				t.Errorf("%s does not read as a failure: %s", events, describe(after))
			}
			if after.ID != before.ID || after.Model != before.Model || after.Usage != before.Usage {
				t.Errorf("%s says something new of the reply: %s", events, describe(after))
			}
		}
	})
}

// A frame with an error member ends a stream for some clients even if it is
// null.
func checkNoNullError(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(strings.ReplaceAll(text, " ", ""), `"error":null`) {
		t.Errorf("null error in %s", text)
	}
}

// A heartbeat between any two events changes nothing of what is read.
func TestHeartbeatsAreIgnored(t *testing.T) {
	eachGolden(t, func(t *testing.T, d dialect, g golden) {
		var plain, beaten rewrite.Report
		read := func(r *rewrite.Report) func(sse.Event) {
			return func(e sse.Event) { d.readEvent(e.Name, e.Data, r) }
		}
		var first, second, check sse.Splitter
		check.Feed([]byte(d.heartbeat), func(sse.Event) {})
		if !check.AtBoundary() {
			t.Fatalf("a heartbeat leaves an event open: %q", d.heartbeat)
		}
		for i := range len(g.stream) {
			b := []byte(g.stream[i : i+1])
			first.Feed(b, read(&plain))
			if second.AtBoundary() {
				second.Feed([]byte(d.heartbeat), read(&beaten))
			}
			second.Feed(b, read(&beaten))
		}
		if diff := cmp.Diff(describe(plain), describe(beaten)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPeekOfEveryDialect(t *testing.T) {
	body := []byte(`{"contents":[],"stream":true,"model":"m"}`)
	for kind, d := range dialects {
		got, err := d.peek(body)
		want := rewrite.Facts{Model: "m", ModelSpan: rewrite.Span{Start: 37, End: 40}, Stream: true}
		if kind == rewrite.Gemini {
			want = rewrite.Facts{}
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", kind, err, diff)
		}
		if _, err := d.peek([]byte(`{"contents":[}`)); err == nil {
			t.Errorf("%s: a broken body is accepted", kind)
		}
	}
}

// Nothing that is read twice, cut short or of another kind may break the tap.
func TestOddReplies(t *testing.T) {
	for kind, d := range dialects {
		for _, body := range []string{``, `null`, `"text"`, `[]`, `[1,[],"x"]`, `{`, `{"usage":[],"choices":{},"error":null}`,
			`{"choices":[1,null,{"delta":7,"finish_reason":{}}],"candidates":[[]],"output":{"a":1},"content":{}}`} {
			var r rewrite.Report
			d.readReply([]byte(body), &r)
			d.readEvent(nil, []byte(body), &r)
			d.readEvent([]byte("message_start"), []byte(body), &r)
			d.readEvent([]byte("response.completed"), []byte(body), &r)
			if r.Failed || r.Output || r.Usage.Known() {
				t.Errorf("%s: %s reads as %s", kind, body, describe(r))
			}
		}
	}
}
