package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/anthropic"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

const demoUsage = `usage: warmpath demo [flags]

Plays one scripted agent session twice against a simulated provider, straight
and through a gateway, and draws how much of each turn's input came from the
prompt cache, and which turns were refused because the thinking in them had
been made under a prefix that the agent has changed since. It needs no key and
no network.

`

// demo plays one agent session twice against a simulated provider, straight and
// through a gateway, and draws what the prompt cache made of each turn. It needs
// no key and no network.
func demo(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	model := flags.String("model", "claude-opus-5-5", "the simulated `model`")
	if code, ok := parseFlags(flags, demoUsage, args, stdout, stderr); !ok {
		return code
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "warmpath demo: takes no %q; see warmpath help demo\n", flags.Arg(0))
		return exitUsage
	}
	straight, through, err := playBoth(*model, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "warmpath demo:", err)
		return exitFailure
	}
	drawDemo(stdout, *model, straight, through)
	return exitOK
}

// playBoth starts provider and gateway on free ports and plays the session on
// both ways. Each way has a key, and so a cache, of its own.
func playBoth(model string, progress io.Writer) (straight, through []turnUsage, err error) {
	origin, stopProvider, err := startSimulated()
	if err != nil {
		return nil, nil, err
	}
	defer stopProvider()
	base, stopGateway, err := startDemoGateway(origin)
	if err != nil {
		return nil, nil, err
	}
	defer stopGateway()
	bar := newProgress(progress, "playing", 2*len(demoTurns))
	defer bar.done()
	if straight, err = playSession(origin, "demo-straight", model, bar.step); err != nil {
		return nil, nil, fmt.Errorf("playing straight: %w", err)
	}
	if through, err = playSession(base, "demo-through", model, bar.step); err != nil {
		return nil, nil, fmt.Errorf("playing through the gateway: %w", err)
	}
	return straight, through, nil
}

func startSimulated() (origin string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("starting the simulated provider: %w", err)
	}
	server := &http.Server{
		Handler:           anthropic.New(provider.New(provider.Options{}), anthropic.Options{}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// startDemoGateway runs a gateway with defaults, but for its addresses, its
// memory and its provider.
func startDemoGateway(origin string) (base string, stop func(), err error) {
	settings := map[string]string{
		"WARMPATH_LISTEN": "127.0.0.1:0", "WARMPATH_ADMIN": "127.0.0.1:0", "WARMPATH_DATA": config.DataMemory,
		"WARMPATH_QUIET": "true", "WARMPATH_UPSTREAM": "anthropic=" + origin,
	}
	cfg, err := config.Load(config.NewSources(func(name string) (string, bool) {
		value, ok := settings[name]
		return value, ok
	}))
	if err != nil {
		return "", nil, fmt.Errorf("configuring the gateway: %w", err)
	}
	g, err := gateway.New(cfg, gateway.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", nil, err
	}
	stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = g.Stop(ctx)
	}
	if err := g.Start(); err != nil {
		stop()
		return "", nil, err
	}
	return "http://" + g.Addr(), stop, nil
}
