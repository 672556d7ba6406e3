package responses_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

func TestAppendError(t *testing.T) {
	got := responses.AppendError(nil, &rewrite.Failure{Reason: rewrite.ReasonTooLarge, Message: `a "b"`}, "req_1")
	want := `{"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,"code":"too_large"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = responses.AppendError(nil, &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: "m", Param: `a"`, Code: "c"}, "")
	want = `{"error":{"message":"m","type":"invalid_request_error","param":"a\"","code":"c"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAppendStreamError(t *testing.T) {
	f := &rewrite.Failure{Reason: rewrite.ReasonStreamCut, Message: "cut"}
	for name, c := range map[string]struct {
		report rewrite.Report
		want   string
	}{
		"in the middle": {
			rewrite.Report{ID: "resp_1", Model: "gpt-6", Created: 1795910400, Sequence: 42},
			"event: response.failed\n" + `data: {"type":"response.failed","sequence_number":42,"response":{"id":"resp_1","object":"response",` +
				`"created_at":1795910400,"status":"failed","model":"gpt-6","error":{"code":"server_error","message":"cut"},` +
				`"incomplete_details":null,"output":[],"usage":null}}` + "\n\n",
		},
		"before anything": {
			rewrite.Report{},
			"event: error\n" + `data: {"type":"error","sequence_number":0,"code":"server_error","message":"cut","param":null}` + "\n\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := responses.AppendStreamError(nil, f, &c.report); string(got) != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The number that the error carries is the one after the last that was read.
func TestSequenceGoesOn(t *testing.T) {
	var r rewrite.Report
	responses.ReadEvent([]byte("response.created"), []byte(`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1"}}`), &r)
	responses.ReadEvent([]byte("response.output_text.delta"), []byte(`{"sequence_number":7,"delta":"a"}`), &r)
	responses.ReadEvent([]byte("response.output_text.delta"), []byte(`{"delta":"a"}`), &r)
	if r.Sequence != 8 {
		t.Errorf("the next number is %d, want 8", r.Sequence)
	}
}
