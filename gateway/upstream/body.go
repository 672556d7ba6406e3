package upstream

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Buffer sizes. A stream reads through a small buffer; one whose bytes come
// faster than that through a large one until it calms down. While it waits it
// holds none, or the small one where waiting needs it.
const (
	smallBuffer = 2 << 10
	largeBuffer = 32 << 10
)

type buffer struct{ bytes []byte }

var (
	smallBuffers = sync.Pool{New: func() any { return &buffer{make([]byte, smallBuffer)} }}
	largeBuffers = sync.Pool{New: func() any { return &buffer{make([]byte, largeBuffer)} }}
)

func acquireBuffer(large bool) *buffer {
	if large {
		return largeBuffers.Get().(*buffer)
	}
	return smallBuffers.Get().(*buffer)
}

func (b *buffer) large() bool { return len(b.bytes) == largeBuffer }

// release pools the buffer, unless it was made to measure.
func (b *buffer) release() {
	switch len(b.bytes) {
	case largeBuffer:
		largeBuffers.Put(b)
	case smallBuffer:
		smallBuffers.Put(b)
	}
}

// framing says how a reply's body ends.
type framing uint8

const (
	framedByLength framing = iota
	framedByChunks
	framedByClose
)

// body reads one reply body from a connection.
type body struct {
	conn    net.Conn
	ready   *arrival // of a connection that can be waited for without a buffer
	framing framing
	left    int64 // bytes left, framedByLength only
	chunks  dechunker
	buf     *buffer
	pending int  // bytes in buf that were read together with the head
	busy    bool // the last read filled its buffer
	dirty   bool // bytes after the end of the body: the connection is spent
	// end is sticky: once the body has ended, for whatever reason, reading
	// again must not touch a connection that may serve another request.
	end error
	// deadline is when a silent read returns; it is moved only when a quarter
	// of the silence has passed, since moving it costs more than a clock look.
	deadline time.Time
}

// next returns the bytes that have arrived, valid until the following call.
// It blocks until there are some, the body ends (io.EOF), or the silence has
// lasted too long (ErrSilent, after which it can be called again).
func (b *body) next(cancelled func() bool, silence time.Duration) ([]byte, error) {
	for b.end == nil {
		raw, err := b.read(cancelled, silence)
		chunk := b.unframe(raw)
		if err != nil && b.end == nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && !cancelled() {
				if len(chunk) > 0 {
					return chunk, nil
				}
				return nil, ErrSilent
			}
			b.end = b.closed(err)
		}
		if len(chunk) > 0 {
			return chunk, nil
		}
	}
	b.drop()
	return nil, b.end
}

// read fills the buffer with whatever the connection has.
func (b *body) read(cancelled func() bool, silence time.Duration) ([]byte, error) {
	if b.pending > 0 {
		raw := b.buf.bytes[:b.pending]
		b.pending = 0
		return raw, nil
	}
	if b.framing == framedByLength && b.left == 0 {
		b.end = io.EOF
		return nil, nil
	}
	if b.framing == framedByChunks && b.chunks.state == chunkDone {
		b.end = io.EOF
		return nil, nil
	}
	if err := b.arm(cancelled, silence); err != nil {
		return nil, err
	}
	n, err := b.fill()
	if b.busy = n == smallBuffer; b.buf != nil && b.buf.large() {
		b.busy = n > smallBuffer
	}
	if n == 0 {
		return nil, err
	}
	return b.buf.bytes[:n], err
}

// fill reads into a buffer of the right size.
func (b *body) fill() (n int, err error) {
	if b.ready != nil {
		b.drop()
		b.buf, n, err = b.ready.read(b.busy)
		return n, err
	}
	if b.buf == nil || b.busy != b.buf.large() {
		b.drop()
		b.buf = acquireBuffer(b.busy)
	}
	return b.conn.Read(b.buf.bytes)
}

// arm moves the read deadline. A cancellation that came in between must win,
// or the read would outlive the client.
func (b *body) arm(cancelled func() bool, silence time.Duration) error {
	now := time.Now()
	if remaining := b.deadline.Sub(now); remaining > silence-silence/4 && remaining <= silence {
		return nil
	}
	b.deadline = now.Add(silence)
	if err := b.conn.SetReadDeadline(b.deadline); err != nil {
		return err
	}
	if cancelled() {
		return b.conn.SetReadDeadline(past)
	}
	return nil
}

// unframe reduces raw bytes to payload and notices the end of the body.
func (b *body) unframe(raw []byte) []byte {
	switch b.framing {
	case framedByLength:
		if int64(len(raw)) > b.left {
			raw, b.dirty = raw[:b.left], true
		}
		b.left -= int64(len(raw))
		if b.left == 0 {
			b.end = io.EOF
		}
		return raw
	case framedByChunks:
		payload, consumed, err := b.chunks.decode(raw)
		if err != nil {
			b.end = &Error{PhaseBody, err}
		} else if b.chunks.state == chunkDone {
			b.end, b.dirty = io.EOF, b.dirty || consumed < len(raw)
		}
		return raw[:payload]
	case framedByClose:
	}
	return raw
}

// closed turns a read error into the end of the body.
func (b *body) closed(err error) error {
	if err == io.EOF {
		if b.framing == framedByClose {
			b.dirty = true
			return io.EOF
		}
		err = io.ErrUnexpectedEOF
		if b.framing == framedByLength {
			err = fmt.Errorf("%w: %d bytes are missing", err, b.left)
		}
	}
	return &Error{PhaseBody, err}
}

// reusable reports whether the connection can carry another request.
func (b *body) reusable() bool {
	return b.end == io.EOF && !b.dirty && b.framing != framedByClose
}

// drop gives the buffer back.
func (b *body) drop() {
	if b.buf != nil {
		b.buf.release()
		b.buf = nil
	}
}
