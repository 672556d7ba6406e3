package completions_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/completions"
)

func TestAppendError(t *testing.T) {
	for name, c := range map[string]struct {
		reason rewrite.Reason
		want   string
	}{
		"bad request":  {rewrite.ReasonBadRequest, `{"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,"code":"bad_request"}}`},
		"unauthorized": {rewrite.ReasonUnauthorized, `{"error":{"message":"a \"b\"","type":"authentication_error","param":null,"code":"unauthorized"}}`},
		"forbidden":    {rewrite.ReasonForbidden, `{"error":{"message":"a \"b\"","type":"permission_error","param":null,"code":"forbidden"}}`},
		"busy":         {rewrite.ReasonBusy, `{"error":{"message":"a \"b\"","type":"server_error","param":null,"code":"busy"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := completions.AppendError(nil, &rewrite.Failure{Reason: c.reason, Message: `a "b"`}, "req_1")
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAppendStreamError(t *testing.T) {
	f := &rewrite.Failure{Reason: rewrite.ReasonStreamCut, Message: "cut"}
	got := completions.AppendStreamError(nil, f, &rewrite.Report{})
	want := `data: {"error":{"message":"cut","type":"server_error","param":null,"code":"stream_cut"}}` + "\n\n"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
