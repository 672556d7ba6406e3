package relay

import (
	"bytes"
	"sync"
	"time"

	"warmpath/gateway/upstream"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/sse"
)

// maxKept bounds how much of a reply is kept for reading it once it is whole.
// A longer one passes unread, and its usage is unknown.
const maxKept = 16 << 20

// tap reads a reply as its bytes pass and never changes them.
type tap struct {
	dialect *dialect
	report  *rewrite.Report
	// events is set for event streams that can be read as they pass.
	events splitter
	split  sse.Splitter      // what events points to, or else
	frames converse.Splitter // this
	spoilt error             // what was wrong with frames at their end
	// kept collects a reply that can only be read whole: one document, or
	// anything compressed. It is nil until there is something to keep.
	kept     *bytes.Buffer
	encoding string
	streamed bool
	off      bool
	seals    *seals
	signs    *signs
	calls    calls
	notes    *notes
	// translation is told the events too; nil where the reply passes as it is.
	translation *translation
	scribe      *scribe
	read        bool // a whole reply has been

	first, last time.Time
	gap         time.Duration
}

// splitter takes an event stream apart.
type splitter interface {
	Feed(chunk []byte, yield func(sse.Event))
	AtBoundary() bool
	Close(yield func(sse.Event))
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the largest buffer that is kept for another reply, in bytes.
const maxPooled = 256 << 10

// begin prepares for a reply by its head. Only successful replies are read.
func (t *tap) begin(x *exchange, status int, contentType, encoding []byte) {
	*t = tap{dialect: x.vendor, report: &x.record.Report}
	t.streamed = hasType(contentType, "text/event-stream") || hasType(contentType, binaryStream)
	t.off = status != 200 || !x.record.Operation.tapped() || x.vendor.readReply == nil
	if len(encoding) > 0 && string(encoding) != "identity" {
		t.encoding = string(encoding)
	}
	if t.streamed && t.encoding == "" && !t.off {
		t.events = t.splitter()
	}
}

// hasType reports whether a media type is one, however it is spelled.
func hasType(contentType []byte, name string) bool {
	return len(contentType) >= len(name) && upstream.EqualFold(contentType[:len(name)], name)
}

// binaryStream is the media type of event streams that are frames.
const binaryStream = "application/vnd.amazon.eventstream"

// splitter takes the dialect's streams apart. Gemini's may hold an error as bare
// JSON, without a field name in front.
func (t *tap) splitter() splitter {
	if t.dialect.binary {
		t.frames = converse.Splitter{}
		return &t.frames
	}
	t.split = sse.Splitter{Bare: t.dialect.bare}
	return &t.split
}

// skipped reports an event that was too long to be read, or a stream that cannot
// be.
func (t *tap) skipped() bool { return t.split.Skipped > 0 || t.damage() != nil }

// damage is what is wrong with a stream that cannot be read on, unless the reply
// had ended before.
func (t *tap) damage() error {
	switch {
	case t.report.Ended:
		return nil
	case t.spoilt != nil:
		return t.spoilt
	}
	return t.frames.Err()
}

// keep adds a piece to what is read once it is whole, unless that gets too much.
func (t *tap) keep(chunk []byte) {
	if t.kept == nil {
		t.kept = buffers.Get().(*bytes.Buffer)
	}
	if t.kept.Len()+len(chunk) > maxKept {
		t.off = true
		t.drop()
		t.notes.save()
		return
	}
	t.kept.Write(chunk)
}

// drop gives back what was kept.
func (t *tap) drop() {
	if t.kept != nil && t.kept.Cap() <= maxPooled {
		t.kept.Reset()
		buffers.Put(t.kept)
	}
	t.kept = nil
}

// ended reports whether the stream said itself that it is over. An event too
// long to be read may have been the one that did.
func (t *tap) ended() bool { return t.report.Ended || t.skipped() }

// guarded reports whether the stream's end is checked, and may be mended with
// an error event: it is one that the tap can follow.
func (t *tap) guarded() bool { return t.events != nil }

// feed takes the next bytes of the reply.
func (t *tap) feed(chunk []byte, now time.Time) {
	if t.first.IsZero() && (t.events == nil || t.report.Output) {
		t.first = now
	}
	if !t.last.IsZero() && now.Sub(t.last) > t.gap {
		t.gap = now.Sub(t.last)
	}
	t.last = now
	switch {
	case t.off:
		if t.encoding == "" {
			t.scribe.refused(chunk)
		}
	case t.events != nil:
		// By their types, so that no piece costs an allocation.
		if t.dialect.binary {
			t.frames.Feed(chunk, t.event)
		} else {
			t.split.Feed(chunk, t.event)
		}
		if t.first.IsZero() && t.report.Output {
			t.first = now
		}
	default:
		t.keep(chunk)
		if t.kept != nil && !t.streamed && t.encoding == "" {
			if t.notes.due(t.kept.Len()) {
				t.whole(t.kept.Bytes())
			}
			t.seals.whole(t.kept.Bytes(), false)
			t.calls.whole(t.kept.Bytes(), false)
			if t.scribe.due(t.kept.Len()) {
				t.scribe.whole(t.kept.Bytes())
			}
		}
	}
}

func (t *tap) event(e sse.Event) {
	t.dialect.readEvent(e.Name, e.Data, t.report)
	t.notes.event(e)
	t.seals.event(e)
	t.signs.event(e)
	t.calls.event(e)
	t.translation.event(e)
	t.scribe.event(e)
}

// whole reads a reply that is one document.
func (t *tap) whole(reply []byte) {
	t.read = true
	t.dialect.readReply(reply, t.report)
	t.notes.save()
}

// end reads what had to wait for the whole reply.
func (t *tap) end() {
	if t.events != nil {
		t.spoilt = t.frames.Err()
		t.events.Close(t.event)
		t.notes.save()
		return
	}
	if t.off || t.kept == nil {
		return
	}
	plain := t.kept.Bytes()
	if t.encoding != "" {
		var err error
		if plain, err = decode(plain, t.encoding, 4*maxKept, &roomy{}); err != nil {
			return
		}
	}
	if !t.streamed {
		if !t.read {
			t.whole(plain)
		}
		t.seals.whole(plain, true)
		t.signs.whole(plain)
		t.calls.whole(plain, true)
		t.scribe.whole(plain)
		return
	}
	unpacked := t.splitter()
	unpacked.Feed(plain, t.event)
	unpacked.Close(t.event)
}
