package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warmpath/gateway/console"
)

func TestExplainConversation(t *testing.T) {
	tokens := func(n int64) *int64 { return &n }
	arrived := time.Date(2026, 11, 29, 12, 0, 0, 0, time.Local)
	at := 1234
	respelled := []console.Change{{Tier: "messages", Path: "messages[2]", Kind: "respelled"}}
	newestFirst := []console.Request{
		{ID: 5, Arrived: arrived, Model: "m", Status: 200, Read: tokens(9000), Continuity: &console.Continuity{Changes: respelled}},
		{ID: 4, Arrived: arrived, Model: "m", Status: 200, Read: tokens(5000), Fresh: tokens(5000),
			Miss: &console.Miss{Reason: "messages_changed", By: "client", Expected: 9000, Missed: 4000}, Continuity: &console.Continuity{Changes: respelled}},
		{ID: 3, Arrived: arrived, Model: "m", Status: 400, Reason: "provider", Continuity: &console.Continuity{Began: "retreat", Retreats: []string{"other"}, Repaired: true}},
		{ID: 2, Arrived: arrived, Model: "m", Status: 200, Read: tokens(9000), Written: tokens(900), Fresh: tokens(100),
			Miss: &console.Miss{Reason: "tools_changed", Source: "provider", By: "gateway", Expected: 20_000, Missed: 11_000}, Diagnosis: "tools_changed",
			Continuity: &console.Continuity{
				Changes: []console.Change{
					{Tier: "tools", Path: "tools[1]", Kind: "added", Tool: "x", At: &at, Size: 400},
					{Tier: "system", Path: "system", Kind: "changed", At: &at, Old: "day 1", New: "day 2"},
					{Tier: "params", Path: "thinking", Kind: "removed"},
				},
				Unlisted: 2, Stake: 12_000, Saved: 9000, Asked: true, Effort: "low", Again: 1, Observed: true,
				FrozenTools: true, Directives: 1, Texts: 1, Added: []string{"x"}, Removed: []string{"y", "z"}, Defined: 1}},
		{ID: 1, Arrived: arrived, Model: "m", Status: 200, Read: tokens(0), Written: tokens(8000), Fresh: tokens(0), Miss: &console.Miss{Reason: "cold_start", Source: "gateway", By: "client"}, Continuity: &console.Continuity{Began: "fresh"}},
	}
	var asked, authorization string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, authorization = r.URL.String(), r.Header.Get("Authorization")
		if authorization != "Bearer t0ken" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte("asks for the admin token\n"))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"requests": newestFirst})
	}))
	defer server.Close()
	admin := strings.TrimPrefix(server.URL, "http://")

	t.Setenv("WARMPATH_ADMIN_TOKEN", "t0ken")
	var stdout, stderr bytes.Buffer
	if code := run([]string{"explain", "--admin", admin, "--conversation", "conv_1"}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	if asked != "/api/requests?conversation=conv_1&limit=1000" {
		t.Errorf("asked for %s", asked)
	}
	golden(t, filepath.Join("explain", "conversation.txt"), stdout.String())

	// As it stands in a browser, the address is good too.
	if code := run([]string{"explain", "--admin", server.URL + "/", "--conversation", "conv_1"}, io.Discard, &stderr); code != exitOK {
		t.Errorf("by a URL: exit code %d: %s", code, &stderr)
	}

	// Only the marks that occur are explained.
	newestFirst = newestFirst[:1]
	stdout.Reset()
	if run([]string{"explain", "--admin", admin, "--conversation", "conv_1"}, &stdout, &stderr); !strings.HasSuffix(stdout.String(), "  m\n\n█ from the cache\n") {
		t.Errorf("a request like others is told of as\n%s", &stdout)
	}

	t.Setenv("WARMPATH_ADMIN_TOKEN", "wrong")
	stdout.Reset()
	if code := run([]string{"explain", "--admin", admin, "--conversation", "all"}, &stdout, &stderr); code != exitFailure || !strings.Contains(stderr.String(), "asks for the admin token") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if strings.Contains(stderr.String(), "wrong") {
		t.Error("the error holds the token")
	}
	if code := run([]string{"explain", "--admin", "127.0.0.1:1", "--conversation", "all"}, &stdout, &stderr); code != exitFailure || !strings.Contains(stderr.String(), "--admin") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}
