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
		fmt.Fprintf(to, "%s at %s: about %s of %s tokens are processed again (%s).\n\n", paint(bad, "The prefix breaks"),
			e.Breaks, thousands(e.TokensLost), thousands(e.TokensLost+e.TokensKept), e.Reason)
		drawTiers(to, e.Tiers, paint)
	}
	for _, d := range e.Differences {
		fmt.Fprintf(to, "\n  %s %-9s %s%s\n", signs[d.Kind], d.Kind, place(d), paint(quiet, size(d)))
		drawLines(to, "      ", d.Old, "-", func(s string) string { return paint(bad, s) })
		drawLines(to, "      ", d.New, "+", func(s string) string { return paint(good, s) })
	}
	switch through := e.Through; {
	case through.Apart:
		fmt.Fprintf(to, "\n%s: sent as it came, as a conversation of its own (%s).\n", paint(quiet, "Through warmpath"), through.Reason)
	case through.Reason == "":
		fmt.Fprintf(to, "\n%s: the prefix stays.\n", paint(good, "Through warmpath"))
	case through.Reason == "messages_changed", through.Reason == "params_changed":
		fmt.Fprintf(to, "\n%s: tools and system prompt stay, messages are read again (%s).\n", paint(bad, "Through warmpath"), through.Reason)
	default:
		fmt.Fprintf(to, "\n%s: a new prefix as well (%s).\n", paint(bad, "Through warmpath"), through.Reason)
	}
	for _, what := range e.Through.Does {
		fmt.Fprintf(to, "  %s\n", what)
	}
	for _, what := range e.Through.Assumes {
		fmt.Fprintf(to, "  %s\n", paint(quiet, "assuming that "+what))
	}
	if len(e.Through.Directives) > 0 {
		fmt.Fprintf(to, "  appends about %s tokens:\n", thousands(e.Through.Tokens))
	}
	for _, directive := range e.Through.Directives {
		fmt.Fprintf(to, "    %s\n", paint(quiet, string(directive)))
	}
}

// place is where a difference stands, and which tool it is.
func place(d explainedDifference) string {
	if d.Name != "" {
		return d.Path + " " + d.Name
	}
	return d.Path
}

// size is how long the element is, and where in the file it differs.
func size(d explainedDifference) string {
	if d.At == nil {
		return ""
	}
	return fmt.Sprintf("  at byte %d, about %s tokens", *d.At, thousands(d.Tokens))
}

// drawTiers draws what stays of the older prompt and what is lost, part by part.
func drawTiers(to io.Writer, tiers []explainedTier, paint func(int, string) string) {
	var most int64 = 1
	for _, t := range tiers {
		most = max(most, t.Kept+t.Lost)
	}
	for _, t := range tiers {
		if t.Kept+t.Lost == 0 {
			continue
		}
		kept, all := int(t.Kept*barWidth/most), int((t.Kept+t.Lost)*barWidth/most)
		if all == 0 {
			all = 1
		}
		fmt.Fprintf(to, "  %-9s %s%s%s  %s kept, %s again\n", t.Tier, paint(0, strings.Repeat(inks[0].block, kept)),
			paint(2, strings.Repeat(inks[2].block, all-kept)), strings.Repeat(" ", barWidth-all), thousands(t.Kept), thousands(t.Lost))
	}
}

// thousands is a number of tokens as it is read at a glance.
func thousands(n int64) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}

// most is how many lines of a text are shown.
const most = 12

func drawLines(to io.Writer, indent, text, sign string, paint func(string) string) {
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(to, "%s… %d lines more\n", indent, len(lines)-most)
			return
		}
		fmt.Fprintf(to, "%s%s\n", indent, paint(sign+" "+line))
	}
}
