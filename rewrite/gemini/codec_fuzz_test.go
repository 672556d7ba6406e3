package gemini_test

import (
	"errors"
	"path/filepath"
	"testing"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/splice"
)

// sections are those of all golden files of a folder.
func sections(f *testing.F, folder, name string) (texts [][]byte) {
	f.Helper()
	paths, err := filepath.Glob("testdata/" + folder + "/*.txt")
	if err != nil || len(paths) == 0 {
		f.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		text, _ := show.Load(f, path).Section(name)
		texts = append(texts, []byte(text))
	}
	return texts
}

// FuzzDecodeRequest asks of every body that it is refused with a reason, or that
// it is written again as JSON that reads as the same conversation.
func FuzzDecodeRequest(f *testing.F) {
	for _, body := range sections(f, "requests", "request") {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := gemini.DecodeRequest(body, "home")
		if err != nil {
			var failure *rewrite.Failure
			if !errors.As(err, &failure) || failure.Reason != rewrite.ReasonBadRequest || failure.Message == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		for _, provider := range []string{"home", "away"} {
			again, err := gemini.EncodeRequest(c, provider, nil)
			if err != nil {
				t.Fatal(err)
			}
			back, err := gemini.DecodeRequest(again, "home")
			if err != nil {
				t.Fatalf("%v: %s", err, again)
			}
			twice, err := gemini.EncodeRequest(back, "home", nil)
			if err != nil {
				t.Fatal(err)
			}
			// What another provider's is leaves gaps, which close.
			if provider == "home" && string(again) != string(twice) {
				t.Fatalf("%s is written\n%s\n%s", provider, again, twice)
			}
		}
	})
}

// FuzzDecoder reads whatever a provider may send: events come in order, what is
// kept of it is JSON, and so is what a client gets.
func FuzzDecoder(f *testing.F) {
	whole := sections(f, "replies", "whole")
	for i, stream := range sections(f, "replies", "stream") {
		f.Add(stream, whole[i])
	}
	f.Fuzz(func(t *testing.T, stream, whole []byte) {
		check := inOrder(t)
		var fold rewrite.Fold
		var out []byte
		n := gemini.NewEncoder(gemini.EncoderOptions{Provider: "home"})
		events(string(stream), func(e *rewrite.Event) {
			check(e)
			fold.Add(e)
			out = n.Append(out, e)
		}, 4096)
		accumulate(t, out)
		keptIsJSON(t, fold.Reply())
		check = inOrder(t)
		var other rewrite.Fold
		if gemini.DecodeReply(whole, "home", func(e *rewrite.Event) { check(e); other.Add(e) }) != nil {
			return
		}
		keptIsJSON(t, other.Reply())
		for _, provider := range []string{"home", "away"} {
			if out := gemini.EncodeReply(nil, other.Reply(), gemini.EncoderOptions{Provider: provider}); splice.Valid(out) != nil {
				t.Fatalf("no JSON: %s", out)
			}
		}
	})
}

func TestEventsAreInOrder(t *testing.T) {
	replies(t, func(t *testing.T, _ *show.File, stream, _ string) { events(stream, inOrder(t), len(stream)) })
}

func TestDecodeReplyRefuses(t *testing.T) {
	for _, body := range []string{``, `{`, `<html>`, `5`} {
		if err := gemini.DecodeReply([]byte(body), "home", func(e *rewrite.Event) { t.Errorf("%s says %s", body, e.Kind) }); err == nil {
			t.Errorf("%q is a reply", body)
		}
	}
}

// A piece of text costs next to nothing, and no more the longer the stream is.
func TestDecoderAllocations(t *testing.T) {
	d := gemini.NewDecoder("home")
	yield := func(*rewrite.Event) {}
	frame := []byte(`{"candidates":[{"content":{"parts":[{"text":"some text \n\u00e9 and more"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9},"modelVersion":"m","responseId":"r"}`)
	for range 200 {
		d.Event(nil, frame, yield) // let the text grow a buffer
	}
	if n := testing.AllocsPerRun(200, func() { d.Event(nil, frame, yield) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
	e := gemini.NewEncoder(gemini.EncoderOptions{})
	dst := e.Append(make([]byte, 0, 4096), &rewrite.Event{Kind: rewrite.EventItem, Item: &rewrite.Item{}})
	e.Append(dst, &rewrite.Event{Kind: rewrite.EventPart, Part: &rewrite.Part{}})
	dst, text := make([]byte, 0, 4096), &rewrite.Event{Kind: rewrite.EventText, Text: []byte("some text \n é")}
	for range 200 {
		e.Append(dst, text)
	}
	if n := testing.AllocsPerRun(200, func() { e.Append(dst, text) }); n > 2 {
		t.Errorf("%v allocations to write", n)
	}
}
