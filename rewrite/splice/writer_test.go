package splice_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"warmpath/rewrite/splice"
)

func TestWriter(t *testing.T) {
	w := splice.WriteTo([]byte(`data: [`))
	w.Open('{')
	w.Text("a", `b"\`+"\n\x01é🙂<&>")
	w.Text("none", "")
	w.Value("raw", []byte(`{"z":1.0,"a":"\u0041"}`))
	w.Value("nothing", nil)
	w.Name("list")
	w.Open('[')
	w.Int(-5)
	w.Bool(true)
	w.Literal(`null`)
	w.String("x:")
	w.Bytestring([]byte("y["))
	w.Open('{')
	w.Close('}')
	w.Close(']')
	size := w.Size()
	w.Text("undone", "x")
	w.Cut(size)
	w.Literal(`"stop":null`)
	w.Close('}')
	want := `data: [{"a":"b\"\\\n\u0001é🙂<&>","raw":{"z":1.0,"a":"\u0041"},"list":[-5,true,null,"x:","y[",{}],"stop":null}`
	if got := string(w.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A string that was written reads back as it was, and writing allocates nothing
// but the slice.
func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "a\u2028\"", "\xff\xc3", "\x00\x1f\x7f", "\xed\xa0\x80", "é🙂\\u0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written := splice.AppendString(nil, text)
		var got string
		if err := json.Unmarshal(written, &got); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		want := text
		if !utf8.ValidString(text) {
			want = string([]rune(text))
		}
		if got != want {
			t.Errorf("%q reads back as %q", text, got)
		}
		if same := splice.AppendString(nil, []byte(text)); string(same) != string(written) {
			t.Errorf("bytes are written as %s, a string as %s", same, written)
		}
	})
}

func TestAppendStringAllocatesNothing(t *testing.T) {
	text, dst := []byte(strings.Repeat("é🙂\"\n\xff", 50)), make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { splice.AppendString(dst, text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
