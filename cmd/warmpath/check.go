package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"warmpath/gateway/config"
)

const checkUsage = `usage: warmpath check [flags] [FILE]

Checks the configuration that serve would use with the same flags and variables,
and prints what it comes to as YAML, with secrets masked. If there are problems
it lists all of them, and the exit code is 1.

`

func check(args []string, stdout, stderr io.Writer) int {
	sources := config.NewSources(os.LookupEnv)
	set := flag.NewFlagSet("check", flag.ContinueOnError)
	sources.Bind(set)
	if code, ok := parseFlags(set, checkUsage, args, stdout, stderr); !ok {
		return code
	}
	switch set.NArg() {
	case 0:
	case 1:
		sources.File = set.Arg(0)
	default:
		fmt.Fprintln(stderr, "warmpath check: takes one FILE, and flags before it; see warmpath help check")
		return exitUsage
	}
	cfg, err := config.Load(sources)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailure
	}
	text, err := cfg.Explain()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailure
	}
	for _, warning := range cfg.Warnings {
		fmt.Fprintln(stderr, "warning: "+warning)
	}
	if _, err := stdout.Write(text); err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailure
	}
	return exitOK
}
