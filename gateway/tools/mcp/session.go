package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

const (
	// lastWithHandshake is the newest version of the protocol that begins with a
	// handshake. Servers that fall over the newest one's first question get it.
	lastWithHandshake = "2025-11-25"
	// mostTools and mostPages bound a list.
	mostTools, mostPages = 512, 64
	// longestDescription bounds what is told of one tool.
	longestDescription = 16 << 10
)

// session is one connection to a server.
type session struct {
	client *protocol.ClientSession
	// process and remote are the two kinds of servers, one of them nil.
	process *process
	remote  *remote
	// ended is closed when the connection is over, and changed says that the list of
	// tools is another.
	ended   chan struct{}
	changed chan struct{}
	// broken says that a server which is reached anew for each call could not be
	// reached.
	broken chan struct{}
	over   sync.Once

	mu sync.Mutex
	// flights are the calls under way, by their tokens.
	flights map[string]*flight
	// asks says that the server has asked for something without saying in which
	// call: from then on it gets one call at a time. Who waits for that is woken by
	// free.
	asks bool
	free chan struct{}
}

// offered is a tool as its server offers it.
type offered struct {
	name       string
	definition rewrite.Tool
}

// open connects to a server, in the newest version of the protocol that both know.
func (s *server) open(ctx context.Context) (*session, error) {
	if !s.handshakes {
		var refused atomic.Bool
		c, err := s.connect(ctx, "", &refused)
		if err == nil || !refused.Load() || ctx.Err() != nil {
			return c, err
		}
		// The server could not bear to be asked before a handshake.
	}
	c, err := s.connect(ctx, lastWithHandshake, new(atomic.Bool))
	s.handshakes = err == nil
	return c, err
}

// connect connects in one version; the empty one is the newest. It sets refused if
// the server did not answer to the first question of that one at all.
func (s *server) connect(ctx context.Context, version string, refused *atomic.Bool) (*session, error) {
	c := &session{
		ended: make(chan struct{}), changed: make(chan struct{}, 1), broken: make(chan struct{}, 1),
		flights: map[string]*flight{}, free: make(chan struct{}),
	}
	client := protocol.NewClient(&protocol.Implementation{Name: "warmpath", Version: s.owner.Version}, &protocol.ClientOptions{
		// Neither roots nor sampling: the gateway lends no files and no model.
		Capabilities: &protocol.ClientCapabilities{},
		ElicitationHandler: func(ctx context.Context, r *protocol.ElicitRequest) (*protocol.ElicitResult, error) {
			return s.elicit(ctx, c, r)
		},
		ToolListChangedHandler: func(context.Context, *protocol.ToolListChangedRequest) { wake(c.changed) },
		MultiRoundTrip:         &protocol.MultiRoundTripOptions{Disabled: true},
	})
	client.AddSendingMiddleware(s.discovers(refused))
	client.AddReceivingMiddleware(refuses)
	var transport protocol.Transport
	var err error
	if s.config.Command != "" {
		if c.process, err = start(&s.config, s.said); err != nil {
			return nil, err
		}
		transport = stdio{c.process}
	} else {
		c.remote = newRemote(&s.config)
		transport = c.remote.transport()
	}
	if c.client, err = client.Connect(ctx, transport, &protocol.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		c.release()
		return nil, fmt.Errorf("connecting: %w", err)
	}
	go func() {
		_ = c.client.Wait()
		close(c.ended)
	}()
	return c, nil
}

// discovers bounds the question that the newest version of the protocol begins with,
// so that a server which leaves it unanswered can still be greeted the old way.
func (s *server) discovers(refused *atomic.Bool) protocol.Middleware {
	return func(next protocol.MethodHandler) protocol.MethodHandler {
		return func(ctx context.Context, method string, request protocol.Request) (protocol.Result, error) {
			if method != "server/discover" {
				return next(ctx, method, request)
			}
			ctx, cancel := context.WithTimeout(ctx, s.config.Connect/4)
			defer cancel()
			result, err := next(ctx, method, request)
			var answer *jsonrpc.Error
			refused.Store(err != nil && !errors.As(err, &answer))
			return result, err
		}
	}
}

// refuses answers what the gateway has not said that it does.
func refuses(next protocol.MethodHandler) protocol.MethodHandler {
	return func(ctx context.Context, method string, request protocol.Request) (protocol.Result, error) {
		switch method {
		case "roots/list", "sampling/createMessage":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client has no " + method}
		}
		return next(ctx, method, request)
	}
}

// wake wakes who waits on a channel with room for one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// enter enters a call among those under way, and waits until it may be made.
func (c *session) enter(f *flight) error {
	for {
		c.mu.Lock()
		if !c.asks || len(c.flights) == 0 {
			c.flights[f.token] = f
			c.mu.Unlock()
			return nil
		}
		free := c.free
		c.mu.Unlock()
		select {
		case <-free:
		case <-f.ctx.Done():
			return f.ctx.Err() //nolint:wrapcheck // the cause says more
		}
	}
}

// exit ends what enter began.
func (c *session) exit(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, f.token)
	close(c.free)
	c.free = make(chan struct{})
}

// asker is the call that a server asks something for: that of a token; without one,
// the only call under way. It is nil if there is none.
func (c *session) asker(token string) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token != "" {
		return c.flights[token]
	}
	c.asks = true
	if len(c.flights) == 1 {
		for _, f := range c.flights {
			return f
		}
	}
	return nil
}

// close ends the connection. Calls under way are waited for, but not for long.
func (c *session) close() {
	c.over.Do(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = c.client.Close()
		}()
		select {
		case <-done:
		case <-time.After(2*patience + time.Second):
		}
		c.release()
		<-done
	})
}

// release lets go of what a connection holds, by force.
func (c *session) release() {
	if c.process != nil {
		_ = c.process.Close()
	}
	if c.remote != nil {
		c.remote.cut()
		c.remote.base.CloseIdleConnections()
	}
}

// list asks for the tools that the server offers, those of the configuration only, in
// the order of their names.
func (c *session) list(ctx context.Context, config *Config) (all []offered, err error) {
	seen := map[string]bool{}
	cursor := ""
	for range mostPages {
		page, err := c.client.ListTools(ctx, &protocol.ListToolsParams{Cursor: cursor})
		if err != nil {
			var answer *jsonrpc.Error
			if errors.As(err, &answer) && answer.Code == jsonrpc.CodeMethodNotFound {
				return nil, nil // a server of other things than tools
			}
			return nil, fmt.Errorf("listing its tools: %w", err)
		}
		usable := map[string]bool{}
		for _, tool := range page.Tools {
			usable[tool.Name] = true
		}
		gjson.GetBytes(rawOf(page.Meta), "tools").ForEach(func(_, tool gjson.Result) bool {
			name, schema := tool.Get("name").Str, tool.Get("inputSchema")
			// What the library has left out asks for headers that cannot be.
			if tool.Get("execution.taskSupport").Str == "required" {
				return true // it gives no result, but a promise to be asked for
			}
			if name == "" || seen[name] || !config.takes(name) || schema.IsObject() && !usable[name] {
				return true
			}
			seen[name] = true
			all = append(all, offered{name, definition(config.Name, name, tool)})
			return len(all) < mostTools
		})
		if cursor = page.NextCursor; cursor == "" || len(all) >= mostTools {
			break
		}
	}
	return all, nil
}

// definition is what a model is told of a tool.
func definition(server, name string, tool gjson.Result) rewrite.Tool {
	text := tool.Get("description").Str
	for _, other := range []string{"title", "annotations.title"} {
		if text == "" {
			text = tool.Get(other).Str
		}
	}
	if len(text) > longestDescription {
		text = text[:longestDescription]
	}
	schema := []byte(`{"type":"object","properties":{}}`)
	if given := tool.Get("inputSchema"); given.IsObject() {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(given.Raw)) == nil {
			schema = compact.Bytes()
		}
	}
	return rewrite.Tool{Name: toolName(server, name), Description: valid(text), Schema: schema}
}
