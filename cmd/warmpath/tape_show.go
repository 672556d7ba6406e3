package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"warmpath/cmd/warmpath/watch"
	"warmpath/fixtures/session"
	"warmpath/fixtures/session/report"
	"warmpath/rewrite/printable"
)

// tapeShow prints tapes for people.
func tapeShow(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("tape show", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print JSON for tools")
	full := flags.Bool("full", false, "print the bodies, too")
	names, code, ok := parseMixed(flags, args, stdout, stderr)
	switch {
	case !ok:
		return code
	case len(names) == 0:
		fmt.Fprintln(stderr, "warmpath tape show: wants a tape; see warmpath help tape")
		return exitUsage
	}
	tapes, err := loadTapes(names)
	if err != nil {
		fmt.Fprintln(stderr, "warmpath tape show:", err)
		return exitFailure
	}
	d := &drawing{to: stdout, paint: coloured(stdout), width: watch.TerminalOf(stdout, stderr, showsColour).Width}
	for i, t := range tapes {
		exchanges := report.Show(t)
		if *asJSON {
			err = printJSON(stdout, struct {
				Folder    string           `json:"folder"`
				Manifest  session.Manifest `json:"manifest"`
				Exchanges []report.Shown   `json:"exchanges"`
			}{t.Folder, t.Manifest, exchanges})
			if err != nil {
				fmt.Fprintln(stderr, "warmpath tape show:", err)
				return exitFailure
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		drawTape(d, t, exchanges, *full)
	}
	return exitOK
}

func drawTape(d *drawing, t *session.Tape, exchanges []report.Shown, full bool) {
	m := t.Manifest
	fmt.Fprintf(d.to, "%s  %s\n", t.Folder, d.paint(quiet, strings.Join(given(m.Origin, m.Date, m.Dialect, m.Model), ", ")))
	for _, about := range []struct{ name, text string }{{"client", m.Client}, {"provider", m.Provider}, {"recorder", m.Recorder}, {"about", m.About}} {
		if about.text == "" {
			continue
		}
		for i, text := range wrapped(fit(about.text), d.columns()-13) {
			name := about.name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(d.to, "  %-9s %s\n", name, text)
		}
	}
	d.most = 1
	for i := range exchanges {
		for _, s := range append([]report.Shown{exchanges[i]}, exchanges[i].Calls...) {
			d.most = max(d.most, s.Tokens.Input)
		}
	}
	for i := range exchanges {
		fmt.Fprintln(d.to)
		drawExchange(d, fmt.Sprintf("%03d", i+1), &exchanges[i], full)
		for j := range exchanges[i].Calls {
			drawExchange(d, "  →", &exchanges[i].Calls[j], full)
		}
	}
}

// drawExchange draws a request with its reply: what was asked, then what came of it.
func drawExchange(d *drawing, name string, s *report.Shown, full bool) {
	head := fmt.Sprintf("%-7s %s %s", s.Side, s.Method, s.Path)
	fmt.Fprintf(d.to, "%s  %s  %s\n", name, head, d.paint(quiet, strings.Join(given(
		s.Model, some(s.Tools, "tool"), some(s.Sections, "section"), some(s.Messages, "message"), only(s.Stream, "stream")), ", ")))
	if s.Last != "" && s.Side != "gateway" {
		fmt.Fprintf(d.to, "       %s\n", d.paint(quiet, "“"+clipped(s.Last, d.columns()-10)+"”"))
	}
	ink := good
	if s.Status >= 400 || s.Ends == "broken" {
		ink = bad
	}
	said := d.paint(ink, fmt.Sprint(s.Status))
	if s.Status == 0 {
		said = d.paint(bad, "no reply")
	}
	if s.Reported {
		said += "  " + d.bar(s.Tokens) + fmt.Sprintf(" %7s in, %s from the cache, %s out", short(s.Tokens.Input), percent(s.Tokens.Read, s.Tokens.Input), short(s.Tokens.Output))
	}
	if rest := strings.Join(given(s.Stop, ends[s.Ends]), ", "); rest != "" {
		said += "  " + rest
	}
	fmt.Fprintf(d.to, "       %s\n", said)
	if full {
		drawBody(d, "request", s.Request)
		drawBody(d, "reply", s.Reply)
	}
}

// ends say how an exchange ended that did not end of itself.
var ends = map[string]string{"left": "who asked has left", "broken": "broken off", "open": "still open at the end of the tape"}

func drawBody(d *drawing, name string, body []byte) {
	if len(body) == 0 {
		return
	}
	fmt.Fprintf(d.to, "       %s\n", d.paint(quiet, fmt.Sprintf("%s, %d bytes:", name, len(body))))
	for text := range strings.SplitSeq(strings.TrimRight(printable.Style{}.Text(string(body)), "\n"), "\n") {
		fmt.Fprintf(d.to, "         %s\n", text)
	}
}

// given are the texts that are not empty.
func given(texts ...string) (all []string) {
	for _, text := range texts {
		if text != "" {
			all = append(all, fit(text))
		}
	}
	return all
}

// fit makes a text of a tape fit for a line of a terminal.
func fit(text string) string { return printable.Style{}.Line(text) }

func some(n int, what string) string {
	if n == 0 {
		return ""
	}
	return plural(n, what)
}

func only(when bool, text string) string {
	if when {
		return text
	}
	return ""
}
