package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
)

// A piece of text, of reasoning or of arguments costs two allocations at most in
// every pair of dialects, late in a stream as well as early.
func TestDeltasAreTranslatedWithoutMemory(t *testing.T) {
	everyDelta(t, func(t *testing.T, name string, next func(), written func() int) {
		t.Run(name, func(t *testing.T) {
			for _, runs := range []int{100, 2000, 100} {
				before := written()
				if n := testing.AllocsPerRun(runs, next); n > 2 {
					t.Errorf("%v allocations a delta", n)
				}
				if whole := strings.HasPrefix(name, "arguments") && strings.HasSuffix(name, rewrite.Gemini.String()); written() == before && !whole {
					t.Error("nothing is written")
				}
			}
		})
	})
}

// BenchmarkTranslateDelta is one delta of a stream of one dialect, written in
// another.
func BenchmarkTranslateDelta(b *testing.B) {
	everyDelta(b, func(b *testing.B, name string, next func(), _ func() int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			from := processor(b)
			for b.Loop() {
				next()
			}
			b.ReportMetric(float64(processor(b)-from)/float64(b.N), "cpu-ns/op")
		})
	})
}

// everyDelta gives see what translates the next delta of a stream that has begun,
// and how many bytes have been written, for each kind of delta and each pair of
// dialects.
func everyDelta[T any](t T, see func(t T, name string, next func(), written func() int)) {
	for from, kinds := range pieces {
		for kind, stream := range kinds {
			for to, encoder := range encoders {
				if from == to {
					continue
				}
				d, add := crossers[from].decoder("p"), encoder()
				var out []byte
				written := 0
				yield := func(e *rewrite.Event) {
					out = add(out[:0], e)
					written += len(out)
				}
				for _, e := range stream {
					d.Event([]byte(e.name), []byte(e.data), yield)
				}
				delta := stream[len(stream)-1]
				name, data := []byte(delta.name), []byte(delta.data)
				see(t, fmt.Sprintf("%s from %s to %s", kind, from, to), func() { d.Event(name, data, yield) }, func() int { return written })
			}
		}
	}
}

// encoders give what writes a stream in a dialect.
var encoders = map[rewrite.Dialect]func() func(dst []byte, e *rewrite.Event) []byte{
	rewrite.Messages: func() func([]byte, *rewrite.Event) []byte {
		return anthropic.NewEncoder(anthropic.EncoderOptions{Provider: home, ID: "msg_1"}).Append
	},
	rewrite.Completions: func() func([]byte, *rewrite.Event) []byte {
		return completions.NewEncoder(completions.EncoderOptions{Provider: home}).Append
	},
	rewrite.Responses: func() func([]byte, *rewrite.Event) []byte {
		return responses.NewEncoder(responses.EncoderOptions{Provider: home}).Append
	},
	rewrite.Gemini: func() func([]byte, *rewrite.Event) []byte {
		return gemini.NewEncoder(gemini.EncoderOptions{Provider: home}).Append
	},
}

// piece is an event of a stream.
type piece struct{ name, data string }

// pieces are the events of streams up to their first delta. In Gemini arguments
// come whole.
var pieces = map[rewrite.Dialect]map[string][]piece{
	rewrite.Messages: {
		"text": {
			{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`},
			{"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
			{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a few words of text"}}`},
		},
		"reasoning": {
			{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`},
			{"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`},
			{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a few words of text"}}`},
		},
		"arguments": {
			{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`},
			{"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}`},
			{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a\n"}}`},
		},
	},
	rewrite.Completions: {
		"text": {
			{"", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`},
			{"", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a few words of text"},"finish_reason":null}]}`},
		},
		"reasoning": {
			{"", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`},
			{"", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"a few words of text"},"finish_reason":null}]}`},
		},
		"arguments": {
			{"", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"look","arguments":""}}]},"finish_reason":null}]}`},
			{"", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\": \"a\n"}}]},"finish_reason":null}]}`},
		},
	},
	rewrite.Responses: {
		"text": {
			{"response.created", `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}`},
			{"response.output_item.added", `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}`},
			{"response.content_part.added", `{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`},
			{"response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"a few words of text","logprobs":[]}`},
		},
		"reasoning": {
			{"response.created", `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}`},
			{"response.output_item.added", `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`},
			{"response.reasoning_summary_part.added", `{"type":"response.reasoning_summary_part.added","sequence_number":2,"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`},
			{"response.reasoning_summary_text.delta", `{"type":"response.reasoning_summary_text.delta","sequence_number":3,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"a few words of text"}`},
		},
		"arguments": {
			{"response.created", `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}`},
			{"response.output_item.added", `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"call_1","name":"look","arguments":""}}`},
			{"response.function_call_arguments.delta", `{"type":"response.function_call_arguments.delta","sequence_number":2,"item_id":"fc_1","output_index":0,"delta":"{\"path\": \"a\n"}`},
		},
	},
	rewrite.Gemini: {
		"text": {
			{"", `{"candidates":[{"content":{"parts":[{"text":"a few words of text"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":"m","responseId":"r"}`},
		},
		"reasoning": {
			{"", `{"candidates":[{"content":{"parts":[{"text":"a few words of text","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":"m","responseId":"r"}`},
		},
	},
	rewrite.Converse: {
		"text": {
			{"messageStart", `{"role":"assistant"}`},
			{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a few words of text"},"p":"abcdefgh"}`},
		},
		"reasoning": {
			{"messageStart", `{"role":"assistant"}`},
			{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"a few words of text"}},"p":"abcdefgh"}`},
		},
		"arguments": {
			{"messageStart", `{"role":"assistant"}`},
			{"contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"look"}}}`},
			{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"path\": \"a\n"}},"p":"abcdefgh"}`},
		},
	},
}
