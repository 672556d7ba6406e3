// Package gateway is the whole process as a value: built from a configuration,
// started, asked for its addresses, reloaded and stopped. Two of them fit into
// one process.
package gateway

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"warmpath/cache"
	"warmpath/cache/eventlog"
	"warmpath/cache/ledger"
	"warmpath/cache/lineage"
	"warmpath/cache/replies"
	"warmpath/cache/verdicts"
	"warmpath/gateway/config"
	"warmpath/gateway/console"
	"warmpath/gateway/front"
	"warmpath/gateway/prompt"
	"warmpath/gateway/relay"
	"warmpath/gateway/tools"
	"warmpath/gateway/tools/mcp"
	"warmpath/gateway/upstream"
	"warmpath/metrics"
	"warmpath/metrics/otlp"
)

// Options is what a gateway gets besides its configuration.
type Options struct {
	// Log takes warnings and faults; nil discards them.
	Log *slog.Logger
	// Lines takes one line for each request; nil writes none. The
	// configuration's Quiet has the last word.
	Lines io.Writer
	// Events is where the event log goes if the configuration names it -; nil
	// writes none then.
	Events io.Writer
	// Store is where conversations are remembered, and is closed by Stop; nil
	// makes one of memory.
	Store cache.Store
	// Tools are tools of the embedding program, which routes name like those of the
	// gateway's own; they count in place of those.
	Tools []tools.Tool
	// Version is what the console says is running.
	Version string
	// Via is where requests to all providers go instead, as host:port, without
	// encryption; see upstream.Config.
	Via string
	// FirstList is how long requests wait for servers of tools after those were
	// configured; zero is mcp.DefaultFirstList.
	FirstList time.Duration
}

// Gateway is one running, or not yet running, gateway.
type Gateway struct {
	config atomic.Pointer[config.Config]
	first  *config.Config
	log    *slog.Logger
	lines  *lines
	events *events
	shown  requests
	spans  *otlp.Exporter // nil sends none

	version string
	tools   []tools.Tool // of the embedding program
	metrics *metrics.Metrics
	client  *upstream.Client
	store   cache.Store
	prompts *prompt.Book
	// transcripts is the log of conversations; nil where none is kept.
	transcripts *eventlog.Log
	relay       *relay.Relay
	servers     *mcp.Servers
	front       *front.Server
	console     *console.Server

	mu      sync.Mutex // guards what follows, and the order of start and stop
	clients *net.TCPListener
	admin   net.Listener
	serving sync.WaitGroup
	state   state
	started time.Time
}

type state uint8

const (
	built state = iota
	running
	draining
	stopped
)

// New builds a gateway and opens nothing but its logs, its store and what it needs
// to watch clients.
// Stop must be called even if Start is not.
func New(cfg *config.Config, opts Options) (*Gateway, error) {
	g := &Gateway{log: opts.Log, lines: &lines{to: opts.Lines}, version: opts.Version, tools: opts.Tools}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.events = &events{log: g.log, standard: opts.Events}
	if err := g.events.open(cfg.Events); err != nil {
		return nil, err
	}
	var err error
	if g.transcripts, err = openTranscripts(cfg, g.log); err != nil {
		g.events.close()
		return nil, err
	}
	g.config.Store(cfg)
	g.first = cfg
	g.lines.quiet.Store(cfg.Quiet)
	registry := metrics.NewRegistry()
	g.metrics = metrics.New(registry, cfg.Catalog.Providers(), cfg.Catalog.Models())
	g.client = upstream.New(upstream.Config{
		Connect: cfg.Timeouts.UpstreamConnect,
		Head:    cfg.Timeouts.UpstreamHeader,
		Via:     opts.Via,
	})
	if opts.Store == nil {
		store, err := openStore(cfg, g.log)
		if err != nil {
			g.events.close()
			g.closeTranscripts()
			return nil, err
		}
		opts.Store = store
	}
	g.store = cache.NewGuard(opts.Store, cache.GuardOptions{Deadline: cfg.Timeouts.Store, OnFailure: func(op cache.Op, why cache.Reason) {
		g.metrics.StoreFailed(string(op), string(why))
	}, OnAnswer: func(op cache.Op, took time.Duration) { g.metrics.StoreAnswered(string(op), took) }})
	g.prompts = prompt.New(prompt.Options{Settings: cfg.Prompts, Counter: g.metrics, Log: g.log, Board: boardOf(opts.Store)})
	memory := lineage.New(g.store, conversationLife)
	g.servers = g.newServers(opts.FirstList)
	g.relay = relay.New(g.relaySettings(cfg), g.client, g.metrics, memory, g.observe)
	if g.front, err = front.New(g.frontConfig(cfg), g.relay, g.metrics, g.log); err == nil && cfg.Collector != "" {
		g.spans, err = otlp.Open(context.Background(), otlp.Config{Endpoint: cfg.Collector, Version: g.version, Log: g.log}, registry)
	}
	if err != nil {
		g.prompts.Close()
		_ = g.store.Close()
		g.events.close()
		g.closeTranscripts()
		return nil, fmt.Errorf("building the gateway: %w", err)
	}
	g.console = console.New(console.Config{
		Gatherer: registry, Ready: g.Ready, Status: g.status, Requests: g.shown.newest, Conversations: g.transcripts, Prompts: g.prompts,
		Token: cfg.AdminToken, Public: !config.Loopback(cfg.Admin),
	})
	return g, nil
}

// closeTranscripts ends the log of conversations.
func (g *Gateway) closeTranscripts() {
	if g.transcripts == nil {
		return
	}
	if err := g.transcripts.Close(); err != nil {
		g.log.Warn("closing the log of conversations", "cause", err)
	}
}

// status is what the console shows beside the metrics.
func (g *Gateway) status() console.Status {
	g.mu.Lock()
	started := g.started
	g.mu.Unlock()
	cfg := g.config.Load()
	return console.Status{Version: g.version, Mode: cfg.Mode.String(), Started: started, Providers: cfg.Catalog.Providers(), ToolServers: shownServers(g.servers)}
}

// relaySettings and frontConfig compose what each room is told.
func (g *Gateway) relaySettings(cfg *config.Config) *relay.Settings {
	var kept *replies.Replies
	if cfg.Replies.Keep {
		kept = replies.New(g.store, cfg.Replies.TTL)
	}
	return &relay.Settings{
		Transcripts: g.transcripts,
		Replies:     kept,
		Verdicts:    verdicts.New(g.store, verdictLife),
		Tools:       g.toolSets(cfg),
		Prompts:     g.prompts,
		Ledger:      ledger.New(g.store, conversationLife),
		Catalog:     cfg.Catalog,
		Mode:        cfg.Mode,
		EarlyBetas:  cfg.Continuity.EarlyBetas,
		Marks:       cfg.Continuity.Marks,
		Echoes:      cfg.Continuity.Echoes,
		ColdWait:    cfg.Continuity.ColdWait,
		Diagnostics: cfg.Continuity.Diagnostics,
		Context:     cfg.Records.Context,
		Identify:    cfg.Events != "",
		Traces:      cfg.Collector != "",
		Retries:     cfg.Retries,
		Heartbeat:   cfg.Timeouts.Heartbeat,
		Silence:     cfg.Timeouts.UpstreamIdle,
		DecodedBody: cfg.Limits.DecodedBody,
	}
}

func (g *Gateway) frontConfig(cfg *config.Config) front.Config {
	return front.Config{
		Prompts: g.prompts,
		Headers: cfg.Limits.Headers, Connections: cfg.Limits.Connections,
		Header: cfg.Timeouts.Header, Idle: cfg.Timeouts.Idle, Write: cfg.Timeouts.Write,
		Body: cfg.Limits.Body, InFlight: cfg.Limits.BodiesInFlight, BodyTime: cfg.Timeouts.Body,
		Keys: cfg.AccessKeys, Lends: len(cfg.AccessKeys) == 0 && cfg.Catalog.HasKeys(),
	}
}

// observe is told of every request that is over.
func (g *Gateway) observe(record *relay.Record) {
	g.lines.print(record)
	g.events.write(record)
	g.shown.add(record)
	if g.spans != nil {
		g.spans.Call(spanOf(record))
	}
	if record.Cause != nil && record.Status >= 500 {
		g.log.Warn("a request failed", "provider", record.Provider, "reason", record.Reason.String(), "cause", record.Cause)
	}
}
