package front

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/rewrite"
)

// slowestBody is the rate, in bytes per second, below which an upload is given
// up even if it is within the body time-out's first allowance.
const slowestBody = 64 << 10

// budget bounds the bytes of request bodies that are held at one time.
type budget struct {
	limit atomic.Int64
	held  atomic.Int64
	count func(delta int)
}

// Take accounts bytes, or returns false if there is no room for them.
func (b *budget) Take(n int64) bool {
	if b.held.Add(n) > b.limit.Load() {
		b.held.Add(-n)
		return false
	}
	b.count(int(n))
	return true
}

// Give is for what was taken.
func (b *budget) Give(n int64) {
	if n > 0 {
		b.held.Add(-n)
		b.count(int(-n))
	}
}

// readBody reads the whole body into a slab and accounts it. What it returns
// must be given back with releaseBody, also after a failure; nil is no body.
func (s *Server) readBody(ctx *fasthttp.RequestCtx) (*slab, *rewrite.Failure) {
	limit := s.config.Load().Body
	length := int64(ctx.Request.Header.ContentLength())
	stream := ctx.RequestBodyStream()
	switch {
	case length == 0 || stream == nil:
		return nil, nil
	case length > limit:
		return nil, tooLarge(limit)
	case length < 0:
		return s.readChunked(stream, limit)
	}
	if !s.budget.Take(length) {
		return nil, busy()
	}
	body := s.slabs.take(int(length))
	if _, err := io.ReadFull(stream, body.bytes); err != nil {
		return body, cutBody(err)
	}
	return body, nil
}

// readChunked reads a body whose length only its end tells. The slab doubles as
// it fills; what is accounted is always the length of its bytes.
func (s *Server) readChunked(stream io.Reader, limit int64) (*slab, *rewrite.Failure) {
	const first = 16 << 10
	if !s.budget.Take(first) {
		return nil, busy()
	}
	body, filled := s.slabs.take(first), 0
	for {
		n, err := stream.Read(body.bytes[filled:])
		filled += n
		switch {
		case int64(filled) > limit:
			return body, tooLarge(limit)
		case err == io.EOF:
			s.budget.Give(int64(len(body.bytes) - filled))
			body.bytes = body.bytes[:filled]
			return body, nil
		case err != nil:
			return body, cutBody(err)
		case filled < len(body.bytes):
			continue
		}
		if !s.budget.Take(int64(len(body.bytes))) {
			return body, busy()
		}
		grown := s.slabs.take(2 * len(body.bytes))
		copy(grown.bytes, body.bytes)
		s.slabs.give(body)
		body = grown
	}
}

// releaseBody gives slab and account back.
func (s *Server) releaseBody(body *slab) {
	if body != nil {
		s.budget.Give(int64(len(body.bytes)))
		s.slabs.give(body)
	}
}

func tooLarge(limit int64) *rewrite.Failure {
	return &rewrite.Failure{Reason: rewrite.ReasonTooLarge, Message: fmt.Sprintf(
		"The request body is larger than the %d bytes that this gateway accepts. Send less, or raise limits.body.", limit)}
}

func busy() *rewrite.Failure {
	return &rewrite.Failure{Reason: rewrite.ReasonBusy,
		Message: "The gateway holds as many request bodies as it may (limits.bodies_in_flight). Send the request again in a moment."}
}

func cutBody(err error) *rewrite.Failure {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &rewrite.Failure{Reason: rewrite.ReasonTimeout, Cause: err,
			Message: "The request body did not arrive in time. Send it faster, or raise timeouts.body."}
	}
	return &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Cause: err,
		Message: "The request body ended before its announced end, or its chunks are malformed. Send it again."}
}

// bodyTime is how long a body of the announced length may take.
func bodyTime(allowance time.Duration, length int) time.Duration {
	return allowance + time.Duration(max(length, 0))*time.Second/slowestBody
}
