package completions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/sse"
)

// The vendor's library for JavaScript takes the newest list of a stream for the
// whole of it, and so is given each in one piece.
func TestListsComeInOnePiece(t *testing.T) {
	payload := func(value string) rewrite.Payload {
		return rewrite.Payload{Provider: "p", Format: "messages/thinking", Value: rewrite.JSON(value)}
	}
	reply := &rewrite.Reply{ID: "r", Stop: rewrite.Stop{Reason: rewrite.StopTools}, Items: []rewrite.Item{
		{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Payload: payload("1")},
		{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{
			{Text: "It is so.", Attributions: []rewrite.Attribution{{URL: "https://a.test", End: 5}, {URL: "https://b.test"}}},
			{Text: "And so.", Attributions: []rewrite.Attribution{{URL: "https://c.test", Start: 4, End: 6}}},
		}},
		{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Payload: payload("2")},
		{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: "c", Name: "f", Arguments: rewrite.JSON("{}")}, Payload: payload("3")},
	}}
	whole := gjson.ParseBytes(completions.EncodeReply(nil, reply, completions.EncoderOptions{}))
	var stream []byte
	encoder := completions.NewEncoder(completions.EncoderOptions{})
	reply.Tell(func(e *rewrite.Event) { stream = encoder.Append(stream, e) })
	lists := map[string][]string{}
	split := sse.Splitter{Bare: true}
	split.Feed(stream, func(e sse.Event) {
		gjson.GetBytes(e.Data, "choices.0.delta").ForEach(func(key, value gjson.Result) bool {
			if key.Str == "annotations" || key.Str == "reasoning_details" {
				lists[key.Str] = append(lists[key.Str], value.Raw)
			}
			return true
		})
	})
	for _, name := range []string{"annotations", "reasoning_details"} {
		want := whole.Get("choices.0.message." + name)
		if diff := cmp.Diff([]string{want.Raw}, lists[name]); diff != "" || len(want.Array()) != 3 {
			t.Errorf("%s (-whole +streamed): %s", name, diff)
		}
	}
}
