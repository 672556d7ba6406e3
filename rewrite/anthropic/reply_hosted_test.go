package anthropic_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
)

// A search that another provider ran is shown as the dialect's own, whole and
// streamed, and comes back as what its provider has made and nothing else.
func TestSearchesAreShown(t *testing.T) {
	search := rewrite.Payload{Provider: "gpt", Format: "responses/web_search_call", Value: rewrite.JSON(`{"type":"web_search_call","id":"ws_1"}`)}
	found := []rewrite.Attribution{{URL: "https://a.test", Title: "A"}, {URL: "https://b.test"}}
	code := rewrite.Item{Kind: rewrite.ItemHosted, Role: rewrite.RoleAssistant, Hosted: rewrite.Hosted{ID: "c", Name: "code_execution", State: rewrite.HostedStarted, Input: rewrite.JSON(`{"code":"1"}`)}}
	text := rewrite.Item{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "So it is."}}}
	for name, c := range map[string]struct {
		items []rewrite.Item
		query string
		lost  int
	}{
		"in one step": {[]rewrite.Item{
			{Kind: rewrite.ItemHosted, Payload: search, Hosted: rewrite.Hosted{ID: "ws_1", Name: "web_search", State: rewrite.HostedCompleted, Input: rewrite.JSON(`{"type":"search","queries":["cats","dogs"]}`), Sources: found}}, text,
		}, "cats", 0},
		"in two, behind another": {[]rewrite.Item{
			code, {Kind: rewrite.ItemHosted, Hosted: rewrite.Hosted{ID: "s", Name: "web_search", Input: rewrite.JSON(`{"q":"cats"}`)}},
			{Kind: rewrite.ItemHosted, Payload: search, Hosted: rewrite.Hosted{ID: "s", Name: "web_search", State: rewrite.HostedCompleted, Sources: found}}, text,
		}, "cats", 0},
		"that found nothing": {[]rewrite.Item{
			{Kind: rewrite.ItemHosted, Payload: search, Hosted: rewrite.Hosted{ID: "ws_1", Name: "web_search", State: rewrite.HostedFailed}}, text,
		}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := &rewrite.Reply{ID: "m", Items: c.items, Stop: rewrite.Stop{Reason: rewrite.StopEnd}}
			var losses rewrite.Losses
			whole := string(anthropic.EncodeReply(nil, r, anthropic.EncoderOptions{Provider: "gpt", Losses: &losses}))
			if got := gjson.Get(whole, `content.#(type=="server_tool_use").input.query`).Str; got != c.query || len(losses.All) != c.lost {
				t.Errorf("searched for %q, lost %v: %s", got, losses.All, whole)
			}
			if found := gjson.Get(whole, `content.#(type=="web_search_tool_result").content.#.url`).Raw; c.query != "" && found != `["https://a.test","https://b.test"]` {
				t.Errorf("found %s", found)
			}
			e := anthropic.NewEncoder(anthropic.EncoderOptions{Provider: "gpt"})
			var stream []byte
			r.Tell(func(event *rewrite.Event) { stream = e.Append(stream, event) })
			told, _ := accumulate(t, stream)
			if diff := cmp.Diff(object(t, []byte(whole))["content"], told["content"]); diff != "" {
				t.Error(diff)
			}
			body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":` + gjson.Get(whole, "content").Raw + `},{"role":"user","content":"b"}]}`
			back, err := anthropic.DecodeRequest([]byte(body), "claude")
			if err != nil {
				t.Fatal(err)
			}
			hosted := 0
			for i := range back.Items {
				if back.Items[i].Kind == rewrite.ItemHosted || back.Items[i].Kind == rewrite.ItemOpaque {
					hosted++
					if string(back.Items[i].Payload.Value) != string(search.Value) || back.Items[i].Payload.Provider != "gpt" {
						t.Errorf("came back as %+v", back.Items[i])
					}
				}
			}
			if hosted != 1 {
				t.Errorf("%d activities came back: %s", hosted, body)
			}
		})
	}
}
