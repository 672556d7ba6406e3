package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"warmpath/gateway"
	"warmpath/gateway/config"
)

const serveUsage = `usage: warmpath serve [flags]

Runs the gateway until it is told to stop: SIGTERM or SIGINT lets requests
finish, a second one cuts them. SIGHUP loads the configuration again. Each flag
can also be set by the variable in brackets, or in the configuration file; flags
come first, then variables, then the file.

`

func serve(args []string, stdout, stderr io.Writer) int {
	sources := config.NewSources(os.LookupEnv)
	set := flag.NewFlagSet("serve", flag.ContinueOnError)
	sources.Bind(set)
	if code, ok := parseFlags(set, serveUsage, args, stdout, stderr); !ok {
		return code
	}
	if set.NArg() > 0 {
		fmt.Fprintf(stderr, "warmpath serve: takes no %q; see warmpath help serve\n", set.Arg(0))
		return exitUsage
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	return serveUntil(signals, sources, stdout, stderr)
}

// serveUntil is serve with its signals given, so that tests can send them.
func serveUntil(signals <-chan os.Signal, sources *config.Sources, stdout, stderr io.Writer) int {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	cfg, err := config.Load(sources)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailure
	}
	people := stdout
	if cfg.Events == "-" {
		people = stderr // what reads the events reads nothing else
	}
	g, err := gateway.New(cfg, gateway.Options{Log: log, Lines: people, Events: stdout, Version: version()})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailure
	}
	if err := g.Start(); err != nil {
		fmt.Fprintln(stderr, err)
		// Nothing is under way, so there is nothing to wait for.
		_ = g.Stop(context.Background())
		return exitFailure
	}
	printBanner(people, cfg, g.Addr(), g.AdminAddr())
	warn(log, cfg)
	for s := range signals {
		if s == syscall.SIGHUP {
			cfg = reload(log, g, sources, cfg)
			continue
		}
		log.Info("stopping: requests may finish", "for", cfg.Timeouts.Drain, "signal", s.String())
		return stop(log, g, cfg, signals)
	}
	return exitOK
}

func warn(log *slog.Logger, cfg *config.Config) {
	for _, warning := range cfg.Warnings {
		log.Warn(warning)
	}
}

// reload loads the configuration again. A faulty one changes nothing.
func reload(log *slog.Logger, g *gateway.Gateway, sources *config.Sources, old *config.Config) *config.Config {
	cfg, err := config.Load(sources)
	var problems config.Problems
	switch {
	case errors.As(err, &problems):
		for _, p := range problems {
			log.Error("the configuration is faulty: " + p.String())
		}
		log.Error("the old configuration stays", "problems", len(problems))
		return old
	case err != nil:
		log.Error("the old configuration stays", "cause", err)
		return old
	}
	for _, sentence := range g.Reload(cfg) {
		log.Warn(sentence)
	}
	log.Info("the configuration is loaded again")
	warn(log, cfg)
	return cfg
}

// stop drains the gateway for the configured time. A second signal ends the
// wait, a third the process, whatever still hangs.
func stop(log *slog.Logger, g *gateway.Gateway, cfg *config.Config, signals <-chan os.Signal) int {
	ctx, cancel := context.WithTimeout(context.Background(), cfg.Timeouts.Drain)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- g.Stop(ctx) }()
	for {
		select {
		case err := <-stopped:
			if err != nil && ctx.Err() == nil {
				log.Error("stopping went wrong", "cause", err)
				return exitFailure
			}
			if err != nil {
				log.Warn("requests that had not finished were cut")
			}
			log.Info("stopped")
			return exitOK
		case s := <-signals:
			if s == syscall.SIGHUP {
				continue
			}
			if ctx.Err() != nil {
				return exitFailure
			}
			cancel()
		}
	}
}
