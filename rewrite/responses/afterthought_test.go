package responses_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/sse"
)

// Programs look for the answer, or the call, in a reply's last item: reasoning that
// has nothing to show stands before what it belongs to, and not behind the answer.
func TestReasoningStandsBeforeTheAnswer(t *testing.T) {
	signed := func(item rewrite.Item, format string) rewrite.Item {
		item.Role, item.Payload = rewrite.RoleAssistant, rewrite.Payload{Provider: "home", Format: format, Value: rewrite.JSON(`{"thoughtSignature":"s"}`)}
		return item
	}
	text := rewrite.Item{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "So."}}}
	call := rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: "c", Name: "f", Arguments: rewrite.JSON("{}")}}
	thought := signed(rewrite.Item{Kind: rewrite.ItemReasoning}, "gemini/thought")
	shown := signed(rewrite.Item{Kind: rewrite.ItemReasoning, Parts: []rewrite.Part{{Kind: rewrite.PartSummary, Text: "Hm."}}}, "messages/thinking")
	for name, test := range map[string]struct {
		items []rewrite.Item
		want  []string
		// back is the payload that the client's history has with the call.
		back string
	}{
		"behind the answer":      {[]rewrite.Item{thought, text, thought}, []string{"reasoning", "message"}, ""},
		"shown before":           {[]rewrite.Item{shown, text}, []string{"reasoning", "message"}, ""},
		"between":                {[]rewrite.Item{text, thought, text}, []string{"message", "reasoning", "message"}, ""},
		"alone":                  {[]rewrite.Item{thought}, []string{"reasoning"}, ""},
		"of a signed call":       {[]rewrite.Item{text, signed(call, "gemini/functionCall")}, []string{"message", "reasoning", "function_call"}, `{"thoughtSignature":"s"}`},
		"of a call that others":  {[]rewrite.Item{signed(call, "chat/tool_call")}, []string{"function_call", "reasoning"}, `{"thoughtSignature":"s"}`},
		"before an unsigned one": {[]rewrite.Item{thought, call}, []string{"reasoning", "function_call"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			reply := &rewrite.Reply{ID: "r", Items: test.items, Stop: rewrite.Stop{Reason: rewrite.StopEnd}}
			var losses rewrite.Losses
			whole := gjson.GetBytes(responses.EncodeReply(nil, reply, responses.EncoderOptions{Losses: &losses}), "output")
			var got, streamed []string
			for _, item := range whole.Array() {
				got = append(got, item.Get("type").Str)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || len(losses.All) > 0 {
				t.Errorf("losses %v, %s", losses.All, diff)
			}
			var stream []byte
			encoder := responses.NewEncoder(responses.EncoderOptions{})
			reply.Tell(func(e *rewrite.Event) { stream = encoder.Append(stream, e) })
			split := sse.Splitter{Bare: true}
			split.Feed(stream, func(e sse.Event) {
				if string(e.Name) == "response.output_item.done" {
					streamed = append(streamed, gjson.GetBytes(e.Data, "item.type").Str)
				}
			})
			if diff := cmp.Diff(test.want, streamed); diff != "" {
				t.Errorf("streamed: %s", diff)
			}
			c, err := responses.DecodeRequest([]byte(`{"model":"m","input":`+whole.Raw+`}`), "")
			if err != nil {
				t.Fatal(err)
			}
			back := ""
			for i := range c.Items {
				if c.Items[i].Kind == rewrite.ItemCall && c.Items[i].Payload.Provider == "home" {
					back = string(c.Items[i].Payload.Value)
				}
			}
			if back != test.back {
				t.Errorf("the call comes back with %s", back)
			}
		})
	}
}
