package splice_test

import (
	"bytes"
	"fmt"
	"testing"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// request builds a request body of about size bytes, two thirds of it prose and
// code in messages and the rest tools with nested schemas.
func request(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"claude-opus-5-5","max_tokens":32000,"stream":true,"tools":[`)
	for i := 0; b.Len() < size/3; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"Reads a file from disk and returns its lines with numbers. `+
			`Use it before \"edit\", and never twice for one file in one turn.","input_schema":{"type":"object","properties":`+
			`{"path":{"type":"string","description":"An absolute path"},"limit":{"type":"integer","minimum":1}},"required":["path"]}}`, i)
	}
	b.WriteString(`],"messages":[`)
	prose := `The relay reads one chunk, hands it to the splitter and writes it on. Nothing is decoded twice, and what ` +
		`nobody asked to change stays as it was.\n\nfunc main() {\n\tfmt.Println(\"hello, world\")\n}\n`
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		role := [2]string{"user", "assistant"}[i%2]
		fmt.Fprintf(&b, `{"role":%q,"content":[{"type":"text","text":"`, role)
		for range 1 + i%8 {
			b.WriteString(prose)
		}
		b.WriteString(`"}]}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

var sizes = []struct {
	name  string
	bytes int
}{{"20KB", 20 << 10}, {"200KB", 200 << 10}, {"1MB", 1 << 20}}

func BenchmarkMembers(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			body := request(size.bytes)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := splice.Members(body, func([]byte, rewrite.Span, rewrite.Span) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPeek(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			body := request(size.bytes)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := splice.Peek(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValid(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			body := request(size.bytes)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := splice.Valid(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	body := request(200 << 10)
	edits := []splice.Edit{
		{Span: rewrite.Span{Start: 9, End: 26}, Text: []byte(`"claude-haiku-5"`)},
		{Span: rewrite.Span{Start: len(body) / 2, End: len(body) / 2}, Text: []byte("insert")},
		{Span: rewrite.Span{Start: len(body) - 20, End: len(body) - 10}},
	}
	var dst []byte
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		dst = splice.Apply(dst[:0], body, edits)
	}
}
