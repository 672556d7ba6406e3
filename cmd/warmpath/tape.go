package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"warmpath/fixtures/session"
	"warmpath/fixtures/session/imports"
)

const tapeUsage = `usage: warmpath tape show [flags] TAPE...
       warmpath tape diff [flags] OLDER NEWER
       warmpath tape import [flags] LOG... --out DIR

show prints a tape for people: what it holds, and each exchange with what was
asked and what became of it.

diff says what has changed between two tapes in the terms of a cache: the first
request to a provider that does not begin as it did, where and by what, and how
much is processed again for it. It exits with 0 if nothing has, with 1 if
something has, and with 2 for a wrong command line, or a tape that cannot be read.

import makes a tape of a log with requests and replies, as warmpath explain reads
them. It is scrubbed of keys and names as warmpath record does it.

`

// tapeCommands are the commands for tapes.
var tapeCommands = map[string]func(args []string, stdout, stderr io.Writer) int{
	"show": tapeShow, "diff": tapeDiff, "import": tapeImport,
}

// tape picks what to do with tapes.
func tape(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		if command, ok := tapeCommands[args[0]]; ok {
			return command(args[1:], stdout, stderr)
		}
		if args[0] == "-h" || args[0] == "--help" || args[0] == "-help" {
			fmt.Fprint(stdout, tapeUsage)
			fmt.Fprintln(stdout, "Each has flags of its own: warmpath tape show -h")
			return exitOK
		}
	}
	fmt.Fprintln(stderr, "warmpath tape: wants show, diff or import; see warmpath help tape")
	return exitUsage
}

// parseMixed reads flags that may stand before, between and behind the arguments, and
// gives these.
func parseMixed(flags *flag.FlagSet, args []string, stdout, stderr io.Writer) (names []string, code int, ok bool) {
	for {
		if code, ok := parseFlags(flags, tapeUsage, args, stdout, stderr); !ok {
			return nil, code, false
		}
		if flags.NArg() == 0 {
			return names, exitOK, true
		}
		names, args = append(names, flags.Arg(0)), flags.Args()[1:]
	}
}

// tapeImport makes a tape of a log.
func tapeImport(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("tape import", flag.ContinueOnError)
	out := flags.String("out", "", "the `folder` to write; what is in it is replaced")
	words := flags.Bool("keep-words", false, "keep what the agent is told by its makers: it is masked else")
	about := flags.String("about", "", "what the tape is, in a `sentence`, for its manifest")
	names, code, ok := parseMixed(flags, args, stdout, stderr)
	switch {
	case !ok:
		return code
	case len(names) == 0 || *out == "":
		fmt.Fprintln(stderr, "warmpath tape import: wants a log, and --out with a folder; see warmpath help tape")
		return exitUsage
	}
	if entries, err := os.ReadDir(*out); err == nil && len(entries) > 0 && !imports.IsTape(*out) {
		fmt.Fprintf(stderr, "warmpath tape import: %s is no tape, and not empty\n", *out)
		return exitFailure
	}
	taper, log, err := taped(names, stderr)
	if err == nil {
		err = writeTape(taper, *out, *about, &session.Scrubber{Words: *words}, stdout)
	}
	for i, fault := range lacking(taper) {
		if i == mostFaults {
			fmt.Fprintf(stderr, "… and %d more\n", len(taper.Lacking)-mostFaults)
			break
		}
		fmt.Fprintln(stderr, "left out: "+fault.Error())
	}
	if err != nil {
		fmt.Fprintln(stderr, "warmpath tape import:", err)
		if log != nil && errors.Is(err, imports.ErrNoReplies) && len(taper.Lacking) == 0 {
			fmt.Fprintln(stderr, unreadable(log))
		}
		return exitFailure
	}
	return exitOK
}

func lacking(t *imports.Taper) []imports.Fault {
	if t == nil {
		return nil
	}
	return t.Lacking
}

// taped reads logs for a tape.
func taped(names []string, stderr io.Writer) (*imports.Taper, *imports.Log, error) {
	faults := faultLines{to: stderr}
	defer faults.end()
	log, err := imports.Open(names, os.Stdin, true, nil, faults.note)
	if err != nil {
		return nil, nil, err
	}
	taper := &imports.Taper{}
	bar := newMeter(stderr, "importing", log.Bytes)
	err = log.Each(bar.at, func(c *imports.Call) error {
		taper.Add(c)
		return nil
	})
	bar.done()
	return taper, log, errors.Join(err, log.Close())
}

func writeTape(taper *imports.Taper, out, about string, scrub *session.Scrubber, stdout io.Writer) error {
	t, err := taper.Tape(out, scrub)
	if err != nil {
		return err
	}
	if about != "" {
		t.Manifest.About = about
	}
	if err := t.Save(); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %s of %s, %s\n", out, plural(len(t.Exchanges), "exchange"), t.Manifest.Model, t.Manifest.Dialect)
	if taper.Whole > 0 {
		fmt.Fprintf(stdout, "  The log has %s whole where a stream was asked for: it is played whole.\n", plural(taper.Whole, "reply"))
	}
	fmt.Fprintf(stdout, "  warmpath tape show %s\n  warmpath replay %s\n", out, out)
	return nil
}

// loadTapes reads tapes by their folders. A file of one stands for it.
func loadTapes(names []string) (tapes []*session.Tape, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			name = folderOf(name)
		}
		t, err := session.Load(name)
		if err != nil {
			return nil, err
		}
		tapes = append(tapes, t)
	}
	return tapes, nil
}

func folderOf(file string) string {
	if at := strings.LastIndexByte(file, os.PathSeparator); at > 0 {
		return file[:at]
	}
	return "."
}

// printJSON writes a value for tools.
func printJSON(to io.Writer, v any) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
