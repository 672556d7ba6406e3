package rewrite_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
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
					b.ReportMetric(spent.Seconds()*1000/float64(b.N), "cpu-ms/op")
				})
			}
		}
	}
}
