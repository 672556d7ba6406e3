package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/tools"
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

func quoted(text string) []byte { return splice.AppendString(nil, text) }

// logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// started has running servers, and what they log, until the test is over.
func started(t *testing.T, options Options, configs ...Config) (*Servers, *logged) {
	t.Helper()
	t.Parallel()
	log := &logged{}
	options.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	options.Version = "test"
	if options.FirstList == 0 {
		options.FirstList = 30 * time.Second // a busy machine is no server that hangs
	}
	s := New(options)
	t.Cleanup(s.Stop)
	s.Configure(configs)
	return s, log
}

// call calls a tool of servers by its whole name.
func call(t *testing.T, ctx context.Context, s *Servers, name, arguments string) tools.Result {
	t.Helper()
	var names []string
	for _, status := range s.Status() {
		names = append(names, status.Name)
	}
	set := tools.NewSet(tools.Limits{}, s.Tools(t.Context(), names)...)
	return set.Run(ctx, tools.Call{ID: "call_1", Name: name, Arguments: rewrite.JSON(arguments)})
}

func texts(result tools.Result) string {
	var all []string
	for _, part := range result.Parts {
		all = append(all, part.Text)
	}
	return strings.Join(all, "|")
}

// until waits for something that is bound to come.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatal("in vain: ", what)
		}
	}
}

func TestAProgramIsStartedAndItsToolCalled(t *testing.T) {
	s, log := started(t, Options{}, program("by-hand", "plain"))
	all := s.Tools(t.Context(), []string{"by-hand", "other"})
	if len(all) != 1 {
		t.Fatalf("%d tools\n%s", len(all), log)
	}
	want := rewrite.Tool{
		Name: "mcp__by-hand__echo", Description: "Gives back its text.",
		// The members of the schema stand as the server has written them.
		Schema: rewrite.JSON(`{"type":"object","properties":{"text":{"type":"string"},"first":{"type":"number"}},"required":["text"]}`),
	}
	if diff := cmp.Diff(want, all[0].Definition); diff != "" || all[0].Source != tools.SourceMCP {
		t.Error(diff)
	}
	if got := call(t, t.Context(), s, "mcp__by-hand__echo", `{"text":"a <b> & \u00e9"}`); got.Failed || texts(got) != "a <b> & é" {
		t.Errorf("%+v", got)
	}
	if status := s.Status(); len(status) != 1 || status[0].State != Up || status[0].Protocol != "2025-06-18" || status[0].Tools != 1 {
		t.Errorf("%+v", status)
	}
}
