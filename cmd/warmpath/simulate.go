package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/server"
)

const simulateUsage = `usage: warmpath simulate [flags]

Serves simulated providers on one address: the Messages, Responses, Chat
Completions, Gemini and Converse APIs, which keep the real ones' rules, account a
prompt cache, and answer from a script in the prompt. No key is checked, but the
signatures of Converse are: the access key KEY has the secret secret-KEY. Nothing
leaves the machine. GET /sim/requests shows what was asked and what the model saw.

A script stands in the newest user message, as DO[COMMAND; COMMAND; ...]:

  say WORDS, text N, think N     a text, or N tokens of text or thinking
  call NAME {JSON}               a tool call; several are parallel
  search QUERY                   a web search by the provider, with sources
  then                           the next reply, once tools have answered
  stop REASON                    end with length, refusal, pause or filter
  status CODE WORDS              an HTTP error, status 529 times=1 only once
  error TYPE, cut after=N        an error in the stream, its end after N events
  first 2s, slow 50ms            how long the first and every next event take

`

// simulate serves the simulated providers until it is told to stop.
func simulate(args []string, stdout, stderr io.Writer) int {
	signals, ignore := stopSignals()
	defer ignore()
	return simulateUntil(signals, args, stdout, stderr)
}

// simulateUntil is simulate with its signals given, so that tests can send them.
func simulateUntil(signals <-chan os.Signal, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("simulate", flag.ContinueOnError)
	addr := set.String("addr", "127.0.0.1:9100", "`address` to listen on")
	quiet := set.Bool("quiet", false, "do not print a line for each request")
	var damage provider.Damage
	set.Func("damage", "what to do to every stream's bytes: a `list` of crlf, pair and split=N", func(text string) (err error) {
		damage, err = parseDamage(text)
		return err
	})
	if code, ok := parseFlags(set, simulateUsage, args, stdout, stderr); !ok {
		return code
	}
	if set.NArg() > 0 {
		fmt.Fprintf(stderr, "warmpath simulate: takes no %q; see warmpath help simulate\n", set.Arg(0))
		return exitUsage
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintf(stderr, "warmpath simulate: %v; pick another address with --addr\n", err)
		return exitFailure
	}
	var handler http.Handler = server.New(provider.New(provider.Options{Damage: damage}))
	if !*quiet {
		handler = &printed{next: handler, to: stdout}
	}
	printSimulated(stdout, listener.Addr().String())
	return serveSimulated(signals, listener, handler, stderr)
}

func serveSimulated(signals <-chan os.Signal, listener net.Listener, handler http.Handler, stderr io.Writer) int {
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	select {
	case err := <-ended:
		fmt.Fprintf(stderr, "warmpath simulate: %v\n", err)
		return exitFailure
	case <-signals:
	}
	// A scripted stream may be told to stall for hours.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		_ = s.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintf(stderr, "warmpath simulate: %v\n", err)
		return exitFailure
	}
	return exitOK
}

func printSimulated(to io.Writer, addr string) {
	origin := "http://" + addr
	fmt.Fprintf(to, "Simulated providers listen on %s. Any key will do.\n\n", origin)
	fmt.Fprintf(to, "  an agent for the Messages API   ANTHROPIC_BASE_URL=%s\n", origin)
	fmt.Fprintf(to, "  an agent for OpenAI's APIs      OPENAI_BASE_URL=%s/v1\n", origin)
	fmt.Fprintf(to, "  an agent for the Gemini API     GOOGLE_GEMINI_BASE_URL=%s\n", origin)
	fmt.Fprintf(to, "  the gateway                     a provider with the base URL %s\n", origin)
	fmt.Fprintf(to, "  what was asked                  curl %s/sim/requests\n\n", origin)
}

// parseDamage reads a list such as split=7,crlf.
func parseDamage(text string) (provider.Damage, error) {
	var d provider.Damage
	for word := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "crlf" && value == "":
			d.CRLF = true
		case name == "pair" && value == "":
			d.Pair = true
		case name == "split":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return d, fmt.Errorf("split needs a number of bytes, not %q", value)
			}
			d.Split = n
		default:
			return d, errors.New("there is no damage " + strconv.Quote(word))
		}
	}
	return d, nil
}

// printed prints a line for each request that has been answered.
type printed struct {
	next http.Handler
	mu   sync.Mutex
	to   io.Writer
}

// ServeHTTP passes the request on.
func (p *printed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := time.Now()
	seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		// The query is left out: it may hold a key.
		fmt.Fprintf(p.to, "%d %s %s %s\n", seen.status, r.Method, r.URL.Path, time.Since(started).Round(time.Millisecond))
	}()
	p.next.ServeHTTP(seen, r)
}

// statusWriter remembers the status of a reply.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers the status.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a response controller flush.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
