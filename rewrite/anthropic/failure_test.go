package anthropic_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

func TestAppendError(t *testing.T) {
	for name, c := range map[string]struct {
		reason rewrite.Reason
		id     string
		want   string
	}{
		"bad request":  {rewrite.ReasonBadRequest, "req_1", `{"type":"error","error":{"type":"invalid_request_error","message":"a \"b\""},"request_id":"req_1"}`},
		"no id":        {rewrite.ReasonBadRequest, "", `{"type":"error","error":{"type":"invalid_request_error","message":"a \"b\""}}`},
		"unauthorized": {rewrite.ReasonUnauthorized, "", `{"type":"error","error":{"type":"authentication_error","message":"a \"b\""}}`},
		"forbidden":    {rewrite.ReasonForbidden, "", `{"type":"error","error":{"type":"permission_error","message":"a \"b\""}}`},
		"not found":    {rewrite.ReasonNotFound, "", `{"type":"error","error":{"type":"not_found_error","message":"a \"b\""}}`},
		"too large":    {rewrite.ReasonTooLarge, "", `{"type":"error","error":{"type":"request_too_large","message":"a \"b\""}}`},
		"busy":         {rewrite.ReasonBusy, "", `{"type":"error","error":{"type":"overloaded_error","message":"a \"b\""}}`},
		"slow":         {rewrite.ReasonUpstreamTimeout, "", `{"type":"error","error":{"type":"timeout_error","message":"a \"b\""}}`},
		"unreachable":  {rewrite.ReasonUnreachable, "", `{"type":"error","error":{"type":"api_error","message":"a \"b\""}}`},
		"internal":     {rewrite.ReasonInternal, "", `{"type":"error","error":{"type":"api_error","message":"a \"b\""}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := anthropic.AppendError(nil, &rewrite.Failure{Reason: c.reason, Message: `a "b"`}, c.id)
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAppendErrorWithCode(t *testing.T) {
	got := anthropic.AppendError(nil, &rewrite.Failure{Reason: rewrite.ReasonNotFound, Message: "gone", Code: "thread_not_found"}, "")
	if want := `{"type":"error","error":{"type":"not_found_error","message":"gone","details":{"error_code":"thread_not_found"}}}`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAppendStreamError(t *testing.T) {
	f := &rewrite.Failure{Reason: rewrite.ReasonStreamCut, Message: "the provider closed\nthe stream"}
	got := anthropic.AppendStreamError([]byte("data: {}\n\n"), f, &rewrite.Report{ID: "msg_1"})
	want := "data: {}\n\nevent: error\n" +
		`data: {"type":"error","error":{"type":"api_error","message":"the provider closed\nthe stream"}}` + "\n\n"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
