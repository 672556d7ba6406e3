package main

import (
	"fmt"
	"io"
	"strings"
)

// signs stand before each kind of difference.
var signs = map[string]string{"added": "+", "removed": "-", "changed": "~", "moved": "↕", "respelled": "≈"}

// drawExplanation prints an explanation for people: the answer first, then what
// it rests on.
func drawExplanation(to io.Writer, e *explanation) {
	paint := coloured(to)
	good, bad, quiet := 0, 2, len(inks)
	if e.Breaks == "" {
		fmt.Fprintf(to, "%s: %s\n", paint(good, "The prefix holds"),
			fmt.Sprintf("%d messages in common, %d newer behind them.", e.Common, e.Newer))
	} else {
		fmt.Fprintf(to, "%s at %s: about %d of %d tokens are processed again.\n", paint(bad, "The prefix breaks"),
			e.Breaks, e.TokensLost, e.TokensLost+e.TokensKept)
	}
	for _, d := range e.Differences {
		name := d.Name
		if name != "" {
			name = " " + name
		}
		fmt.Fprintf(to, "\n  %s %-9s %s%s\n", signs[d.Kind], d.Kind, d.Path, name)
		drawLines(to, d.Old, "-", func(s string) string { return paint(bad, s) })
		drawLines(to, d.New, "+", func(s string) string { return paint(good, s) })
	}
	fmt.Fprintln(to)
	switch through := e.Through; {
	case !through.Keeps:
		fmt.Fprintf(to, "Through warmpath: a new prefix as well (%s).\n", through.Reason)
	case through.Directive != nil:
		fmt.Fprintf(to, "%s: the prefix stays, and a directive of about %d tokens is appended:\n", paint(good, "Through warmpath"), through.Tokens)
		fmt.Fprintf(to, "  %s\n", paint(quiet, string(through.Directive)))
	case through.Frozen:
		fmt.Fprintf(to, "%s: the prefix stays, sent as it was first written.\n", paint(good, "Through warmpath"))
	default:
		fmt.Fprintln(to, "Through warmpath: sent as it is.")
	}
}

// most is how many lines of a text are shown.
const most = 12

func drawLines(to io.Writer, text, sign string, paint func(string) string) {
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(to, "      … %d lines more\n", len(lines)-most)
			return
		}
		fmt.Fprintf(to, "      %s\n", paint(sign+" "+line))
	}
}
