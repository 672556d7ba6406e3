package gemini_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/sse"
)

// The vendor's libraries forget parts that are nothing but a signature, and of a
// whole reply with such a part everything. So what has nothing to show goes along
// with the part behind it, and comes back from there in its place.
func TestSignaturesStandOnParts(t *testing.T) {
	signed := func(kind rewrite.ItemKind, format, value string, parts ...rewrite.Part) rewrite.Item {
		return rewrite.Item{Kind: kind, Role: rewrite.RoleAssistant, Parts: parts, Payload: rewrite.Payload{Provider: "home", Format: format, Value: rewrite.JSON(value)}}
	}
	sealed := signed(rewrite.ItemReasoning, "responses/reasoning", `{"a":1}`)
	shown := signed(rewrite.ItemReasoning, "messages/thinking", `{"b":2}`, rewrite.Part{Kind: rewrite.PartSummary, Text: "Hm."})
	search := signed(rewrite.ItemHosted, "responses/web_search_call", `{"c":3}`)
	text := rewrite.Item{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "So."}}}
	call := rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: "c", Name: "f", Arguments: rewrite.JSON(`{}`)}}
	own := call
	own.Payload = rewrite.Payload{Provider: "home", Format: "chat/tool_call", Value: rewrite.JSON(`{"d":4}`)}
	for name, items := range map[string][]rewrite.Item{
		"before a text":         {sealed, text},
		"before a call":         {sealed, call, call},
		"before a signed call":  {sealed, own},
		"several":               {sealed, search, text},
		"behind what it signs":  {shown, text, call},
		"before what is signed": {sealed, shown, text},
		"between":               {text, sealed, call},
	} {
		t.Run(name, func(t *testing.T) {
			reply := &rewrite.Reply{ID: "r", Items: items, Stop: rewrite.Stop{Reason: rewrite.StopEnd}}
			document := gemini.EncodeReply(nil, reply, gemini.EncoderOptions{})
			parts := gjson.GetBytes(document, "candidates.0.content.parts")
			for _, part := range parts.Array() {
				if !part.Get("functionCall").Exists() && part.Get("text").Str == "" {
					t.Errorf("nothing in %s", part)
				}
			}
			var stream []byte
			encoder := gemini.NewEncoder(gemini.EncoderOptions{})
			reply.Tell(func(e *rewrite.Event) { stream = encoder.Append(stream, e) })
			var streamed []string
			split := sse.Splitter{Bare: true}
			split.Feed(stream, func(e sse.Event) {
				for _, part := range gjson.GetBytes(e.Data, "candidates.0.content.parts").Array() {
					streamed = append(streamed, part.Raw)
				}
			})
			var whole []string
			for _, part := range parts.Array() {
				whole = append(whole, part.Raw)
			}
			if diff := cmp.Diff(append(whole, `{"text":""}`), streamed); diff != "" {
				t.Errorf("the stream differs: %s", diff)
			}
			c := decode(t, `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":`+parts.Raw+`}]}`, "away")
			var got, want []string
			for i := range c.Items[1:] {
				got = append(got, c.Items[i+1].Kind.String()+" "+string(c.Items[i+1].Payload.Value))
			}
			for i := range items {
				kind := items[i].Kind
				if kind == rewrite.ItemHosted { // what it was is for its provider to tell
					kind = rewrite.ItemOpaque
				}
				value := string(items[i].Payload.Value)
				if kind == rewrite.ItemCall && value == "" {
					value = "null" // another model's
				}
				want = append(want, kind.String()+" "+value)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("items (-want +got): %s\n%s", diff, parts)
			}
		})
	}
}

// Some clients (the AI SDK, pi) send no identifiers of calls back, by which other
// providers pair them with their results.
func TestCallsAreKnownByTheirSignatures(t *testing.T) {
	reply := &rewrite.Reply{ID: "r", Stop: rewrite.Stop{Reason: rewrite.StopTools}}
	for _, id := range []string{"call_a", "call_b", ""} {
		reply.Items = append(reply.Items, rewrite.Item{
			Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: id, Name: "f", Arguments: rewrite.JSON(`{}`)},
			Payload: rewrite.Payload{Provider: "home", Format: "responses/function_call", Value: rewrite.JSON(`{"call_id":"` + id + `"}`)},
		})
	}
	parts := gjson.GetBytes(gemini.EncodeReply(nil, reply, gemini.EncoderOptions{}), "candidates.0.content.parts").Raw
	parts = strings.NewReplacer(`"id":"call_a",`, "", `"id":"call_b",`, "").Replace(parts)
	answer := `{"functionResponse":{"name":"f","response":{"output":"x"}}}`
	c := decode(t, `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":`+parts+`},{"role":"user","parts":[`+answer+","+answer+","+answer+`]}]}`, "away")
	var got []string
	for i := range c.Items[1:] {
		got = append(got, c.Items[i+1].Kind.String()+" "+c.Items[i+1].Call.ID)
	}
	want := []string{"call call_a", "call call_b", "call call_wp_2", "result call_a", "result call_b", "result call_wp_2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
