package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	sessions "warmpath/fixtures/session"
	"warmpath/fixtures/session/deck"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

const recordUsage = `usage: warmpath record --out DIR [flags] [-- COMMAND ARG...]

Runs the gateway with a recorder around it, and writes what passes on both of its
sides to a tape: a folder of JSON files that a diff can show. With a COMMAND, it
runs that with the variables that lead agents to the gateway (on free ports
unless --listen and --admin name others), ends with it, and has its exit code;
without, it prints the variables, and ends at Ctrl-C.

Keys, tokens, cookies, and names of users, organisations, sessions and requests
become placeholders of the same length before anything is written, and so do the
values of variables whose names say that they hold a secret; what only a provider
can read becomes a hash. Prompts and replies stay as they are: look at a tape
before you publish it, and see --mask and --hide.

Play it again with warmpath replay. The flags of warmpath serve count here, too;
nothing is remembered beyond the recording.

`

// recording are the flags of record besides those of serve.
type recording struct {
	out, tape, about, client, provider string
	force, refresh, keepOpaque, mask   bool
	hide, vary                         []string
	sources                            *config.Sources
	command                            []string
	stdout, stderr                     io.Writer
	known                              *sessions.Tape
	before                             sessions.Manifest
}

// modes are what can be made of a tape.
var modes = []string{"record", "refresh", "replay", "passthrough"}

func (r *recording) bind(set *flag.FlagSet) {
	set.StringVar(&r.out, "out", "", "`folder` of the tape")
	set.BoolVar(&r.force, "force", false, "record over a tape that is there")
	set.BoolVar(&r.refresh, "refresh", false, "keep what the tape has: ask providers only for what it lacks (the same as --tape refresh)")
	set.StringVar(&r.tape, "tape", "", "`what` to do: record, refresh, replay (needs a COMMAND, asks no provider) or passthrough (writes nothing) (WARMPATH_TAPE, default record)")
	set.BoolVar(&r.keepOpaque, "keep-opaque", false, "keep signatures and encrypted contents")
	set.BoolVar(&r.mask, "mask", false, "mask system prompts and the descriptions of tools letter by letter")
	set.StringVar(&r.about, "about", "", "`sentence` about the session, for people")
	set.StringVar(&r.client, "client", "", "`name` of the client with its version (default: what it calls itself)")
	set.StringVar(&r.provider, "provider", "", "`name` of who answers, simulated for a simulated provider (default: the hosts)")
	set.Func("hide", "`text` that must not be on the tape; may be repeated", func(text string) error {
		if len(text) < 8 {
			return errors.New("it is too short to be told from other words; give at least 8 characters")
		}
		r.hide = append(r.hide, text)
		return nil
	})
	bindVary(set, &r.vary)
}

// bindVary adds the flag for what tapes are not held to.
func bindVary(set *flag.FlagSet, vary *[]string) {
	set.Func("vary", "regular `expression` of what differs from run to run, such as a date; may be repeated", func(text string) error {
		_, err := regexp.Compile(text)
		*vary = append(*vary, text)
		return err
	})
}

func record(args []string, stdout, stderr io.Writer) int {
	signals, ignore := stopSignals()
	defer ignore()
	return recordUntil(signals, args, stdout, stderr)
}

// recordUntil is record with its signals given, so that tests can send them.
func recordUntil(signals <-chan os.Signal, args []string, stdout, stderr io.Writer) int {
	args, command := cutCommand(args)
	r := &recording{command: command, stdout: stdout, stderr: stderr}
	r.sources = config.NewSources(freePorts(len(command) > 0))
	set := flag.NewFlagSet("record", flag.ContinueOnError)
	r.sources.Bind(set)
	r.bind(set)
	if code, ok := parseFlags(set, recordUsage, args, stdout, stderr); !ok {
		return code
	}
	if err := r.settle(set.Args()); err != nil {
		fmt.Fprintf(stderr, "warmpath record: %v; see warmpath help record\n", err)
		return exitUsage
	}
	if r.tape == "replay" {
		return (&replaying{folders: []string{r.out}, vary: r.vary, command: r.command, stdout: stdout, stderr: stderr}).run(signals)
	}
	if err := r.look(); err != nil {
		fmt.Fprintln(stderr, "warmpath record:", err)
		return exitFailure
	}
	return r.run(signals)
}

// settle finds out what to do.
func (r *recording) settle(rest []string) error {
	if r.tape == "" {
		r.tape = os.Getenv("WARMPATH_TAPE")
	}
	if r.tape == "" {
		r.tape = "record"
	}
	known := false
	for _, mode := range modes {
		known = known || mode == r.tape
	}
	if r.refresh && r.tape == "record" {
		r.tape = "refresh"
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("takes no %q; a command stands behind --", rest[0])
	case !known:
		return fmt.Errorf("cannot %q; --tape is one of %s", r.tape, strings.Join(modes, ", "))
	case r.out == "" && r.tape != "passthrough":
		return errors.New("needs --out, the folder of the tape")
	case r.tape == "replay" && len(r.command) == 0:
		return errors.New("needs a command to replay against; warmpath replay serves a tape without one")
	}
	return nil
}

// look looks for a tape in the folder.
func (r *recording) look() error {
	_, err := os.Stat(filepath.Join(r.out, "manifest.json"))
	there := err == nil && r.out != ""
	switch {
	case r.tape == "record" && there && !r.force:
		return fmt.Errorf("there is a tape in %s: --refresh records what it lacks, --force records it anew", r.out)
	case there && r.tape == "refresh":
		r.known, err = sessions.Load(r.out)
		return err
	case there && r.tape == "record":
		// What people have written into a manifest stays.
		if old, err := sessions.Load(r.out); err == nil {
			r.before = sessions.Manifest{Expect: old.Manifest.Expect, Vary: old.Manifest.Vary, About: old.Manifest.About}
		}
	case r.tape == "record" && r.out != "":
		// Better now than when everything was said.
		if err := os.MkdirAll(r.out, 0o750); err != nil {
			return fmt.Errorf("making the folder of the tape: %w", err)
		}
	}
	return nil
}

func (r *recording) run(signals <-chan os.Signal) int {
	cfg, err := config.Load(r.sources)
	if err != nil {
		fmt.Fprintln(r.stderr, err)
		return exitFailure
	}
	options := gateway.Options{Log: slog.New(slog.NewTextHandler(r.stderr, nil)), Version: version()}
	if len(r.command) == 0 {
		options.Lines = r.stdout
	}
	running, err := deck.Record(deck.RecordOptions{
		Config: cfg, Options: options, Folder: r.out, Over: r.force, Known: r.known, Manifest: r.manifest(),
		Scrubber: sessions.Scrubber{Secrets: append(secretVariables(os.Environ()), r.hide...), Words: !r.masks(), Opaque: r.keepOpaque},
	})
	if err != nil {
		fmt.Fprintln(r.stderr, "warmpath record:", err)
		return exitFailure
	}
	code := exitOK
	if len(r.command) > 0 {
		code = runCommand(r.command, running.Clients, nil, signals, r.stdout, r.stderr)
	} else {
		printBanner(r.stdout, cfg, running.Clients, running.Admin)
		if r.tape == "passthrough" {
			fmt.Fprintf(r.stdout, "Nothing is recorded. Ctrl-C ends it.\n\n")
		} else {
			fmt.Fprintf(r.stdout, "Recording to %s. Ctrl-C ends it and writes the tape.\n\n", r.out)
		}
		<-signals
	}
	return r.end(running, code)
}

// masks reports whether what agents are told is masked.
func (r *recording) masks() bool { return r.mask || r.known != nil && r.known.Manifest.Masked }

func (r *recording) manifest() sessions.Manifest {
	m := r.before
	if r.known != nil {
		m = r.known.Manifest
		m.Betas, m.Model, m.Dialect, m.Date = nil, "", "", ""
	}
	m.Recorder = "warmpath record"
	for _, pattern := range r.vary {
		if !slices.Contains(m.Vary, pattern) {
			m.Vary = append(m.Vary, pattern)
		}
	}
	for _, given := range []struct {
		to   *string
		text string
	}{{&m.About, r.about}, {&m.Client, r.client}, {&m.Provider, r.provider}} {
		if given.text != "" {
			*given.to = given.text
		}
	}
	return m
}

// end writes the tape. The command's exit code has the last word, unless there is no tape.
func (r *recording) end(running *deck.Recording, code int) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if r.tape == "passthrough" {
		if err := running.Discard(); err != nil {
			fmt.Fprintln(r.stderr, "warmpath record:", err)
			return exitFailure
		}
		return code
	}
	tape, fresh, err := running.End(ctx)
	if err != nil {
		_ = os.Remove(r.out) // which is empty, or else stays
		fmt.Fprintln(r.stderr, "warmpath record:", err)
		return max(code, exitFailure)
	}
	calls := 0
	for i := range tape.Exchanges {
		calls += len(tape.Exchanges[i].Calls)
	}
	told := fmt.Sprintf("recorded %s with %s of providers to %s", plural(len(tape.Exchanges), "request"), plural(calls, "call"), tape.Folder)
	if tape.Folder != r.out {
		told += ", since there is another tape in " + r.out + " by now"
	}
	if r.known != nil {
		told += fmt.Sprintf("; %d calls are new", fresh)
	}
	fmt.Fprintln(r.stderr, "warmpath record: "+told)
	return code
}

// cutCommand takes the command off that stands behind --.
func cutCommand(args []string) (flags, command []string) {
	for i, arg := range args {
		if arg == "--" {
			return args[:i], args[i+1:]
		}
	}
	return args, nil
}

// freePorts is the environment; for a command that is run, the gateway listens on free
// ports where nothing else is said.
func freePorts(free bool) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := os.LookupEnv(name)
		if free && value == "" && (name == "WARMPATH_LISTEN" || name == "WARMPATH_ADMIN") {
			return "127.0.0.1:0", true
		}
		return value, ok
	}
}

// holdsSecret is what variables are called whose values must not be on a tape.
var holdsSecret = regexp.MustCompile(`(?i)(?:key|token|secret|pass(?:w(?:or)?d|phrase)?|credentials?|auth|cookie|_pwd)(?:_|$)`)

// secretVariables are the values of such variables.
func secretVariables(environment []string) (secrets []string) {
	for _, v := range environment {
		if name, value, _ := strings.Cut(v, "="); holdsSecret.MatchString(name) && !filepath.IsAbs(value) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// runCommand runs an agent with the variables that lead it to a gateway.
func runCommand(args []string, clients string, defaults []string, signals <-chan os.Signal, stdout, stderr io.Writer) int {
	base := "http://" + reachable(clients)
	c := deck.Command{Args: args, Default: defaults, Stdin: os.Stdin, Stdout: stdout, Stderr: stderr}
	for _, line := range exports(base) {
		c.Set = append(c.Set, strings.TrimPrefix(line, "export "))
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		c.Set = append(c.Set, name+"="+strings.TrimPrefix(os.Getenv(name)+",127.0.0.1,localhost", ","))
	}
	code, err := c.Run(context.Background(), signals)
	if err != nil {
		fmt.Fprintln(stderr, "warmpath:", err)
		return exitFailure
	}
	return code
}
