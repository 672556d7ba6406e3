package rewrite_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
)

// longConversation is that of an agent: a system prompt, tools, and turns of
// reasoning, text, a call and its result, of about size bytes in a dialect.
func longConversation(size int) *rewrite.Conversation {
	words := func(n int) string {
		return strings.Repeat("The quick \"brown\" fox\njumps über the lazy dog. ", n/47+1)
	}
	c := &rewrite.Conversation{Model: "m", System: []rewrite.Part{{Text: words(size / 20)}}, Thinking: rewrite.Thinking{Effort: "high"}}
	for i := range 20 {
		c.Tools = append(c.Tools, rewrite.Tool{
			Name: fmt.Sprint("tool_", i), Description: words(size / 400),
			Schema: rewrite.JSON(`{"type":"object","properties":{"path":{"type":"string","description":"` + strings.Repeat("a path ", size/4000) + `"}},"required":["path"]}`),
		})
	}
	c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: words(1000)}}})
	for i := 0; i < size*8/10/2000; i++ {
		id := fmt.Sprintf("call_%024d", i)
		c.Items = append(c.Items,
			rewrite.Item{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: words(200)}}},
			rewrite.Item{Kind: rewrite.ItemCall, Call: rewrite.Call{ID: id, Name: "tool_1", Arguments: rewrite.JSON(`{"path":"/a/b/c.go","text":"` + strings.Repeat(`line\n`, 40) + `"}`)}},
			rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id, Name: "tool_1"}, Parts: []rewrite.Part{{Text: words(1300)}}},
		)
	}
	return c
}

// processor is the time that this process has had on processors, which on a busy
// machine says more than a clock: collecting garbage is in it, waiting is not.
func processor(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkTranslate is a request from one dialect to another; validations says
// how many passes of gjson.ValidBytes over the same bytes it costs.
func BenchmarkTranslate(b *testing.B) {
	for _, size := range []int{200 << 10, 1 << 20} {
		for from, client := range crossers {
			if client.decodeRequest == nil {
				continue
			}
			c := longConversation(size)
			body, err := client.encodeRequest(c, "", nil)
			if err != nil {
				b.Fatal(err)
			}
			for to, vendor := range crossers {
				if from == to {
					continue
				}
				b.Run(fmt.Sprintf("%s to %s/%dKB", from, to, len(body)>>10), func(b *testing.B) {
					b.ReportAllocs()
					from := processor(b)
					for b.Loop() {
						c, err := client.decodeRequest(body, "")
						if err == nil {
							_, err = vendor.encodeRequest(c, "p", nil)
						}
						if err != nil {
							b.Fatal(err)
						}
					}
					spent := processor(b) - from
					from = processor(b)
					for range b.N {
						gjson.ValidBytes(body)
					}
					b.ReportMetric(float64(spent)/float64(processor(b)-from), "validations")
				})
			}
		}
	}
}

// BenchmarkTranslateDelta is one delta of text of a stream of one dialect, written
// in another.
func BenchmarkTranslateDelta(b *testing.B) {
	for from, vendor := range crossers {
		for to := range encoders {
			if from == to || len(opening[from]) == 0 {
				continue
			}
			b.Run(fmt.Sprintf("%s to %s", from, to), func(b *testing.B) {
				d, add := vendor.decoder("p"), encoders[to]()
				var out []byte
				written := 0
				yield := func(e *rewrite.Event) {
					out = add(out[:0], e)
					written += len(out)
				}
				for _, e := range opening[from] {
					d.Event([]byte(e.name), []byte(e.data), yield)
				}
				delta := opening[from][len(opening[from])-1]
				name, data := []byte(delta.name), []byte(delta.data)
				b.ReportAllocs()
				for b.Loop() {
					d.Event(name, data, yield)
				}
				if written == 0 {
					b.Fatal("nothing was written")
				}
			})
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

// opening are the events of a stream up to its first delta of text.
var opening = map[rewrite.Dialect][]struct{ name, data string }{
	rewrite.Messages: {
		{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`},
		{"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
		{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a few words of text"}}`},
	},
	rewrite.Completions: {
		{"", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`},
		{"", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a few words of text"},"finish_reason":null}]}`},
	},
	rewrite.Responses: {
		{"response.created", `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}`},
		{"response.output_item.added", `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}`},
		{"response.content_part.added", `{"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`},
		{"response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"a few words of text","logprobs":[]}`},
	},
	rewrite.Gemini: {
		{"", `{"candidates":[{"content":{"parts":[{"text":"a few words of text"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":"m","responseId":"r"}`},
	},
}
