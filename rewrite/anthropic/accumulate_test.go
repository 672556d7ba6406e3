package anthropic_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/rewrite/sse"
)

// accumulate puts a stream together as the vendor's libraries do, and is as
// strict about its grammar as the strictest of them. It gives the message, and
// the name of the last event.
func accumulate(t testing.TB, stream []byte) (message map[string]any, last string) {
	t.Helper()
	var s sse.Splitter
	open := -1
	var content []any
	var input strings.Builder
	read := func(e sse.Event) {
		if !json.Valid(e.Data) || gjson.GetBytes(e.Data, "type").String() != string(e.Name) {
			t.Fatalf("%s is no event: %s", e.Name, e.Data)
		}
		if last == "message_stop" || last == "error" || (last == "") != (string(e.Name) == "message_start") && string(e.Name) != "error" {
			t.Fatalf("%s comes after %q", e.Name, last)
		}
		last = string(e.Name)
		data := object(t, e.Data)
		index := int(gjson.GetBytes(e.Data, "index").Int())
		switch last {
		case "message_start":
			message = data["message"].(map[string]any)
			if len(message["content"].([]any)) > 0 || message["stop_reason"] != nil {
				t.Fatalf("a message begins with %s", e.Data)
			}
		case "content_block_start":
			if open >= 0 || index != len(content) {
				t.Fatalf("block %d begins, %d is open, %d are there", index, open, len(content))
			}
			open = index
			content = append(content, data["content_block"])
			input.Reset()
		case "content_block_delta":
			if open != index {
				t.Fatalf("a delta of block %d, and %d is open", index, open)
			}
			merge(t, content[index].(map[string]any), data["delta"].(map[string]any), &input)
		case "content_block_stop":
			if open != index {
				t.Fatalf("block %d ends, and %d is open", index, open)
			}
			if open = -1; input.Len() > 0 {
				if json.Valid([]byte(input.String())) {
					content[index].(map[string]any)["input"] = object(t, []byte(input.String()))
				} else {
					content[index].(map[string]any)["input"] = "INVALID " + input.String()
				}
			}
		case "message_delta":
			if open >= 0 {
				t.Fatalf("block %d is never closed", open)
			}
			for key, value := range data["delta"].(map[string]any) {
				message[key] = value
			}
			for key, value := range data["usage"].(map[string]any) {
				message["usage"].(map[string]any)[key] = value
			}
		case "message_stop", "error":
		default:
			t.Fatalf("an event %s", last)
		}
	}
	s.Feed(bytes.Clone(stream), read)
	s.Close(read)
	if message != nil && content != nil {
		message["content"] = content
	}
	return message, last
}

// merge adds a delta to its block.
func merge(t testing.TB, block, delta map[string]any, input *strings.Builder) {
	t.Helper()
	kinds := map[string][2]string{"text_delta": {"text", "text"}, "thinking_delta": {"thinking", "thinking"}, "signature_delta": {"thinking", "signature"}}
	switch kind := delta["type"].(string); kind {
	case "text_delta", "thinking_delta", "signature_delta":
		if block["type"] != kinds[kind][0] {
			t.Fatalf("%s for %v", kind, block)
		}
		block[kinds[kind][1]] = block[kinds[kind][1]].(string) + delta[kinds[kind][1]].(string)
	case "input_json_delta":
		if !strings.HasSuffix(block["type"].(string), "tool_use") {
			t.Fatalf("%s for %v", kind, block)
		}
		input.WriteString(delta["partial_json"].(string))
	case "citations_delta":
		citations, _ := block["citations"].([]any)
		block["citations"] = append(citations, delta["citation"])
	default:
		t.Fatalf("a delta %v", delta)
	}
}

// object reads JSON with its numbers as they are.
func object(t testing.TB, data []byte) (out map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return out
}

// compact is a value as JSON.
func compact(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}
