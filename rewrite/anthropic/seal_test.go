package anthropic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/splice"
)

func seals(found [][]byte) (texts []string) {
	for _, seal := range found {
		texts = append(texts, splice.Text(seal))
	}
	return texts
}

// What seals a reply must be what seals the message that a client makes of it.
func TestSeals(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"text":              {`{"type":"text","text":"toolu_01A09q90qw90lq91"}`, nil},
		"a call":            {toolUse, []string{"toolu_01A09q90qw90lq91"}},
		"a counted call":    {`{"type":"tool_use","id":"call_1","name":"a","input":{"id":"toolu_01A09q90qw90lq91"}}`, nil},
		"thinking":          {thought, []string{"EqoBCkgIARABGAIiQL8"}},
		"redacted thinking": {`{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix/Laf"}`, []string{"EmwKAhgBEgy3va3pzix/Laf"}},
		"a hosted call":     {searching + "," + found, []string{"srvtoolu_01A09q90qw90lq"}},
		"all of it":         {thought + `,{"type":"text","text":"x"},` + toolUse, []string{"EqoBCkgIARABGAIiQL8", "toolu_01A09q90qw90lq91"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := seals(anthropic.Seals([]byte(`{"id":"msg_01A09q90qw90lq917835lq9","type":"message","role":"assistant","content":[` + c.content + `],"usage":{}}`)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			body := `{"messages":[` + said(c.content) + `]}`
			seal := facts(t, body).Messages[0].Seal
			if text := splice.Text([]byte(body[seal.Start:seal.End])); (text != "") != (len(c.want) > 0) || text != "" && !slices.Contains(c.want, text) {
				t.Errorf("the message is sealed by %q, the reply by %q", text, c.want)
			}
		})
	}
}

func TestEventSeals(t *testing.T) {
	const delta = `{"type":"content_block_delta","index":0,"delta":`
	for name, c := range map[string]struct {
		event, data string
		want        []string
	}{
		"a call begins":       {"content_block_start", `{"type":"content_block_start","index":1,"content_block":` + toolUse + `}`, []string{"toolu_01A09q90qw90lq91"}},
		"without a name":      {"", `{"type":"content_block_start","index":1,"content_block":` + toolUse + `}`, []string{"toolu_01A09q90qw90lq91"}},
		"text begins":         {"content_block_start", `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`, nil},
		"a signature":         {"content_block_delta", delta + `{"type":"signature_delta","signature":"EqoBCkgIARABGAIiQL8"}}`, []string{"EqoBCkgIARABGAIiQL8"}},
		"an encrypted block":  {"content_block_delta", delta + `{"type":"compaction_delta","content":"x","encrypted_content":"EqoBCkgIARABGAIiQL8"}}`, []string{"EqoBCkgIARABGAIiQL8"}},
		"text":                {"content_block_delta", delta + `{"type":"text_delta","text":"\"id\":\"toolu_01A09q90qw90lq91\""}}`, nil},
		"text about it":       {"content_block_delta", delta + `{"type":"text_delta","text":"signature_delta"}}`, nil},
		"the reply's own":     {"message_start", `{"type":"message_start","message":{"id":"msg_01A09q90qw90lq917835lq9"}}`, nil},
		"an event cut in two": {"content_block_start", `{"type":"content_block_start","content_block":{"id":"toolu_01A09q90qw90lq91"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, seals(anthropic.EventSeals([]byte(c.event), []byte(c.data)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A delta of text passes without being read, for there are thousands.
func TestTextDeltasCostNothing(t *testing.T) {
	name := []byte("content_block_delta")
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + strings.Repeat("words ", 50) + `"}}`)
	if n := testing.AllocsPerRun(100, func() { anthropic.EventSeals(name, data) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestStripThinking(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"thinking in front":   {said(thought, toolUse), said(toolUse)},
		"between and behind":  {said(toolUse, thought, `{"type":"text","text":"x"}`, thought), said(toolUse, `{"type":"text","text":"x"}`)},
		"every kind of it":    {said(`{"type":"redacted_thinking","data":"x"}`, `{"type":"connector_text","text":"x"}`, toolUse), said(toolUse)},
		"none":                {said(toolUse), said(toolUse)},
		"members around":      {`{"content":[` + thought + `,` + toolUse + `],"role":"assistant"}`, `{"content":[` + toolUse + `],"role":"assistant"}`},
		"nothing else":        {said(thought), ""},
		"a message cut short": {said(thought)[:40], ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := anthropic.StripThinking([]byte(c.message))
			if (err != nil) != (c.want == "") || string(got) != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
}
