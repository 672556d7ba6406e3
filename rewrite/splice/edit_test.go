package splice_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

func edit(start, end int, text string) splice.Edit {
	return splice.Edit{Span: rewrite.Span{Start: start, End: end}, Text: []byte(text)}
}

func TestApply(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		edits []splice.Edit
		want  string
	}{
		"nothing":                {`{"a":1}`, nil, `{"a":1}`},
		"replace":                {`{"a":1}`, []splice.Edit{edit(5, 6, "22")}, `{"a":22}`},
		"insert":                 {`{"a":1}`, []splice.Edit{edit(6, 6, `,"b":2`)}, `{"a":1,"b":2}`},
		"delete":                 {`{"a":1,"b":2}`, []splice.Edit{edit(6, 12, "")}, `{"a":1}`},
		"many":                   {`abcdef`, []splice.Edit{edit(0, 0, "<"), edit(1, 2, "BB"), edit(2, 3, ""), edit(6, 6, ">")}, `<aBBdef>`},
		"two inserts at a place": {`ab`, []splice.Edit{edit(1, 1, "1"), edit(1, 1, "2")}, `a12b`},
		"everything":             {`ab`, []splice.Edit{edit(0, 2, "")}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			got := splice.Apply([]byte("before "), []byte(c.body), c.edits)
			if string(got) != "before "+c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// naive makes the edits one at a time from the back, where they cannot move
// each other.
func naive(body []byte, edits []splice.Edit) []byte {
	for i := len(edits) - 1; i >= 0; i-- {
		e := edits[i]
		body = bytes.Join([][]byte{body[:e.Start], e.Text, body[e.End:]}, nil)
	}
	return body
}

func TestApplyLikeNaive(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		body := make([]byte, random.IntN(60))
		for i := range body {
			body[i] = byte('a' + i%26)
		}
		var edits []splice.Edit
		for at := 0; at <= len(body) && len(edits) < 8; {
			start := at + random.IntN(len(body)-at+1)
			end := start + random.IntN(min(len(body)-start, 9)+1)
			edits = append(edits, edit(start, end, "XXXXXXXX"[:random.IntN(9)]))
			if at = end; random.IntN(5) == 0 {
				break
			}
		}
		before := bytes.Clone(body)
		got := splice.Apply(nil, body, edits)
		if want := naive(body, edits); !bytes.Equal(got, want) {
			t.Fatalf("body %q, edits %+v: got %q, want %q", body, edits, got, want)
		}
		if !bytes.Equal(body, before) {
			t.Fatalf("the body was changed to %q", body)
		}
	}
}

func TestApplyPanicsOnOverlap(t *testing.T) {
	for name, edits := range map[string][]splice.Edit{
		"overlap":      {edit(0, 2, ""), edit(1, 3, "")},
		"out of order": {edit(2, 3, ""), edit(0, 1, "")},
		"beyond":       {edit(3, 5, "")},
		"inverted":     {edit(2, 1, "")},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			splice.Apply(nil, []byte("abcd"), edits)
		})
	}
}

func TestApplyAllocatesOnce(t *testing.T) {
	body := request(4 << 10)
	edits := []splice.Edit{edit(9, 26, `"another-model"`), edit(100, 100, "0123456789")}
	if n := testing.AllocsPerRun(50, func() { splice.Apply(nil, body, edits) }); n != 1 {
		t.Errorf("%v allocations, want 1", n)
	}
	dst := make([]byte, 0, len(body)+100)
	if n := testing.AllocsPerRun(50, func() { dst = splice.Apply(dst[:0], body, edits) }); n != 0 {
		t.Errorf("%v allocations into a large enough slice, want none", n)
	}
}

// FuzzInside edits a string as its content would be edited, and leaves the rest of it
// as it is spelled.
func FuzzInside(f *testing.F) {
	for _, seed := range []string{`"ab\n\u0041\ud83d\ude42\ud83d\/é\"x"`, `"[{\"a\":1},{\"b\":2}]"`, `""`} {
		f.Add([]byte(seed), uint(1), uint(2), []byte("\"é\n"))
	}
	f.Fuzz(func(t *testing.T, value []byte, start, size uint, text []byte) {
		if splice.Valid(value) != nil || value[0] != '"' || value[len(value)-1] != '"' || !utf8.Valid(value) || !utf8.Valid(text) {
			return
		}
		content, _ := splice.AppendText(nil, value)
		if bytes.ContainsRune(content, utf8.RuneError) {
			return // halves of a pair may come to stand side by side
		}
		from := int(start % uint(len(content)+1))
		to := from + int(size%uint(len(content)-from+1))
		between := func(at int) bool { return at == len(content) || utf8.RuneStart(content[at]) }
		if !between(from) || !between(to) {
			return
		}
		edits := []splice.Edit{{Span: rewrite.Span{Start: from, End: to}, Text: text}}
		inside := splice.Inside(value, edits)
		got := splice.Apply(nil, value, inside)
		if err := splice.Valid(got); err != nil {
			t.Fatalf("%q becomes %q: %v", value, got, err)
		}
		edited, _ := splice.AppendText(nil, got)
		if want := splice.Apply(nil, content, edits); !bytes.Equal(edited, want) {
			t.Fatalf("%q holds %q, want %q", got, edited, want)
		}
		if rest := value[inside[0].End:]; !bytes.HasPrefix(got, value[:inside[0].Start]) || !bytes.HasSuffix(got, rest) {
			t.Fatalf("%q is spelled otherwise in %q", value, got)
		}
	})
}
