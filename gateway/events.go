package gateway

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"warmpath/gateway/relay"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// toStandard is the name of an event log that goes to standard output.
const toStandard = "-"

// events is the event log: a line of JSON for each call of a provider that is
// over. It never holds content.
type events struct {
	log *slog.Logger
	// standard is where toStandard leads; nil leads nowhere.
	standard io.Writer

	mu     sync.Mutex
	to     io.Writer // nil writes none
	file   *os.File  // what is open, if to is a file of ours
	line   []byte
	failed bool // the last line could not be written, which was said
}

// open begins to write to a path, and leaves what was written to before. The file
// is opened anew even if it is the same: it may have been moved aside.
func (e *events) open(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var file *os.File
	to := e.standard
	switch path {
	case "":
		to = nil
	case toStandard:
	default:
		var err error
		if file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return fmt.Errorf("opening the event log: %w", err)
		}
		to = file
	}
	e.shut()
	e.to, e.file = to, file
	return nil
}

// close ends the log.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shut()
	e.to, e.file = nil, nil
}

func (e *events) shut() {
	if e.file != nil {
		if err := e.file.Close(); err != nil {
			e.log.Warn("closing the event log", "cause", err)
		}
	}
}

// write adds the calls that a request took. One that reached no provider took
// none.
func (e *events) write(r *relay.Record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.to == nil || r.Calls == 0 {
		return
	}
	e.line = e.line[:0]
	for i := range r.Earlier {
		e.line = append(appendAttempt(e.line, r, i), '\n')
	}
	e.line = append(appendCall(e.line, r), '\n')
	_, err := e.to.Write(e.line)
	if err != nil && !e.failed {
		e.log.Warn("the event log cannot be written, and lacks calls until it can", "cause", err)
	}
	e.failed = err != nil
}

// appendAttempt appends a call that was followed by another one for the same
// request.
func appendAttempt(dst []byte, r *relay.Record, i int) []byte {
	a := &r.Earlier[i]
	w := splice.WriteTo(dst)
	w.Open('{')
	appendHead(&w, r, a.Provider, a.Model, r.Calls-len(r.Earlier)+i, false)
	w.Name("status")
	w.Int(int64(a.Status))
	w.Text("reason", a.Reason.String())
	number(&w, "duration_ms", milliseconds(a.Duration))
	w.Close('}')
	return w.Bytes()
}

// appendCall appends the call that the request's reply is of.
func appendCall(dst []byte, r *relay.Record) []byte {
	report := &r.Report
	w := splice.WriteTo(dst)
	w.Open('{')
	appendHead(&w, r, r.Provider, r.Model, r.Calls, true)
	w.Name("status")
	w.Int(int64(r.Status))
	w.Text("reason", r.Reason.String())
	w.Text("stop", report.Stop.String())
	w.Name("stream")
	w.Bool(r.Stream)
	w.Name("partial")
	w.Bool(r.Partial)
	w.Text("response_model", shortened(report.Model))
	w.Text("reply_id", shortened(report.ID))
	w.Text("provider_request_id", shortened(r.RequestID))
	w.Text("conversation", r.Conversation)
	number(&w, "duration_ms", milliseconds(r.Duration))
	if r.TimeToFirstToken > 0 {
		number(&w, "first_token_ms", milliseconds(r.TimeToFirstToken))
	}
	w.Text("cache", r.Cache.String())
	appendUsage(&w, &report.Usage)
	appendTerms(&w, report.Terms)
	appendCost(&w, &r.Cost)
	appendActivity(&w, report)
	if losses := len(r.Losses) + len(r.Said); losses > 0 {
		w.Name("losses")
		w.Int(int64(losses))
	}
	w.Close('}')
	return w.Bytes()
}

// appendHead writes what all lines have: which call of which request it is.
func appendHead(w *splice.Writer, r *relay.Record, provider, model string, call int, last bool) {
	w.Text("event", "call")
	w.Text("time", r.Arrived.UTC().Format(time.RFC3339Nano))
	w.Text("dialect", r.Dialect.String())
	if last && r.Spoken != rewrite.Opaque {
		w.Text("spoken", r.Spoken.String())
	}
	w.Text("operation", r.Operation.String())
	w.Text("provider", provider)
	w.Text("model", model)
	w.Name("call")
	w.Int(int64(call))
	w.Name("last")
	w.Bool(last)
}

// appendUsage writes what was reported; what was not is left out, since zero
// would be a number.
func appendUsage(w *splice.Writer, u *rewrite.Usage) {
	if !u.Known() {
		return
	}
	w.Name("usage")
	w.Open('{')
	for _, c := range [...]struct {
		name  string
		count rewrite.Count
	}{
		{"input", u.InputTotal}, {"fresh", u.InputFresh}, {"cache_read", u.CacheRead}, {"cache_write", u.CacheWrite},
		{"cache_write_5m", u.CacheWrite5m}, {"cache_write_30m", u.CacheWrite30m}, {"cache_write_1h", u.CacheWrite1h}, {"cache_write_12h", u.CacheWrite12h},
		{"output", u.OutputTotal}, {"reasoning", u.Reasoning}, {"tool_input", u.ToolInput}, {"context", u.Context},
	} {
		if c.count.Known {
			w.Name(c.name)
			w.Int(c.count.N)
		}
	}
	w.Close('}')
}

func appendTerms(w *splice.Writer, terms rewrite.Terms) {
	if terms == 0 {
		return
	}
	w.Name("terms")
	w.Open('[')
	for i, name := range rewrite.TermsNames {
		if terms&(1<<i) != 0 {
			w.String(name)
		}
	}
	w.Close(']')
}

// appendCost writes what the call has cost in US dollars; null where that is not
// known.
func appendCost(w *splice.Writer, c *rewrite.Cost) {
	w.Name("cost_usd")
	if !c.Known {
		w.Raw([]byte("null"))
		return
	}
	w.Open('{')
	w.Name("total")
	w.Raw(c.Total().Append(nil))
	for _, part := range [...]struct {
		name   string
		amount rewrite.Dollars
	}{{"fresh", c.Fresh}, {"read", c.Read}, {"write", c.Write}, {"output", c.Output}, {"hosted", c.Hosted}, {"charged", c.Charged}} {
		if part.amount != 0 {
			w.Name(part.name)
			w.Raw(part.amount.Append(nil))
		}
	}
	if c.Least {
		w.Name("least")
		w.Bool(true)
	}
	w.Close('}')
}

// appendActivity writes the tools that the provider ran, and how many sources the
// reply names.
func appendActivity(w *splice.Writer, r *rewrite.Report) {
	a := r.Activity
	if a == nil {
		return
	}
	w.Name("hosted")
	w.Open('[')
	for i := range a.Hosted {
		h := &a.Hosted[i]
		w.Open('{')
		w.Text("id", h.ID)
		w.Text("name", h.Name)
		w.Name("began")
		w.Bool(h.Began)
		w.Text("state", r.StateOf(h))
		w.Close('}')
	}
	w.Close(']')
	for _, list := range [...]struct {
		name   string
		counts []rewrite.HostedCalls
	}{
		{"hosted_calls", a.Calls},
		{"citations", []rewrite.HostedCalls{{Name: "complete", N: int64(a.Cited)}, {Name: "incomplete", N: int64(a.Citing)}, {Name: "range_dropped", N: int64(a.RangesDropped)}}},
	} {
		w.Name(list.name)
		w.Open('{')
		for _, c := range list.counts {
			w.Name(c.Name)
			w.Int(c.N)
		}
		w.Close('}')
	}
}

// number writes a number of milliseconds.
func number(w *splice.Writer, name string, value float64) {
	w.Name(name)
	w.Raw(fmt.Appendf(nil, "%.3f", value))
}

// shortened keeps a name that a provider made within bounds, and fit to be shown.
func shortened(name string) string {
	const longest = 128
	return rewrite.Visible(name[:min(len(name), longest)])
}
