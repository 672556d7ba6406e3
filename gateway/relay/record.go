package relay

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

// Record is what is known of one request when it is over. It never holds
// content.
type Record struct {
	Arrived time.Time
	// Dialect is the client's, and Spoken the provider's where the request was
	// translated; Opaque otherwise.
	Dialect, Spoken rewrite.Dialect
	// Losses are what the translation of the request could not say, and Said what
	// that of the reply could not.
	Losses, Said []rewrite.Loss
	Operation    Operation
	Provider     string
	// Model is the model as sent to the provider.
	Model  string
	Stream bool
	// Status is what the client was answered; 499 if it had left.
	Status int
	Reason rewrite.Reason
	Report rewrite.Report
	// Cost is what the call has cost by the price table. Partial says that the
	// reply was cut, and its usage and cost are what it had told until then.
	Cost    rewrite.Cost
	Partial bool
	// Overhead is the gateway's own time before the request went out,
	// TimeToFirstToken counts from Arrived, LongestGap is the longest silence
	// within a stream. Zero is unknown.
	Overhead, TimeToFirstToken, Duration, LongestGap time.Duration
	Retries                                          int
	// Call counts the calls that one reply was made of, from 1; 0 where there was
	// only one. Each has a record of its own.
	Call int
	// Withheld is the provider that the model's name belongs to, where it was not
	// asked because it has no key in the configuration.
	Withheld string
	// FellBack are the providers that had failed before this one was asked.
	FellBack []string
	// Calls is how often a provider was called; Earlier are the calls before the
	// last one, whose reply the rest is about.
	Calls   int
	Earlier []Attempt
	latest  Attempt
	// RequestID is the provider's name for the last call, where it is asked for.
	RequestID string
	// Cache is how the request met the provider's prompt cache.
	Cache rewrite.CacheOutcome
	// Conversation names the conversation, where it has a name.
	Conversation string
	// Explanation is what was done to keep the prefix warm; nil where nothing
	// could be planned.
	Explanation *Explanation
	// Verdict is why it found less there than it might have; none where continuity
	// does not apply.
	Verdict continuity.Verdict
	// Parent is the span of the client's that the request belongs to, as in its
	// traceparent header; it is only kept where spans are sent.
	Parent string
	// Cause is the private reason of a failure, for the log.
	Cause error
}

// Attempt is a call of a provider that was followed by another one for the same
// request.
type Attempt struct {
	Provider, Model string
	// Status is what the provider answered; zero where it did not.
	Status   int
	Reason   rewrite.Reason
	Duration time.Duration
}

// Line is the record as one line for a terminal.
func (r *Record) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", r.Arrived.Format(time.TimeOnly), r.Dialect)
	if r.Spoken != rewrite.Opaque {
		fmt.Fprintf(&b, ">%s", r.Spoken)
	}
	if r.Operation != OpGenerate {
		fmt.Fprintf(&b, "/%s", r.Operation)
	}
	for _, word := range []string{r.Provider, r.Model} {
		if word != "" {
			b.WriteByte(' ')
			b.WriteString(word)
		}
	}
	fmt.Fprintf(&b, " %d %s", r.Status, seconds(r.Duration))
	if r.TimeToFirstToken > 0 && r.Stream {
		fmt.Fprintf(&b, " first %s", seconds(r.TimeToFirstToken))
	}
	r.usage(&b)
	if stop := r.Report.Stop; stop != rewrite.StopUnknown {
		fmt.Fprintf(&b, " %s", stop)
	}
	if n := len(r.Losses) + len(r.Said); n > 0 {
		fmt.Fprintf(&b, " losses %d", n)
	}
	if r.Call > 0 {
		fmt.Fprintf(&b, " call %d", r.Call)
	}
	if len(r.FellBack) > 0 {
		fmt.Fprintf(&b, " after %s", strings.Join(r.FellBack, ", "))
	}
	if r.Retries > 0 {
		fmt.Fprintf(&b, " retries %d", r.Retries)
	}
	if r.Reason != rewrite.ReasonNone {
		fmt.Fprintf(&b, " [%s]", r.Reason)
		if r.Withheld != "" {
			fmt.Fprintf(&b, " %s has no key in the configuration", r.Withheld)
		}
	}
	return b.String()
}

func (r *Record) usage(b *strings.Builder) {
	u := r.Report.Usage
	if !u.Known() {
		return
	}
	fmt.Fprintf(b, " in %s", tokens(u.InputTotal))
	if u.CacheRead.Known || u.CacheWrite.Known {
		fmt.Fprintf(b, " (cached %s, written %s", tokens(u.CacheRead), tokens(u.CacheWrite))
		if u.InputTotal.N > 0 && u.CacheRead.Known {
			fmt.Fprintf(b, ", %d%%", 100*u.CacheRead.N/u.InputTotal.N)
		}
		b.WriteByte(')')
	}
	if v := r.Verdict; v.Missed > 0 {
		fmt.Fprintf(b, " missed %s: %s", tokens(rewrite.Tokens(v.Missed)), v.Miss)
	}
	fmt.Fprintf(b, " out %s", tokens(u.OutputTotal))
	if r.Partial {
		b.WriteString(" so far")
	}
	if r.Cost.Known {
		fmt.Fprintf(b, " %s", money(r.Cost))
	}
}

func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.Itoa(int(d.Milliseconds())) + "ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return d.Round(time.Second).String()
}

func tokens(c rewrite.Count) string {
	switch {
	case !c.Known:
		return "?"
	case c.N < 10_000:
		return strconv.FormatInt(c.N, 10)
	}
	return strconv.FormatFloat(float64(c.N)/1000, 'f', 1, 64) + "k"
}

// longestName bounds what is shown of a name that a client made up, in bytes.
const longestName = 128

// shownName is a client's name as it can stand in a line, a page or a list:
// short, and of characters that are seen.
func shownName(name string) string {
	cut := len(name) > longestName
	if cut {
		name = name[:longestName]
	}
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return '?'
		}
		return r
	}, name)
	if cut {
		clean += "…"
	}
	return clean
}
