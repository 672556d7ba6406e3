package upstream

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// Config bounds the client. Zero durations take the defaults named here.
type Config struct {
	// Connect bounds dialling with its TLS handshake; 10 s by default.
	Connect time.Duration
	// Head bounds the wait for a reply's head once the request is sent; 10
	// minutes by default, since a whole reply may take that long to generate.
	Head time.Duration
	// Send bounds the sending of one request; 60 s by default.
	Send time.Duration
	// Idle is how long an unused connection is kept; 60 s by default.
	Idle time.Duration
	// TLS is for tests and private authorities; nil means the system's.
	TLS *tls.Config
	// Via is an address, as host:port, that all requests go to without encryption,
	// whatever their origins; each still names its origin's host. It is for what
	// stands between the gateway and its providers. Empty means the origins' own.
	Via string
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, fallback time.Duration) {
		if *d <= 0 {
			*d = fallback
		}
	}
	set(&c.Connect, 10*time.Second)
	set(&c.Head, 10*time.Minute)
	set(&c.Send, time.Minute)
	set(&c.Idle, time.Minute)
	return c
}

// maxConnsPerHost is far above what one process can serve: the limit that
// counts is the one on clients.
const maxConnsPerHost = 1 << 17

// Client sends requests to providers. It is safe for concurrent use.
type Client struct {
	config Config
	dial   fasthttp.DialFunc
	hosts  sync.Map // origin → *host
}

// New makes a client. HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read now.
func New(config Config) *Client {
	config = config.withDefaults()
	return &Client{config: config, dial: dialer(config.Connect)}
}

// host is one origin's connection pool.
type host struct {
	pool      *fasthttp.HostClient
	authority string
}

func (c *Client) host(origin string) (*host, error) {
	if known, ok := c.hosts.Load(origin); ok {
		return known.(*host), nil
	}
	address, err := url.Parse(origin)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return nil, fmt.Errorf("%q is not an http or https origin", origin)
	}
	secure := address.Scheme == "https"
	port := address.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[secure]
	}
	to := net.JoinHostPort(address.Hostname(), port)
	if c.config.Via != "" {
		to, secure = c.config.Via, false
	}
	pool := &fasthttp.HostClient{
		Addr:                to,
		IsTLS:               secure,
		TLSConfig:           c.config.TLS,
		Dial:                c.dial,
		MaxConns:            maxConnsPerHost,
		MaxIdleConnDuration: c.config.Idle,
	}
	known, _ := c.hosts.LoadOrStore(origin, &host{pool: pool, authority: address.Host})
	return known.(*host), nil
}

// Close drops the idle connections. Exchanges that are under way go on.
func (c *Client) Close() {
	c.hosts.Range(func(_, value any) bool {
		value.(*host).pool.CloseIdleConnections()
		return true
	})
}

// Do sends the request and waits for the head of the reply. When ctx ends, the
// exchange is broken off at once in whatever phase it is, and the provider sees
// its connection close. Failures are *Error.
//
// A request is sent a second time only if a connection that had been idle
// turns out to have been closed by the provider before it answered anything.
func (c *Client) Do(ctx context.Context, req *Request) (*Response, error) {
	target, err := c.host(req.Origin)
	if err != nil {
		return nil, &Error{PhaseConnect, err}
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, &Error{PhaseConnect, err}
		}
		held, err := target.acquire(c.config.Connect)
		if err != nil {
			return nil, &Error{PhaseConnect, err}
		}
		resp, err := c.exchange(ctx, req, target, held)
		if err == nil {
			return resp, nil
		}
		if !held.reused || !unanswered(err) || ctx.Err() != nil {
			return nil, err
		}
	}
}
