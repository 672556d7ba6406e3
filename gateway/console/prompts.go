package console

import (
	"context"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/gateway/prompt"
)

// promptsPath is where the prompts of all sessions are listed, streamed and answered.
const promptsPath = "/api/prompts"

// beneathPrompts reports whether a path is one of the prompts', and gives the rest.
func beneathPrompts(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, promptsPath)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// prompts answers for the operator, who may see and answer every prompt.
func (s *Server) prompts(ctx *fasthttp.RequestCtx, rest string) {
	header := &ctx.Request.Header
	response := s.config.Prompts.Serve(context.Background(), &prompt.Request{
		Who: prompt.Who{Operator: true}, Method: string(ctx.Method()), Path: rest, Query: string(ctx.URI().QueryString()),
		ContentType: string(header.ContentType()), Body: ctx.PostBody(),
		Origin: string(header.Peek("Origin")), FetchSite: string(header.Peek("Sec-Fetch-Site")), Host: string(ctx.Host()),
	})
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
	ctx.Response.Header.Set("X-Accel-Buffering", "no")
	ctx.Response.ImmediateHeaderFlush = true
	ctx.SetBodyStream(&patient{Stream: response.Stream, ctx: ctx}, -1)
}

// patient gives each piece of a stream its own time to be written: the server's is
// for all of an answer, and a stream has no end.
type patient struct {
	*prompt.Stream
	ctx *fasthttp.RequestCtx
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.Stream.Read(b)
	if deadline := p.ctx.Conn().SetWriteDeadline(time.Now().Add(writeTimeout)); err == nil {
		err = deadline
	}
	return n, err
}
