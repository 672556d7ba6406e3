package upstream

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// Response is a reply whose head has arrived and whose body is still to be
// read. Close must be called exactly once; nothing of the Response may be used
// after it.
type Response struct {
	Status int
	// Length is the number of body bytes the provider announced, or -1.
	Length int64

	head  *fasthttp.ResponseHeader // nil once it has been dropped
	last  bool                     // the provider serves no other request on the connection
	body  body
	ctx   context.Context //nolint:containedctx // one exchange's cancellation, asked for on every read
	watch watch
	done  func(reuse bool)
	// released says that the connection is somebody else's.
	released bool
}

var (
	responses = sync.Pool{New: func() any { return new(Response) }}
	heads     = sync.Pool{New: func() any { return new(fasthttp.ResponseHeader) }}
)

func newResponse(ctx context.Context, watch watch, lease *held) *Response {
	r := responses.Get().(*Response)
	r.ctx, r.watch, r.done = ctx, watch, lease.done
	r.head = heads.Get().(*fasthttp.ResponseHeader)
	r.head.DisableNormalizing()
	r.head.SetNoDefaultContentType(true)
	r.body.conn = lease.Conn
	if plain := lease.plain; plain != nil && plain.ready.waits() {
		r.body.ready = &plain.ready
	}
	return r
}

func (r *Response) recycle() {
	r.DropHead()
	r.body.drop()
	*r = Response{}
	responses.Put(r)
}

// DropHead gives the memory of the header lines back, which a long stream has
// no use for. What Fields and Header have given is no longer valid.
func (r *Response) DropHead() {
	if r.head == nil {
		return
	}
	r.head.Reset()
	heads.Put(r.head)
	r.head = nil
}

// Fields calls yield for every header line of the reply in its order, without
// those that only concern this connection and without Content-Length. The
// slices are valid until DropHead or Close.
func (r *Response) Fields(yield func(name, value []byte)) {
	if r.head == nil {
		return
	}
	named := r.head.Peek("Connection")
	for name, value := range r.head.All() {
		if hopByHop(name) || EqualFold(name, "content-length") || namedIn(named, name) {
			continue
		}
		yield(name, value)
	}
}

// Header is the first value of a header line by its name in any case, or nil.
// It is valid until DropHead or Close.
func (r *Response) Header(name string) []byte {
	if r.head == nil {
		return nil
	}
	for key, value := range r.head.All() {
		if EqualFold(key, name) {
			return value
		}
	}
	return nil
}

// Next returns body bytes as soon as there are any, valid until the next call.
// It returns io.EOF after the last byte, ErrSilent when nothing came for the
// given time (call again to go on waiting), and an *Error when the body broke.
func (r *Response) Next(silence time.Duration) ([]byte, error) {
	return r.body.next(r.cancelled, silence)
}

func (r *Response) cancelled() bool { return r.ctx.Err() != nil }

// Close ends the exchange. A connection whose body was read to its end serves
// the next request; any other is closed, which tells the provider to stop.
func (r *Response) Close() {
	r.Release()
	r.recycle()
}

// Release does that too, and leaves the head to be read until Close. There is no body
// any more.
func (r *Response) Release() {
	if r.released {
		return
	}
	r.released = true
	intact := r.watch.end() && r.body.reusable() && !r.last
	if r.done(intact); r.body.end == nil {
		r.body.end = io.EOF
	}
}

// hopByHop reports header names that concern one connection only (RFC 9110,
// section 7.6.1).
func hopByHop(name []byte) bool {
	switch len(name) {
	case 2:
		return EqualFold(name, "te")
	case 7:
		return EqualFold(name, "trailer") || EqualFold(name, "upgrade")
	case 10:
		return EqualFold(name, "connection") || EqualFold(name, "keep-alive")
	case 16:
		return EqualFold(name, "proxy-connection")
	case 17:
		return EqualFold(name, "transfer-encoding")
	}
	return false
}

// HopByHop reports whether a header line must not be forwarded: it concerns
// the connection it came on, or the Connection header (connection) names it.
func HopByHop(name, connection []byte) bool {
	return hopByHop(name) || namedIn(connection, name)
}

func namedIn(connection, name []byte) bool {
	if len(connection) == 0 {
		return false
	}
	for option := range strings.SplitSeq(string(connection), ",") {
		if strings.EqualFold(strings.TrimSpace(option), string(name)) {
			return true
		}
	}
	return false
}

// Drained reports whether the last byte of the body has been handed out.
func (r *Response) Drained() bool { return r.body.end == io.EOF }
