package front

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"warmpath/gateway/prompt"
	"warmpath/gateway/relay"
	"warmpath/gateway/secret"
	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/rewrite"
)

// Config is what the front needs to know. Headers, Connections and the times
// hold for the server's life; the rest can be changed by Configure.
type Config struct {
	// Headers is the size that a request's head may have, and Connections how
	// many clients may be connected.
	Headers, Connections int
	// Header bounds the arrival of a head, Idle the wait for the next request
	// of a connection, Write the time a client may take for one piece of reply.
	Header, Idle, Write time.Duration

	// Body is the largest request body, and InFlight how many bytes of bodies
	// may be held at one time.
	Body, InFlight int64
	// BodyTime is how long a small body may take; larger ones get more.
	BodyTime time.Duration
	// Keys are the keys of which a client must show one; none admits everybody.
	Keys []secret.String
	// Lends says that somebody without a key of his own spends a provider's: then
	// pages that a browser shows are not served, wherever they come from.
	Lends bool
	// Prompts are what people are asked; nil where nobody is.
	Prompts *prompt.Book
}

// Server listens to clients.
type Server struct {
	config  atomic.Pointer[Config]
	access  atomic.Pointer[access]
	relay   *relay.Relay
	log     *slog.Logger
	http    *fasthttp.Server
	watcher *watcher
	budget  budget
	slabs   slabs
	fields  sync.Pool

	open atomic.Int64 // exchanges under way
	stop atomic.Bool
}

// New makes a server that answers through the relay.
func New(config Config, r *relay.Relay, m *metrics.Metrics, log *slog.Logger) (*Server, error) {
	w, err := newWatcher()
	if err != nil {
		return nil, err
	}
	s := &Server{relay: r, log: log, watcher: w}
	s.budget.count = m.BodyBytes
	s.fields.New = func() any { return &[]upstream.Field{} }
	s.Configure(config)
	s.http = &fasthttp.Server{
		Handler:         s.handle,
		ErrorHandler:    s.malformed,
		HeaderReceived:  s.headerReceived,
		ReadBufferSize:  config.Headers,
		WriteBufferSize: writeBuffer,
		Concurrency:     config.Connections,
		ReadTimeout:     config.Header,
		IdleTimeout:     config.Idle,
		// The body is read by the handler, which bounds and accounts it.
		StreamRequestBody:             true,
		DisablePreParseMultipartForm:  true,
		DisableHeaderNamesNormalizing: true,
		NoDefaultServerHeader:         true,
		NoDefaultContentType:          true,
		LazyRequestTime:               true,
		SecureErrorLogMessage:         true,
		CloseOnShutdown:               true,
		Logger:                        quiet{},
	}
	return s, nil
}

// Configure changes what requests that come from now on are held to.
func (s *Server) Configure(config Config) {
	s.config.Store(&config)
	s.access.Store(newAccess(config.Keys))
	s.budget.limit.Store(config.InFlight)
}

// Serve accepts clients until Shutdown. It returns nil after one.
func (s *Server) Serve(on *net.TCPListener) error {
	err := s.http.Serve(&listener{TCPListener: on, patience: s.config.Load().Write, watcher: s.watcher})
	if err != nil && !s.stop.Load() {
		return fmt.Errorf("serving clients: %w", err)
	}
	return nil
}

// Shutdown refuses new clients and lets requests under way run to their end
// until ctx ends; streams still open then are told so and cut.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop.Store(true)
	err := s.http.ShutdownWithContext(ctx)
	if err != nil {
		s.watcher.endAll(relay.ErrDraining)
		err = fmt.Errorf("draining: %w", err)
	}
	s.lastWords()
	s.watcher.endAll(relay.ErrDraining)
	s.watcher.close()
	return err
}

// lastWords gives the exchanges that were cut the time to write their last event.
func (s *Server) lastWords() {
	const patience, step = 2 * time.Second, 5 * time.Millisecond
	for waited := time.Duration(0); waited < patience && s.open.Load() > 0; waited += step {
		time.Sleep(step)
	}
}

// headerReceived gives the body its own time. The size makes the parser leave
// the body to the handler.
func (s *Server) headerReceived(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	return fasthttp.RequestConfig{
		ReadTimeout:        bodyTime(s.config.Load().BodyTime, header.ContentLength()),
		MaxRequestBodySize: 1,
	}
}

// malformed answers what could not be read as a request.
func (s *Server) malformed(ctx *fasthttp.RequestCtx, err error) {
	failure := refused("The request is not well-formed HTTP/1.1.")
	var small *fasthttp.ErrSmallBuffer
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &small):
		failure = &rewrite.Failure{Reason: rewrite.ReasonHeadersTooLarge, Message: fmt.Sprintf(
			"The request's header lines exceed %d bytes. Send fewer, or raise limits.headers.", s.config.Load().Headers)}
	case errors.As(err, &timeout) && timeout.Timeout():
		failure = &rewrite.Failure{Reason: rewrite.ReasonTimeout, Message: "The request's head did not arrive in time."}
	}
	s.refuse(ctx, rewrite.Opaque, time.Now(), failure)
}

// quiet swallows the library's own log lines, which may quote what clients sent.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
