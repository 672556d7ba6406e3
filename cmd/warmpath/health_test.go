package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

func askHealth(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(append([]string{"health"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestHealthOfAGateway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "warmpath.yaml")
	writeFile(t, file, anyPorts)
	s := startServing(t, file, nil)
	admin := strings.TrimPrefix(s.admin, "http://")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // It must not matter.
	if code, stdout, stderr := askHealth("--admin", admin); code != exitOK || stdout != "ready\n" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	t.Setenv("WARMPATH_ADMIN", admin)
	if code, stdout, stderr := askHealth(); code != exitOK || stdout != "ready\n" {
		t.Errorf("by the variable: %d %q %q", code, stdout, stderr)
	}
	s.signals <- syscall.SIGTERM
	if code := s.end(t); code != exitOK {
		t.Errorf("serve ended with %d", code)
	}
	code, stdout, stderr := askHealth()
	if code != exitFailure || stdout != "" || !strings.Contains(stderr, "give its admin address with --admin") {
		t.Errorf("of none: %d %q %q", code, stdout, stderr)
	}
}

// A gateway that drains is alive but not ready, and what is at the address may be
// something else altogether.
func TestHealthOfWhatIsNotReady(t *testing.T) {
	var asked atomic.Int32
	draining := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && asked.Add(1) > 3 {
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not ready: starting \x1b[2Jor draining\n"))
	}))
	defer draining.Close()
	code, _, stderr := askHealth("--admin", draining.URL)
	if want := "warmpath health: the gateway says not ready: starting [2Jor draining\n"; code != exitFailure || stderr != want {
		t.Errorf("%d %q, want %q", code, stderr, want)
	}
	if code, stdout, stderr := askHealth("--admin", draining.URL+"/", "--wait", "20s"); code != exitOK || stdout != "ready\n" {
		t.Errorf("after a while: %d %q %q", code, stdout, stderr)
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
}

func TestHealthAsksTheNearestAddress(t *testing.T) {
	for admin, want := range map[string]string{
		"127.0.0.1:9464":        "http://127.0.0.1:9464/readyz",
		"0.0.0.0:9464":          "http://127.0.0.1:9464/readyz",
		":9464":                 "http://127.0.0.1:9464/readyz",
		"[::]:9464":             "http://[::1]:9464/readyz",
		"gateway:9464":          "http://gateway:9464/readyz",
		"https://gateway:9464/": "https://gateway:9464/readyz",
		"nonsense":              "http://nonsense/readyz",
	} {
		if got := readiness(admin); got != want {
			t.Errorf("readiness(%q) = %q, want %q", admin, got, want)
		}
	}
}

func TestHealthUsage(t *testing.T) {
	if code, _, stderr := askHealth("now"); code != exitUsage || !strings.Contains(stderr, "warmpath help health") {
		t.Errorf("%d %q", code, stderr)
	}
}
