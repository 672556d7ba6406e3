package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"warmpath/fixtures/session/habits"
	"warmpath/rewrite"
)

// explained runs explain on logs, and gives what it prints.
func explained(t *testing.T, code int, logs map[string][]byte, args ...string) string {
	t.Helper()
	zone := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = zone })
	folder := t.TempDir()
	for name, text := range logs {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "DIR", folder)
	}
	var stdout, stderr bytes.Buffer
	if got := run(append([]string{"explain"}, args...), &stdout, &stderr); got != code {
		t.Errorf("exit code %d, want %d: %s", got, code, &stderr)
	}
	return strings.ReplaceAll(stdout.String()+stderr.String(), folder+string(filepath.Separator), "")
}

// numbers is a transcript of an agent's own: a reply in two lines, then one after a
// pause, then one of another model.
func numbers() []byte {
	const line = `{"type":"assistant","uuid":"u","sessionId":"s1","timestamp":"2026-11-30T%s:00Z","message":{"id":"%s","model":"%s","usage":{"input_tokens":10,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":200}}}` + "\n"
	var log []byte
	log = append(log, `{"type":"user","uuid":"u","sessionId":"s1","message":{"role":"user","content":"x"}}`+"\n"...)
	log = fmt.Appendf(log, line, "09:00", "m1", "claude-opus-5", 0, 20000)
	log = fmt.Appendf(log, line, "09:00", "m1", "claude-opus-5", 0, 20000)
	log = fmt.Appendf(log, line, "09:01", "m2", "claude-opus-5", 20000, 1000)
	log = fmt.Appendf(log, line, "09:20", "m3", "claude-opus-5", 0, 22000)
	log = fmt.Appendf(log, line, "09:21", "m4", "claude-opus-5", 9000, 14000)
	return fmt.Appendf(log, line, "09:22", "m5", "claude-sonnet-5", 0, 24000)
}

// archive is a log as a HAR file.
func archive(t *testing.T, log []byte) []byte {
	t.Helper()
	type text struct {
		Text string `json:"text"`
	}
	type entry struct {
		Started time.Time `json:"startedDateTime"`
		Request struct {
			Method string `json:"method"`
			URL    string `json:"url"`
			Body   text   `json:"postData"`
		} `json:"request"`
		Response struct {
			Status int  `json:"status"`
			Body   text `json:"content"`
		} `json:"response"`
	}
	var har struct {
		Log struct {
			Entries []entry `json:"entries"`
		} `json:"log"`
	}
	for line := range bytes.Lines(log) {
		var l struct {
			Timestamp         time.Time
			Path              string
			Request, Response json.RawMessage
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		e := entry{Started: l.Timestamp}
		e.Request.Method, e.Request.URL, e.Request.Body.Text = "POST", "https://provider.example"+l.Path, string(l.Request)
		e.Response.Status, e.Response.Body.Text = 200, string(l.Response)
		har.Log.Entries = append(har.Log.Entries, e)
	}
	written, err := json.Marshal(har)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// What a log holds does nothing to the terminal, and fits on a narrow one.
func TestExplainIsHarmless(t *testing.T) {
	a := habits.New(rewrite.Messages, "alpha")
	a.Tools[0].Name = "bash\x1b[2J"
	a.Model = "claude\x1b[31m\x1b]0;owned\x07\u202e"
	var log []byte
	for i := range 3 {
		a.System[1] = fmt.Sprintf("Step %d \x1b]0;owned\x07\x9b31m \u202e", i)
		a.History[0].Text = "\x1b[31mred" + a.History[0].Text
		a.Tools[1].Says = fmt.Sprintf("\x1b[%dA", i)
		log = append(log, habits.Line(a.Now, "", a.Body())...)
		a.Go()
	}
	out := explained(t, exitOK, map[string][]byte{"a.jsonl": log}, "DIR/a.jsonl")
	if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }); i >= 0 {
		t.Errorf("what could harm a terminal is printed: %q", out[max(0, i-40):min(len(out), i+40)])
	}
	if !strings.Contains(out, "Step 1") && !strings.Contains(out, "tools changed") {
		t.Errorf("it does not say what has changed: %s", out)
	}
	file := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(file, habits.Story(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, read, err := readSession([]string{file}, false, nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var narrow bytes.Buffer
	d := drawing{to: &narrow, paint: func(_ int, text string) string { return text }, width: 60}
	d.summary(r, read)
	narrow.Reset()
	for _, c := range r.Conversations {
		d.most = 4000
		d.all = true
		d.conversation(c)
	}
	for line := range strings.Lines(narrow.String()) {
		if n := utf8.RuneCountInString(line); n > 62 && !strings.Contains(line, file) {
			t.Errorf("%d characters in a line: %s", n, line)
		}
	}
}

func TestExplainSession(t *testing.T) {
	story := habits.Story()
	logs := map[string][]byte{
		"agent.jsonl":  story,
		"faulty.jsonl": append([]byte("{\"request\":\n{\"level\":\"info\",\"msg\":\"started\"}\n"), story...),
		"strange.log":  []byte("{\"level\":\"info\",\"msg\":\"started\"}\nnot JSON\n"),
		"claude.jsonl": []byte(`{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"x"}}` + "\n"),
	}
	logs["numbers.jsonl"] = numbers()
	logs["agent.har"] = archive(t, habitLog(t, "chat: the day in the system prompt"))
	logs["answered.jsonl"] = habitLog(t, "tools in another order")
	unmarked := habits.New(rewrite.Messages, "alpha")
	unmarked.Unmarked = true
	for range 3 {
		logs["unmarked.jsonl"] = append(logs["unmarked.jsonl"], habits.Line(unmarked.Now, "", unmarked.Body())...)
		unmarked.Go()
	}
	for name, tc := range map[string]struct {
		code   int
		golden string
		args   []string
	}{
		"a story":               {exitOK, "story.txt", []string{"DIR/agent.jsonl"}},
		"a story, for tools":    {exitOK, "story.json", []string{"--json", "DIR/agent.jsonl"}},
		"a failure in CI":       {exitBreaks, "story.txt", []string{"--fail-on-break", "DIR/agent.jsonl"}},
		"the numbers alone":     {exitOK, "numbers.txt", []string{"DIR/numbers.jsonl"}},
		"a HAR file":            {exitOK, "har.txt", []string{"DIR/agent.har"}},
		"with replies":          {exitOK, "answered.txt", []string{"DIR/answered.jsonl"}},
		"without marks":         {exitOK, "unmarked.txt", []string{"DIR/unmarked.jsonl"}},
		"several files":         {exitOK, "several.txt", []string{"DIR/answered.jsonl", "DIR/unmarked.jsonl", "DIR/agent.har"}},
		"faulty records":        {exitOK, "faulty.txt", []string{"DIR/faulty.jsonl"}},
		"nothing to be read":    {exitFailure, "strange.txt", []string{"DIR/strange.log"}},
		"an agent's transcript": {exitFailure, "diary.txt", []string{"DIR/claude.jsonl"}},
		"no such log":           {exitFailure, "nolog.txt", []string{"DIR/none.jsonl"}},
		"no such folder":        {exitFailure, "nofolder.txt", []string{"DIR/none/x.har"}},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, filepath.Join("explain", tc.golden), explained(t, tc.code, logs, tc.args...))
		})
	}
}

// The example in the README is what is printed.
func TestExplainReadme(t *testing.T) {
	guide, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	story, err := os.ReadFile("testdata/explain/story.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(guide), "### A report from logs you already have")
	_, after, _ = strings.Cut(after, "For example:\n\n```\n")
	example, _, found := strings.Cut(after, "\n```")
	if !found || len(example) < 1000 {
		t.Fatalf("the example is %q", example)
	}
	for line := range strings.Lines(strings.TrimSuffix(example, "    …")) {
		if !strings.Contains(string(story), line) {
			t.Errorf("the README has %q", line)
		}
	}
}
