package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes. Usage is for a command line that cannot be understood, and breaks for a
// session whose cache broke, where that was asked to be a failure.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitBreaks  = 3
)

// run is the program: it picks the command and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		printHelp(stderr)
		return exitUsage
	}
	name, args := args[0], args[1:]
	switch name {
	case "serve":
		return serve(args, stdout, stderr)
	case "demo":
		return demo(args, stdout, stderr)
	case "explain":
		return explain(args, stdout, stderr)
	case "tape":
		return tape(args, stdout, stderr)
	case "watch":
		return watchCommand(args, stdout, stderr)
	case "check":
		return check(args, stdout, stderr)
	case "health":
		return health(args, stdout, stderr)
	case "simulate":
		return simulate(args, stdout, stderr)
	case "record":
		return record(args, stdout, stderr)
	case "replay":
		return replay(args, stdout, stderr)
	case "version", "-version", "--version":
		return printVersion(stdout)
	case "help", "-h", "-help", "--help":
		return help(args, stdout, stderr)
	}
	fmt.Fprintf(stderr, "warmpath: there is no command %q; see warmpath help\n", name)
	return exitUsage
}

// parseFlags reads a command's flags. It returns false, and the exit code, when
// there is nothing left to do: help was asked for, or a flag is wrong.
func parseFlags(set *flag.FlagSet, usage string, args []string, stdout, stderr io.Writer) (code int, ok bool) {
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		set.SetOutput(stdout)
		set.PrintDefaults()
		return exitOK, false
	case err != nil:
		fmt.Fprintf(stderr, "warmpath %s: %v; see warmpath help %s\n", set.Name(), err, set.Name())
		return exitUsage, false
	}
	return exitOK, true
}

// stopSignals are those by which a command is told to end, until ignore is called.
func stopSignals() (signals <-chan os.Signal, ignore func()) {
	all := make(chan os.Signal, 4)
	signal.Notify(all, syscall.SIGINT, syscall.SIGTERM)
	return all, func() { signal.Stop(all) }
}
