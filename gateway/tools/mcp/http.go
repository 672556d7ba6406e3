package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// remote is the transport to a server by HTTP. It adds the configured headers, and
// keeps what the library would lose of the replies.
type remote struct {
	config *Config
	base   *http.Transport
	// life ends with the connection, and cut ends it.
	life context.Context //nolint:containedctx // the library has no way to end its requests
	cut  context.CancelFunc
	// gone are the calls that met a session which the server no longer has.
	gone sync.Map
}

// errUnreachable is of a server that could not be spoken to at all.
var errUnreachable = errors.New("the server cannot be reached")

func newRemote(c *Config) *remote {
	life, cut := context.WithCancel(context.Background())
	return &remote{config: c, life: life, cut: cut, base: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: c.Connect}).DialContext,
		TLSHandshakeTimeout: c.Connect,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        8,
		IdleConnTimeout:     90 * time.Second,
	}}
}

// transport is that of one connection.
func (r *remote) transport() protocol.Transport {
	return &protocol.StreamableClientTransport{
		Endpoint:     r.config.URL.Reveal(),
		HTTPClient:   &http.Client{Transport: r, CheckRedirect: sameOrigin},
		MaxEventSize: 2 * largestMessage,
	}
}

// sameOrigin follows a server to another path, and to no other server: the headers
// are meant for this one.
func sameOrigin(r *http.Request, before []*http.Request) error {
	const most = 3
	if first := before[0].URL; r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(before) > most {
		return http.ErrUseLastResponse
	}
	return nil
}

// RoundTrip sends a request with the configured headers.
func (r *remote) RoundTrip(request *http.Request) (*http.Response, error) {
	call := ""
	if request.Method == http.MethodPost && request.GetBody != nil {
		if body, err := request.GetBody(); err == nil {
			message, _ := io.ReadAll(body)
			call = gjson.GetBytes(message, "params._meta."+strings.ReplaceAll(callKey, "/", `\/`)).Str
		}
	}
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(r.life, cancel)
	end := func() { stop(); cancel() }
	request = request.Clone(ctx)
	for name, value := range r.config.Headers {
		request.Header.Set(name, value.Reveal())
	}
	response, err := r.base.RoundTrip(request)
	if err != nil {
		end()
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	response.Body = &ending{response.Body, end}
	if response.StatusCode == http.StatusNotFound && call != "" && request.Header.Get("Mcp-Session-Id") != "" {
		r.gone.Store(call, true)
	}
	switch media := mediaType(response.Header.Get("Content-Type")); {
	case response.StatusCode != http.StatusOK:
		// An error's text is read whole.
		response.Body = &bounded{response.Body, 64 << 10}
	case media == "application/json":
		response.Body = &whole{from: &bounded{response.Body, largestMessage}, call: call}
	case media == "text/event-stream":
		response.Body = &eventStream{from: response.Body, call: call, lines: bufio.NewReader(response.Body)}
	}
	return response, nil
}

// missed reports, once, whether a call has met a session that is gone, and so has done
// nothing.
func (r *remote) missed(call string) bool {
	_, gone := r.gone.LoadAndDelete(call)
	return gone
}

// ending is a body that ends its request's context when it is closed.
type ending struct {
	io.ReadCloser
	end func()
}

func (e *ending) Close() error {
	defer e.end()
	return e.ReadCloser.Close() //nolint:wrapcheck // it is the body's own
}

// bounded is a body that may have so many bytes.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLarge
	}
	n, err := b.ReadCloser.Read(into[:min(len(into), b.left)])
	b.left -= n
	return n, err
}

// whole is a body of one message, which is read before any of it is given.
type whole struct {
	from io.ReadCloser
	call string
	rest *bytes.Reader
}

func (w *whole) Read(into []byte) (int, error) {
	if w.rest == nil {
		message, err := io.ReadAll(w.from)
		if err != nil {
			return 0, err
		}
		w.rest = bytes.NewReader(kept(message, w.call))
	}
	return w.rest.Read(into)
}

func (w *whole) Close() error { return w.from.Close() }

// eventStream is a body of events. Ids and retry times pass as they come, and data as
// the library is to read it.
type eventStream struct {
	from  io.ReadCloser
	call  string
	lines *bufio.Reader
	rest  []byte
	err   error
}

func (e *eventStream) Read(into []byte) (int, error) {
	for len(e.rest) == 0 && e.err == nil {
		e.rest, e.err = e.event(e.rest[:0])
	}
	if len(e.rest) == 0 {
		return 0, e.err
	}
	n := copy(into, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *eventStream) Close() error { return e.from.Close() }

// event appends the next event, or what there is of it when the stream ends.
func (e *eventStream) event(dst []byte) ([]byte, error) {
	var data []byte
	has, size := false, 0
	for {
		line, err := e.line(&size)
		value, isData := bytes.CutPrefix(line, []byte("data:"))
		if isData {
			if has {
				data = append(data, '\n')
			}
			data, has = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		}
		ended := err != nil || len(line) == 0
		if ended && has {
			// A line break in JSON stands between values, where a space is as good.
			message := bytes.ReplaceAll(kept(data, e.call), []byte("\n"), []byte(" "))
			dst = append(append(append(dst, "data: "...), message...), '\n')
		}
		if !isData && len(line) > 0 || err == nil && len(line) == 0 {
			dst = append(append(dst, line...), '\n')
		}
		if ended {
			return dst, err
		}
	}
}

// line is the next line without its end. All lines of an event together may have no
// more than the largest message.
func (e *eventStream) line(size *int) (line []byte, err error) {
	for {
		part, err := e.lines.ReadSlice('\n')
		line = append(line, part...)
		if *size += len(part); *size > largestMessage {
			return nil, errLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}
