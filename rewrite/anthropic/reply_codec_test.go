package anthropic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/sse"
)

// asText compares JSON by its bytes.
var asText = cmp.Transformer("text", func(j rewrite.JSON) string { return string(j) })

// events reads a stream that arrives in chunks of the given sizes, the last of
// which repeats, and yields what it says.
func events(stream string, yield func(*rewrite.Event), sizes ...int) {
	d := anthropic.NewDecoder("home")
	var s sse.Splitter
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

// A whole reply is what its stream comes to.
func TestRepliesGolden(t *testing.T) {
	show.Each(t, "testdata/replies", func(t *testing.T, f *show.File) {
		stream, _ := f.Section("stream")
		got := folded(stream)
		f.Want(t, *update, "reply", show.Value(got))
		whole, ok := f.Section("whole")
		if !ok {
			return
		}
		var fold rewrite.Fold
		if err := anthropic.DecodeReply([]byte(whole), "home", fold.Add); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, fold.Reply(), asText); diff != "" {
			t.Errorf("the whole reply differs from its stream: %s", diff)
		}
	})
}

// ST-13, PB-25: however the bytes arrive, the same is said.
func TestRepliesOfEverySplit(t *testing.T) {
	show.Each(t, "testdata/replies", func(t *testing.T, f *show.File) {
		stream, _ := f.Section("stream")
		want := told(stream, len(stream))
		if got := told(stream, 1); got != want {
			t.Fatalf("byte by byte: %s", cmp.Diff(want, got))
		}
		for i := 1; i < len(stream); i += 7 {
			if got := told(stream, i, len(stream)); got != want {
				t.Fatalf("split at %d: %s", i, cmp.Diff(want, got))
			}
		}
	})
}

// told is the events of a stream, in words.
func told(stream string, sizes ...int) string {
	var b strings.Builder
	events(stream, func(e *rewrite.Event) {
		b.WriteString(show.Value(e))
		b.Write(e.Text)
		b.WriteString("\n--\n")
	}, sizes...)
	return b.String()
}

// Items and parts are counted in the order in which they open, and nothing
// follows the end.
func TestEventsAreInOrder(t *testing.T) {
	show.Each(t, "testdata/replies", func(t *testing.T, f *show.File) {
		stream, _ := f.Section("stream")
		events(stream, inOrder(t), len(stream))
	})
}

// inOrder asks of every event that it may come now.
func inOrder(t testing.TB) func(e *rewrite.Event) {
	items, parts, done, begun, ended := 0, map[int]int{}, map[int]bool{}, false, false
	return func(e *rewrite.Event) {
		if ended {
			t.Fatalf("%s after the end", e.Kind)
		}
		if begun == (e.Kind == rewrite.EventBegin) && e.Kind != rewrite.EventError {
			t.Fatalf("%s, and begun is %v", e.Kind, begun)
		}
		begun = true
		switch e.Kind {
		case rewrite.EventItem:
			if e.Index != items {
				t.Fatalf("item %d is opened, %d is due", e.Index, items)
			}
			items++
			return
		case rewrite.EventEnd, rewrite.EventError:
			ended = true
			return
		case rewrite.EventBegin, rewrite.EventUsage:
			return
		case rewrite.EventPart:
			if e.PartIndex != parts[e.Index] {
				t.Fatalf("part %d of item %d is opened", e.PartIndex, e.Index)
			}
			parts[e.Index]++
		case rewrite.EventDone:
			defer func() { done[e.Index] = true }()
		}
		if e.Index >= items || done[e.Index] {
			t.Fatalf("%s of item %d, which is not open", e.Kind, e.Index)
		}
		if e.Kind != rewrite.EventDone && e.Kind != rewrite.EventArguments && e.PartIndex >= parts[e.Index] {
			t.Fatalf("%s of part %d of item %d, which is not open", e.Kind, e.PartIndex, e.Index)
		}
	}
}

// A delta of text costs next to nothing, and no more the longer the stream is.
func TestDecoderAllocations(t *testing.T) {
	d := anthropic.NewDecoder("home")
	yield := func(*rewrite.Event) {}
	d.Event(nil, []byte(`{"type":"message_start","message":{"id":"m"}}`), yield)
	d.Event(nil, []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`), yield)
	d.Event(nil, []byte(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}`), yield)
	for _, data := range []string{
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some text \n\u00e9 and more"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"a\": 1,"}}`,
	} {
		name, event := []byte("content_block_delta"), []byte(data)
		if n := testing.AllocsPerRun(200, func() { d.Event(name, event, yield) }); n > 0 {
			t.Errorf("%v allocations for %s", n, data)
		}
	}
}

func TestDecodeReplyRefuses(t *testing.T) {
	for _, body := range []string{``, `{`, `<html>`, `[]`, `5`} {
		if err := anthropic.DecodeReply([]byte(body), "home", func(e *rewrite.Event) { t.Errorf("%s says %s", body, e.Kind) }); err == nil {
			t.Errorf("%q is a reply", body)
		}
	}
}

// FuzzDecoder reads whatever a provider may send: events come in order, what is
// kept of it is JSON, what a client gets of it is a stream, and a whole reply is read too.
func FuzzDecoder(f *testing.F) {
	for _, name := range []string{"calls", "cut", "omitted", "others", "overloaded", "search", "thinking"} {
		file := show.Load(f, "testdata/replies/"+name+".txt")
		stream, _ := file.Section("stream")
		whole, _ := file.Section("whole")
		f.Add([]byte(stream), []byte(whole))
	}
	f.Fuzz(func(t *testing.T, stream, whole []byte) {
		check := inOrder(t)
		var fold rewrite.Fold
		var out []byte
		n := anthropic.NewEncoder(anthropic.EncoderOptions{Provider: "home"})
		events(string(stream), func(e *rewrite.Event) {
			check(e)
			fold.Add(e)
			out = n.Append(out, e)
		}, 4096)
		accumulate(t, out)
		keptIsJSON(t, fold.Reply())
		check = inOrder(t)
		var other rewrite.Fold
		if anthropic.DecodeReply(whole, "home", func(e *rewrite.Event) { check(e); other.Add(e) }) == nil {
			keptIsJSON(t, other.Reply())
		}
	})
}
