package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"warmpath/gateway/config"
)

// output is a writer that tests wait on: no process ends up slower than it has
// to be, and none is asked before it is ready.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func newOutput() *output { return &output{written: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.written <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) await(t *testing.T, words string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(o.String(), words) {
		select {
		case <-o.written:
		case <-deadline:
			t.Fatalf("no %q in\n%s", words, o)
		}
	}
}

// served is a gateway that runs as the command runs it.
type served struct {
	signals        chan os.Signal
	stdout, stderr *output
	code           chan int
	clients, admin string
}

var addresses = regexp.MustCompile(`(?s)clients  (\S+)\n.*admin    (\S+)\n`)

func startServing(t *testing.T, file string, env map[string]string) *served {
	t.Helper()
	if env == nil {
		env = map[string]string{}
	}
	env["WARMPATH_DATA"], env["WARMPATH_CONFIG"] = "memory", file
	sources := config.NewSources(func(name string) (string, bool) { value, ok := env[name]; return value, ok })
	s := &served{signals: make(chan os.Signal, 4), stdout: newOutput(), stderr: newOutput(), code: make(chan int, 1)}
	go func() { s.code <- serveUntil(s.signals, sources, s.stdout, s.stderr) }()
	s.stdout.await(t, "GOOGLE_GEMINI_BASE_URL=")
	found := addresses.FindStringSubmatch(s.stdout.String())
	if found == nil {
		t.Fatalf("no addresses in\n%s", s.stdout)
	}
	s.clients, s.admin = found[1], found[2]
	return s
}

// end waits for the command to return.
func (s *served) end(t *testing.T) int {
	t.Helper()
	select {
	case code := <-s.code:
		return code
	case <-time.After(20 * time.Second):
		t.Fatalf("still serving; it says\n%s", s.stderr)
		return -1
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// client keeps no connection, so that none is left when a test ends.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func get(t *testing.T, url string, header http.Header) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"model":"claude-opus-5"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

const anyPorts = "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\n"

// sleepers are goroutines of fasthttp that end by themselves some time after
// the server or client they were started for.
var sleepers = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
}

func TestServeReloadsAndStops(t *testing.T) {
	defer goleak.VerifyNone(t, sleepers...)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"type":"message","usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	defer provider.Close()
	file := filepath.Join(t.TempDir(), "warmpath.yaml")
	upstream := anyPorts + "providers: {anthropic: {base_url: " + provider.URL + "}}\n"
	writeFile(t, file, upstream)
	s := startServing(t, file, nil)
	messages := s.clients + "/v1/messages"
	if status := get(t, messages, nil); status != http.StatusOK {
		t.Errorf("before the reload: %d", status)
	}

	writeFile(t, file, upstream+"access_keys: [let-me-in]\n")
	s.signals <- syscall.SIGHUP
	s.stderr.await(t, "the configuration is loaded again")
	if status := get(t, messages, nil); status != http.StatusUnauthorized {
		t.Errorf("without an access key: %d", status)
	}

	// A faulty file changes nothing, and the log says why without the key.
	writeFile(t, file, upstream+"access_keys: [let-me-in]\nmode: \"let-me-in\nquiet: true")
	s.signals <- syscall.SIGHUP
	s.stderr.await(t, "the old configuration stays")
	if status := get(t, messages, http.Header{"X-Api-Key": {"let-me-in"}}); status != http.StatusOK {
		t.Errorf("after a faulty reload: %d", status)
	}
	if !strings.Contains(s.stderr.String(), "is not YAML") || strings.Contains(s.stderr.String(), "let-me-in") {
		t.Errorf("the log says\n%s", s.stderr)
	}

	writeFile(t, file, strings.Replace(upstream, "listen: 127.0.0.1:0", "listen: 127.0.0.1:1", 1))
	s.signals <- syscall.SIGHUP
	s.stderr.await(t, "listen changes only with a restart")

	s.signals <- syscall.SIGTERM
	if code := s.end(t); code != exitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	if !strings.Contains(s.stderr.String(), "msg=stopped") {
		t.Errorf("the log says\n%s", s.stderr)
	}
}

// hanging is a provider that holds every request until its client goes.
func hanging(t *testing.T) (provider *httptest.Server, reached <-chan struct{}) {
	t.Helper()
	arrived := make(chan struct{}, 1)
	provider = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(provider.Close)
	return provider, arrived
}

func TestSecondSignalCutsWhatIsLeft(t *testing.T) {
	provider, reached := hanging(t)
	file := filepath.Join(t.TempDir(), "warmpath.yaml")
	writeFile(t, file, anyPorts+"timeouts: {drain: 1h}\n")
	s := startServing(t, file, map[string]string{"WARMPATH_UPSTREAM": "anthropic=" + provider.URL})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		response, err := client.Post(s.clients+"/v1/messages", "application/json", strings.NewReader(`{"model":"claude-opus-5"}`))
		if err == nil {
			_ = response.Body.Close()
		}
	}()
	<-reached
	s.signals <- syscall.SIGTERM
	s.stderr.await(t, "requests may finish")
	select {
	case code := <-s.code:
		t.Fatalf("returned %d with a request under way\n%s", code, s.stderr)
	case <-answered:
		t.Fatalf("the request was cut by the first signal\n%s", s.stderr)
	case <-time.After(50 * time.Millisecond):
	}
	s.signals <- syscall.SIGINT
	if code := s.end(t); code != exitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	<-answered
	if !strings.Contains(s.stderr.String(), "were cut") {
		t.Errorf("the log says\n%s", s.stderr)
	}
}

func TestDeadlineCutsWhatIsLeft(t *testing.T) {
	provider, reached := hanging(t)
	file := filepath.Join(t.TempDir(), "warmpath.yaml")
	writeFile(t, file, anyPorts+"timeouts: {drain: 10ms}\n")
	s := startServing(t, file, map[string]string{"WARMPATH_UPSTREAM": "anthropic=" + provider.URL})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		response, err := client.Post(s.clients+"/v1/messages", "application/json", strings.NewReader(`{"model":"claude-opus-5"}`))
		if err == nil {
			_ = response.Body.Close()
		}
	}()
	<-reached
	s.signals <- syscall.SIGTERM
	if code := s.end(t); code != exitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	<-answered
}

// The command itself listens to the signals of the process.
func TestServeHearsSignals(t *testing.T) {
	clearVariables(t)
	stdout, stderr, code := newOutput(), newOutput(), make(chan int, 1)
	go func() {
		code <- run([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data", "memory"}, stdout, stderr)
	}()
	stdout.await(t, "GOOGLE_GEMINI_BASE_URL=")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	stderr.await(t, "the configuration is loaded again")
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-code:
		if got != exitOK {
			t.Errorf("exit code %d\n%s", got, stderr)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("still serving\n%s", stderr)
	}
}

func TestServeSaysWhyItCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, tc := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"address in use", map[string]string{"WARMPATH_LISTEN": taken.Addr().String()}, "choose another address with --listen"},
		{"faulty configuration", map[string]string{"WARMPATH_MODE": "fast"}, `WARMPATH_MODE: mode is "fast"; write off, observe or on`},
		{"no such file", map[string]string{"WARMPATH_CONFIG": "/no/such.yaml"}, "/no/such.yaml"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.env["WARMPATH_ADMIN"] = "127.0.0.1:0"
			sources := config.NewSources(func(name string) (string, bool) { value, ok := tc.env[name]; return value, ok })
			stderr := newOutput()
			if code := serveUntil(nil, sources, io.Discard, stderr); code != exitFailure {
				t.Errorf("exit code %d", code)
			}
			if !strings.Contains(stderr.String(), tc.want) {
				t.Errorf("it says %q, want %q in it", stderr, tc.want)
			}
		})
	}
}
