package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	sessions "warmpath/fixtures/session"
	"warmpath/fixtures/session/deck"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

const replayUsage = `usage: warmpath replay [flags] DIR...
       warmpath replay [flags] DIR... -- COMMAND ARG...
       warmpath replay --drive [flags] DIR...

Plays tapes that warmpath record has made. Nothing is fetched from the network.
DIR is a tape, or a folder with tapes below it.

The first form serves what providers have answered at an address: whoever asks the
same gets the same reply. Any other request is a miss: the error says which
exchange is nearest, and what differs.

The second runs an agent against a gateway before such a provider: the gateway as
it is on the tape, or as the flags of warmpath serve say. Keys that are not set are
made up. The exit code is the command's; but 1 for a miss, for an exchange that
nobody asked for, and for what is expected in vain.

The third plays the clients' side, too, against a gateway that is built anew, and
compares all that it sends and answers with the tape: each byte, the counters, and
what the manifest expects.

`

// replaying are the flags of replay besides those of serve.
type replaying struct {
	addr, junit               string
	drive, ci, update, unused bool
	vary                      []string
	delivery                  sessions.Delivery
	sources                   *config.Sources // nil is the gateway of the tapes
	folders, command          []string
	stdout, stderr            io.Writer
}

func (r *replaying) bind(set *flag.FlagSet) {
	set.BoolVar(&r.drive, "drive", false, "play the clients' side, too, and compare")
	set.BoolVar(&r.ci, "ci", false, "end at the first difference, and print nothing but that")
	set.StringVar(&r.junit, "junit", "", "`file` to write the results to, as JUnit's XML")
	set.BoolVar(&r.update, "update", false, "with --drive, write counters and hashes of the tapes anew")
	set.StringVar(&r.addr, "addr", "127.0.0.1:9200", "`address` that the provider listens on, without a command")
	set.BoolVar(&r.unused, "allow-unused", false, "let the command leave exchanges out")
	set.Func("pace", "`speed` of the replies: instant (the default), recorded, or xN for N times as fast", r.delivery.ParsePace)
	set.Func("damage", "what befalls the replies: a `list` of split=SEED, crlf, cut=BYTES, stall, error=overloaded", r.delivery.ParseDamage)
	bindVary(set, &r.vary)
}

func replay(args []string, stdout, stderr io.Writer) int {
	signals, ignore := stopSignals()
	defer ignore()
	return replayUntil(signals, args, stdout, stderr)
}

// replayUntil is replay with its signals given, so that tests can send them.
func replayUntil(signals <-chan os.Signal, args []string, stdout, stderr io.Writer) int {
	args, command := cutCommand(args)
	r := &replaying{command: command, stdout: stdout, stderr: stderr}
	sources := config.NewSources(os.LookupEnv)
	set := flag.NewFlagSet("replay", flag.ContinueOnError)
	sources.Bind(set)
	ofServe := map[string]bool{}
	set.VisitAll(func(f *flag.Flag) { ofServe[f.Name] = true })
	r.bind(set)
	// Flags may stand behind folders, too.
	for rest := args; ; {
		if code, ok := parseFlags(set, replayUsage, rest, stdout, stderr); !ok {
			return code
		}
		if set.NArg() == 0 {
			break
		}
		r.folders = append(r.folders, set.Arg(0))
		rest = set.Args()[1:]
	}
	set.Visit(func(f *flag.Flag) {
		if ofServe[f.Name] {
			r.sources = sources
		}
	})
	if err := r.check(); err != nil {
		fmt.Fprintf(stderr, "warmpath replay: %v; see warmpath help replay\n", err)
		return exitUsage
	}
	return r.run(signals)
}

func (r *replaying) check() error {
	switch {
	case len(r.folders) == 0:
		return errors.New("needs a DIR, the folder of a tape")
	case r.drive && len(r.command) > 0:
		return errors.New("drives a gateway or runs a command, not both")
	case r.drive && r.sources != nil:
		return errors.New("drives the gateway that is on the tape; its flags count with a command only")
	case r.update && (!r.drive || r.delivery.Fatal()):
		return errors.New("updates with --drive only, and without damages that lose something")
	case r.sources != nil && len(r.command) == 0:
		return errors.New("has no gateway without a command or --drive, so flags of serve mean nothing")
	}
	return nil
}

func (r *replaying) run(signals <-chan os.Signal) int {
	folders, err := deck.Find(r.folders)
	if err != nil {
		fmt.Fprintln(r.stderr, "warmpath replay:", err)
		return exitFailure
	}
	if r.drive {
		return r.driveAll(signals, folders)
	}
	var tapes []*sessions.Tape
	for _, folder := range folders {
		tape, err := deck.Load(folder)
		if err != nil {
			fmt.Fprintln(r.stderr, "warmpath replay:", err)
			return exitFailure
		}
		tapes = append(tapes, tape)
	}
	return r.play(signals, tapes)
}

// play serves the provider, or runs the command.
func (r *replaying) play(signals <-chan os.Signal, tapes []*sessions.Tape) int {
	begun := time.Now()
	var mu sync.Mutex
	o := deck.LiveOptions{Tapes: tapes, Delivery: r.delivery, Vary: r.vary, Missed: func(m *sessions.Miss) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(r.stderr, "warmpath replay: miss:", m)
	}}
	if len(r.command) == 0 {
		o.Provider = r.addr
	}
	if r.sources != nil {
		var err error
		if o.Config, err = config.Load(r.sources); err != nil {
			fmt.Fprintln(r.stderr, err)
			return exitFailure
		}
	}
	o.Options = gateway.Options{Log: slog.New(slog.NewTextHandler(r.stderr, nil)), Version: version()}
	live, err := deck.Play(o)
	if err != nil {
		fmt.Fprintln(r.stderr, "warmpath replay:", err)
		return exitFailure
	}
	code := exitOK
	if len(r.command) > 0 {
		keys := []string{"ANTHROPIC_API_KEY=replayed", "OPENAI_API_KEY=replayed", "GEMINI_API_KEY=replayed"}
		code = runCommand(r.command, live.Clients, keys, signals, r.stdout, r.stderr)
	} else {
		printReplayed(r.stdout, live.Clients, tapes)
		<-signals
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	misses, fault := live.End(ctx, r.unused)
	if len(r.command) == 0 {
		return exitOK
	}
	if len(misses) > 0 {
		fmt.Fprintf(r.stderr, "warmpath replay: %d of the requests are not on tape\n", len(misses))
	}
	if fault != nil {
		fmt.Fprintf(r.stderr, "warmpath replay: the session is not the one on tape:\n%s\n", screen(fault.Error()))
	}
	for i := len(misses) - 1; i >= 0; i-- {
		fault = errors.Join(misses[i], fault)
	}
	if fault != nil {
		code = max(code, exitFailure)
	} else if code != exitOK {
		fault = fmt.Errorf("the command ended with %d", code)
	}
	var results []deck.Result
	for _, t := range tapes {
		results = append(results, deck.Result{Name: t.Folder, Took: time.Since(begun), Fault: fault})
	}
	return r.report(begun, results, code)
}

func printReplayed(to io.Writer, addr string, tapes []*sessions.Tape) {
	calls := 0
	for _, t := range tapes {
		for i := range t.Exchanges {
			calls += len(t.Exchanges[i].Calls)
		}
	}
	origin := "http://" + reachable(addr)
	fmt.Fprintf(to, "%d replies of %d tapes are played on %s. Any key will do; Ctrl-C ends it.\n\n", calls, len(tapes), origin)
	for _, line := range exports(origin) {
		fmt.Fprintln(to, "  "+line)
	}
	fmt.Fprintf(to, "  the gateway: warmpath serve --upstream anthropic=%s\n\n", origin)
}

// driveAll drives tapes, one after the other.
func (r *replaying) driveAll(signals <-chan os.Signal, folders []string) int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-signals:
			stop()
		case <-ctx.Done():
		}
	}()
	to := r.stderr
	if r.ci {
		to = io.Discard
	}
	bar := newProgress(to, "playing", len(folders))
	defer bar.done()
	var results []deck.Result
	begun, failed := time.Now(), 0
	for _, folder := range folders {
		result := deck.Result{Name: folder}
		from := time.Now()
		tape, err := deck.Load(folder)
		if err == nil {
			err = deck.Drive(ctx, tape, deck.DriveOptions{Delivery: r.delivery, Update: r.update})
		}
		result.Took, result.Fault = time.Since(from), err
		results = append(results, result)
		bar.stepOf(folder)
		if err == nil {
			continue
		}
		if failed++; r.ci || ctx.Err() != nil {
			break
		}
	}
	bar.done()
	code := exitOK
	for _, result := range results {
		if result.Fault != nil {
			fmt.Fprintf(r.stderr, "FAIL %s (%.1fs)\n%s\n", result.Name, result.Took.Seconds(), screen(result.Fault.Error()))
			code = exitFailure
		} else if !r.ci {
			fmt.Fprintf(r.stdout, "ok   %s (%.1fs)\n", result.Name, result.Took.Seconds())
		}
	}
	if !r.ci && len(results) > 1 {
		fmt.Fprintf(r.stdout, "%d tapes, %d failed\n", len(results), failed)
	}
	return r.report(begun, results, code)
}

// report writes the results for machines.
func (r *replaying) report(begun time.Time, results []deck.Result, code int) int {
	if r.junit == "" {
		return code
	}
	if err := deck.WriteJUnit(r.junit, begun, results); err != nil {
		fmt.Fprintln(r.stderr, "warmpath replay:", err)
		return exitFailure
	}
	return code
}

// screen is as much of a text as one screen shows.
func screen(text string) string {
	const most, widest = 20, 240
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	cut := all[:min(len(all), most)]
	for i, line := range cut {
		if runes := []rune(line); len(runes) > widest {
			cut[i] = string(runes[:widest]) + "…"
		}
	}
	if n := len(all) - most; n > 0 {
		cut = append(slices.Clone(cut), fmt.Sprintf("… %d lines more", n))
	}
	return "  " + strings.Join(cut, "\n  ")
}
