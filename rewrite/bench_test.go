package rewrite_test

import (
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/sse"
)

// deltas is the event that most of a stream consists of, in every dialect.
var deltas = map[rewrite.Dialect]string{
	rewrite.Messages: "event: content_block_delta\n" +
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" of the relay, \"quoted\""}}` + "\n\n",
	rewrite.Completions: `data: {"id":"chatcmpl-CaJ3vFq2","object":"chat.completion.chunk","created":1795910400,"model":"gpt-6",` +
		`"service_tier":"default","system_fingerprint":"fp_a1b2","choices":[{"index":0,"delta":{"content":" of the relay, \"quoted\""},` +
		`"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"aB3dE5"}` + "\n\n",
	rewrite.Responses: "event: response.output_text.delta\n" +
		`data: {"type":"response.output_text.delta","sequence_number":41,"item_id":"msg_68af4030","output_index":2,"content_index":0,` +
		`"delta":" of the relay, \"quoted\"","logprobs":[],"obfuscation":"aB3dE5"}` + "\n\n",
	rewrite.Gemini: `data: {"candidates":[{"content":{"parts":[{"text":" of the relay, \"quoted\", which is a sentence or two"}],"role":"model"},` +
		`"index":0}],"usageMetadata":{"promptTokenCount":9000,"cachedContentTokenCount":8192,"candidatesTokenCount":40,"thoughtsTokenCount":200,` +
		`"totalTokenCount":9240,"promptTokensDetails":[{"modality":"TEXT","tokenCount":9000}]},"modelVersion":"gemini-4","responseId":"r1aF"}` + "\n\n",
}

func TestDeltasDoNotAllocate(t *testing.T) {
	for kind, delta := range deltas {
		t.Run(kind.String(), func(t *testing.T) {
			d, chunk := dialects[kind], []byte(delta)
			var s sse.Splitter
			var r rewrite.Report
			read := func(e sse.Event) { d.readEvent(e.Name, e.Data, &r) }
			s.Feed(chunk, read)
			if n := testing.AllocsPerRun(100, func() { s.Feed(chunk, read) }); n != 0 {
				t.Errorf("%v allocations a delta, want none", n)
			}
			if !r.Output || r.Ended {
				t.Errorf("read as %s", describe(r))
			}
		})
	}
}

func BenchmarkTap(b *testing.B) {
	for _, kind := range rewrite.Dialects[1:] {
		b.Run(kind.String(), func(b *testing.B) {
			d, chunk := dialects[kind], []byte(deltas[kind])
			var s sse.Splitter
			var r rewrite.Report
			read := func(e sse.Event) { d.readEvent(e.Name, e.Data, &r) }
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				s.Feed(chunk, read)
			}
		})
	}
}
