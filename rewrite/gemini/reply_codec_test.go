package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/sse"
)

// events reads a stream that arrives in chunks of the given sizes, the last of
// which repeats, and yields what it says.
func events(stream string, yield func(*rewrite.Event), sizes ...int) {
	d := gemini.NewDecoder("home")
	s := sse.Splitter{Bare: true}
	read := func(e sse.Event) { d.Event(e.Name, e.Data, yield) }
	for stream != "" {
		n := min(max(sizes[0], 1), len(stream))
		if len(sizes) > 1 {
			sizes = sizes[1:]
		}
		chunk := []byte(stream[:n])
		s.Feed(chunk, read)
		for i := range chunk {
			chunk[i] = 'x' // what was fed is gone
		}
		stream = stream[n:]
	}
	s.Close(read)
	d.Close(yield)
}

func folded(stream string) *rewrite.Reply {
	var f rewrite.Fold
	events(stream, f.Add, len(stream))
	return f.Reply()
}

// replies runs f for every golden reply.
func replies(t *testing.T, f func(t *testing.T, file *show.File, stream, whole string)) {
	t.Helper()
	show.Each(t, "testdata/replies", func(t *testing.T, file *show.File) {
		stream, _ := file.Section("stream")
		whole, _ := file.Section("whole")
		f(t, file, stream+"\n\n", whole)
	})
}

// A whole reply is what its stream comes to, and so is the array of its frames.
func TestRepliesGolden(t *testing.T) {
	replies(t, func(t *testing.T, file *show.File, stream, whole string) {
		got := folded(stream)
		file.Want(t, *update, "reply", show.Value(got))
		if whole == "" {
			return
		}
		frames := "[" + strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(stream), "data: "), "\n\ndata: ", ",") + "]"
		for _, body := range []string{whole, frames} {
			var fold rewrite.Fold
			if err := gemini.DecodeReply([]byte(body), "home", fold.Add); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, fold.Reply(), asText); diff != "" {
				t.Errorf("the whole reply differs from its stream: %s", diff)
			}
		}
	})
}

// ST-13, PB-25: however the bytes arrive, the same is said.
func TestRepliesOfEverySplit(t *testing.T) {
	told := func(stream string, sizes ...int) string {
		var b strings.Builder
		events(stream, func(e *rewrite.Event) {
			b.WriteString(show.Value(e))
			b.Write(e.Text)
			b.WriteString("\n--\n")
		}, sizes...)
		return b.String()
	}
	replies(t, func(t *testing.T, _ *show.File, stream, _ string) {
		want := told(stream, len(stream))
		if got := told(stream, 1); got != want {
			t.Fatalf("byte by byte: %s", cmp.Diff(want, got))
		}
		for i := 1; i < len(stream); i += 5 {
			if got := told(stream, i, len(stream)); got != want {
				t.Fatalf("split at %d: %s", i, cmp.Diff(want, got))
			}
		}
	})
}

// accumulate puts the frames of a stream together as a client does.
func accumulate(t testing.TB, stream []byte) string {
	t.Helper()
	var parts []string
	var rest, failure string
	s := sse.Splitter{Bare: true}
	text := func(v gjson.Result) bool {
		return v.Get("text").String() != "" && !v.Get("thoughtSignature").Exists() && len(v.Map()) <= 2
	}
	read := func(e sse.Event) {
		if !json.Valid(e.Data) {
			t.Fatalf("no JSON: %s", e.Data)
		}
		f := gjson.ParseBytes(e.Data)
		if v := f.Get("error"); v.Exists() {
			failure = v.Raw
		}
		for _, p := range f.Get("candidates.0.content.parts").Array() {
			if p.Raw == `{"text":""}` {
				continue
			}
			last := gjson.Parse("{}")
			if len(parts) > 0 {
				last = gjson.Parse(parts[len(parts)-1])
			}
			if text(last) && text(p) && last.Get("thought").Bool() == p.Get("thought").Bool() {
				joined, err := json.Marshal(last.Get("text").String() + p.Get("text").String())
				if err != nil {
					t.Fatal(err)
				}
				parts[len(parts)-1] = strings.Replace(last.Raw, last.Get("text").Raw, string(joined), 1)
				continue
			}
			parts = append(parts, p.Raw)
		}
		rest = strings.Replace(f.Raw, f.Get("candidates.0.content.parts").Raw, "PARTS", 1)
	}
	s.Feed(append([]byte(nil), stream...), read)
	s.Close(read)
	if failure != "" {
		return failure
	}
	if parts == nil {
		parts = []string{`{"text":""}`}
	}
	return strings.Replace(rest, "PARTS", "["+strings.Join(parts, ",")+"]", 1)
}

// What a client gets as a stream comes to what it gets as a whole, and reads as
// what the provider said.
func TestEncodedReplies(t *testing.T) {
	replies(t, func(t *testing.T, file *show.File, stream, whole string) {
		r := folded(stream)
		for _, provider := range []string{"home", "away"} {
			o := gemini.EncoderOptions{Provider: provider}
			n := gemini.NewEncoder(o)
			var got []byte
			events(stream, func(e *rewrite.Event) { got = n.Append(got, e) }, len(stream))
			file.Want(t, *update, "for a client of "+provider, string(got))
			message := accumulate(t, got)
			if whole == "" {
				continue
			}
			document := gemini.EncodeReply(nil, r, o)
			if diff := cmp.Diff(plain(t, string(document)), plain(t, message)); diff != "" {
				t.Errorf("for %s, the stream differs from the whole: %s", provider, diff)
			}
			if provider != "home" {
				continue
			}
			var again rewrite.Fold
			if err := gemini.DecodeReply(document, "home", again.Add); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r.Items, again.Reply().Items, asText); diff != "" {
				t.Errorf("the whole, read again: %s", diff)
			}
			if diff := cmp.Diff(r.Usage, again.Reply().Usage); diff != "" {
				t.Errorf("usage: %s", diff)
			}
			if diff := cmp.Diff(r.Stop, again.Reply().Stop); diff != "" {
				t.Errorf("stop: %s", diff)
			}
		}
	})
}

// plain is JSON as values.
func plain(t testing.TB, text string) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// RP-01: what a provider made goes through a client that knows another one, and
// is back at its provider byte for byte.
func TestPayloadsComeBack(t *testing.T) {
	replies(t, func(t *testing.T, file *show.File, stream, whole string) {
		if whole == "" || strings.Contains(file.Path, "blocked") {
			return
		}
		r := folded(stream)
		want := gjson.Get(whole, "candidates.0.content.parts").Array()
		for _, provider := range []string{"home", "away"} {
			document := gemini.EncodeReply(nil, r, gemini.EncoderOptions{Provider: provider})
			body := `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":` + gjson.GetBytes(document, "candidates.0.content.parts").Raw + `}]}`
			home, lost := encode(t, decode(t, body, provider), "home")
			if lost != "" {
				t.Errorf("lost: %s", lost)
			}
			got := gjson.Get(home, "contents.1.parts").Array()
			if len(got) != len(want) {
				t.Fatalf("for a client of %s:\ngot  %s\nwant %s", provider, got, want)
			}
			for i := range want {
				signed := want[i].Get("thoughtSignature").Exists()
				if signed && got[i].Raw != want[i].Raw || !signed && got[i].Get("text").String() != want[i].Get("text").String() {
					t.Errorf("for a client of %s:\ngot  %s\nwant %s", provider, got[i].Raw, want[i].Raw)
				}
			}
		}
	})
}
