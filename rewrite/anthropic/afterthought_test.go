package anthropic_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/sse"
)

// A reply ends with its answer: some providers sign it in a thought behind, which
// would be the last block, where agents look for the answer. What a provider needs
// back stays, whatever it stands behind.
func TestNoThoughtStandsBehindTheAnswer(t *testing.T) {
	text := rewrite.Item{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "So."}}}
	signed := func(kind rewrite.ItemKind, format string) rewrite.Item {
		return rewrite.Item{Kind: kind, Role: rewrite.RoleAssistant, Payload: rewrite.Payload{Provider: "home", Format: format, Value: rewrite.JSON(`{"x":1}`)}}
	}
	thought := signed(rewrite.ItemReasoning, "gemini/thought")
	search := signed(rewrite.ItemHosted, "responses/web_search_call")
	grounds := signed(rewrite.ItemOpaque, "gemini/grounding")
	call := rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: "c", Name: "f", Arguments: rewrite.JSON("{}")}}
	for name, test := range map[string]struct {
		items []rewrite.Item
		want  []string
	}{
		"a thought behind the answer":      {[]rewrite.Item{thought, text, thought}, []string{"redacted_thinking", "text"}},
		"all that is not needed behind it": {[]rewrite.Item{text, thought, grounds}, []string{"text"}},
		"a thought between":                {[]rewrite.Item{text, thought, text}, []string{"text", "redacted_thinking", "text"}},
		"a thought before a call":          {[]rewrite.Item{text, thought, call}, []string{"text", "redacted_thinking", "tool_use"}},
		"a thought behind a call":          {[]rewrite.Item{text, call, thought}, []string{"text", "tool_use", "redacted_thinking"}},
		"a search behind the answer":       {[]rewrite.Item{text, thought, search}, []string{"text", "redacted_thinking", "redacted_thinking"}},
		"nothing but a thought":            {[]rewrite.Item{thought}, []string{"redacted_thinking"}},
	} {
		t.Run(name, func(t *testing.T) {
			reply := &rewrite.Reply{ID: "r", Items: test.items, Stop: rewrite.Stop{Reason: rewrite.StopEnd}}
			var losses, streamed rewrite.Losses
			var got []string
			for _, block := range gjson.GetBytes(anthropic.EncodeReply(nil, reply, anthropic.EncoderOptions{Provider: "home", Losses: &losses}), "content").Array() {
				got = append(got, block.Get("type").Str)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			var blocks []string
			var out []byte
			encoder := anthropic.NewEncoder(anthropic.EncoderOptions{Provider: "home", Losses: &streamed})
			reply.Tell(func(e *rewrite.Event) { out = encoder.Append(out, e) })
			var split sse.Splitter
			split.Feed(out, func(e sse.Event) {
				if string(e.Name) == "content_block_start" {
					if at := gjson.GetBytes(e.Data, "index").Int(); int(at) != len(blocks) {
						t.Errorf("block %d is numbered %d", len(blocks), at)
					}
					blocks = append(blocks, gjson.GetBytes(e.Data, "content_block.type").Str)
				}
			})
			if diff := cmp.Diff(test.want, blocks); diff != "" {
				t.Errorf("streamed: %s", diff)
			}
			if len(losses.All)+len(streamed.All) > 0 {
				t.Errorf("losses %v, streamed %v", losses.All, streamed.All)
			}
		})
	}
}
