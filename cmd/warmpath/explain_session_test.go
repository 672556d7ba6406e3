package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warmpath/fixtures/session/habits"
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

func TestExplainSession(t *testing.T) {
	story := habits.Story()
	logs := map[string][]byte{
		"agent.jsonl":  story,
		"faulty.jsonl": append([]byte("{\"request\":\n{\"level\":\"info\",\"msg\":\"started\"}\n"), story...),
		"strange.log":  []byte("{\"level\":\"info\",\"msg\":\"started\"}\nnot JSON\n"),
		"claude.jsonl": []byte(`{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"x"}}` + "\n"),
	}
	for name, tc := range map[string]struct {
		code   int
		golden string
		args   []string
	}{
		"a story":               {exitOK, "story.txt", []string{"DIR/agent.jsonl"}},
		"a story, for tools":    {exitOK, "story.json", []string{"--json", "DIR/agent.jsonl"}},
		"a failure in CI":       {exitBreaks, "story.txt", []string{"--fail-on-break", "DIR/agent.jsonl"}},
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
