package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warmpath/fixtures/session/report"
	"warmpath/rewrite/printable"
)

// reasons are the words for why a prefix broke.
var reasons = map[string]string{
	"model_changed":        "another model",
	"system_changed":       "the system prompt changed",
	"tools_changed":        "the tools changed",
	"messages_changed":     "messages are written otherwise",
	"params_changed":       "parameters changed",
	"betas_changed":        "the betas changed",
	"ttl_expiry":           "expired",
	"history_rewritten":    "the history was changed",
	"provider_unexplained": "the provider had it no more, and the request does not say why",
	"unknown":              "nobody can say why",
}

func reasonWords(reason string) string {
	if words, ok := reasons[reason]; ok {
		return words
	}
	return reason
}

// reasonOf says why a turn broke, with the pause where that is why.
func reasonOf(b *report.Break) string {
	if b.Pause > 0 {
		return fmt.Sprintf("%s: %s pause", reasonWords(b.Reason), pause(b.Pause))
	}
	return reasonWords(b.Reason)
}

// pause is a time as people say it.
func pause(seconds int) string {
	d := time.Duration(seconds) * time.Second
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", seconds)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// culprit names what has changed, and where.
func culprit(c *report.Change) string {
	said := c.Path
	if c.Name != "" {
		said += " " + c.Name
	}
	return said + " " + c.Kind
}

// note says what is special about a turn.
func note(t *report.Turn) string {
	var said []string
	switch t.Kind {
	case "repeat":
		said = append(said, fmt.Sprintf("turn %d once more", t.From))
	case "fork":
		said = append(said, fmt.Sprintf("goes on from turn %d", t.From))
	}
	switch t.Quiet {
	case "cold_start":
		said = append(said, "cold start")
	case "below_minimum":
		said = append(said, "too short for the cache")
	}
	return strings.Join(said, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func percent(part, of int64) string {
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(max(of, 1)))
}

// short is a number of tokens in a few characters.
func short(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.2fM", float64(n)/1e6)
}

// harmless is a name that a stranger has chosen, without what a terminal obeys.
func harmless(name string) string { return printable.Style{}.Line(name) }

// listed are names in order, the first of many.
func listed(set map[string]bool) string {
	const most = 4
	var names []string
	for name := range set {
		if name == "" {
			name = "no model named"
		}
		names = append(names, harmless(name))
	}
	slices.Sort(names)
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
