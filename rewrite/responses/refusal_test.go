package responses_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

// A refusal that stands in the answer's words is a whole answer; one that another
// provider only gives for a reason must not look like one.
func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		kind         rewrite.PartKind
		status, last string
	}{
		"in words":    {rewrite.PartRefusal, "completed", "response.completed"},
		"as a reason": {rewrite.PartText, "incomplete", "response.incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			reply := &rewrite.Reply{
				ID: "r", Stop: rewrite.Stop{Reason: rewrite.StopRefusal},
				Items: []rewrite.Item{{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Kind: test.kind, Text: "No."}}}},
			}
			whole := responses.EncodeReply(nil, reply, responses.EncoderOptions{})
			if got := gjson.GetBytes(whole, "status").Str; got != test.status {
				t.Errorf("the status is %q: %s", got, whole)
			}
			var stream []byte
			encoder := responses.NewEncoder(responses.EncoderOptions{})
			reply.Tell(func(e *rewrite.Event) { stream = encoder.Append(stream, e) })
			if !strings.Contains(string(stream), "event: "+test.last+"\n") {
				t.Errorf("the stream does not end with %s: %s", test.last, stream)
			}
			if reason := gjson.GetBytes(whole, "incomplete_details.reason").Str; (reason == "content_filter") != (test.status == "incomplete") {
				t.Errorf("the reason is %q", reason)
			}
		})
	}
}
