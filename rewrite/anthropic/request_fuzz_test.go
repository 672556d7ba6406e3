package anthropic_test

import (
	"errors"
	"path/filepath"
	"testing"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/splice"
)

// FuzzDecodeRequest asks of every body that it is refused with a reason, or that
// it is written again as JSON that reads as the same conversation.
func FuzzDecodeRequest(f *testing.F) {
	paths, err := filepath.Glob("testdata/requests/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		body, _ := show.Load(f, path).Section("request")
		f.Add([]byte(body))
	}
	for _, seed := range []string{
		`[]`, `{"messages":[]}`, `{"messages":[{"role":"user","content":null}]}`, `{"messages":[{"role":"x","content":""}]}`, `{"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"wp1.AGEvYgAx.next"},{"type":"tool_use","input":1}]}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := anthropic.DecodeRequest(body, "home")
		if err != nil {
			var failure *rewrite.Failure
			if !errors.As(err, &failure) || failure.Reason != rewrite.ReasonBadRequest || failure.Message == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		for _, provider := range []string{"home", "away"} {
			again, err := anthropic.EncodeRequest(c, provider, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := splice.Valid(again); err != nil {
				t.Fatalf("%v: %s", err, again)
			}
			back, err := anthropic.DecodeRequest(again, "home")
			if err != nil {
				t.Fatalf("%v: %s", err, again)
			}
			twice, err := anthropic.EncodeRequest(back, "home", nil)
			if err != nil {
				t.Fatal(err)
			}
			// What another provider's is leaves gaps, which close.
			if provider == "home" && string(again) != string(twice) {
				t.Fatalf("%s is written\n%s\n%s", provider, again, twice)
			}
		}
	})
}

func TestDecodeRequestRefuses(t *testing.T) {
	for body, want := range map[string]string{
		`{`:                              `the request body: invalid JSON at byte 1: unexpected end of JSON input; send one JSON object`,
		`[]`:                             `the request body: not a JSON object; send one`,
		`{"model":"m"}`:                  `messages: a request needs an array of messages`,
		`{"messages":{}}`:                `messages: not an array; send one`,
		`{"messages":[1]}`:               `messages.0.content: not an array; send one`,
		`{"messages":[{"content":"x"}]}`: `messages.0.role: not a role; send "user", "assistant" or "system"`,
		`{"messages":[],"tools":[{}]}`:   `tools.0.name: a tool needs a name`,
		`{"messages":[],"tools":["x"]}`:  `tools.0: not a tool; send an object`,
		`{"model":"a","model":"b"}`:      `"model" stands twice in the request body, at byte 1 and at byte 13; send it once`,
		`{"messages":[],"system":[{}]}`:  `system.0: not a content block; send an object with a "type"`,
		`{"messages":[],"system":5}`:     `system: not an array; send one`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}`:                                       `messages.0.content.0.tool_use_id: a result needs the identifier of its call`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"x":1}]}]}]}`: `messages.0.content.0.content.0: not a content block; send an object with a "type"`,
	} {
		if _, err := anthropic.DecodeRequest([]byte(body), "home"); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", body, err, want)
		}
	}
}
