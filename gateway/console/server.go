package console

import (
	"context"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"warmpath/cache/eventlog"
	"warmpath/gateway/prompt"
	"warmpath/gateway/secret"
)

// Config is what a console shows and whom it shows it to.
type Config struct {
	// Gatherer has the metrics.
	Gatherer prometheus.Gatherer
	// Ready says whether the gateway takes requests: false before it has
	// started and while it drains.
	Ready func() bool
	// Status says what is running. It is called for each page.
	Status func() Status
	// Requests are those remembered, newest first. It is called for each list.
	Requests func() []Request
	// Conversations is the log of what happens in them; nil where there is none.
	Conversations *eventlog.Log
	// Prompts are those of all sessions, which the operator answers; nil where there are
	// none.
	Prompts *prompt.Book
	// Token is asked for, except by the probes, as a bearer token or as the
	// password of a browser's login. An empty one asks for nothing on loopback
	// and lets nobody in beyond it.
	Token secret.String
	// Public says that the listener is reached from beyond loopback.
	Public bool
	// Clock tells the time that pages show; nil is time.Now.
	Clock func() time.Time
}

// Status is what the console cannot read from the metrics.
type Status struct {
	Version   string
	Mode      string
	Started   time.Time
	Providers []string
	// ToolServers are the MCP servers of the configuration.
	ToolServers []ToolServer
}

// ToolServer is an MCP server as it is shown.
type ToolServer struct {
	Name string `json:"name"`
	// State is connecting, up or down, Since when it became so, and Reason why it is
	// down.
	State  string    `json:"state"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
	// Protocol is the version that is spoken with it, and Tools how many it offers.
	Protocol string `json:"protocol,omitempty"`
	Tools    int    `json:"tools"`
}

// Server answers on the admin address.
type Server struct {
	config  Config
	access  access
	metrics fasthttp.RequestHandler
	http    *fasthttp.Server
	// ended is over when the server stops, and with it those that follow
	// conversations, of whom there are so many.
	ended     context.Context //nolint:containedctx // the server's own life
	end       context.CancelFunc
	followers atomic.Int64
	working   sync.WaitGroup

	history  history
	sessions sessions
	hub      hub
}

const (
	readTimeout  = 10 * time.Second
	writeTimeout = 30 * time.Second
	idleTimeout  = 2 * time.Minute
	// maxBody is small because only answers to prompts and logins have a body.
	maxBody = 256 << 10
)

// New prepares a console; Serve starts it.
func New(config Config) *Server {
	if config.Clock == nil {
		config.Clock = time.Now
	}
	s := &Server{
		config: config,
		access: newAccess(config.Token, config.Public),
		metrics: fasthttpadaptor.NewFastHTTPHandler(
			promhttp.HandlerFor(config.Gatherer, promhttp.HandlerOpts{EnableOpenMetrics: true})),
	}
	s.ended, s.end = context.WithCancel(context.Background())
	s.hub.paint = s.paint
	s.http = &fasthttp.Server{
		Handler:               s.handle,
		ReadTimeout:           readTimeout,
		WriteTimeout:          writeTimeout,
		IdleTimeout:           idleTimeout,
		MaxRequestBodySize:    maxBody,
		NoDefaultServerHeader: true,
		SecureErrorLogMessage: true,
		CloseOnShutdown:       true,
		Logger:                quiet{},
	}
	return s
}

// Serve answers on the listener until Shutdown. It closes the listener and
// returns nil after a Shutdown.
func (s *Server) Serve(l net.Listener) error {
	s.working.Go(s.remember)
	return s.http.Serve(l)
}

// Shutdown stops taking connections, ends what follows conversations, waits until
// the open requests are answered, and gives up with the context's error when it is
// done first.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end()
	err := s.http.ShutdownWithContext(ctx)
	s.working.Wait()
	return err
}

// quiet drops what the HTTP library says of requests it could not read: it is
// about strangers, and can hold what they sent.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	path := string(ctx.Path())
	rest, prompts := beneathPrompts(path)
	posts := path == "/login" || path == "/logout" || path == "/answer"
	if !ctx.IsGet() && !ctx.IsHead() && !prompts && !(posts && ctx.IsPost()) {
		h.Set("Allow", "GET, HEAD")
		text(ctx, fasthttp.StatusMethodNotAllowed, "only GET and HEAD are answered here")
		return
	}
	if !s.access.host(ctx.Host()) {
		text(ctx, fasthttp.StatusForbidden, "ask for localhost, 127.0.0.1 or [::1]: this address answers to no other name")
		return
	}
	if posts && ctx.IsPost() && !sameOrigin(ctx) {
		text(ctx, fasthttp.StatusForbidden, "only the pages of this address may send this")
		return
	}
	if s.free(ctx, path) {
		return
	}
	if !s.access.token(ctx.Request.Header.Peek("Authorization")) && !s.loggedIn(ctx) {
		s.refuse(ctx, path)
		return
	}
	switch {
	case prompts && s.config.Prompts != nil:
		s.prompts(ctx, rest)
	case path == "/answer" && ctx.IsPost() && s.config.Prompts != nil:
		s.answer(ctx)
	case path == "/logout" && ctx.IsPost():
		s.logout(ctx)
	default:
		s.pages(ctx, path)
	}
}

// free answers what needs no token: probes, the login, and what its page loads. It
// reports whether it has answered.
func (s *Server) free(ctx *fasthttp.RequestCtx, path string) bool {
	switch path {
	case "/healthz":
		text(ctx, fasthttp.StatusOK, "ok")
	case "/readyz":
		if s.config.Ready() {
			text(ctx, fasthttp.StatusOK, "ready")
		} else {
			text(ctx, fasthttp.StatusServiceUnavailable, "not ready: starting or draining")
		}
	case "/login":
		if s.access.open {
			seeOther(ctx, "./")
		} else {
			s.login(ctx)
		}
	default:
		return static(ctx, path[1:])
	}
	return true
}

// refuse answers who has not shown the token. A page of ours that asks in the
// background gets no challenge: a browser would answer it with a window of its own.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, path string) {
	if asksForPage(ctx) {
		next := ""
		if query := string(ctx.URI().QueryString()); path == "/conversation" && query != "" {
			next = "?" + url.Values{"next": {"conversation?" + query}}.Encode()
		}
		seeOther(ctx, "login"+next)
		return
	}
	if len(ctx.Request.Header.Peek("Sec-Fetch-Site")) == 0 {
		ctx.Response.Header.Set("WWW-Authenticate", `Basic realm="warmpath", charset="UTF-8"`)
	}
	text(ctx, fasthttp.StatusUnauthorized, "this address asks for the admin token: as a bearer token, or as the password of a login with any name")
}

// pages answers what the token, where there is one, gives access to.
func (s *Server) pages(ctx *fasthttp.RequestCtx, path string) {
	switch path {
	case "/metrics":
		s.metrics(ctx)
	case "/api/requests":
		s.requests(ctx)
	case "/api/status":
		s.status(ctx)
	case "/":
		s.front(ctx, cards(s.openPrompts()))
	case "/conversation":
		s.conversation(ctx)
	case "/live":
		s.live(ctx)
	default:
		if strings.HasPrefix(path, "/api/requests/") {
			s.requests(ctx)
			return
		}
		if path == conversationsPath || strings.HasPrefix(path, conversationsPath+"/") {
			s.conversations(ctx)
			return
		}
		text(ctx, fasthttp.StatusNotFound, "there is /, /metrics, /healthz, /readyz, /api/status, /api/requests, /api/conversations and /api/prompts")
	}
}

func (s *Server) status(ctx *fasthttp.RequestCtx) {
	snap, err := s.look()
	if err != nil {
		text(ctx, fasthttp.StatusInternalServerError, "the metrics could not be gathered")
		return
	}
	n, status := snap.numbers, snap.status
	writeJSON(ctx, struct {
		Version       string   `json:"version"`
		Mode          string   `json:"mode"`
		Ready         bool     `json:"ready"`
		UptimeSeconds int64    `json:"uptime_seconds"`
		Providers     []string `json:"providers"`
		InFlight      int64    `json:"in_flight"`
		StreamsOpen   int64    `json:"streams_open"`

		ToolServers []ToolServer `json:"mcp"`
	}{
		status.Version, status.Mode, s.config.Ready(), int64(time.Since(status.Started).Seconds()),
		append([]string{}, status.Providers...), n.InFlight, n.StreamsOpen, append([]ToolServer{}, status.ToolServers...),
	})
}

func text(ctx *fasthttp.RequestCtx, status int, message string) {
	ctx.SetStatusCode(status)
	ctx.SetContentType("text/plain; charset=utf-8")
	ctx.SetBodyString(message + "\n")
}
