package rewrite_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/sse"
)

var update = flag.Bool("update", false, "rewrite the reports in the golden files")

// dialect is what every dialect's package exports.
type dialect struct {
	peek              func(body []byte) (rewrite.Facts, error)
	readReply         func(body []byte, r *rewrite.Report)
	readEvent         func(name, data []byte, r *rewrite.Report)
	appendError       func(dst []byte, f *rewrite.Failure, requestID string) []byte
	appendStreamError func(dst []byte, f *rewrite.Failure, r *rewrite.Report) []byte
	heartbeat         string
}

var dialects = map[rewrite.Dialect]dialect{
	rewrite.Messages: {
		anthropic.Peek, anthropic.ReadReply, anthropic.ReadEvent,
		anthropic.AppendError, anthropic.AppendStreamError, anthropic.Heartbeat,
	},
	rewrite.Completions: {
		completions.Peek, completions.ReadReply, completions.ReadEvent,
		completions.AppendError, completions.AppendStreamError, completions.Heartbeat,
	},
	rewrite.Responses: {
		responses.Peek, responses.ReadReply, responses.ReadEvent,
		responses.AppendError, responses.AppendStreamError, responses.Heartbeat,
	},
	rewrite.Gemini: {
		gemini.Peek, gemini.ReadReply, gemini.ReadEvent,
		gemini.AppendError, gemini.AppendStreamError, gemini.Heartbeat,
	},
}

// golden is one file: a line that says what the case is about, a stream or a
// whole reply or both, and the report that either gives.
type golden struct {
	path, about, stream, reply, report string
}

func loadGolden(t testing.TB, path string) golden {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := golden{path: path}
	section := &g.about
	for line := range strings.Lines(string(text)) {
		switch line {
		case "-- stream --\n":
			section = &g.stream
		case "-- reply --\n":
			section = &g.reply
		case "-- report --\n":
			section = &g.report
		default:
			*section += line
		}
	}
	return g
}

func (g golden) save(t testing.TB) {
	t.Helper()
	text := g.about
	for _, section := range []struct{ name, text string }{{"stream", g.stream}, {"reply", g.reply}, {"report", g.report}} {
		if section.text != "" {
			text += "-- " + section.name + " --\n" + section.text
		}
	}
	if err := os.WriteFile(g.path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// eachGolden runs f for every golden file of every dialect.
func eachGolden(t *testing.T, f func(t *testing.T, d dialect, g golden)) {
	t.Helper()
	for kind, d := range dialects {
		eachGoldenOf(t, kind, func(t *testing.T, g golden) { f(t, d, g) })
	}
}

// eachGoldenOf runs f for every golden file of one dialect.
func eachGoldenOf(t *testing.T, kind rewrite.Dialect, f func(t *testing.T, g golden)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", kind.String(), "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("golden files of %s: %d, %v", kind, len(paths), err)
	}
	for _, path := range paths {
		t.Run(kind.String()+"/"+strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			f(t, loadGolden(t, path))
		})
	}
}

// tap reads a stream that arrives in chunks of the size given.
func (d dialect) tap(stream string, size int) rewrite.Report {
	var r rewrite.Report
	s := sse.Splitter{Bare: true}
	read := func(e sse.Event) { d.readEvent(e.Name, e.Data, &r) }
	for stream != "" {
		n := min(size, len(stream))
		s.Feed([]byte(stream[:n]), read)
		stream = stream[n:]
	}
	s.Close(read)
	return r
}

func TestGolden(t *testing.T) {
	eachGolden(t, func(t *testing.T, d dialect, g golden) {
		var r rewrite.Report
		if g.stream != "" {
			r = d.tap(g.stream, len(g.stream))
		} else {
			d.readReply([]byte(g.reply), &r)
		}
		got := describe(r)
		if *update {
			g.report = got
			g.save(t)
		}
		if diff := cmp.Diff(g.report, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A whole reply reports what the stream of the same reply does, but for the
// numbers of events that it does not have.
func TestWholeReplyIsAnEndedStream(t *testing.T) {
	both := 0
	eachGolden(t, func(t *testing.T, d dialect, g golden) {
		if g.stream == "" || g.reply == "" {
			return
		}
		both++
		stream, whole := d.tap(g.stream, len(g.stream)), rewrite.Report{}
		d.readReply([]byte(g.reply), &whole)
		stream.Sequence = 0
		if whole.Failed && whole.ID == "" {
			// An error body is nothing but the error.
			whole.ID, whole.Model, whole.Usage, whole.Output = stream.ID, stream.Model, stream.Usage, stream.Output
		}
		if diff := cmp.Diff(describe(stream), describe(whole)); diff != "" {
			t.Errorf("stream (-) and reply (+) differ: %s", diff)
		}
	})
	if both < 20 {
		t.Errorf("only %d cases have both", both)
	}
}

// describe writes a report as text, a line for each thing that it says.
func describe(r rewrite.Report) string {
	var b strings.Builder
	line := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "false" && text != "0" {
			fmt.Fprintf(&b, "%s: %s\n", name, text)
		}
	}
	line("id", r.ID)
	line("model", r.Model)
	line("created", r.Created)
	line("next event", r.Sequence)
	line("stop", r.Stop)
	line("ended", r.Ended)
	line("failed", r.Failed)
	line("error type", r.ErrorType)
	line("output", r.Output)
	line("tool call", r.ToolCall)
	line("diagnosis", r.Diagnosis)
	if r.Diverged.Known {
		line("diverged", r.Diverged.N)
	}
	for i, name := range rewrite.TermsNames {
		line("terms "+name, r.Terms&(1<<i) != 0)
	}
	line("charged", r.Charged)
	if a := r.Activity; a != nil {
		for _, h := range a.Hosted {
			line("hosted", fmt.Sprint(h.Name, " ", h.ID, " began ", h.Began, ", ", r.StateOf(&h)))
		}
		for _, c := range a.Calls {
			line("calls of "+c.Name, c.N)
		}
		line("unlisted", a.Unlisted)
		line("cited", a.Cited)
		line("citing", a.Citing)
		line("ranges dropped", a.RangesDropped)
	}
	u := r.Usage
	for _, c := range []struct {
		name  string
		count rewrite.Count
	}{
		{"input total", u.InputTotal},
		{"input fresh", u.InputFresh},
		{"cache read", u.CacheRead},
		{"cache write", u.CacheWrite},
		{"cache write 5m", u.CacheWrite5m},
		{"cache write 30m", u.CacheWrite30m},
		{"cache write 1h", u.CacheWrite1h},
		{"cache write 12h", u.CacheWrite12h},
		{"output total", u.OutputTotal},
		{"reasoning", u.Reasoning},
		{"tool input", u.ToolInput},
		{"context", u.Context},
	} {
		if c.count.Known {
			fmt.Fprintf(&b, "%s: %d\n", c.name, c.count.N)
		} else if c.count.N != 0 {
			fmt.Fprintf(&b, "%s: unknown and yet %d\n", c.name, c.count.N)
		}
	}
	return b.String()
}
