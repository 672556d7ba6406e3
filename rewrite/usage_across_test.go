package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// What one dialect counts into the input another counts beside it.
func TestUsageAcrossDialects(t *testing.T) {
	const messages = `{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","usage":`
	const chat = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":`
	for name, c := range map[string]struct {
		from  rewrite.Dialect
		reply string
		to    rewrite.Dialect
		want  map[string]int64
	}{
		"PB-22 what was cached is part of the prompt": {
			rewrite.Completions, chat + `{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_tokens_details":{"cached_tokens":75}}}`,
			rewrite.Messages, map[string]int64{"usage.input_tokens": 25, "usage.cache_read_input_tokens": 75, "usage.output_tokens": 9},
		},
		"PB-22 more was cached than the prompt has": {
			rewrite.Completions, chat + `{"prompt_tokens":40,"completion_tokens":9,"total_tokens":49,"prompt_tokens_details":{"cached_tokens":75}}}`,
			rewrite.Messages, map[string]int64{"usage.input_tokens": 40, "usage.cache_read_input_tokens": 75, "usage.output_tokens": 9},
		},
		"PB-22 all of it was cached": {
			rewrite.Completions, chat + `{"prompt_tokens":75,"completion_tokens":9,"total_tokens":84,"prompt_tokens_details":{"cached_tokens":75}}}`,
			rewrite.Messages, map[string]int64{"usage.input_tokens": 0, "usage.cache_read_input_tokens": 75},
		},
		"PB-23 the prompt has what was written": {
			rewrite.Messages, messages + `{"input_tokens":8,"cache_creation_input_tokens":5120,"cache_read_input_tokens":0,"output_tokens":42}}`,
			rewrite.Completions, map[string]int64{"usage.prompt_tokens": 5128, "usage.completion_tokens": 42, "usage.total_tokens": 5170, "usage.prompt_tokens_details.cached_tokens": 0},
		},
		"PB-23 in items": {
			rewrite.Messages, messages + `{"input_tokens":8,"cache_creation_input_tokens":5120,"cache_read_input_tokens":100,"output_tokens":42}}`,
			rewrite.Responses, map[string]int64{"usage.input_tokens": 5228, "usage.input_tokens_details.cached_tokens": 100, "usage.output_tokens": 42, "usage.total_tokens": 5270},
		},
		"PB-23 in candidates": {
			rewrite.Messages, messages + `{"input_tokens":8,"cache_creation_input_tokens":5120,"cache_read_input_tokens":100,"output_tokens":42}}`,
			rewrite.Gemini, map[string]int64{"usageMetadata.promptTokenCount": 5228, "usageMetadata.cachedContentTokenCount": 100, "usageMetadata.candidatesTokenCount": 42, "usageMetadata.totalTokenCount": 5270},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var fold rewrite.Fold
			if err := crossers[c.from].decodeReply([]byte(c.reply), "away", fold.Add); err != nil {
				t.Fatal(err)
			}
			whole := crossers[c.to].whole(fold.Reply())
			got := map[string]int64{}
			for path := range c.want {
				got[path] = gjson.GetBytes(whole, path).Int()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s in %s", diff, whole)
			}
		})
	}
}

// The same call in the shapes of the vendors is the same use.
func TestUsageOfEachVendor(t *testing.T) {
	tokens := rewrite.Tokens
	same := rewrite.Usage{
		InputTotal: tokens(1000), InputFresh: tokens(10), CacheRead: tokens(900), CacheWrite: tokens(90), OutputTotal: tokens(25), Reasoning: tokens(5),
	}
	unwritten := same
	unwritten.CacheWrite, unwritten.InputFresh = rewrite.Count{}, tokens(100)
	for name, c := range map[string]struct {
		dialect rewrite.Dialect
		reply   string
		want    rewrite.Usage
	}{
		"US-01 V7 Anthropic counts the cache beside the input": {rewrite.Messages,
			`{"type":"message","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":900,"cache_creation_input_tokens":90,"output_tokens":25,"output_tokens_details":{"thinking_tokens":5}}}`, same},
		"US-02 V7 OpenAI counts it into the input": {rewrite.Responses,
			`{"status":"completed","output":[],"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":900,"cache_write_tokens":90},"output_tokens":25,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":1025}}`, same},
		"US-02 V7 and into the prompt": {rewrite.Completions,
			`{"choices":[],"usage":{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":900,"cache_write_tokens":90},"completion_tokens":25,"completion_tokens_details":{"reasoning_tokens":5},"total_tokens":1025}}`, same},
		"US-03 V7 Google says nothing of writes, and counts thoughts beside the output": {rewrite.Gemini,
			`{"candidates":[],"usageMetadata":{"promptTokenCount":1000,"cachedContentTokenCount":900,"candidatesTokenCount":20,"thoughtsTokenCount":5,"totalTokenCount":1025}}`, unwritten},
	} {
		t.Run(name, func(t *testing.T) {
			var r rewrite.Report
			dialects[c.dialect].readReply([]byte(c.reply), &r)
			if diff := cmp.Diff(c.want, r.Usage); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("US-04 cumulative counters are no sums", func(t *testing.T) {
		const stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":900,\"cache_creation_input_tokens\":90,\"output_tokens\":1}}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":12}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":900,\"output_tokens\":25,\"output_tokens_details\":{\"thinking_tokens\":5}}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
		if diff := cmp.Diff(same, dialects[rewrite.Messages].tap(stream, len(stream)).Usage); diff != "" {
			t.Error(diff)
		}
	})
}
