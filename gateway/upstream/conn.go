package upstream

import (
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpproxy"
	"golang.org/x/net/http/httpproxy"
)

// past is a deadline that interrupts whatever a connection is doing.
var past = time.Unix(1, 0)

// conn is a dialled connection. The embedded type is concrete so that writing
// head and body together stays one system call.
type conn struct {
	*net.TCPConn
	ready arrival
	lease *held // of the exchanges it has carried, nil before the first
}

// dialer connects directly, or through the proxy that the environment names.
func dialer(timeout time.Duration) fasthttp.DialFunc {
	direct := net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}
	proxyOf := httpproxy.FromEnvironment().ProxyFunc()
	proxied := fasthttpproxy.FasthttpProxyHTTPDialerTimeout(timeout)
	return func(address string) (net.Conn, error) {
		dial := func(address string) (net.Conn, error) { return direct.Dial("tcp", address) }
		if goesThroughProxy(proxyOf, address) {
			dial = proxied
		}
		dialled, err := dial(address)
		if err != nil {
			return nil, err
		}
		if plain, ok := dialled.(*net.TCPConn); ok {
			return newConn(plain), nil
		}
		return dialled, nil
	}
}

// goesThroughProxy asks the environment the way the library does: by the port,
// for either kind of proxy.
func goesThroughProxy(proxyOf func(*url.URL) (*url.URL, error), address string) bool {
	scheme := "http"
	if _, port, err := net.SplitHostPort(address); err == nil && port == "443" {
		scheme = "https"
	}
	proxy, err := proxyOf(&url.URL{Scheme: scheme, Host: address})
	return err != nil || proxy != nil
}

// held is a connection taken from the pool.
type held struct {
	net.Conn
	// plain is the connection itself if nothing lies over it, such as TLS.
	plain  *conn
	reused bool
	done   func(reuse bool)
}

// acquire takes an idle connection that is still open, or dials.
func (h *host) acquire(timeout time.Duration) (*held, error) {
	for {
		pooled, err := h.pool.AcquireConn(timeout, false)
		if err != nil {
			return nil, err
		}
		dialled := underlying(pooled.Conn())
		if dialled != nil && dialled.lease != nil {
			dialled.lease.reused = true
			if dialled.closedByPeer() {
				dialled.lease.done(false)
				continue
			}
			return dialled.lease, nil
		}
		lease := &held{Conn: pooled.Conn(), done: func(reuse bool) {
			if reuse {
				h.pool.ReleaseConn(pooled)
			} else {
				h.pool.CloseConn(pooled)
			}
		}}
		if dialled != nil {
			dialled.lease = lease
		}
		lease.plain, _ = pooled.Conn().(*conn)
		return lease, nil
	}
}

func underlying(c net.Conn) *conn {
	if wrapped, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = wrapped.NetConn()
	}
	dialled, _ := c.(*conn)
	return dialled
}

// unanswered reports an exchange on which not one byte of a reply arrived
// because the provider had closed the connection.
func unanswered(err error) bool {
	return errors.Is(err, errNoAnswer) || errors.Is(err, syscall.EPIPE) ||
		(errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.ErrUnexpectedEOF))
}
