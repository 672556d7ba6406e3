package converse_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/splice"
	"warmpath/rewrite/sse"
)

var update = flag.Bool("update", false, "rewrite what the golden files expect")

// asText compares JSON by its text.
var asText = cmp.Transformer("text", func(j rewrite.JSON) string { return string(j) })

// events reads a stream that arrives in chunks of the size given.
func events(stream []byte, size int, yield func(*rewrite.Event)) error {
	var s converse.Splitter
	d := converse.NewDecoder("home")
	hear := func(e sse.Event) { d.Event(e.Name, e.Data, yield) }
	for len(stream) > 0 {
		n := min(size, len(stream))
		s.Feed(append([]byte(nil), stream[:n]...), hear)
		stream = stream[n:]
	}
	err := s.Err()
	s.Close(hear)
	d.Close(yield)
	return err
}

// each runs f for every golden reply, with its stream and its whole.
func each(t *testing.T, f func(t *testing.T, file *show.File, stream []byte, whole string)) {
	t.Helper()
	show.Each(t, "testdata/replies", func(t *testing.T, file *show.File) {
		stream, _ := file.Section("stream")
		whole, _ := file.Section("whole")
		f(t, file, show.Frames(t, stream), whole)
	})
}

func TestRepliesAreRead(t *testing.T) {
	each(t, func(t *testing.T, file *show.File, stream []byte, whole string) {
		var told strings.Builder
		var r rewrite.Report
		if failure, ok := file.Section("error"); ok {
			whole = failure
		}
		if len(stream) > 0 {
			if err := events(stream, len(stream), func(e *rewrite.Event) { told.WriteString(show.Event(e)) }); err != nil {
				t.Fatal(err)
			}
			var s converse.Splitter
			s.Feed(stream, func(e sse.Event) { converse.ReadEvent(e.Name, e.Data, &r) })
		} else {
			if err := converse.DecodeReply([]byte(whole), "home", func(e *rewrite.Event) { told.WriteString(show.Event(e)) }); err != nil {
				t.Fatal(err)
			}
			converse.ReadReply([]byte(whole), &r)
		}
		file.Want(t, *update, "events", told.String())
		file.Want(t, *update, "report", show.Value(r))
	})
}

// A whole reply has what the stream of the same reply has, put together, and
// reports the same.
func TestWholeReplyIsAnEndedStream(t *testing.T) {
	both := 0
	each(t, func(t *testing.T, _ *show.File, stream []byte, whole string) {
		if len(stream) == 0 || whole == "" {
			return
		}
		both++
		var told, read rewrite.Fold
		if err := events(stream, len(stream), told.Add); err != nil {
			t.Fatal(err)
		}
		if err := converse.DecodeReply([]byte(whole), "home", read.Add); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(told.Reply(), read.Reply(), asText); diff != "" {
			t.Errorf("stream (-) and whole (+) differ: %s", diff)
		}
		var streamed, once rewrite.Report
		var s converse.Splitter
		s.Feed(stream, func(e sse.Event) { converse.ReadEvent(e.Name, e.Data, &streamed) })
		converse.ReadReply([]byte(whole), &once)
		if diff := cmp.Diff(streamed, once); diff != "" {
			t.Errorf("the reports differ: %s", diff)
		}
	})
	if both < 4 {
		t.Errorf("only %d replies have both", both)
	}
}

// However the bytes arrive, the events are the same.
func TestEverySplit(t *testing.T) {
	each(t, func(t *testing.T, _ *show.File, stream []byte, _ string) {
		read := func(size int) string {
			var b strings.Builder
			if err := events(stream, size, func(e *rewrite.Event) { b.WriteString(show.Event(e)) }); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		want := read(len(stream) + 1)
		for size := 1; size < 70 && size < len(stream); size++ {
			if diff := cmp.Diff(want, read(size)); diff != "" {
				t.Fatalf("in chunks of %d: %s", size, diff)
			}
		}
	})
}

// inOrder fails the test at the first event that is out of place.
func inOrder(t *testing.T) func(*rewrite.Event) {
	items, done := 0, map[int]bool{}
	begun, ended := false, false
	parts := map[[2]int]bool{}
	count := map[int]int{}
	return func(e *rewrite.Event) {
		t.Helper()
		bad := func(why string) { t.Fatalf("%s: %s", why, show.Event(e)) }
		switch {
		case ended:
			bad("after the end")
		case e.Kind == rewrite.EventBegin && begun:
			bad("twice")
		case e.Kind != rewrite.EventBegin && e.Kind != rewrite.EventError && !begun:
			bad("before the beginning")
		}
		open := func() {
			if e.Index < 0 || e.Index >= items || done[e.Index] {
				bad("an item that is not open")
			}
		}
		switch e.Kind {
		case rewrite.EventBegin:
			begun = true
		case rewrite.EventItem:
			if e.Index != items {
				bad("out of turn")
			}
			items++
		case rewrite.EventPart:
			if open(); e.PartIndex != count[e.Index] {
				bad("out of turn")
			}
			count[e.Index]++
			parts[[2]int{e.Index, e.PartIndex}] = true
		case rewrite.EventText, rewrite.EventAttribution, rewrite.EventPartDone:
			if open(); !parts[[2]int{e.Index, e.PartIndex}] {
				bad("a part that is not open")
			}
			if e.Kind == rewrite.EventPartDone {
				delete(parts, [2]int{e.Index, e.PartIndex})
			}
		case rewrite.EventArguments:
			open()
		case rewrite.EventDone:
			open()
			for at := range parts {
				if at[0] == e.Index {
					bad("a part is open")
				}
			}
			done[e.Index] = true
		case rewrite.EventEnd, rewrite.EventError:
			ended = true
		case rewrite.EventUsage:
		}
	}
}

func TestEventsAreInOrder(t *testing.T) {
	each(t, func(t *testing.T, _ *show.File, stream []byte, whole string) {
		if err := events(stream, len(stream), inOrder(t)); err != nil {
			t.Fatal(err)
		}
		if whole != "" {
			if err := converse.DecodeReply([]byte(whole), "home", inOrder(t)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// keptIsJSON checks what a provider is to get back.
func keptIsJSON(t *testing.T, r *rewrite.Reply) {
	t.Helper()
	for i := range r.Items {
		values := [][]byte{r.Items[i].Payload.Value}
		for _, p := range r.Items[i].Parts {
			values = append(values, p.Payload.Value)
			for _, a := range p.Attributions {
				values = append(values, a.Payload.Value)
			}
		}
		for _, value := range values {
			if len(value) > 0 && splice.Valid(value) != nil {
				t.Fatalf("no JSON: %s", value)
			}
		}
	}
}

func TestDecodeReplyRefuses(t *testing.T) {
	for _, body := range []string{``, `{`, `<html>`, `5`, `[]`} {
		if err := converse.DecodeReply([]byte(body), "home", func(e *rewrite.Event) { t.Errorf("%s says %s", body, e.Kind) }); err == nil {
			t.Errorf("%q is a reply", body)
		}
	}
}

// PB-26: whatever breaks a stream off, the reply has no end.
func TestBrokenStreamsHaveNoEnd(t *testing.T) {
	stream := show.Frames(t, show.Load(t, "testdata/replies/tools.txt").Text("stream"))
	var stop int
	var s converse.Splitter
	for i := range stream {
		s.Feed(stream[i:i+1], func(e sse.Event) {
			if string(e.Name) == "messageStop" {
				stop = i + 1
			}
		})
	}
	for cut := range stream[:stop] {
		err := events(stream[:cut], 1<<20, func(e *rewrite.Event) {
			if e.Kind == rewrite.EventEnd {
				t.Fatalf("cut at %d, it ends", cut)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ended := false
	if err := events(stream[:stop], 1<<20, func(e *rewrite.Event) { ended = ended || e.Kind == rewrite.EventEnd }); err != nil || !ended {
		t.Errorf("a message that has stopped has no end without its metadata: %v", err)
	}
}

// A piece of text costs next to nothing.
func TestDecoderAllocations(t *testing.T) {
	d := converse.NewDecoder("home")
	var s converse.Splitter
	frame := show.Frame(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"some text \n\u00e9 and more"},"p":"abcdefgh"}`)
	feed := func() { s.Feed(frame, func(e sse.Event) { d.Event(e.Name, e.Data, func(*rewrite.Event) {}) }) }
	feed()
	if n := testing.AllocsPerRun(200, feed); n > 2 {
		t.Errorf("%v allocations", n)
	}
	var r rewrite.Report
	if n := testing.AllocsPerRun(200, func() { s.Feed(frame, func(e sse.Event) { converse.ReadEvent(e.Name, e.Data, &r) }) }); n > 0 {
		t.Errorf("%v allocations to report", n)
	}
}
