package anthropic_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/continuity"
	"warmpath/rewrite/splice"
)

// agentRequest is a request of an agent in the middle of its work: tools with
// nested schemas, a long system prompt and turns that call tools and read files.
func agentRequest(tools, messages int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"claude-opus-5-5","max_tokens":32000,"stream":true,"tools":[`)
	for i := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"Reads a file from disk and returns its lines with numbers. `+
			`Use it before \"edit\", and never twice for one file in one turn.","input_schema":{"type":"object","properties":`+
			`{"path":{"type":"string","description":"An absolute path"},"limit":{"type":"integer","minimum":1}},"required":["path"],`+
			`"additionalProperties":false}}`, i)
	}
	prose := `The relay reads one chunk, hands it to the splitter and writes it on. Nothing is decoded twice, and what ` +
		`nobody asked to change stays as it was.\n\nfunc main() {\n\tfmt.Println(\"hello, world\")\n}\n`
	b.WriteString(`],"system":[{"type":"text","text":"You are an agent."},{"type":"text","text":"`)
	for range 100 {
		b.WriteString(prose)
	}
	b.WriteString(`","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Go on."}`)
	for i := range messages / 2 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"EqoB%0120dAbC"},`+
			`{"type":"text","text":"I will read it."},{"type":"tool_use","id":"toolu_01A09q90qw90lq%06d","name":"tool_3",`+
			`"input":{"path":"/src/relay/file_%d.go","limit":200}}]},{"role":"user","content":[{"type":"tool_result",`+
			`"tool_use_id":"toolu_01A09q90qw90lq%06d","content":[{"type":"text","text":"`, i, i, i, i)
		for range 1 + i%29 {
			b.WriteString(prose)
		}
		b.WriteString(`"}]}]}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// compare reports the multiple of what it measures of a base. Both take turns,
// and the medians count, since others use the machine as well.
func compare(b *testing.B, body []byte, measured, base func() error) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	var times, bases []time.Duration
	for b.Loop() {
		begin := time.Now()
		err := measured()
		times = append(times, time.Since(begin))
		b.StopTimer()
		begin = time.Now()
		err = errors.Join(err, base())
		bases = append(bases, time.Since(begin))
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	slices.Sort(times)
	slices.Sort(bases)
	b.ReportMetric(float64(times[len(times)/2])/float64(bases[len(bases)/2]), "x-validation")
}

// BenchmarkReadFacts reports its multiple of one check of the same bytes, which
// it spares.
func BenchmarkReadFacts(b *testing.B) {
	for _, size := range []struct{ tools, messages int }{{20, 20}, {100, 500}} {
		body := agentRequest(size.tools, size.messages)
		b.Run(fmt.Sprintf("%dKB", len(body)>>10), func(b *testing.B) {
			compare(b, body, func() error {
				_, err := anthropic.ReadFacts(body)
				return err
			}, func() error { return valid(body) })
		})
	}
}

// valid is the check of a whole body.
func valid(body []byte) error {
	if err := splice.Valid(body); err != nil {
		return err
	}
	return nil
}

// Messages cost no allocation each: a long conversation is read as cheaply as a
// short one.
func TestReadFactsAllocates(t *testing.T) {
	const tools, beside = 10, 60
	body := agentRequest(tools, 500)
	n := testing.AllocsPerRun(20, func() {
		if _, err := anthropic.ReadFacts(body); err != nil {
			t.Fatal(err)
		}
	})
	if n > tools+beside {
		t.Errorf("%v allocations for %d tools, want at most %d more", n, tools, beside)
	}
}

func BenchmarkApply(b *testing.B) {
	body := agentRequest(100, 500)
	facts, err := anthropic.ReadFacts(body)
	if err != nil {
		b.Fatal(err)
	}
	edits := &anthropic.Edits{Automatic: true, Drop: true}
	for i := 1; i < 10; i++ {
		edits.Inserts = append(edits.Inserts, continuity.Edit{After: 50 * i, Bytes: anthropic.Render(anthropic.Directive{Texts: []string{"x"}})})
	}
	for i := range facts.Tools {
		edits.Tools = append(edits.Tools, body[facts.Tools[i].Span.Start:facts.Tools[i].Span.End])
	}
	var dst []byte
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if dst, err = anthropic.Apply(dst[:0], body, facts, edits); err != nil {
			b.Fatal(err)
		}
	}
}
