package console_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
)

// asking asks in the background, in the name of a session that cannot answer itself.
func asking(t *testing.T, b *prompt.Book, tenant string) <-chan prompt.Answer {
	t.Helper()
	answers := make(chan prompt.Answer, 1)
	go func() {
		questions := []question.Question{{Key: "q1", Kind: question.Confirm, Text: "Go on?"}}
		a, err := b.Ask(context.Background(), prompt.Session{Tenant: tenant, Conversation: "c1"}, prompt.NewToolQuestion("ask_user", "builtin", questions, true))
		if err != nil {
			t.Error(err)
		}
		answers <- a
	}()
	return answers
}

// events reads the stream of prompts; each event is its name and its data.
func events(t *testing.T, body io.Reader) func() (name string, data gjson.Result) {
	t.Helper()
	lines := bufio.NewScanner(body)
	return func() (name string, data gjson.Result) {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = text
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return name, gjson.Parse(text)
			}
		}
		return "", gjson.Result{}
	}
}

func (s *site) post(t *testing.T, path, body string, edit func(*http.Request)) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if edit != nil {
		edit(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestPrompts(t *testing.T) {
	s := start(t, "", false)
	stream, err := http.Get(s.base + "/api/prompts/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if kind := stream.Header.Get("Content-Type"); stream.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%d, %s", stream.StatusCode, kind)
	}
	next := events(t, stream.Body)
	answers := asking(t, s.prompts, "digest")
	name, data := next()
	id := data.Get("prompt.id").String()
	if name != "opened" || id == "" || data.Get("prompt.schema.properties.q1.type").String() != "boolean" {
		t.Fatalf("%s %s", name, data)
	}
	one := "/api/prompts/" + id
	for path, want := range map[string]string{
		"/api/prompts": id,
		"/api/prompts?state=open&conversation=c1":   id,
		"/api/prompts?conversation=c2":              `{"prompts":[]}`,
		"/api/prompts?state=answered":               `{"prompts":[]}`,
		one:                                         `"state":"open"`,
		"/api/prompts/p_none":                       "no such prompt",
		"/api/prompts/" + id + "/other":             "there is nothing here",
		"/api/prompts/":                             "there is nothing here",
		"/api/prompts/" + id + "/answer":            "only POST",
		"/api/prompts?conversation=%zz":             "cannot be read",
		"/api/prompts?state=open&conversation=c1&x": id,
	} {
		if _, body := s.get(t, path, nil); !strings.Contains(body, want) || strings.Contains(body, "digest") {
			t.Errorf("%s gives %s", path, body)
		}
	}
	yes := `{"action":"accept","content":{"q1":true}}`
	for name, tc := range map[string]struct {
		path, body string
		edit       func(*http.Request)
		want       int
	}{
		"a page of another origin": {one + "/answer", yes, header("Origin", "https://evil.example"), 403},
		"a page of nowhere":        {one + "/answer", yes, header("Origin", "null"), 403},
		"another site":             {one + "/answer", yes, header("Sec-Fetch-Site", "cross-site"), 403},
		"another page of the site": {one + "/answer", yes, header("Sec-Fetch-Site", "same-site"), 403},
		"a form":                   {one + "/answer", yes, header("Content-Type", "text/plain"), 415},
		"not JSON":                 {one + "/answer", "{", nil, 422},
		"not an answer":            {one + "/answer", `{"action":"accept","content":{"q1":"perhaps"}}`, nil, 422},
		"a prompt that is not":     {"/api/prompts/p_none/answer", yes, nil, 404},
		"to the list":              {"/api/prompts", yes, nil, 405},
		"to a page":                {"/api/status", yes, nil, 405},
	} {
		t.Run(name, func(t *testing.T) {
			if status, body := s.post(t, tc.path, tc.body, tc.edit); status != tc.want {
				t.Errorf("%d %s, want %d", status, body, tc.want)
			}
		})
	}
	if status, body := s.post(t, one+"/answer", yes, header("Sec-Fetch-Site", "same-origin")); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if a := <-answers; a.Outcome != prompt.Answered || string(a.Content) != `{"q1":true}` {
		t.Errorf("%s %s", a, a.Content)
	}
	if name, data := next(); name != "closed" || data.Raw != `{"id":"`+id+`","outcome":"answered","by":"operator"}` {
		t.Errorf("%s %s", name, data)
	}
	if status, _ := s.post(t, one+"/answer", yes, nil); status != http.StatusConflict {
		t.Errorf("PR-13: the second answer gives %d", status)
	}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestPromptsAreForTheOperator(t *testing.T) {
	s := start(t, "token", true)
	for _, path := range []string{"/api/prompts", "/api/prompts/stream", "/api/prompts/p_x"} {
		if resp, _ := s.get(t, path, nil); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s gives %d", path, resp.StatusCode)
		}
	}
	if status, _ := s.post(t, "/api/prompts/p_x/answer", "{}", nil); status != http.StatusUnauthorized {
		t.Errorf("an answer gives %d", status)
	}
}

// WT-06: a console that is closed is nobody soon after.
func TestPromptStreamIsALease(t *testing.T) {
	s := start(t, "", false)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/api/prompts/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	// A connection that is reset is found out with the next beat.
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return c, err
	}}}
	stream, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	answers := asking(t, s.prompts, "digest")
	events(t, stream.Body)()
	began := time.Now()
	leave()
	if a := <-answers; a.Outcome != prompt.Nobody || time.Since(began) > 15*time.Second {
		t.Errorf("%s after %s", a, time.Since(began))
	}
}

func newBook(t *testing.T, counter prompt.Counter) *prompt.Book {
	b := prompt.New(prompt.Options{
		Settings: prompt.Settings{Expiry: time.Minute, Grace: 100 * time.Millisecond}, Counter: counter, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(b.Close)
	return b
}
