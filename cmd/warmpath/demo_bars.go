package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// The three kinds of input, each with a letter's worth of ink that can be told
// apart without colour.
var inks = [3]struct{ block, colour string }{
	{"█", "\x1b[32m"}, // read from the cache
	{"▒", "\x1b[33m"}, // written to the cache
	{"·", "\x1b[31m"}, // neither
}

// refused stands behind a turn that the provider has refused before it went
// through.
const refused = "✗"

const plain, faint = "\x1b[0m", "\x1b[2m"

// barWidth is how many characters the largest turn takes.
const barWidth = 30

// drawDemo prints both ways side by side, one line a turn.
func drawDemo(to io.Writer, model string, straight, through []turnUsage) {
	paint := coloured(to)
	var most int64
	for i := range straight {
		most = max(most, straight[i].total(), through[i].total())
	}
	fmt.Fprintf(to, "One agent session of %d turns on %s (simulated), input tokens of each turn:\n", len(straight), model)
	fmt.Fprintf(to, "%s from the cache   %s written to it   %s neither   %s refused, its thinking lost\n\n",
		paint(0, inks[0].block), paint(1, inks[1].block), paint(2, inks[2].block), paint(2, refused))
	fmt.Fprintf(to, "     %-*s   %s\n", barWidth+9, "straight to the provider", "through warmpath")
	for i := range straight {
		if straight[i].what != "" {
			fmt.Fprintf(to, "     %s\n", paint(len(inks), straight[i].what+":"))
		}
		sign := [2]string{"  "}
		for way, turn := range []turnUsage{straight[i], through[i]} {
			if turn.refused > 0 {
				sign[way] = " " + paint(2, refused)
			}
		}
		fmt.Fprintf(to, "%3d  %s%s   %s%s\n", i+1, bar(straight[i], most, paint), sign[0], bar(through[i], most, paint), sign[1])
	}
	fmt.Fprintf(to, "\n     %-*s   %s\n", barWidth+9, sums(straight), sums(through))
}

func bar(u turnUsage, most int64, paint func(int, string) string) string {
	var b strings.Builder
	drawn, seen := 0, int64(0)
	for i, tokens := range [3]int64{u.cached, u.written, u.rest} {
		seen += tokens
		end := int((seen*barWidth + most/2) / most)
		b.WriteString(paint(i, strings.Repeat(inks[i].block, end-drawn)))
		drawn = end
	}
	b.WriteString(strings.Repeat(" ", barWidth-drawn))
	fmt.Fprintf(&b, "%6.1fk", float64(u.total())/1000)
	return b.String()
}

func sums(turns []turnUsage) string {
	var all turnUsage
	for _, u := range turns {
		all.cached += u.cached
		all.written += u.written
		all.rest += u.rest
		all.refused += u.refused
	}
	return fmt.Sprintf("%.0f%% cached, cost %.0fk, refused %d", 100*float64(all.cached)/float64(max(all.total(), 1)), all.cost()/1000, all.refused)
}

// coloured gives a painter that does nothing unless the output is a terminal
// whose owner wants colour.
func coloured(to io.Writer) func(ink int, text string) string {
	if !showsColour(to) {
		return func(_ int, text string) string { return text }
	}
	return func(ink int, text string) string {
		if text == "" {
			return ""
		}
		if ink >= len(inks) {
			return faint + text + plain
		}
		return inks[ink].colour + text + plain
	}
}

// showsColour reports whether an output is a terminal whose owner wants colour.
func showsColour(to io.Writer) bool {
	return terminal(to) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func terminal(to io.Writer) bool {
	file, ok := to.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
