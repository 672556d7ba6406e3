package front

import (
	"bytes"
	"context"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/gateway/prompt"
	"warmpath/gateway/relay"
	"warmpath/rewrite"
)

// promptsPath is where a client sees and answers the prompts of its own sessions.
var promptsPath = []byte("/warmpath/v1/prompts")

// ofPrompts gives what follows the path of prompts.
func ofPrompts(path []byte) (rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(path, promptsPath)
	return rest, ok && (len(rest) == 0 || rest[0] == '/')
}

// prompts answers a client for the sessions that its credential has begun.
func (s *Server) prompts(ctx *fasthttp.RequestCtx, rest []byte, req *relay.Request, arrived time.Time) {
	if _, failure := s.access.Load().admit(req.Fields, req.Query); failure != nil {
		s.refuse(ctx, rewrite.Opaque, arrived, failure)
		return
	}
	body, failure := s.readBody(ctx)
	defer s.releaseBody(body)
	if failure != nil {
		s.refuse(ctx, rewrite.Opaque, arrived, failure)
		return
	}
	asked := &prompt.Request{
		Who: prompt.Who{Tenant: req.Tenant()}, Method: req.Method, Path: string(rest), Query: string(req.Query),
		ContentType: string(req.Field("content-type")), Origin: string(req.Field("origin")),
		FetchSite: string(req.Field("sec-fetch-site")), Host: string(req.Field("host")),
	}
	if body != nil {
		asked.Body = body.bytes
	}
	client := ctx.Conn().(*conn)
	response := s.config.Load().Prompts.Serve(client.life, asked)
	ctx.SetStatusCode(response.Status)
	if response.Allow != "" {
		ctx.Response.Header.Set("Allow", response.Allow)
	}
	if response.Stream == nil {
		ctx.SetContentType("application/json")
		ctx.SetBody(response.Body)
		return
	}
	ctx.SetContentType("text/event-stream")
	ctx.Response.Header.Set("Cache-Control", "no-cache, no-transform")
	ctx.Response.Header.Set("X-Accel-Buffering", "no")
	ctx.Response.ImmediateHeaderFlush = true
	looking := &looking{Stream: response.Stream}
	looking.forget = context.AfterFunc(client.life, func() { _ = response.Stream.Close() })
	ctx.SetBodyStream(looking, -1)
}

// looking is a stream that ends at once when its client leaves.
type looking struct {
	*prompt.Stream
	forget func() bool
}

// Close ends the stream.
func (l *looking) Close() error {
	l.forget()
	return l.Stream.Close()
}
