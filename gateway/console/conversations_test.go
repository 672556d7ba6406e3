package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/cache/eventlog"
	"warmpath/gateway/console"
	"warmpath/metrics"
	"warmpath/rewrite/transcript"
)

// withLog is a console over a log of conversations, which may be none.
func withLog(t *testing.T, log *eventlog.Log) (base string, server *console.Server) {
	t.Helper()
	server = console.New(console.Config{
		Gatherer: metrics.NewRegistry(), Ready: func() bool { return true }, Status: func() console.Status { return console.Status{} },
		Requests: func() []console.Request { return nil }, Conversations: log,
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if log != nil {
			_ = log.Close()
		}
	})
	return "http://" + l.Addr().String(), server
}

// append events to a turn, and gives their bytes as they are stored.
func appendEvents(t *testing.T, log *eventlog.Log, id string, events ...transcript.Event) {
	t.Helper()
	turn := log.Begin(id)
	for i := range events {
		err := log.Append(id, turn, eventlog.Entry{Event: func(dst []byte, seq int64) []byte {
			e := events[i]
			e.Seq, e.Turn, e.Time = seq, turn, time.Unix(1_800_000_000, 0)
			return transcript.Append(dst, &e)
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func words(text, audience string) []transcript.Block {
	b := transcript.Block{Type: "text", Text: text}
	if audience != "" {
		b.Annotations = json.RawMessage(`{"audience":["` + audience + `"]}`)
	}
	return []transcript.Block{b}
}

// sample has one of most kinds of events.
var sample = []transcript.Event{
	{Type: transcript.TurnStart, Dialect: "messages", Model: "claude-opus-5"},
	{Type: transcript.ChatRequest, Role: "user", Content: words("What?", "")},
	{Type: transcript.ChatResponse, Kind: transcript.Reasoning, Content: words("hm", ""), Payload: &transcript.Payload{
		Provider: "claude", Format: "messages/thinking", Value: json.RawMessage("{ \"signature\":\r\n\"S\" }"),
	}},
	{Type: transcript.ToolCallRequest, CallID: "c1", Name: "look", Arguments: json.RawMessage(`{"a": 1.0}`)},
	{Type: transcript.ToolCallResponse, CallID: "c1", Content: append(words("for people", "user"), words("for the model", "assistant")...)},
	{Type: transcript.ToolCallResponse, CallID: "c2", Content: words("for all", "")},
	{Type: transcript.ChatResponse, Kind: transcript.Message, Content: words("That.", "")},
	{Type: transcript.TurnEnd, Outcome: transcript.Completed},
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

func TestConversationsAreNotThereWithoutALog(t *testing.T) {
	base, _ := withLog(t, nil)
	for _, path := range []string{"/api/conversations", "/api/conversations/x", "/api/conversations/x/events"} {
		if status, body := get(t, base+path); status != 404 || !strings.Contains(body, "--log-events") {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
}

func TestViewsOfAConversation(t *testing.T) {
	log := eventlog.NewMemory(eventlog.Limits{})
	base, _ := withLog(t, log)
	appendEvents(t, log, "c", sample...)
	seqs := func(query string) string {
		status, body := get(t, base+"/api/conversations/c/events"+query)
		var page struct {
			View     string
			Explicit bool
			Events   []struct{ Seq int64 }
			Next     *int64
		}
		if err := json.Unmarshal([]byte(body), &page); status != 200 || err != nil {
			t.Fatalf("%s: status %d, %v: %s", query, status, err, body)
		}
		line := page.View
		if page.Explicit {
			line += " explicit"
		}
		for _, e := range page.Events {
			line += fmt.Sprint(" ", e.Seq)
		}
		if page.Next != nil {
			line += fmt.Sprint(" next ", *page.Next)
		}
		return line
	}
	for name, c := range map[string]struct{ query, want string }{
		"UV-03 the default is raw":      {"", "raw 1 2 3 4 5 6 7 8"},
		"raw":                           {"?view=raw", "raw 1 2 3 4 5 6 7 8"},
		"UV-01 user":                    {"?view=user", "user 1 2 5 6 7"},
		"explicit only":                 {"?view=user&explicit=1", "user explicit 1 2 5 7"},
		"not explicit":                  {"?view=user&explicit=0", "user 1 2 5 6 7"},
		"portable":                      {"?view=portable", "portable 1 2 7"},
		"native":                        {"?view=native", "native 3"},
		"a page":                        {"?limit=3", "raw 1 2 3 next 3"},
		"another page":                  {"?limit=3&after=3", "raw 4 5 6 next 6"},
		"the last page":                 {"?limit=3&after=6", "raw 7 8"},
		"a page that shows nothing":     {"?view=user&limit=2&after=2", "user next 4"},
		"after the end":                 {"?after=99", "raw"},
		"a page of the user's view":     {"?view=user&limit=5", "user 1 2 5 next 5"},
		"the end of the portable view":  {"?view=portable&after=7", "portable"},
		"the beginning of native words": {"?view=native&limit=1", "native next 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := seqs(c.query); got != c.want {
				t.Errorf("%s: %s, want %s", c.query, got, c.want)
			}
		})
	}
	for name, c := range map[string]struct {
		query string
		words []string
	}{
		"UV-04 an unknown view":        {"?view=users", []string{"raw", "user", "portable", "native"}},
		"UV-04 a view in capitals":     {"?view=RAW", []string{"raw", "user", "portable", "native"}},
		"explicit of another view":     {"?explicit=1", []string{"explicit"}},
		"explicit that is no switch":   {"?view=user&explicit=yes", []string{"explicit"}},
		"a limit of nothing":           {"?limit=0", []string{"limit"}},
		"too large a limit":            {"?limit=5001", []string{"5000"}},
		"a limit that is no number":    {"?limit=x", []string{"limit"}},
		"after what is no number":      {"?after=x", []string{"after"}},
		"after a number that is below": {"?after=-1", []string{"after"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := get(t, base+"/api/conversations/c/events"+c.query)
			for _, word := range c.words {
				if status != 400 || !strings.Contains(body, word) {
					t.Errorf("status %d: %s", status, body)
				}
			}
		})
	}
	for _, path := range []string{"/x", "/x/events", "/c/other", "/c/events/more"} {
		if status, body := get(t, base+"/api/conversations"+path); status != 404 {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
}

// The raw view is what the log has, byte for byte, and each view is the same however
// it is paged.
func TestUV02(t *testing.T) {
	log := eventlog.NewMemory(eventlog.Limits{})
	base, _ := withLog(t, log)
	appendEvents(t, log, "c", sample...)
	t.Run("UV-02 raw is what is stored", func(t *testing.T) {
		stored, _, err := log.Read("c", 0, 100, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"conversation":"c","view":"raw","first_seq":1,"last_seq":8,"events":[`
		for i, e := range stored {
			if i > 0 {
				want += ","
			}
			want += string(e.Bytes)
		}
		want += "],\"next\":null}\n"
		if _, got := get(t, base+"/api/conversations/c/events"); got != want {
			t.Error(cmp.Diff(want, got))
		}
	})
	for _, view := range []string{"raw", "user", "portable", "native"} {
		events := func(query string) (all []string, next *int64) {
			_, body := get(t, base+"/api/conversations/c/events?view="+view+query)
			var page struct {
				Events []json.RawMessage
				Next   *int64
			}
			if err := json.Unmarshal([]byte(body), &page); err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Events {
				all = append(all, string(e))
			}
			return all, page.Next
		}
		whole, _ := events("")
		var paged []string
		for after := int64(0); ; {
			page, next := events(fmt.Sprintf("&limit=1&after=%d", after))
			paged = append(paged, page...)
			if next == nil {
				break
			}
			after = *next
		}
		if diff := cmp.Diff(whole, paged); diff != "" {
			t.Errorf("%s: %s", view, diff)
		}
	}
}

func TestConversationsAreListed(t *testing.T) {
	log := eventlog.NewMemory(eventlog.Limits{})
	base, _ := withLog(t, log)
	for i := range 5 {
		appendEvents(t, log, fmt.Sprint("c_", i), sample...)
		time.Sleep(2 * time.Millisecond) // the order is by the millisecond
	}
	appendEvents(t, log, "c_1", sample[:1]...)
	type row struct {
		ID, Dialect, Model string
		Turns, Events      int64
		First              int64 `json:"first_seq"`
		Last               int64 `json:"last_seq"`
	}
	var got []row
	next := ""
	for {
		_, body := get(t, base+"/api/conversations?limit=2&before="+next)
		var page struct {
			Conversations []row
			Next          *string
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		got = append(got, page.Conversations...)
		if page.Next == nil {
			break
		}
		next = *page.Next
	}
	want := []row{{"c_1", "messages", "claude-opus-5", 2, 9, 1, 9}}
	for _, i := range []int{4, 3, 2, 0} {
		want = append(want, row{fmt.Sprint("c_", i), "messages", "claude-opus-5", 1, 8, 1, 8})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var one row
	if _, body := get(t, base+"/api/conversations/c_1"); json.Unmarshal([]byte(body), &one) != nil || one != want[0] {
		t.Errorf("one of them is %s", body)
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?before=x", "?before=1_"} {
		if status, body := get(t, base+"/api/conversations"+query); status != 400 {
			t.Errorf("%s: status %d: %s", query, status, body)
		}
	}
}

// followed reads a stream's frames.
type followed struct {
	lines *bufio.Scanner
	body  io.Closer
}

func follow(t *testing.T, url string, headers ...string) *followed {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("status %d, %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &followed{bufio.NewScanner(resp.Body), resp.Body}
}

// next is the next frame as one line; empty at the end.
func (f *followed) next() string {
	var frame []string
	for f.lines.Scan() {
		if line := f.lines.Text(); line != "" {
			frame = append(frame, line)
		} else if len(frame) > 0 && !strings.HasPrefix(frame[0], ":") {
			break
		}
	}
	return strings.Join(frame, "|")
}

// A follower gets what there is, then what happens, and goes on where it was left.
func TestConversationsAreFollowed(t *testing.T) {
	log := eventlog.NewMemory(eventlog.Limits{})
	base, _ := withLog(t, log)
	appendEvents(t, log, "c", sample[:2]...)
	url := base + "/api/conversations/c/events?view=user&explicit=1"
	f := follow(t, url)
	expect := func(f *followed, want ...string) {
		t.Helper()
		for _, w := range want {
			if got := f.next(); !strings.HasPrefix(got, w) {
				t.Fatalf("got %q, want %q", got, w)
			}
		}
	}
	expect(f, `event: open|data: {"conversation":"c","view":"user","explicit":true,"first_seq":1,"last_seq":2}`,
		`id: 1|event: turn_start|data: {"seq":1,`, `id: 2|event: chat_request|data: {`)
	appendEvents(t, log, "c", sample[2:6]...)
	expect(f, `id: 5|event: tool_call_response|data: {`)
	appendEvents(t, log, "c", sample[6])
	expect(f, `id: 7|event: chat_response|data: {`)
	f.body.Close()

	again := follow(t, url, "Last-Event-ID", "5")
	expect(again, `event: open|`, `id: 7|event: chat_response|data: {`)
	raw := follow(t, base+"/api/conversations/c/events?after=2")
	// Line ends between tokens become lines of the frame, which say the same.
	expect(raw, "event: open|", `id: 3|event: chat_response|data: {"seq":3`)
	native := follow(t, base+"/api/conversations/c/events?view=native")
	expect(native, "event: open|")
	if got := native.next(); !strings.Contains(got, `|data: {"seq":3`) || !strings.Contains(got, `"value":{ "signature":|data: "S" }}`) {
		t.Errorf("got %q", got)
	}
}

// Stopping the server ends who follows, and so does a log that ends.
func TestFollowersEndWithTheServer(t *testing.T) {
	log := eventlog.NewMemory(eventlog.Limits{})
	base, server := withLog(t, log)
	appendEvents(t, log, "c", sample[:1]...)
	f := follow(t, base+"/api/conversations/c/events")
	f.next()
	f.next()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if got := f.next(); got != "" {
		t.Errorf("after the end: %q", got)
	}
}

func TestFollowersAreBounded(t *testing.T) {
	log := eventlog.NewMemory(eventlog.Limits{})
	base, _ := withLog(t, log)
	appendEvents(t, log, "c", sample[:1]...)
	url := base + "/api/conversations/c/events"
	for range 64 {
		follow(t, url).next()
	}
	req, _ := http.NewRequest("GET", url, nil)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 503 {
		t.Errorf("status %d", resp.StatusCode)
	}
	if status, _ := get(t, url); status != 200 {
		t.Errorf("events without following: status %d", status)
	}
}
