package main

import (
	"fmt"
	"io"
)

// commands are the lines of the overview. The commands themselves describe
// their flags.
var commands = []struct{ name, summary string }{
	{"serve", "run the gateway"},
	{"demo", "play an agent session without key and network and draw its cache"},
	{"explain", "report on a log or two requests: where the cache breaks, why, what it costs"},
	{"tape", "show a tape, compare two, or make one of a log"},
	{"watch", "show a conversation as a chat, as it goes on, and answer its prompts"},
	{"check", "check a configuration and print what it comes to"},
	{"health", "ask a running gateway whether it is ready, for probes"},
	{"simulate", "serve simulated providers to try agents against"},
	{"record", "record a session of an agent on a tape"},
	{"replay", "play tapes: as a provider, to an agent, or both sides of a gateway"},
	{"version", "print the version"},
	{"help", "print this, or what a command does: warmpath help serve"},
}

// help prints the overview, or the help of one command.
func help(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		printHelp(stdout)
		return exitOK
	}
	for _, c := range commands {
		switch {
		case c.name != args[0]:
		case c.name == "help" || c.name == "version":
			fmt.Fprintf(stdout, "warmpath %s: %s\n", c.name, c.summary)
			return exitOK
		default:
			return run([]string{c.name, "-h"}, stdout, stdout)
		}
	}
	fmt.Fprintf(stderr, "warmpath: there is no command %q; see warmpath help\n", args[0])
	return exitUsage
}

func printHelp(to io.Writer) {
	fmt.Fprint(to, "warmpath is a gateway for the APIs of language models that keeps prompt caches warm.\n\n")
	for _, c := range commands {
		fmt.Fprintf(to, "  warmpath %-9s %s\n", c.name, c.summary)
	}
	fmt.Fprint(to, "\nNothing needs to be configured: start warmpath serve, and give agents the addresses it prints.\n")
}
