package anthropic_test

import (
	"testing"

	"warmpath/rewrite/anthropic"
)

// back undoes insertions after the messages 1 and 4 of what was sent.
func back(n int) int {
	switch {
	case n == 2 || n == 5:
		return -1
	case n > 5:
		return n - 2
	case n > 2:
		return n - 1
	}
	return n
}

func TestMapIndex(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an error's text":       {"messages.7.content.0: Invalid `signature` in `thinking` block", "messages.5.content.0: Invalid `signature` in `thinking` block"},
		"several":               {"messages.3 and messages.12, messages.1", "messages.2 and messages.10, messages.1"},
		"ours":                  {"messages.5: role 'system' must precede", "messages.5: role 'system' must precede"},
		"an error body":         {`{"type":"error","error":{"type":"invalid_request_error","message":"messages.3: x","details":{"paths":["messages.9.content.1"]}},"request_id":"req_1"}`, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.2: x","details":{"paths":["messages.7.content.1"]}},"request_id":"req_1"}`},
		"behind an escape":      {`{"error":{"message":"first\nmessages.3"}}`, `{"error":{"message":"first\nmessages.2"}}`},
		"behind a backslash":    {`{"error":{"message":"\\nmessages.3"}}`, `{"error":{"message":"\\nmessages.3"}}`},
		"another word":          {"submessages.3 my.messages.3 messages.3rd messages.x messages.", "submessages.3 my.messages.3 messages.3rd messages.x messages."},
		"quoted":                {"``messages.3``", "``messages.2``"},
		"a reply":               {`{"content":[{"type":"text","text":"messages.3"}],"input_transformations":[{"type":"thinking_dropped","path":"messages.3.content.0"}]}`, `{"content":[{"type":"text","text":"messages.3"}],"input_transformations":[{"type":"thinking_dropped","path":"messages.2.content.0"}]}`},
		"the start of a stream": {`{"type":"message_start","message":{"id":"m","input_transformations":[{"path":"messages.3.content.0"}]}}`, `{"type":"message_start","message":{"id":"m","input_transformations":[{"path":"messages.2.content.0"}]}}`},
		"what the model says":   {`{"type":"content_block_delta","delta":{"type":"text_delta","text":"messages.3"}}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"messages.3"}}`},
		"a number too long":     {"messages.99999999999999999999", "messages.99999999999999999999"},
		"nothing":               {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(anthropic.MapIndex([]byte(c.text), back)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestMergeBetas(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		add    []string
		want   string
	}{
		"nothing to nothing":    {"", nil, ""},
		"to nothing":            {"", []string{"a", "b"}, "a,b"},
		"to the client's":       {"z, y", []string{"a"}, "z, y,a"},
		"what is there":         {"z, a ,y", []string{"a"}, "z, a ,y"},
		"a part of another":     {"ab", []string{"a", "b"}, "ab,a,b"},
		"one twice":             {"z", []string{"a", "a"}, "z,a"},
		"an empty value":        {"z", []string{""}, "z"},
		"behind a comma":        {"z, ", []string{"a"}, "z,a"},
		"a comma, nothing else": {"z,", []string{"z"}, "z,"},
		"the client's twice":    {"z,z", []string{"a"}, "z,z,a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(anthropic.MergeBetas([]byte(c.header), c.add...)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
