package front

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/gateway/relay"
	"warmpath/gateway/upstream"
	"warmpath/rewrite"
)

var errClientLeft = errors.New("the client left")

// handle serves one request. Here, and where its reply is written, a panic is
// caught: a fault in one request must not end the others.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	arrived := time.Now()
	defer func() {
		if fault := recover(); fault != nil {
			s.log.Error("a request panicked", "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
			failure := &rewrite.Failure{Reason: rewrite.ReasonInternal, Message: "The gateway failed on this request. Its log has the reason."}
			s.refuse(ctx, rewrite.Opaque, arrived, failure)
		}
	}()
	if failure := suspicious(ctx); failure != nil {
		s.refuse(ctx, rewrite.Opaque, arrived, failure)
		return
	}
	pooled := s.fields.Get().(*[]upstream.Field)
	defer s.fields.Put(pooled)
	*pooled = appendFields((*pooled)[:0], ctx.Request.Header.RawHeaders())
	path, query, _ := bytes.Cut(ctx.Request.Header.RequestURI(), []byte("?"))
	if string(path) == "/" {
		ctx.SetContentType("text/plain; charset=utf-8")
		ctx.SetBodyString("warmpath\n")
		return
	}
	if rest, ok := ofPrompts(path); ok && s.config.Load().Prompts != nil {
		s.prompts(ctx, rest, &relay.Request{Method: string(ctx.Method()), Query: query, Fields: *pooled}, arrived)
		return
	}
	found := find(path, ctx.IsPost(), callerOf(*pooled))
	req := &relay.Request{
		Dialect: found.dialect, Operation: found.operation, Provider: found.provider,
		Model: found.model, ModelSpan: found.modelSpan,
		Method: string(ctx.Method()), Path: found.path, Read: found.read, Holds: found.holds, Query: query, Fields: *pooled,
		Room: &s.budget,
	}
	body, failure := s.admit(ctx, &found, req)
	defer s.releaseBody(body)
	if failure != nil {
		s.refuse(ctx, found.dialect, arrived, failure)
		return
	}
	if body != nil {
		req.Body = body.bytes
	}
	req.Arrived = time.Now()
	s.serve(ctx, req)
}

// admit checks route and key, and reads the body last.
func (s *Server) admit(ctx *fasthttp.RequestCtx, found *route, req *relay.Request) (*slab, *rewrite.Failure) {
	if found.failure != nil {
		return nil, found.failure
	}
	if !found.found {
		return nil, &rewrite.Failure{Reason: rewrite.ReasonNotFound, Message: "Nothing is served at this path. " +
			"Use a vendor's own path (/v1/messages, /v1/chat/completions, /v1/responses, /v1beta/models/…), or put /anthropic, /openai, /gemini or /p/PROVIDER in front."}
	}
	if s.config.Load().Lends {
		if failure := fromElsewhere(req.Fields); failure != nil {
			return nil, failure
		}
	}
	borrowed, failure := s.access.Load().admit(req.Fields, req.Query)
	if failure != nil {
		return nil, failure
	}
	req.OwnKey = borrowed
	return s.readBody(ctx)
}

// refuse answers a request of which not all may have been read, so that it is
// the last of its connection.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, d rewrite.Dialect, arrived time.Time, failure *rewrite.Failure) {
	s.write(ctx, s.relay.Refuse(d, arrived, failure))
	ctx.SetConnectionClose()
	ctx.Conn().(*conn).unread = true
}

// serve runs the exchange and hands the reply to the connection. The exchange
// lives until the reply has been written, the client has left, or the server
// has lost its patience with it.
func (s *Server) serve(ctx *fasthttp.RequestCtx, req *relay.Request) {
	s.open.Add(1)
	goesOn := false
	defer func() {
		if !goesOn {
			s.open.Add(-1)
		}
	}()
	reply := s.relay.Serve(ctx.Conn().(*conn).life, req)
	// From here on the body's end is the exchange's.
	goesOn = reply.Body != nil
	s.write(ctx, reply)
}

// write puts the reply on the response.
func (s *Server) write(ctx *fasthttp.RequestCtx, reply *relay.Reply) {
	response := &ctx.Response
	response.SetStatusCode(reply.Status)
	for _, field := range reply.Fields {
		response.Header.AddBytesKV(field.Name, field.Value)
	}
	if reply.Body == nil {
		response.SetBodyRaw(reply.Whole)
		return
	}
	client := ctx.Conn().(*conn)
	body := &client.reply
	*body = running{Body: reply.Body, server: s, client: client}
	if ctx.IsHead() {
		response.SkipBody = true
		response.Header.SetContentLength(int(reply.Length))
		_ = body.Close()
		return
	}
	response.ImmediateHeaderFlush = reply.Body.Streamed()
	response.SetBodyStream(body, int(reply.Length))
}

// running is the body of an exchange under way.
type running struct {
	*relay.Body
	server *Server
	client *conn
	to     io.Writer // the server's, which frames what is written
}

var errPanicked = errors.New("the gateway failed on this reply")

// WriteTo writes the body as it arrives.
func (r *running) WriteTo(w io.Writer) (n int64, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			r.server.log.Error("a reply panicked", "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	r.to = w
	return r.Body.WriteTo((*framed)(r))
}

// framed writes each piece of a body together with its frame.
type framed running

func (f *framed) Write(p []byte) (int, error) {
	return f.client.together(func() (int, error) { return f.to.Write(p) })
}

// Close ends the exchange. The HTTP library calls it where nobody catches a panic, and
// once more while it unwinds.
func (r *running) Close() (err error) {
	body := r.Body
	if body == nil {
		return nil
	}
	r.Body = nil
	defer func() {
		r.server.open.Add(-1)
		if fault := recover(); fault != nil {
			r.server.log.Error("the end of a reply panicked", "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	return body.Close()
}

// callerOf reads from the headers which vendor's client is calling.
func callerOf(fields []upstream.Field) caller {
	var who caller
	for _, field := range fields {
		who.anthropic = who.anthropic || field.Is("anthropic-version")
		who.gemini = who.gemini || field.Is("x-goog-api-key")
	}
	return who
}
