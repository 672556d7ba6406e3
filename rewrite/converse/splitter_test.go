package converse_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/sse"
)

// split gives the events of a stream as text, and what was wrong with it.
func split(stream []byte, size int) (found []string, err error) {
	var s converse.Splitter
	for len(stream) > 0 {
		n := min(size, len(stream))
		s.Feed(stream[:n:n], func(e sse.Event) { found = append(found, fmt.Sprintf("%s %s", e.Name, e.Data)) })
		stream = stream[n:]
	}
	return found, s.Err()
}

// headers is a frame with a header of every kind.
func headers(t testing.TB) []byte {
	t.Helper()
	m := eventstream.Message{Payload: []byte("{}")}
	for name, value := range map[string]eventstream.Value{
		"t": eventstream.BoolValue(true), "f": eventstream.BoolValue(false), "i8": eventstream.Int8Value(-1), "i16": eventstream.Int16Value(2),
		"i32": eventstream.Int32Value(3), "i64": eventstream.Int64Value(4), "b": eventstream.BytesValue("xyz"), "s": eventstream.StringValue(""),
		"at": eventstream.TimestampValue(time.Unix(1, 0)), "id": eventstream.UUIDValue{1, 2, 3},
	} {
		m.Headers.Set(name, value)
	}
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	m.Headers.Set(":event-type", eventstream.StringValue("messageStart"))
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSplitterKinds(t *testing.T) {
	fault := eventstream.Message{}
	fault.Headers.Set(":message-type", eventstream.StringValue("error"))
	fault.Headers.Set(":error-code", eventstream.StringValue("InternalFailure"))
	fault.Headers.Set(":error-message", eventstream.StringValue(`it "broke"`))
	unknown := eventstream.Message{Payload: []byte("{}")}
	unknown.Headers.Set(":message-type", eventstream.StringValue("hologram"))
	var stream bytes.Buffer
	for _, m := range []eventstream.Message{fault, unknown} {
		if err := eventstream.NewEncoder().Encode(&stream, m); err != nil {
			t.Fatal(err)
		}
	}
	all := append(stream.Bytes(), headers(t)...)
	all = append(all, show.Frames(t, "throttlingException {\"message\":\"slow\"}\nmetadata")...)
	got, err := split(all, len(all))
	want := []string{`error {"code":"InternalFailure","message":"it \"broke\""}`, "messageStart {}", `throttlingException {"message":"slow"}`, "metadata "}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

// Any damage to any byte is seen, and nothing is read from there on.
func TestSplitterSeesDamage(t *testing.T) {
	one, two := show.Frame(t, "messageStart", `{"role":"assistant"}`), headers(t)
	stream := append(append([]byte(nil), one...), two...)
	for i := range stream {
		damaged := bytes.Clone(stream)
		damaged[i] ^= 1
		whole := 0
		if i >= len(one) {
			whole = 1
		}
		for _, size := range []int{1, 7, len(stream)} {
			if got, err := split(damaged, size); err == nil || len(got) != whole {
				t.Fatalf("byte %d in chunks of %d: %v, %q", i, size, err, got)
			}
		}
	}
}

// prelude is the beginning of a frame of a size.
func prelude(total, headers uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, total)
	b = binary.BigEndian.AppendUint32(b, headers)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// frame is a frame of raw headers.
func frame(headers []byte) []byte {
	b := append(prelude(uint32(16+len(headers)), uint32(len(headers))), headers...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func TestSplitterRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		stream []byte
		want   error
	}{
		"more than a frame may have":  {prelude(16<<20+1, 0), converse.ErrFrameSize},
		"less than a frame has":       {prelude(15, 0), converse.ErrFrameSize},
		"headers beyond the frame":    {prelude(100, 85), converse.ErrFrameSize},
		"headers beyond all bounds":   {prelude(100, 1<<32-1), converse.ErrFrameSize},
		"text":                        {[]byte("data: {}\n\n data"), converse.ErrChecksum},
		"a header without a name":     {frame([]byte{0, 0}), converse.ErrHeader},
		"a header of unknown kind":    {frame([]byte{1, 'a', 10}), converse.ErrHeader},
		"a header that is cut":        {frame([]byte{1, 'a', 7, 0, 5, 'x'}), converse.ErrHeader},
		"a header without its length": {frame([]byte{1, 'a', 7, 0}), converse.ErrHeader},
		"a name that is cut":          {frame([]byte{9, 'a', 7}), converse.ErrHeader},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 5, 1 << 20} {
				if got, err := split(c.stream, size); !errors.Is(err, c.want) || len(got) > 0 {
					t.Errorf("in chunks of %d: %v, %q", size, err, got)
				}
			}
		})
	}
}

func TestSplitterBoundary(t *testing.T) {
	var s converse.Splitter
	stream := show.Frames(t, "messageStart {}\nmessageStop {}")
	cut := len(show.Frame(t, "messageStart", "{}"))
	for i := range stream {
		s.Feed(stream[i:i+1], func(sse.Event) {})
		if want := i+1 == cut || i+1 == len(stream); s.AtBoundary() != want {
			t.Fatalf("after %d bytes: %v", i+1, s.AtBoundary())
		}
	}
	s.Feed([]byte("noise that is no frame"), func(sse.Event) {})
	s.Close(nil)
	got := 0
	if s.Feed(stream, func(sse.Event) { got++ }); got != 2 || s.Err() != nil {
		t.Errorf("%d events after it was closed, %v", got, s.Err())
	}
}

// library reads a stream as the vendor's own client does, up to the first fault.
func library(stream []byte) (found []string, clean bool) {
	d, r := eventstream.NewDecoder(), bytes.NewReader(stream)
	for {
		m, err := d.Decode(r, nil)
		if err != nil {
			return found, errors.Is(err, io.EOF) && r.Len() == 0
		}
		text := func(name string) string {
			v, ok := m.Headers.Get(name).(eventstream.StringValue)
			if !ok {
				return ""
			}
			return string(v)
		}
		switch kind := text(":message-type"); kind {
		case "event", "exception":
			if name := text(":" + kind + "-type"); name != "" {
				found = append(found, name+" "+string(m.Payload))
			}
		case "error":
			found = append(found, "error")
		}
	}
}

// FuzzSplitter asks of any bytes that they are read alike in whatever pieces, and
// as the vendor's own library reads them.
func FuzzSplitter(f *testing.F) {
	f.Add(show.Frames(f, "messageStart {}\nthrottlingException {\"message\":\"x\"}"), uint8(3))
	f.Add(headers(f), uint8(1))
	f.Add(frame([]byte{1, 'a', 7, 0, 5, 'x'}), uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		whole, err := split(stream, len(stream)+1)
		pieces, again := split(stream, int(size)+1)
		if diff := cmp.Diff(whole, pieces); diff != "" || !errors.Is(again, err) {
			t.Fatalf("in pieces: %v, %v, %s", err, again, diff)
		}
		theirs, clean := library(stream)
		for i, event := range theirs {
			if i < len(whole) && event != "error" && whole[i] != event {
				t.Fatalf("the library reads %q, and we %q", event, whole[i])
			}
		}
		if clean && err == nil && len(whole) != len(theirs) {
			t.Fatalf("the library reads %q, and we %q", theirs, whole)
		}
	})
}

// FuzzDecoder reads whatever a provider may send: events come in order, and what
// is kept of it is JSON.
func FuzzDecoder(f *testing.F) {
	for _, name := range []string{"text", "tools", "citations", "image", "throttled", "malformed"} {
		file := show.Load(f, "testdata/replies/"+name+".txt")
		f.Add([]byte(file.Text("stream")), []byte(file.Text("whole")))
	}
	f.Fuzz(func(t *testing.T, lines, whole []byte) {
		if len(lines) > 1<<16 {
			return
		}
		d, check := converse.NewDecoder("home"), inOrder(t)
		var fold rewrite.Fold
		hear := func(e *rewrite.Event) { check(e); fold.Add(e) }
		var r rewrite.Report
		for line := range bytes.Lines(lines) {
			name, data, _ := bytes.Cut(bytes.TrimRight(line, "\n"), []byte(" "))
			d.Event(name, data, hear)
			converse.ReadEvent(name, data, &r)
		}
		d.Close(hear)
		keptIsJSON(t, fold.Reply())
		check = inOrder(t)
		var other rewrite.Fold
		converse.ReadReply(whole, &r)
		if converse.DecodeReply(whole, "home", func(e *rewrite.Event) { check(e); other.Add(e) }) == nil {
			keptIsJSON(t, other.Reply())
		}
	})
}
