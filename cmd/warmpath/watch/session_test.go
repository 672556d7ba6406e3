package watch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"warmpath/cmd/warmpath/watch"
	"warmpath/gateway/display"
	"warmpath/rewrite/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gateway is the admin address of one that has a conversation, of which some events
// have happened and the others are still to come.
type gateway struct {
	lines []string
	// page is how many events a page has, happened how many there are pages of, and
	// chunk how many bytes of a stream are written at once. After cuts events a stream
	// is cut off.
	page, happened, chunk, cuts int
	// live is what happens in a conversation while it is followed, instead.
	live chan string

	mu      sync.Mutex
	streams int
	answers []string
	// prompts is what the stream of prompts says, and refuse the statuses of answers.
	prompts chan string
	refuse  []int
}

func (g *gateway) serve(t testing.TB) *watch.Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/conversations/c/events", func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.Atoi(r.URL.Query().Get("after"))
		if r.Header.Get("Authorization") != "Bearer token" {
			http.Error(w, "no token", http.StatusUnauthorized)
		} else if r.Header.Get("Accept") == "text/event-stream" {
			for g.live != nil {
				w.(http.Flusher).Flush()
				select {
				case line := <-g.live:
					fmt.Fprintf(w, "data: %s\n\n", line)
				case <-r.Context().Done():
					return
				}
			}
			g.follow(w, after)
		} else {
			g.answerPage(w, after)
		}
	})
	mux.HandleFunc("GET /api/prompts/stream", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		for {
			select {
			case text, open := <-g.prompts:
				if !open {
					return
				}
				fmt.Fprint(w, text)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /api/prompts/{id}/answer", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.answers = append(g.answers, r.PathValue("id")+" "+string(body))
		if len(g.refuse) > 0 {
			status := g.refuse[0]
			g.refuse = g.refuse[1:]
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":{"message":"the gateway minds"}}`)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return watch.NewClient(strings.TrimPrefix(server.URL, "http://"), "token")
}

func (g *gateway) answerPage(w http.ResponseWriter, after int) {
	end := min(after+g.page, g.happened)
	events := make([]json.RawMessage, 0, g.page)
	for _, line := range g.lines[min(after, end):end] {
		events = append(events, json.RawMessage(line))
	}
	var next any
	if end < g.happened {
		next = end
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"events": events, "next": next, "last_seq": g.happened})
}

// follow writes the events behind a number, cuts the stream off now and then, and in
// the end knows of no such conversation.
func (g *gateway) follow(w http.ResponseWriter, after int) {
	g.mu.Lock()
	g.streams++
	g.mu.Unlock()
	if after == len(g.lines) {
		http.Error(w, "no such conversation", http.StatusNotFound)
		return
	}
	var b strings.Builder
	b.WriteString("event: open\ndata: {\"conversation\":\"c\"}\n\n: keepalive\n\n")
	end := len(g.lines)
	if g.cuts > 0 {
		end = min(end, after+g.cuts)
	}
	for i, line := range g.lines[after:end] {
		fmt.Fprintf(&b, "id: %d\nevent: x\ndata: %s\n\n", after+i+1, line)
	}
	for chunk := range slices.Chunk([]byte(b.String()), g.chunk) {
		_, _ = w.Write(chunk)
		w.(http.Flusher).Flush()
	}
}

// show runs a session to its end.
func show(t testing.TB, c *watch.Client, follow bool) (out, err string) {
	t.Helper()
	var s screen
	session := watch.Session{
		Log: &watch.Log{Client: c, Conversation: "c"}, Drawer: watch.NewDrawer(s.terminal(), &display.Settings{}), Follow: follow, ComeBack: time.Millisecond,
	}
	failed := session.Run(t.Context())
	var status *watch.StatusError
	if ended := errors.As(failed, &status) && status.Status == http.StatusNotFound; follow != ended || !follow && failed != nil {
		t.Fatal(failed)
	}
	return s.out.String(), s.err.String()
}

// What is drawn of a conversation is the same, byte for byte, whether it is over, goes
// on from anywhere, or was lost and found again in between.
func TestLiveIsReplayed(t *testing.T) {
	lines := chat(t)
	wantOut, wantErr := show(t, (&gateway{lines: lines, page: 100, happened: len(lines)}).serve(t), false)
	if len(wantOut) < 100 || len(wantErr) < 100 {
		t.Fatalf("little is drawn: %q, %q", wantOut, wantErr)
	}
	check := func(t *testing.T, g *gateway, follow bool) {
		t.Helper()
		out, err := show(t, g.serve(t), follow)
		if diff := cmp.Diff(wantOut, out); diff != "" {
			t.Errorf("standard output (-replayed +live):\n%s", diff)
		}
		if diff := cmp.Diff(wantErr, err); diff != "" {
			t.Errorf("standard error (-replayed +live):\n%s", diff)
		}
	}
	for _, page := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("in pages of %d", page), func(t *testing.T) {
			check(t, &gateway{lines: lines, page: page, happened: len(lines)}, false)
		})
	}
	for happened := range len(lines) + 1 {
		t.Run(fmt.Sprintf("live from %d on", happened), func(t *testing.T) {
			g := &gateway{lines: lines, page: 10, happened: happened, chunk: 1 + 97*happened, cuts: happened % 5}
			check(t, g, true)
			if want := 2; g.streams < want && happened < len(lines) {
				t.Errorf("followed %d streams, want %d at least", g.streams, want)
			}
		})
	}
}

func TestLogFailures(t *testing.T) {
	c := (&gateway{lines: chat(t), page: 10, happened: 10}).serve(t)
	t.Run("no such conversation", func(t *testing.T) {
		_, err := (&watch.Log{Client: c, Conversation: "d"}).Replay(t.Context(), 0, func(*transcript.Event) {})
		var status *watch.StatusError
		if !errors.As(err, &status) || status.Status != http.StatusNotFound {
			t.Errorf("%v", err)
		}
	})
	t.Run("no gateway", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		_, err := watch.NewClient(server.URL, "").Conversations(t.Context(), 1)
		if err == nil || !strings.Contains(err.Error(), "give its admin address with --admin") {
			t.Errorf("%v", err)
		}
	})
	t.Run("no JSON", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
		defer server.Close()
		if _, err := watch.NewClient(server.URL, "").Conversations(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "reading the gateway's answer") {
			t.Errorf("%v", err)
		}
	})
	t.Run("an interrupt ends it", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") == "text/event-stream" {
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return
			}
			fmt.Fprint(w, `{"events":[],"next":null}`)
		}))
		defer server.Close()
		interrupts := make(chan os.Signal, 1)
		interrupts <- os.Interrupt
		var s screen
		session := watch.Session{Log: &watch.Log{Client: watch.NewClient(server.URL, ""), Conversation: "c"}, Drawer: watch.NewDrawer(s.terminal(), &display.Settings{}), Follow: true, Interrupts: interrupts}
		if err := session.Run(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
