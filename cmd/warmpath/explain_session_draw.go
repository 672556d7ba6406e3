package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"warmpath/fixtures/session/imports"
	"warmpath/fixtures/session/report"
)

// drawing draws a report for people.
type drawing struct {
	to    io.Writer
	paint func(int, string) string
	// width is that of the terminal in columns, 0 for none.
	width int
	// all asks for every turn, however many there are.
	all bool
	// most is the input of the largest turn.
	most int64
}

// The colours by what they say.
const (
	good  = 0
	fair  = 1
	bad   = 2
	quiet = 3
)

// mostTurns is up to how many turns each of them is drawn.
const mostTurns = 120

// usualWidth is for what is no terminal.
const usualWidth = 100

func (d *drawing) report(r *report.Report, log *imports.Log) {
	for _, c := range r.Conversations {
		for _, t := range c.Turns {
			d.most = max(d.most, t.Tokens.Input)
		}
	}
	d.most = max(d.most, 1)
	d.all = d.all || r.Totals.Turns <= mostTurns
	d.summary(r, log)
	d.reasons(r)
	for _, c := range r.Conversations {
		d.conversation(c)
	}
	d.legend(r)
}

// summary says what it comes to.
func (d *drawing) summary(r *report.Report, log *imports.Log) {
	t := &r.Totals
	models := map[string]bool{}
	for _, c := range r.Conversations {
		for _, turn := range c.Turns {
			models[turn.Model] = true
		}
	}
	fmt.Fprintf(d.to, "%s, %s, %s\n", plural(len(r.Conversations), "conversation"), plural(t.Turns, "turn"), listed(models))
	reported := t.Turns - t.Estimated - t.Failed
	switch {
	case t.Estimated == 0:
		d.say(quiet, "  The numbers are the provider's own.")
	case reported == 0:
		d.say(quiet, "  The log has no numbers of the provider's: all are estimates, by the length of the requests.")
	default:
		d.say(quiet, fmt.Sprintf("  The numbers of %s are the provider's own; those of %d more, marked ~, are estimates.", plural(reported, "turn"), t.Estimated))
	}
	if log.Faulty > 0 {
		d.say(bad, fmt.Sprintf("  %s could not be read.", plural(log.Faulty, "record")))
	}
	if log.Diary != "" {
		d.say(fair, "  This is "+log.Diary+": it has the numbers of replies, but not the requests, so what had changed cannot be said.")
	}
	fmt.Fprintln(d.to)
	d.fact("from the cache", fmt.Sprintf("%s of %s input tokens (%s)", short(t.Tokens.Read), short(t.Tokens.Input), percent(t.Tokens.Read, t.Tokens.Input)))
	if t.Breaks == 0 {
		d.fact("broken", d.paint(good, "never"))
	} else {
		d.fact("broken", d.paint(bad, fmt.Sprintf("%s, %s tokens processed again", times(t.Breaks), short(t.Again))))
	}
	if t.Unmarked > 0 {
		d.fact("not marked", d.paint(bad, short(t.Unmarked)+" tokens processed again since no mark had asked to keep them"))
	}
	if t.Unpriced < t.Turns-t.Failed {
		d.fact("cost", d.cost(t))
	}
	if t.Again+t.Unmarked > 0 {
		d.fact("through warmpath", d.savings(r))
	}
	fmt.Fprintln(d.to)
}

// cost is what the turns have cost.
func (d *drawing) cost(t *report.Totals) string {
	said := t.Cost.String()
	if t.Tokens.Output == 0 {
		said += " for the input"
	}
	if t.CostAgain > 0 {
		said += fmt.Sprintf(", %s of it for what had to be processed again", t.CostAgain)
	}
	if t.Unpriced > 0 {
		said += fmt.Sprintf("; %s without a known price", plural(t.Unpriced, "turn"))
	}
	return said + d.paint(quiet, " (by list prices)")
}

// savings is what the gateway would have made of it.
func (d *drawing) savings(r *report.Report) string {
	t := &r.Totals
	edits, known := false, false
	for _, c := range r.Conversations {
		edits = edits || c.Dialect == "messages"
		known = known || len(c.Turns) > 0 && c.Turns[0].Kind != "numbers"
	}
	switch {
	case !known:
		return "cannot be said without the requests"
	case !edits:
		return "nothing: it does not edit requests of this dialect yet, and passes them as they are"
	case t.Saved == 0:
		return "nothing would have been saved"
	}
	said := d.paint(good, fmt.Sprintf("%s of these tokens would have come from the cache", short(t.Saved)))
	if t.CostSaved > 0 {
		said += fmt.Sprintf(", %s saved", t.CostSaved)
	}
	return said + d.paint(quiet, " (estimate)")
}

// fact is a line of the summary.
func (d *drawing) fact(name, said string) { fmt.Fprintf(d.to, "  %-17s %s\n", name, said) }

// say prints a line in one colour.
func (d *drawing) say(ink int, text string) { fmt.Fprintln(d.to, d.paint(ink, text)) }

// reasons adds the breaks up by why they came.
func (d *drawing) reasons(r *report.Report) {
	type sum struct {
		reason string
		breaks int
		tokens int64
		places map[string]int
		cost   report.Money
	}
	by := map[string]*sum{}
	for _, c := range r.Conversations {
		for _, t := range c.Turns {
			if t.Break == nil {
				continue
			}
			s := by[t.Break.Reason]
			if s == nil {
				s = &sum{reason: t.Break.Reason, places: map[string]int{}}
				by[t.Break.Reason] = s
			}
			s.breaks++
			s.tokens += t.Break.Again
			if t.Break.Culprit != nil {
				s.places[culprit(t.Break.Culprit)]++
			}
			if t.Break.Cost != nil {
				s.cost += *t.Break.Cost
			}
		}
	}
	if len(by) == 0 {
		return
	}
	var all []*sum
	for _, s := range by {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *sum) int { return cmp.Or(cmp.Compare(b.tokens, a.tokens), cmp.Compare(a.reason, b.reason)) })
	for _, s := range all {
		line := fmt.Sprintf("  %4d ×  %s: %s tokens again", s.breaks, reasonWords(s.reason), short(s.tokens))
		if s.cost > 0 {
			line += ", " + s.cost.String()
		}
		fmt.Fprintln(d.to, line)
		for i, place := range frequent(s.places) {
			if i == 3 {
				d.say(quiet, fmt.Sprintf("           … and %d other places", len(s.places)-i))
				break
			}
			d.say(quiet, fmt.Sprintf("           %s (%s)", place, times(s.places[place])))
		}
	}
	fmt.Fprintln(d.to)
}

// frequent are names by how often they came.
func frequent(places map[string]int) (names []string) {
	for name := range places {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(places[b], places[a]), strings.Compare(a, b)) })
	return names
}

// conversation draws the turns of a conversation, or those that matter.
func (d *drawing) conversation(c *report.Conversation) {
	head := fmt.Sprintf("Conversation %d", c.Number)
	about := harmless(c.Model)
	if c.Beside > 0 {
		about += fmt.Sprintf(", beside conversation %d", c.Beside)
	}
	if c.Session != "" {
		about += ", session " + clipped(c.Session, 40)
	}
	fmt.Fprintf(d.to, "%s  %s\n", head, d.paint(quiet, about))
	if c.Opens != "" {
		d.say(quiet, "  “"+clipped(c.Opens, d.columns()-6)+"”")
	}
	passed := 0
	pass := func() {
		if passed > 0 {
			d.say(quiet, fmt.Sprintf("       … %s without a break", plural(passed, "turn")))
		}
		passed = 0
	}
	for _, t := range c.Turns {
		if !d.all && t.Break == nil {
			passed++
			continue
		}
		pass()
		d.turn(t)
	}
	pass()
	fmt.Fprintln(d.to)
}

// columns is how much fits on a line.
func (d *drawing) columns() int { return max(cmp.Or(d.width, usualWidth), 40) }

// turn draws a turn, and under it what broke.
func (d *drawing) turn(t *report.Turn) {
	row := fmt.Sprintf("%5d  ", t.Number)
	if !t.Time.IsZero() && d.columns() >= 70 {
		row += t.Time.Local().Format(time.TimeOnly) + "  "
	}
	mark := " "
	if !t.Reported && t.Kind != "failed" {
		mark = "~"
	}
	if t.Kind == "failed" {
		fmt.Fprintln(d.to, row+d.paint(bad, refused+" refused by the provider")+"  "+d.paint(quiet, t.At))
		return
	}
	row += d.bar(t.Tokens) + fmt.Sprintf(" %s%7s", mark, short(t.Tokens.Input))
	if note := note(t); note != "" {
		row += "  " + d.paint(quiet, note)
	}
	fmt.Fprintln(d.to, row)
	if t.Break != nil {
		d.broken(t)
	}
	if t.Unmarked > 0 {
		d.say(bad, fmt.Sprintf("       not marked for the cache: %s tokens of the turn before again", short(t.Unmarked)))
		if t.Through != nil && t.Break == nil {
			d.through(t.Through)
		}
	}
}

// broken says what broke, why, and what the gateway would have made of it.
func (d *drawing) broken(t *report.Turn) {
	b := t.Break
	said := fmt.Sprintf("%s: %s of %s tokens again", reasonOf(b), short(b.Again), short(b.Expected))
	if b.Cost != nil && *b.Cost > 0 {
		said += ", " + b.Cost.String()
	}
	d.say(bad, "       "+said+"  "+t.At)
	if c := b.Culprit; c != nil {
		more := ""
		if b.More > 0 {
			more = fmt.Sprintf(", and %d more", b.More)
		}
		fmt.Fprintf(d.to, "         %s %s%s\n", signs[c.Kind], culprit(c), more)
		d.lines(c.Old, "-", bad)
		d.lines(c.New, "+", good)
	}
	d.through(t.Through)
}

func (d *drawing) lines(text, sign string, ink int) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(d.to, "           %s\n", d.paint(ink, clipped(sign+" "+line, d.columns()-12)))
	}
}

// through says what the gateway would have made of a turn.
func (d *drawing) through(t *report.Through) {
	if t == nil {
		return
	}
	ink, said := quiet, strings.Join(t.Does, ", ")
	if t.Saved > 0 {
		ink = good
		saved := fmt.Sprintf("about %s tokens from the cache", short(t.Saved))
		if t.Cost != nil && *t.Cost > 0 {
			saved += fmt.Sprintf(", %s saved", *t.Cost)
		}
		said = saved + ": it " + said
	}
	for i, line := range wrapped("warmpath: "+said, d.columns()-11) {
		if i == 0 {
			line = d.paint(ink, "warmpath:") + strings.TrimPrefix(line, "warmpath:")
		} else {
			line = "  " + line
		}
		fmt.Fprintf(d.to, "         %s\n", line)
	}
}

// bar draws the input of a turn.
func (d *drawing) bar(t report.Tokens) string {
	width := min(max(d.columns()-60, 12), 30)
	var b strings.Builder
	drawn, seen := 0, int64(0)
	for i, tokens := range [3]int64{t.Read, t.Written, t.Fresh} {
		seen += tokens
		end := int((seen*int64(width) + d.most/2) / d.most)
		b.WriteString(d.paint(i, strings.Repeat(inks[i].block, max(end-drawn, 0))))
		drawn = max(end, drawn)
	}
	b.WriteString(strings.Repeat(" ", width-drawn))
	return b.String()
}

// legend says what the bars mean.
func (d *drawing) legend(r *report.Report) {
	t := r.Totals.Tokens
	var said []string
	for i, ink := range []struct {
		tokens int64
		means  string
	}{{t.Read, "from the cache"}, {t.Written, "written to it"}, {t.Fresh, "neither"}} {
		if ink.tokens > 0 {
			said = append(said, d.paint(i, inks[i].block)+" "+ink.means)
		}
	}
	fmt.Fprintln(d.to, strings.Join(said, "   "))
}

// clipped is a text of at most so many characters.
func clipped(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:max(most-1, 1)]) + "…"
}

// wrapped is a text in lines of at most so many characters, if its words allow that.
func wrapped(text string, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
