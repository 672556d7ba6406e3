package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"warmpath/gateway/config"
)

// Whoever reads the event log from standard output reads nothing else there.
func TestServeWritesOnlyEventsToStandardOutput(t *testing.T) {
	defer goleak.VerifyNone(t, sleepers...)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"type":"message","usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	defer provider.Close()
	file := filepath.Join(t.TempDir(), "warmpath.yaml")
	writeFile(t, file, anyPorts+"data: memory\nevents: \"-\"\nproviders: {anthropic: {base_url: "+provider.URL+"}}\n")
	sources := config.NewSources(func(string) (string, bool) { return "", false })
	sources.File = file
	s := &served{signals: make(chan os.Signal, 4), stdout: newOutput(), stderr: newOutput(), code: make(chan int, 1)}
	go func() { s.code <- serveUntil(s.signals, sources, s.stdout, s.stderr) }()
	s.stderr.await(t, "GOOGLE_GEMINI_BASE_URL=")
	clients := addresses.FindStringSubmatch(s.stderr.String())[1]
	if status := get(t, clients+"/v1/messages", nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	s.stdout.await(t, "\n")
	s.signals <- syscall.SIGTERM
	if code := s.end(t); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if text := s.stdout.String(); !json.Valid([]byte(text)) || strings.Count(text, "\n") != 1 {
		t.Errorf("standard output has %q", text)
	}
	if !strings.Contains(s.stderr.String(), " messages anthropic ") {
		t.Errorf("no line for people in %s", s.stderr)
	}
}
