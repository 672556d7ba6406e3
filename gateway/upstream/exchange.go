package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	// headBuffer is what a reply's head normally fits into, and maxHead what it
	// may grow to before it is refused.
	headBuffer = 4 << 10
	maxHead    = 64 << 10
	// inlineBody is how much body is copied behind the head so that a small
	// request leaves in one write; larger ones are gathered by the kernel.
	inlineBody = 8 << 10
	// maxInterim bounds the 1xx replies before the real one.
	maxInterim = 16
)

// outgoing is the scratch space for sending one request.
type outgoing struct {
	head  []byte
	parts net.Buffers
	store [2][]byte
}

var (
	outgoings   = sync.Pool{New: func() any { return new(outgoing) }}
	headReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, headBuffer) }}
)

// exchange sends the request on a connection and reads the reply's head. The
// connection is given back on failure, and by Response.Close otherwise.
func (c *Client) exchange(ctx context.Context, req *Request, target *host, lease *held) (*Response, error) {
	watch := watchOver(ctx, lease.Conn)
	fail := func(phase Phase, err error) (*Response, error) {
		watch.end()
		lease.done(false)
		if cause := ctx.Err(); cause != nil {
			err = cause
		}
		return nil, &Error{phase, err}
	}
	if err := lease.SetWriteDeadline(time.Now().Add(c.config.Send)); err != nil {
		return fail(PhaseSend, err)
	}
	if ctx.Err() != nil {
		return fail(PhaseSend, ctx.Err())
	}
	resp := newResponse(ctx, watch, lease)
	if err := send(lease.Conn, req, target.authority); err != nil {
		if !errors.Is(err, os.ErrDeadlineExceeded) && resp.refusedEarly(lease.Conn, req.Method) {
			return resp, nil
		}
		resp.recycle()
		return fail(PhaseSend, err)
	}
	if err := resp.readHead(lease.Conn, req.Method, time.Now().Add(c.config.Head)); err != nil {
		resp.recycle()
		return fail(PhaseHead, err)
	}
	return resp, nil
}

// earlyAnswer is how long to look for an answer to a request that the provider
// would not take to its end.
const earlyAnswer = time.Second

// refusedEarly reports whether a provider that stopped reading has answered why:
// that the body is too large, say. Its connection is spent.
func (r *Response) refusedEarly(from net.Conn, method string) bool {
	if r.cancelled() || r.readHead(from, method, time.Now().Add(earlyAnswer)) != nil || r.Status < 400 {
		return false
	}
	r.body.dirty = true
	return true
}

// send writes head and body, together where that saves a system call.
func send(to net.Conn, req *Request, authority string) error {
	out := outgoings.Get().(*outgoing)
	defer outgoings.Put(out)
	var err error
	if out.head, err = req.appendHead(out.head[:0], authority); err != nil {
		return err
	}
	if len(req.Body) <= inlineBody {
		out.head = append(out.head, req.Body...)
		_, err = to.Write(out.head)
		return err
	}
	out.store = [2][]byte{out.head, req.Body}
	out.parts = out.store[:]
	_, err = out.parts.WriteTo(to)
	out.store = [2][]byte{}
	return err
}

// readHead reads status line and header block, and prepares the body.
func (r *Response) readHead(from net.Conn, method string, deadline time.Time) error {
	if err := from.SetReadDeadline(deadline); err != nil {
		return err
	}
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	reader := headReaders.Get().(*bufio.Reader)
	reader.Reset(from)
	pooled := reader
	defer func() { pooled.Reset(nil); headReaders.Put(pooled) }()

	reader, err := r.parseHead(reader, from)
	if err != nil {
		return err
	}
	r.Status, r.last = r.head.StatusCode(), r.head.ConnectionClose()
	r.frame(method)
	r.body.adopt(reader)
	return nil
}

// parseHead skips interim replies and gives a head that outgrows the pooled
// buffer a larger one.
func (r *Response) parseHead(reader *bufio.Reader, from net.Conn) (*bufio.Reader, error) {
	for range maxInterim {
		if _, err := reader.Peek(1); err != nil {
			if err == io.EOF {
				err = errNoAnswer
			}
			return reader, err
		}
		err := r.head.Read(reader)
		if tooSmall(err) && reader.Size() < maxHead {
			seen, _ := reader.Peek(reader.Buffered())
			rest := io.MultiReader(bytes.NewReader(bytes.Clone(seen)), from)
			reader = bufio.NewReaderSize(rest, maxHead)
			err = r.head.Read(reader)
		}
		if err != nil {
			return reader, headError(err)
		}
		if status := r.head.StatusCode(); status >= 200 || status == fasthttp.StatusSwitchingProtocols {
			return reader, nil
		}
	}
	return reader, errors.New("the provider sent nothing but interim replies")
}

func tooSmall(err error) bool {
	if err == nil {
		return false
	}
	var small *fasthttp.ErrSmallBuffer
	return errors.As(err, &small)
}

// headError hides the parser's text, which quotes header lines.
func headError(err error) error {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, fasthttp.ErrTimeout):
		return errSlow
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the reply's head is cut: %w", io.ErrUnexpectedEOF)
	}
	return errors.New("the reply's head is not HTTP/1.1, or larger than 64 KiB")
}

// frame decides how the body ends.
func (r *Response) frame(method string) {
	length := r.head.ContentLength()
	r.Length = -1
	switch {
	case method == fasthttp.MethodHead || r.Status == fasthttp.StatusNoContent || r.Status == fasthttp.StatusNotModified:
		r.Length = max(int64(length), -1)
		r.body.framing, r.body.left = framedByLength, 0
	case length >= 0:
		r.Length, r.body.framing, r.body.left = int64(length), framedByLength, int64(length)
	case length == -1:
		r.body.framing = framedByChunks
	default:
		r.body.framing = framedByClose
	}
}

// adopt takes over the body bytes that came with the head.
func (b *body) adopt(reader *bufio.Reader) {
	n := reader.Buffered()
	if n > 0 {
		b.busy = n > smallBuffer
		if b.buf = acquireBuffer(b.busy); n > len(b.buf.bytes) {
			// Only a head that needed the large reader can leave this much.
			b.buf = &buffer{make([]byte, n)}
		}
		b.pending, _ = io.ReadFull(reader, b.buf.bytes[:n])
	}
	if b.framing == framedByLength && b.left == 0 {
		b.end, b.dirty = io.EOF, n > 0
	}
}
