package relay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

func TestAsAsked(t *testing.T) {
	for _, c := range []struct{ asked, whole, path, want string }{
		{`{"input":[1]}`, `{"input":[8,9,1]}`, "input.2.content.0", "input.0.content.0"},
		{`{"input":[1,2]}`, `{"input":[8,9,1,2]}`, "input.3", "input.1"},
		{`{"input":[1]}`, `{"input":[8,9,1]}`, "input.1.content.0", "previous_response_id"},
		{`{"input":"a"}`, `{"input":[8,9,1]}`, "input.2.content", "input"},
		{`{"input":[1]}`, `{"input":[8,9,1]}`, "tools.0", "tools.0"},
		{`{"input":[1,2,3]}`, `{"input":[1,2,3]}`, "input.2", "input.2"},
		{`{"input":"a"}`, `{"input":"a"}`, "input", "input"},
		{`{"messages":[]}`, `{"messages":[]}`, "messages.1", "messages.1"},
	} {
		losses := []rewrite.Loss{{Path: c.path}}
		asAsked(losses, []byte(c.asked), []byte(c.whole))
		if diff := cmp.Diff(c.want, losses[0].Path); diff != "" {
			t.Errorf("%s of %s: %s", c.path, c.whole, diff)
		}
	}
}
