package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"warmpath/gateway/console"
	"warmpath/gateway/prompt"
	"warmpath/gateway/secret"
	"warmpath/metrics"
	"warmpath/rewrite"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// One goroutine for the process, which renews the Date header, and one
		// for each server, which sees up to ten seconds later that it is over.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}

// site is a console that runs on loopback and its metrics.
type site struct {
	base    string
	metrics *metrics.Metrics
	ready   atomic.Bool
	server  *console.Server
	// requests are set before any are asked for.
	requests []console.Request
	prompts  *prompt.Book
}

func start(t *testing.T, token string, public bool) *site {
	t.Helper()
	reg := metrics.NewRegistry()
	s := &site{metrics: metrics.New(reg, []string{"claude", "openai"}, []string{"sonnet", "mini"})}
	s.ready.Store(true)
	s.prompts = newBook(t, s.metrics)
	s.server = console.New(console.Config{
		Gatherer: reg,
		Requests: func() []console.Request { return s.requests },
		Ready:    s.ready.Load,
		Prompts:  s.prompts,
		Token:    secret.New(token),
		Public:   public,
		Status: func() console.Status {
			return console.Status{
				Version: "v1.2.3", Mode: "observe", Started: time.Now().Add(-90 * time.Second),
				Providers:   []string{"claude", `<b>openai</b>`},
				ToolServers: []console.ToolServer{{Name: "files", State: "down", Since: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC), Reason: "not reachable", Tools: 3}},
			}
		},
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.base = "http://" + l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(l) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.prompts.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.server.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// get asks for a path; edit changes the request, if not nil.
func (s *site) get(t *testing.T, path string, edit func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// traffic is what a short working day leaves in the metrics.
func (s *site) traffic() {
	hit := metrics.Sample{
		Status: 200, Cache: rewrite.CacheHit, Overhead: 60 * time.Microsecond,
		Usage: rewrite.Usage{
			InputTotal: rewrite.Tokens(1000000), CacheRead: rewrite.Tokens(900000),
			CacheWrite: rewrite.Tokens(60000), InputFresh: rewrite.Tokens(40000), OutputTotal: rewrite.Tokens(1234),
		},
	}
	s.metrics.Handle(rewrite.Messages, "claude", "sonnet").Done(hit)
	s.metrics.Handle(rewrite.Completions, "openai", "mini").Done(metrics.Sample{
		Status: 200, Usage: rewrite.Usage{InputTotal: rewrite.Tokens(77), OutputTotal: rewrite.Tokens(5)},
	})
	s.metrics.Handle(rewrite.Messages, "", "").Done(metrics.Sample{Status: 401, Reason: rewrite.ReasonUnauthorized})
	s.metrics.Broke("ttl_expiry", "gateway", "client", 6000)
	s.metrics.Broke("ttl_expiry", "provider", "client", 1000)
	s.metrics.Saved("claude", "sonnet", 5000)
	s.metrics.Enter()
	s.metrics.StreamOpened()
}

func TestProbes(t *testing.T) {
	s := start(t, "", false)
	tests := []struct {
		path   string
		ready  bool
		status int
		body   string
	}{
		{"/healthz", true, 200, "ok\n"},
		{"/readyz", true, 200, "ready\n"},
		{"/healthz", false, 200, "ok\n"},
		{"/readyz", false, 503, "not ready: starting or draining\n"},
	}
	for _, tt := range tests {
		s.ready.Store(tt.ready)
		resp, body := s.get(t, tt.path, nil)
		if resp.StatusCode != tt.status || body != tt.body {
			t.Errorf("%s while ready is %v: %d %q, want %d %q", tt.path, tt.ready, resp.StatusCode, body, tt.status, tt.body)
		}
	}
}

func TestAccess(t *testing.T) {
	const token = "let-me-in"
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	tests := map[string]struct {
		token  string
		public bool
		path   string
		edit   func(*http.Request)
		want   int
	}{
		"loopback asks for nothing":              {"", false, "/metrics", nil, 200},
		"loopback with a token, none given":      {token, false, "/metrics", nil, 401},
		"loopback with a token, given":           {token, false, "/metrics", bearer, 200},
		"public, none given":                     {token, true, "/metrics", nil, 401},
		"public, page":                           {token, true, "/", nil, 401},
		"public, status":                         {token, true, "/api/status", nil, 401},
		"public, unknown path says nothing more": {token, true, "/nothing", nil, 401},
		"public, given":                          {token, true, "/metrics", bearer, 200},
		"public, lower-case scheme":              {token, true, "/", func(r *http.Request) { r.Header.Set("Authorization", "bearer "+token) }, 200},
		"public, login":                          {token, true, "/", func(r *http.Request) { r.SetBasicAuth("anyone", token) }, 200},
		"public, login with a wrong password":    {token, true, "/", func(r *http.Request) { r.SetBasicAuth(token, "x") }, 401},
		"public, login that is no base64":        {token, true, "/", func(r *http.Request) { r.Header.Set("Authorization", "Basic ~~") }, 401},
		"public, a prefix of the token":          {token, true, "/", func(r *http.Request) { r.Header.Set("Authorization", "Bearer let-me") }, 401},
		"public, another scheme":                 {token, true, "/", func(r *http.Request) { r.Header.Set("Authorization", "Digest "+token) }, 401},
		"public, no token configured":            {"", true, "/metrics", nil, 401},
		"public, no token configured, empty one": {"", true, "/metrics", func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, 401},
		"public, health is free":                 {token, true, "/healthz", nil, 200},
		"public, readiness is free":              {token, true, "/readyz", nil, 200},
		"public, any host":                       {token, true, "/healthz", func(r *http.Request) { r.Host = "gateway.example:9464" }, 200},
		"loopback by name":                       {"", false, "/", func(r *http.Request) { r.Host = "localhost:1" }, 200},
		"loopback by name without port":          {"", false, "/", func(r *http.Request) { r.Host = "localhost" }, 200},
		"loopback, six":                          {"", false, "/", func(r *http.Request) { r.Host = "[::1]:9464" }, 200},
		"loopback, six without port":             {"", false, "/", func(r *http.Request) { r.Host = "[::1]" }, 200},
		"loopback, another of its addresses":     {"", false, "/", func(r *http.Request) { r.Host = "127.0.0.2:9464" }, 200},
		"an address of the network":              {"", false, "/", func(r *http.Request) { r.Host = "192.0.2.1:9464" }, 403},
		"another name for loopback":              {"", false, "/metrics", func(r *http.Request) { r.Host = "evil.example" }, 403},
		"another name that begins well":          {"", false, "/metrics", func(r *http.Request) { r.Host = "localhost.evil.example:9464" }, 403},
		"nothing there":                          {"", false, "/nothing", nil, 404},
		"no other folder":                        {"", false, "/assets/page.html", nil, 404},
		"a post":                                 {"", false, "/", func(r *http.Request) { r.Method = "POST" }, 405},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := start(t, tt.token, tt.public)
			resp, body := s.get(t, tt.path, tt.edit)
			if resp.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s", resp.StatusCode, tt.want, body)
			}
			if got := resp.Header.Get("WWW-Authenticate") != ""; got != (tt.want == 401) {
				t.Errorf("WWW-Authenticate sent: %v", got)
			}
			if strings.Contains(body, token) {
				t.Error("the answer holds the token")
			}
		})
	}
}

func TestMetricsNegotiation(t *testing.T) {
	s := start(t, "", false)
	s.traffic()
	resp, text := s.get(t, "/metrics", nil)
	if ct := resp.Header.Get("Content-Type"); !strings.HasPrefix(ct, "text/plain; version=0.0.4") {
		t.Errorf("Content-Type %q", ct)
	}
	if want := `warmpath_input_tokens_total{cache="read",model="sonnet",provider="claude"} 900000` + "\n"; !strings.Contains(text, want) {
		t.Errorf("no %s", want)
	}
	resp, open := s.get(t, "/metrics", func(r *http.Request) { r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0") })
	if ct := resp.Header.Get("Content-Type"); !strings.HasPrefix(ct, "application/openmetrics-text; version=1.0.0") {
		t.Errorf("Content-Type %q", ct)
	}
	if !strings.HasSuffix(open, "# EOF\n") {
		t.Error("OpenMetrics does not end with # EOF")
	}

	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("WARMPATH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("promtool is not installed")
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func TestStatus(t *testing.T) {
	s := start(t, "", false)
	s.traffic()
	s.ready.Store(false)
	resp, body := s.get(t, "/api/status", nil)
	if ct := resp.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type %q", ct)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if up, _ := got["uptime_seconds"].(float64); up < 90 || up > 120 {
		t.Errorf("uptime %v, want a little more than 90 s", got["uptime_seconds"])
	}
	delete(got, "uptime_seconds")
	want := map[string]any{
		"version": "v1.2.3", "mode": "observe", "ready": false,
		"providers": []any{"claude", "<b>openai</b>"}, "in_flight": 1.0, "streams_open": 1.0,
		"mcp": []any{map[string]any{"name": "files", "state": "down", "since": "2026-10-01T12:00:00Z", "reason": "not reachable", "tools": 3.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestRequests(t *testing.T) {
	s := start(t, "", false)
	read := int64(90)
	for id := int64(3); id > 0; id-- {
		s.requests = append(s.requests, console.Request{ID: id, Model: "m", Read: &read,
			Continuity: &console.Continuity{Conversation: fmt.Sprint("conv_", id%2), Added: []string{"x"}}})
	}
	ids := func(path string) []int64 {
		_, body := s.get(t, path, nil)
		var got struct{ Requests []console.Request }
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list := []int64{}
		for _, r := range got.Requests {
			list = append(list, r.ID)
		}
		return list
	}
	for path, want := range map[string][]int64{
		"/api/requests":                      {3, 2, 1},
		"/api/requests?limit=2":              {3, 2},
		"/api/requests?limit=nonsense":       {3, 2, 1},
		"/api/requests?conversation=conv_1":  {3, 1},
		"/api/requests?conversation=nowhere": {},
	} {
		if diff := cmp.Diff(want, ids(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if _, body := s.get(t, "/api/requests/2", nil); !strings.Contains(body, `"cache_read_tokens":90,"cache_write_tokens":null`) || !strings.Contains(body, `"tools_added":["x"]`) {
		t.Errorf("request 2 is shown as %s", body)
	}
	for _, path := range []string{"/api/requests/4", "/api/requests/x", "/api/requests/"} {
		if resp, _ := s.get(t, path, nil); resp.StatusCode != 404 {
			t.Errorf("%s: status %d", path, resp.StatusCode)
		}
	}
}

// visible is the text of the element with the given id.
func visible(t *testing.T, page, id string) string {
	t.Helper()
	m := regexp.MustCompile(`id="` + id + `">([^<]*)<`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no element %s in\n%s", id, page)
	}
	return m[1]
}

func TestPage(t *testing.T) {
	s := start(t, "", false)

	_, empty := s.get(t, "/", nil)
	if got := visible(t, empty, "share"); got != "–" {
		t.Errorf("cache read share before any reply is %q: nothing is not zero", got)
	}
	if !strings.Contains(empty, "No reply yet") {
		t.Error("an empty page does not say what to do")
	}

	s.traffic()
	resp, page := s.get(t, "/", nil)
	for id, want := range map[string]string{
		"share": "90.0 %", "requests": "3", "input": "1.0M", "output": "1.2k",
		"failed": "33.3 %", "overhead": "≤ 100 µs",
	} {
		if got := visible(t, page, id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	for _, want := range []string{
		`<rect class="read" x="0" width="900" height="10"/>`,
		`<rect class="write" x="900" width="60" height="10"/>`,
		`<rect class="fresh" x="960" width="40" height="10"/>`,
		`<small>not reported</small>`, // openai's
		`<th scope="row">unauthorized</th><td>1</td>`,
		`<b>Cache expired</b> <code>ttl_expiry</code>`,
		`<b>7.0k</b> tokens again in 2 requests: <span class="by client">the agent 2</span>`,
		"about 5.0k tokens kept warm",
		`&lt;b&gt;openai&lt;/b&gt;`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none';") || strings.Contains(csp, "unsafe") {
		t.Errorf("Content-Security-Policy %q", csp)
	}
	if regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(page) || strings.Contains(page, "style=") || strings.Contains(page, " on") && regexp.MustCompile(` on[a-z]+=`).MatchString(page) || regexp.MustCompile(`(src|href)="(https?:)?//`).MatchString(page) {
		t.Error("the page has a script or a style within, or an outside address")
	}
}

// What the page refers to is served, so that a browser reports no error.
func TestPageIsComplete(t *testing.T) {
	s := start(t, "", false)
	_, page := s.get(t, "/", nil)
	links := regexp.MustCompile(`(?:href|src)="([^"#]+)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 5 {
		t.Fatalf("found only %d links", len(links))
	}
	types := map[string]string{"style.css": "text/css; charset=utf-8", "favicon.svg": "image/svg+xml", "console.js": "text/javascript; charset=utf-8"}
	for _, link := range links {
		resp, body := s.get(t, "/"+link[1], nil)
		if resp.StatusCode != 200 || body == "" {
			t.Errorf("%s: status %d", link[1], resp.StatusCode)
		}
		if want := types[link[1]]; want != "" && resp.Header.Get("Content-Type") != want {
			t.Errorf("%s: Content-Type %q, want %q", link[1], resp.Header.Get("Content-Type"), want)
		}
	}
}
