package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"warmpath/gateway/config"
)

// Start opens both listeners and begins to serve. It returns as soon as clients
// can connect.
func (g *Gateway) Start() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != built {
		return errors.New("this gateway has been started before; build a new one")
	}
	cfg := g.config.Load()
	clients, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listening for clients: %w; choose another address with --listen", err)
	}
	admin, err := net.Listen("tcp", cfg.Admin)
	if err != nil {
		_ = clients.Close()
		return fmt.Errorf("listening for administration: %w; choose another address with --admin", err)
	}
	g.clients, g.admin, g.started, g.state = clients.(*net.TCPListener), admin, time.Now(), running
	g.servers.Configure(cfg.MCP)
	g.serve(func() error { return g.front.Serve(g.clients) })
	g.serve(func() error { return g.console.Serve(g.admin) })
	return nil
}

func (g *Gateway) serve(run func() error) {
	g.serving.Go(func() {
		if err := run(); err != nil {
			g.log.Error("a listener ended", "cause", err)
		}
	})
}

// Addr is the host:port that clients connect to, once started.
func (g *Gateway) Addr() string { return g.address(func() net.Listener { return g.clients }) }

// AdminAddr is the host:port of metrics, health and console, once started.
func (g *Gateway) AdminAddr() string { return g.address(func() net.Listener { return g.admin }) }

func (g *Gateway) address(of func() net.Listener) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == built {
		return ""
	}
	return of().Addr().String()
}

// Ready reports whether the gateway takes new requests.
func (g *Gateway) Ready() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state == running
}

// Reload changes what can be changed while running: catalog, keys, mode,
// limits of bodies, retries, heartbeat. Addresses, data folder and the other
// times stay until a restart; the sentences returned name what did not change.
func (g *Gateway) Reload(cfg *config.Config) (unchanged []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.config.Store(cfg)
	g.lines.quiet.Store(cfg.Quiet)
	g.metrics.Reconfigure(cfg.Catalog.Providers(), cfg.Catalog.Models())
	if g.state == running {
		g.servers.Configure(cfg.MCP)
	}
	g.relay.Configure(g.relaySettings(cfg))
	g.prompts.Configure(cfg.Prompts)
	g.front.Configure(g.frontConfig(cfg))
	unchanged = needsRestart(g.first, cfg)
	if err := g.events.open(cfg.Events); err != nil {
		unchanged = append(unchanged, err.Error()+"; the old one stays")
	}
	return unchanged
}

// needsRestart compares with what the gateway was built from, however often it
// has been reloaded since.
func needsRestart(old, cfg *config.Config) []string {
	var unchanged []string
	for key, differs := range map[string]bool{
		"listen":                    old.Listen != cfg.Listen,
		"admin":                     old.Admin != cfg.Admin,
		"data":                      old.Data != cfg.Data,
		"store":                     old.Store != cfg.Store,
		"log":                       old.Log != cfg.Log,
		"otlp":                      old.Collector != cfg.Collector,
		"admin_token":               old.AdminToken != cfg.AdminToken,
		"limits.headers":            old.Limits.Headers != cfg.Limits.Headers,
		"limits.connections":        old.Limits.Connections != cfg.Limits.Connections,
		"timeouts.header":           old.Timeouts.Header != cfg.Timeouts.Header,
		"timeouts.idle":             old.Timeouts.Idle != cfg.Timeouts.Idle,
		"timeouts.write":            old.Timeouts.Write != cfg.Timeouts.Write,
		"timeouts.upstream_connect": old.Timeouts.UpstreamConnect != cfg.Timeouts.UpstreamConnect,
		"timeouts.store":            old.Timeouts.Store != cfg.Timeouts.Store,
		"timeouts.upstream_header":  old.Timeouts.UpstreamHeader != cfg.Timeouts.UpstreamHeader,
	} {
		if differs {
			unchanged = append(unchanged, key+" changes only with a restart")
		}
	}
	slices.Sort(unchanged)
	return unchanged
}

// closeListeners ends a Serve that had not begun yet when the shutdown came, and
// so knows of none. The others have closed their listener before.
func (g *Gateway) closeListeners() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.clients != nil {
		_ = g.clients.Close()
		_ = g.admin.Close()
	}
}

// Stop drains the gateway: no new clients, requests under way run to their end
// until ctx ends, then streams are told and cut. It can be called at any time
// and more than once.
func (g *Gateway) Stop(ctx context.Context) error {
	g.mu.Lock()
	before := g.state
	if before == draining || before == stopped {
		g.mu.Unlock()
		return nil
	}
	g.state = draining
	g.mu.Unlock()

	// Nobody waits for an answer that may take longer than the drain: whoever asks is
	// told at once, and can ask another gateway.
	g.prompts.Close()
	// The console goes last, so that readiness can be asked for while draining.
	err := g.front.Shutdown(ctx)
	if closing := g.console.Shutdown(context.WithoutCancel(ctx)); err == nil && closing != nil {
		err = closing
	}
	g.client.Close()
	g.closeListeners()
	g.serving.Wait()
	g.servers.Stop()
	if closing := g.store.Close(); err == nil && closing != nil {
		err = closing
	}
	g.events.close()
	g.closeTranscripts()
	if g.spans != nil {
		g.endSpans(ctx)
	}

	g.mu.Lock()
	g.state = stopped
	g.mu.Unlock()
	return err
}
