package gemini_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/gemini"
)

func TestAppendError(t *testing.T) {
	for name, c := range map[string]struct {
		reason rewrite.Reason
		id     string
		want   string
	}{
		"bad request":  {rewrite.ReasonBadRequest, "", `{"error":{"code":400,"message":"a \"b\"","status":"INVALID_ARGUMENT"}}`},
		"unauthorized": {rewrite.ReasonUnauthorized, "", `{"error":{"code":401,"message":"a \"b\"","status":"UNAUTHENTICATED"}}`},
		"forbidden":    {rewrite.ReasonForbidden, "", `{"error":{"code":403,"message":"a \"b\"","status":"PERMISSION_DENIED"}}`},
		"not found":    {rewrite.ReasonNotFound, "", `{"error":{"code":404,"message":"a \"b\"","status":"NOT_FOUND"}}`},
		"busy":         {rewrite.ReasonBusy, "", `{"error":{"code":503,"message":"a \"b\"","status":"UNAVAILABLE"}}`},
		"slow":         {rewrite.ReasonUpstreamTimeout, "", `{"error":{"code":504,"message":"a \"b\"","status":"DEADLINE_EXCEEDED"}}`},
		"with id": {
			rewrite.ReasonInternal, "req_1",
			`{"error":{"code":500,"message":"a \"b\"","status":"INTERNAL",` +
				`"details":[{"@type":"type.googleapis.com/google.rpc.RequestInfo","requestId":"req_1"}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := gemini.AppendError(nil, &rewrite.Failure{Reason: c.reason, Message: `a "b"`}, c.id)
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAppendStreamError(t *testing.T) {
	f := &rewrite.Failure{Reason: rewrite.ReasonStreamCut, Message: "cut"}
	got := gemini.AppendStreamError(nil, f, &rewrite.Report{})
	want := `data: {"error":{"code":502,"message":"cut","status":"UNAVAILABLE"}}` + "\n\n"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
