package main

import (
	"flag"
	"fmt"
	"io"

	"warmpath/cmd/warmpath/watch"
	"warmpath/fixtures/session/imports"
	"warmpath/fixtures/session/report"
)

// tapeDiff compares two tapes.
func tapeDiff(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("tape diff", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON for tools")
	client := flags.Bool("client", false, "compare what clients sent, not what the gateway made of it")
	names, code, ok := parseMixed(flags, args, stdout, stderr)
	switch {
	case !ok:
		return code
	case len(names) != 2:
		fmt.Fprintln(stderr, "warmpath tape diff: wants two tapes, the older and the newer; see warmpath help tape")
		return exitUsage
	}
	tapes, err := loadTapes(names)
	var d *report.Difference
	if err == nil {
		calls := imports.FromTape
		if *client {
			calls = imports.AskedOnTape
		}
		d, err = report.Compare(calls(tapes[0]), calls(tapes[1]))
	}
	if err == nil && *asJSON {
		err = printJSON(stdout, d)
	} else if err == nil {
		drawDifference(&drawing{to: stdout, paint: coloured(stdout), width: watch.TerminalOf(stdout, stderr, showsColour).Width}, d)
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "warmpath tape diff:", err)
		return exitUsage
	case !d.Same():
		return exitFailure
	}
	return exitOK
}

// drawDifference prints a difference: nothing but a line if there is none.
func drawDifference(to *drawing, d *report.Difference) {
	if d.Same() {
		fmt.Fprintf(to.to, "%s: %s begin as they did.\n", to.paint(good, "The same"), plural(d.Older, "request"))
		return
	}
	if d.Differing > 0 {
		fmt.Fprintf(to.to, "%s in exchange %03d at %s: about %s of %s tokens are processed again.\n", to.paint(bad, "The prefix differs"),
			d.Exchange, d.Culprit.Path, short(d.Lost), short(d.Lost+d.Kept))
		more := ""
		if d.More > 0 {
			more = fmt.Sprintf(", and %d more", d.More)
		}
		fmt.Fprintf(to.to, "  %s %s%s\n", signs[d.Culprit.Kind], culprit(d.Culprit), more)
		to.lines(d.Culprit.Old, "-", bad)
		to.lines(d.Culprit.New, "+", good)
		fmt.Fprintf(to.to, "  %d of %s differ.\n", d.Differing, plural(min(d.Older, d.Newer), "request"))
	}
	if d.Older != d.Newer {
		fmt.Fprintf(to.to, "  There were %s, and there are %d.\n", plural(d.Older, "request"), d.Newer)
	}
	fmt.Fprintf(to.to, "  From the cache, by the requests: %.0f%% before, %.0f%% now; %s before, %d now.\n",
		100*d.ReadOlder, 100*d.ReadNewer, plural(d.BreaksOlder, "break"), d.BreaksNewer)
}
