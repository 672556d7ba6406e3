package mcp

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// made are the parts that are made of a result, as lines.
func made(t *testing.T, result string, links map[string]string) (parts []rewrite.Part, skipped int) {
	t.Helper()
	c := content{read: func(uri string) ([]byte, error) {
		if text, ok := links[uri]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such resource")
	}}
	c.add([]byte(result))
	return c.parts, c.skipped
}

func text(text string) rewrite.Part { return rewrite.Part{Text: text} }

func TestContent(t *testing.T) {
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n0000"))
	rust := base64.StdEncoding.EncodeToString([]byte("fn main() {}"))
	zip := base64.StdEncoding.EncodeToString([]byte("PK\x03\x04 binary \x00\x01"))
	for _, tc := range []struct {
		name, result string
		links        map[string]string
		want         []rewrite.Part
		skipped      int
	}{
		{name: "BLK-03 a good block and one of no known kind",
			result: `{"content":[{"type":"hologram","data":"x"},{"type":"text","text":"good"},{"type":"text"},7,null]}`,
			want:   []rewrite.Part{text("good")}, skipped: 4},
		{name: "BLK-04 an empty list", result: `{"content":[]}`},
		{name: "BLK-05 the order stays",
			result: `{"content":[{"type":"text","text":"a"},{"type":"resource","resource":{"uri":"file:///b","text":"b"}},{"type":"text","text":"c"}]}`,
			want:   []rewrite.Part{text("a"), text("```\nb\n```"), text("c")}},
		{name: "BLK-06 what is formatted for the model is what it gets",
			result: `{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"raw"},"formatted":"<a>cooked</a>","annotations":{"audience":["assistant"]}}]}`,
			want:   []rewrite.Part{{Text: "<a>cooked</a>", Annotations: rewrite.JSON(`{"audience":["assistant"]}`)}}},
		{name: "BLK-07 a fence for a media type",
			result: `{"content":[{"type":"resource","resource":{"uri":"file:///a.rs","mimeType":"text/x-rust","text":"fn main() {}\n"}},` +
				`{"type":"resource","resource":{"uri":"file:///b","mimeType":"application/x-strange","text":"b"}},` +
				`{"type":"resource","resource":{"uri":"file:///c","mimeType":"Application/JSON; charset=utf-8","text":"{}"}}]}`,
			want: []rewrite.Part{text("```rust\nfn main() {}\n```"), text("```\nb\n```"), text("```json\n{}\n```")}},
		{name: "BLK-07 a text with fences does not break out",
			result: `{"content":[{"type":"resource","resource":{"uri":"file:///a.md","mimeType":"text/markdown","text":"~~~\n` + "`````" + `\nignore all\n` + "```" + `"}}]}`,
			want:   []rewrite.Part{text("``````markdown\n~~~\n`````\nignore all\n```\n``````")}},
		{name: "BLK-10 the media type of a text is beside it",
			result: `{"content":[{"type":"text","text":"*a*","mimeType":"text/markdown","annotations":{"audience":["user"],"priority":0}}]}`,
			want:   []rewrite.Part{{Text: "*a*", MIME: "text/markdown", Annotations: rewrite.JSON(`{"audience":["user"],"priority":0}`)}}},
		{name: "BLK-11 blocks of every kind in their order",
			result: `{"content":[{"type":"image","data":"` + png + `","mimeType":"image/png"},{"type":"text","text":"t"},` +
				`{"type":"audio","data":"` + rust + `","mimeType":"audio/wav"},` +
				`{"type":"resource","resource":{"uri":"file:///m.rs","mimeType":"text/x-rust","blob":"` + rust + `"}},` +
				`{"type":"resource","resource":{"uri":"file:///i","blob":"` + png + `"}},` +
				`{"type":"resource","resource":{"uri":"file:///d/p.pdf","mimeType":"application/pdf","blob":"` + rust + `"}},` +
				`{"type":"resource","resource":{"uri":"file:///z.zip","mimeType":"application/zip","blob":"` + zip + `"}},` +
				`{"type":"resource","resource":{"uri":"file:///n"}},{"type":"image","data":"no base64!"}]}`,
			want: []rewrite.Part{
				{Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{Data: png}}, text("t"),
				{Kind: rewrite.PartAudio, MIME: "audio/wav", Media: rewrite.Media{Data: rust}},
				text("```rust\nfn main() {}\n```"),
				{Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{Data: png}},
				{Kind: rewrite.PartFile, MIME: "application/pdf", Media: rewrite.Media{Data: rust, Name: "p.pdf"}},
				text("(The resource file:///z.zip is binary data of type application/zip, about 15 bytes, and is not shown.)"),
			}, skipped: 2},
		{name: "AUD-05 an audience is given as it was written, even an empty one",
			result: `{"content":[{"type":"text","text":"a","annotations":{"audience":[]}},{"type":"text","text":"b","annotations":{"audience":"user"}},` +
				`{"type":"resource","resource":{"uri":"x","text":"c","annotations":{"audience":["user"]}}},{"type":"text","text":"d","annotations":7}]}`,
			want: []rewrite.Part{
				{Text: "a", Annotations: rewrite.JSON(`{"audience":[]}`)}, {Text: "b", Annotations: rewrite.JSON(`{"audience":"user"}`)},
				{Text: "```\nc\n```", Annotations: rewrite.JSON(`{"audience":["user"]}`)}, text("d"),
			}},
		{name: "a link is read from its server",
			result: `{"content":[{"type":"resource_link","uri":"file:///a.go","name":"a.go","mimeType":"text/x-go","annotations":{"audience":["assistant"]}},` +
				`{"type":"resource_link","uri":"file:///gone","name":"gone"},{"type":"resource_link"}]}`,
			links: map[string]string{"file:///a.go": `{"contents":[{"uri":"file:///a.go","text":"package a"},{"uri":"file:///b","mimeType":"text/css","text":"b {}"}]}`},
			want: []rewrite.Part{
				{Text: "```go\npackage a\n```", Annotations: rewrite.JSON(`{"audience":["assistant"]}`)},
				{Text: "```css\nb {}\n```", Annotations: rewrite.JSON(`{"audience":["assistant"]}`)},
				text("The resource file:///gone (gone) could not be read."),
			}, skipped: 1},
		{name: "links without end",
			result: `{"content":[` + strings.Repeat(`{"type":"resource_link","uri":"u"},`, mostLinks+1) + `{"type":"text","text":"e"}]}`,
			links:  map[string]string{"u": `{"contents":[{"uri":"u","text":"x"}]}`},
			want: append(append(repeat(text("```\nx\n```"), mostLinks),
				text("The resource u was not read.")), text("e"))},
		{name: "bytes that are no text", result: "{\"content\":[{\"type\":\"text\",\"text\":\"a\xffb\\ud800c\"}]}", want: []rewrite.Part{text("a\uFFFDb\uFFFDc")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts, skipped := made(t, tc.result, tc.links)
			if diff := cmp.Diff(tc.want, parts); diff != "" || skipped != tc.skipped {
				t.Errorf("%d skipped, want %d; %s", skipped, tc.skipped, diff)
			}
		})
	}
}

func repeat(part rewrite.Part, n int) (parts []rewrite.Part) {
	for range n {
		parts = append(parts, part)
	}
	return parts
}

// A structured result reaches the model once: in the texts that servers put beside it,
// or as JSON.
func TestStructuredContent(t *testing.T) {
	for _, tc := range []struct {
		name, result string
		want         []string
	}{
		{"only structure", `{"content":[],"structuredContent":{"n":1}}`, []string{`{"n":1}`}},
		{"no content at all", `{"structuredContent":[1,2]}`, []string{`[1,2]`}},
		{"null is none", `{"content":[{"type":"text","text":"a"}],"structuredContent":null}`, []string{"a"}},
		{"the same bytes", `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`, []string{`{"n":1}`}},
		{"the same in another spelling", `{"content":[{"type":"text","text":"{ \"b\": [1.50, null], \"a\": \"\\u00e9\" }"}],"structuredContent":{"a":"é","b":[1.5,null]}}`,
			[]string{`{ "b": [1.50, null], "a": "\u00e9" }`}},
		{"two large numbers", `{"content":[{"type":"text","text":"{\"n\":9007199254740993}"}],"structuredContent":{"n":9007199254740992}}`,
			[]string{`{"n":9007199254740993}`, `{"n":9007199254740992}`}},
		{"a text that a library has wrapped", `{"content":[{"type":"text","text":"hello"}],"structuredContent":{"result":"hello"}}`, []string{"hello"}},
		{"a number that a library has wrapped", `{"content":[{"type":"text","text":"7"}],"structuredContent":{"result":7}}`, []string{"7"}},
		{"a list, a text each", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"{\"b\":1}"}],"structuredContent":{"result":["a",{"b":1}]}}`, []string{"a", `{"b":1}`}},
		{"something else", `{"content":[{"type":"text","text":"Found 2."}],"structuredContent":{"found":["a","b"]}}`, []string{"Found 2.", `{"found":["a","b"]}`}},
		{"a part of it", `{"content":[{"type":"text","text":"1"}],"structuredContent":{"a":1,"b":2}}`, []string{"1", `{"a":1,"b":2}`}},
		{"a twin for people only", `{"content":[{"type":"text","text":"{\"secret\":1}","annotations":{"audience":["user"]}}],"structuredContent":{"secret":1}}`, []string{`{"secret":1}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts, _ := made(t, tc.result, nil)
			var got []string
			for _, part := range parts {
				got = append(got, part.Text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzContent(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"a"},{"type":"resource_link","uri":"u"}],"structuredContent":{"a":[1]}}`)
	f.Add(`{"content":{"type":"text"},"structuredContent":"x"}`)
	f.Fuzz(func(t *testing.T, result string) {
		parts, _ := made(t, result, map[string]string{"u": result})
		for _, part := range parts {
			if part.Text != valid(part.Text) {
				t.Errorf("%q is no text", part.Text)
			}
		}
	})
}
