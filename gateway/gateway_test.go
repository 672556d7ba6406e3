package gateway_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
	"warmpath/rewrite/continuity"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*HostClient).connsCleaner"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).workerFunc"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// seen is a request as a provider got it.
type seen struct {
	method, uri string
	header      http.Header
	body        string
}

// double is a provider that answers with a handler and remembers what it got.
type double struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func newProvider(t testing.TB, answer http.HandlerFunc) *double {
	t.Helper()
	p := &double{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.seen = append(p.seen, seen{r.Method, r.RequestURI, r.Header, string(body)})
		p.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *double) last(t *testing.T) seen {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) == 0 {
		t.Fatal("nothing reached the provider")
	}
	return p.seen[len(p.seen)-1]
}

func (p *double) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seen)
}

// start runs a gateway whose providers are all at one address.
func start(t testing.TB, upstream string, change func(*config.Config)) (g *gateway.Gateway, base string, lines *buffer) {
	t.Helper()
	return startWith(t, upstream, gateway.Options{}, change)
}

func startWith(t testing.TB, upstream string, opts gateway.Options, change func(*config.Config)) (g *gateway.Gateway, base string, lines *buffer) {
	t.Helper()
	snapshot, problems := catalog.Build(catalog.Settings{Addresses: map[string]string{
		"anthropic": upstream, "openai": upstream, "gemini": upstream, "openrouter": upstream,
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	cfg := &config.Config{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", Mode: rewrite.ModeOn, Catalog: snapshot, Retries: 2,
		Continuity: config.Continuity{EarlyBetas: true, Marks: true, Echoes: true, ColdWait: 2 * time.Second, Diagnostics: continuity.AskEdited},
		Limits:     config.Limits{Body: 1 << 20, DecodedBody: 1 << 20, BodiesInFlight: 8 << 20, Headers: 8 << 10, Connections: 1000},
		Timeouts: config.Timeouts{Header: 5 * time.Second, Body: 5 * time.Second, Idle: 5 * time.Second, Write: 5 * time.Second,
			UpstreamConnect: time.Second, UpstreamHeader: 5 * time.Second, UpstreamIdle: 5 * time.Second,
			Store:     10 * time.Second, // A busy machine is no reason for other bytes.
			Heartbeat: 5 * time.Second, Drain: time.Second},
		Tools: tools.Limits{Bytes: 1 << 20, Timeout: time.Minute},
	}
	if change != nil {
		change(cfg)
	}
	lines = new(buffer)
	opts.Lines = lines
	opts.FirstList = cmp.Or(opts.FirstList, 30*time.Second) // A busy machine is no reason for other tools.
	g, err := gateway.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		watch(t, g, cfg)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = g.Stop(ctx)
		http.DefaultClient.CloseIdleConnections()
	})
	return g, "http://" + g.Addr(), lines
}

// buffer is a strings.Builder for two goroutines.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

const reply = `{"id":"msg_1","type":"message","model":"claude-opus-5","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn",` +
	`"usage":{"input_tokens":10,"cache_read_input_tokens":900,"cache_creation_input_tokens":90,"output_tokens":5}}`

func answerWith(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("request-id", "req_1")
		_, _ = io.WriteString(w, body)
	}
}

func send(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

func TestBytesPassUnchanged(t *testing.T) {
	p := newProvider(t, answerWith(reply))
	_, base, lines := start(t, p.URL, nil)
	// Spaces, order, numbers, escapes and unknown members must all survive.
	body := `{ "model" : "claude-sonnet-4-6",  "max_tokens":1.0e2, "future":{"b":1,"a":12345678901234567890123}, "messages":[{"role":"user","content":"\u00e9 <b>"}]}`
	resp, got := send(t, "POST", base+"/v1/messages?beta=true", body,
		"x-api-key", "k", "anthropic-beta", "a,b", "x-unknown", "kept", "warmpath-mode", "on")
	if got != reply || resp.StatusCode != 200 || resp.Header.Get("request-id") != "req_1" {
		t.Errorf("the client got %d %s", resp.StatusCode, got)
	}
	at := p.last(t)
	if at.body != body || at.uri != "/v1/messages?beta=true" {
		t.Errorf("the provider got %s %s", at.uri, at.body)
	}
	for name, want := range map[string]string{"X-Api-Key": "k", "Anthropic-Beta": "a,b", "X-Unknown": "kept", "Warmpath-Mode": ""} {
		if got := at.header.Get(name); got != want {
			t.Errorf("the provider got %s: %q, want %q", name, got, want)
		}
	}
	eventually(t, func() bool {
		return strings.Contains(lines.String(), "in 1000 (cached 900, written 90, 90%) out 5 $0.0012 stop")
	}, func() string { return lines.String() })
}

func eventually(t *testing.T, done func() bool, state func() string) {
	t.Helper()
	for range 200 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("it never happened; at last: %s", state())
}

func TestStreamPassesAtOnce(t *testing.T) {
	events := []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"é\"}}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	}
	next := make(chan struct{})
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range events {
			<-next
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	})
	_, base, lines := start(t, p.URL, nil)
	go func() { next <- struct{}{} }()
	resp, err := http.Post(base+"/v1/messages", "application/json", strings.NewReader(`{"model":"claude-opus-5","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	from := bufio.NewReader(resp.Body)
	for i, event := range events {
		got := make([]byte, len(event))
		if _, err := io.ReadFull(from, got); err != nil || string(got) != event {
			t.Fatalf("event %d came as %q, %v", i, got, err)
		}
		// Only now does the provider go on: what came must have come without
		// the rest.
		if i+1 < len(events) {
			next <- struct{}{}
		}
	}
	if rest, err := io.ReadAll(from); len(rest) > 0 || err != nil {
		t.Errorf("after the last event: %q, %v", rest, err)
	}
	eventually(t, func() bool {
		return strings.Contains(lines.String(), "in 3") && strings.Contains(lines.String(), "out 7 $0.0002 stop")
	},
		func() string { return lines.String() })
}

func TestStreamThatIsCutEndsWithAnError(t *testing.T) {
	tests := map[string]struct{ path, start, want string }{
		"messages":  {"/v1/messages", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n", "event: error\ndata: {\"type\":\"error\""},
		"chat":      {"/v1/chat/completions", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n", "data: {\"error\":{"},
		"responses": {"/v1/responses", "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\"}}\n\n", "event: response.failed\n"},
		"gemini":    {"/v1beta/models/gemini-3:streamGenerateContent?alt=sse", "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n\n", "data: {\"error\":{"},
	}
	for name, test := range tests {
		for _, half := range []string{"", "data: {\"half"} {
			t.Run(name+half, func(t *testing.T) {
				p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, test.start+half)
				})
				_, base, lines := start(t, p.URL, nil)
				_, got := send(t, "POST", base+test.path, `{"model":"m","stream":true}`)
				rest, ok := strings.CutPrefix(got, test.start+half)
				if !ok || !strings.Contains(rest, test.want) || strings.Contains(rest, "[DONE]") {
					t.Errorf("the client got %q", got)
				}
				eventually(t, func() bool { return strings.Contains(lines.String(), "[stream_cut]") }, func() string { return lines.String() })
			})
		}
	}
}

func TestClientThatLeavesEndsTheUpstreamRequest(t *testing.T) {
	const stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n"
	for _, phase := range []string{"before the head", "in a silent stream", "in a whole reply"} {
		t.Run("PB-28 "+phase, func(t *testing.T) {
			cancelled := make(chan struct{})
			arrived := make(chan struct{})
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				switch phase {
				case "in a silent stream":
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, stream)
					w.(http.Flusher).Flush()
				case "in a whole reply":
					w.Header().Set("Content-Length", "100")
					_, _ = io.WriteString(w, "{")
					w.(http.Flusher).Flush()
				}
				close(arrived)
				<-r.Context().Done()
				close(cancelled)
			})
			_, base, lines := start(t, p.URL, nil)
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				<-arrived
				time.Sleep(20 * time.Millisecond)
				cancel()
			}()
			req, _ := http.NewRequestWithContext(ctx, "POST", base+"/v1/messages", strings.NewReader(`{"model":"claude-opus-5"}`))
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			select {
			case <-cancelled:
			case <-time.After(time.Second):
				t.Error("the provider was still working one second after")
			}
			eventually(t, func() bool { return strings.Contains(lines.String(), " 499 ") }, func() string { return lines.String() })
		})
	}
}

// Nobody but the provider can say that valid JSON is nested too deep: it goes out
// as it came, and is counted as a request that was not planned.
func TestDeepBodiesGoOutAsTheyCame(t *testing.T) {
	t.Parallel()
	p := newProvider(t, answerWith(reply))
	g, base, _ := start(t, p.URL, nil)
	for _, levels := range []int{100, 600, 20_000} {
		deep := strings.Repeat(`{"a":[`, levels/2) + "1" + strings.Repeat("]}", levels/2)
		body := `{"model":"claude-opus-5","messages":[{"role":"user","content":"x"}],"metadata":` + deep + `}`
		for _, path := range []string{"/v1/messages", "/v1/chat/completions"} {
			if resp, got := send(t, "POST", base+path, body); resp.StatusCode != 200 {
				t.Fatalf("%d levels, %s: status %d %s", levels, path, resp.StatusCode, got)
			}
			if got := p.last(t).body; got != body {
				t.Errorf("%d levels, %s: the provider got %.200s", levels, path, got)
			}
		}
	}
	_, page := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", "")
	if !strings.Contains(page, `warmpath_unplanned_total{reason="unreadable"} 3`) {
		t.Error("the requests are not counted as unplanned")
	}
}

func TestRefusalsHaveTheDialectsShape(t *testing.T) {
	p := newProvider(t, answerWith(reply))
	_, base, _ := start(t, p.URL, nil)
	tests := map[string]struct {
		path, body string
		status     int
		want       []string
	}{
		"bad json, messages":     {"/v1/messages", `{"model":"m",}`, 400, []string{`{"type":"error","error":{"type":"invalid_request_error"`, "byte 13"}},
		"bad json, chat":         {"/v1/chat/completions", `{"model":"m"`, 400, []string{`{"error":{"message":`, `"type":"invalid_request_error"`, "byte"}},
		"bad json, gemini":       {"/v1beta/models/m:generateContent", `nul`, 400, []string{`"status":"INVALID_ARGUMENT"`}},
		"body too large":         {"/v1/messages", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 413, []string{`"type":"request_too_large"`, "limits.body"}},
		"deep nesting":           {"/v1/messages", strings.Repeat("[", 100_000), 400, []string{"invalid_request_error"}},
		"two models":             {"/v1/messages", `{"model":"a","mod\u0065l":"b"}`, 400, []string{"twice"}},
		"unknown path":           {"/v1/nothing", `{}`, 404, []string{"not_found"}},
		"provider without chat":  {"/v1/embeddings", `{"model":"anthropic/claude"}`, 400, []string{"does not speak chat"}},
		"unknown named provider": {"/p/nobody/v1/messages", `{}`, 404, []string{"nobody"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := p.count()
			resp, got := send(t, "POST", base+test.path, test.body)
			if resp.StatusCode != test.status {
				t.Errorf("status %d, want %d: %s", resp.StatusCode, test.status, got)
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("the client got %s, want it to hold %q", got, want)
				}
			}
			if p.count() != before {
				t.Error("the provider was asked all the same")
			}
		})
	}
}

// raw sends bytes as they are and reads all of the answer.
func raw(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, request)
	got, _ := io.ReadAll(conn)
	return string(got)
}

func TestSmugglingIsRefused(t *testing.T) {
	p := newProvider(t, answerWith(reply))
	g, _, _ := start(t, p.URL, nil)
	const tail = "Host: x\r\nConnection: close\r\n"
	tests := map[string]struct{ request, status string }{
		"length and chunks":      {"POST /v1/messages HTTP/1.1\r\n" + tail + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400"},
		"two equal lengths":      {"POST /v1/messages HTTP/1.1\r\n" + tail + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "400"},
		"two lengths":            {"POST /v1/messages HTTP/1.1\r\n" + tail + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400"},
		"identity encoding":      {"POST /v1/messages HTTP/1.1\r\n" + tail + "Transfer-Encoding: identity\r\n\r\n{}", "400"},
		"escaped separators":     {"POST /v1beta/models/gemini%2F..%2F..%2Fx:generateContent HTTP/1.1\r\n" + tail + "Content-Length: 2\r\n\r\n{}", "400"},
		"folded line":            {"POST /v1/messages HTTP/1.1\r\n" + tail + "X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}", "400"},
		"absolute form":          {"POST http://evil/v1/messages HTTP/1.1\r\n" + tail + "Content-Length: 2\r\n\r\n{}", "400"},
		"connect":                {"CONNECT evil:443 HTTP/1.1\r\n" + tail + "\r\n", "4"},
		"dot segments":           {"POST /anthropic/../x HTTP/1.1\r\n" + tail + "Content-Length: 2\r\n\r\n{}", "400"},
		"escaped dot segments":   {"POST /anthropic/%2e%2e/x HTTP/1.1\r\n" + tail + "Content-Length: 2\r\n\r\n{}", "400"},
		"unknown method":         {"BREW /v1/messages HTTP/1.1\r\n" + tail + "\r\n", "405"},
		"oversized head":         {"POST /v1/messages HTTP/1.1\r\n" + tail + "X-A: " + strings.Repeat("a", 20_000) + "\r\n\r\n", "431"},
		"chunk size is nonsense": {"POST /v1/messages HTTP/1.1\r\n" + tail + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", "400"},
		"not http":               {"hello\r\n\r\n", "400"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := raw(t, g.Addr(), test.request)
			if !strings.HasPrefix(got, "HTTP/1.1 "+test.status) || !strings.Contains(got, `"error"`) {
				t.Errorf("answered %q, want status %s and an error body", got, test.status)
			}
			if p.count() != 0 {
				t.Error("it reached the provider")
			}
		})
	}
}

// In mode off the gateway judges nothing: what is no JSON, or says its model
// twice, is the provider's to refuse.
func TestModeOffForwardsWhatItCannotRead(t *testing.T) {
	p := newProvider(t, answerWith(reply))
	_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Mode = rewrite.ModeOff })
	for _, body := range []string{`{"model":"claude-opus-5",}`, `{"model":"claude-opus-5","model":"other"}`, `nonsense`, ``, `{"messages":[`} {
		if _, got := send(t, "POST", base+"/v1/messages", body); got != reply || p.last(t).body != body {
			t.Errorf("body %q: the provider got %q, the client %q", body, p.last(t).body, got)
		}
	}
}

func TestRenamedModelChangesNothingElse(t *testing.T) {
	p := newProvider(t, answerWith(reply))
	_, base, _ := start(t, p.URL, nil)
	send(t, "POST", base+"/v1/chat/completions", `{"a": 1,"model" : "openrouter/meta/llama-4","b":[ ]}`)
	if got, want := p.last(t).body, `{"a": 1,"model" : "meta/llama-4","b":[ ]}`; got != want {
		t.Errorf("the provider got %s, want %s", got, want)
	}
}

func TestRetries(t *testing.T) {
	tests := map[string]struct {
		status int
		header map[string]string
		calls  int
	}{
		"overloaded":            {529, nil, 3},
		"rate limit, told when": {429, map[string]string{"Retry-After": "0"}, 3},
		"rate limit, untold":    {429, nil, 1},
		"told a long time":      {429, map[string]string{"Retry-After": "3600"}, 1},
		"told not to":           {529, map[string]string{"X-Should-Retry": "false"}, 1},
		"told to":               {400, map[string]string{"X-Should-Retry": "true"}, 3},
		"bad request":           {400, nil, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const body = `{"type":"error","error":{"type":"x","message":"as it came"}}`
			p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range test.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, body)
			})
			_, base, _ := start(t, p.URL, nil)
			resp, got := send(t, "POST", base+"/v1/messages", `{"model":"claude-opus-5","messages":[{"role":"user","content":"hi"}]}`)
			if resp.StatusCode != test.status || got != body {
				t.Errorf("the client got %d %s", resp.StatusCode, got)
			}
			if p.count() != test.calls {
				t.Errorf("the provider was called %d times, want %d", p.count(), test.calls)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	proceed := make(chan struct{})
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n")
		w.(http.Flusher).Flush()
		select {
		case <-proceed:
			_, _ = io.WriteString(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
		case <-r.Context().Done():
		}
	})
	for _, patient := range []bool{true, false} {
		t.Run(fmt.Sprintf("patient %v", patient), func(t *testing.T) {
			g, base, _ := start(t, p.URL, nil)
			resp, err := http.Post(base+"/v1/messages", "application/json", strings.NewReader(`{"model":"claude-opus-5","stream":true}`))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if patient {
				time.AfterFunc(100*time.Millisecond, func() { proceed <- struct{}{} })
			} else {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			stopped := make(chan error, 1)
			go func() { stopped <- g.Stop(ctx) }()
			got, _ := io.ReadAll(resp.Body)
			if patient != strings.HasSuffix(string(got), "{\"type\":\"message_stop\"}\n\n") || patient == strings.Contains(string(got), "event: error") {
				t.Errorf("the client got %q", got)
			}
			if err := <-stopped; (err == nil) != patient {
				t.Errorf("Stop() = %v", err)
			}
			if _, err := net.Dial("tcp", g.Addr()); err == nil {
				t.Error("clients can still connect")
			}
		})
	}
}

func TestHeartbeatInSilence(t *testing.T) {
	const first = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n"
	const last = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	tests := map[string]struct {
		silence, heartbeat time.Duration
		before             string // what stands before the silence
		beats, cut         bool
	}{
		"between events":      {time.Minute, 20 * time.Millisecond, first, true, false},
		"within an event":     {time.Minute, 20 * time.Millisecond, first + "data: {\"ha", false, false},
		"none asked for":      {time.Minute, 0, first, false, false},
		"silent for too long": {100 * time.Millisecond, 20 * time.Millisecond, first, true, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, test.before)
				w.(http.Flusher).Flush()
				select {
				case <-time.After(300 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
				_, _ = io.WriteString(w, "lf\"}\n\n"+last)
			})
			_, base, _ := start(t, p.URL, func(cfg *config.Config) {
				cfg.Timeouts.Heartbeat, cfg.Timeouts.UpstreamIdle = test.heartbeat, test.silence
			})
			_, got := send(t, "POST", base+"/v1/messages", `{"model":"claude-opus-5","stream":true}`)
			if test.beats != strings.Contains(got, "event: ping") {
				t.Errorf("heartbeats in %q, want some: %v", got, test.beats)
			}
			if test.cut != strings.Contains(got, "event: error") || test.cut == strings.HasSuffix(got, last) {
				t.Errorf("the client got %q, want it cut: %v", got, test.cut)
			}
		})
	}
}

// Google's client for Go splits at LF LF wherever it finds it before it looks
// for CR LF CR LF, and takes a comment for a broken event.
func TestFramesOfOursHaveTheStreamsLineEnds(t *testing.T) {
	for name, end := range map[string]string{"lf": "\n\n", "crlf": "\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			first := `data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}` + end
			beaten := make(chan struct{})
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for _, b := range []byte(first) {
					_, _ = w.Write([]byte{b})
					w.(http.Flusher).Flush()
				}
				select {
				case <-beaten:
				case <-r.Context().Done():
				}
			})
			_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Timeouts.Heartbeat = 20 * time.Millisecond })
			resp, err := http.Post(base+"/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "", strings.NewReader(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			beat := make([]byte, len(first)+len(end))
			if _, err := io.ReadFull(resp.Body, beat); err != nil || string(beat) != first+end {
				t.Errorf("the client got %q, %v, want a heartbeat of the stream's kind behind the event", beat, err)
			}
			close(beaten)
			rest, err := io.ReadAll(resp.Body)
			last := strings.TrimLeft(string(rest), end)
			if err != nil || !strings.HasPrefix(last, `data: {"error":`) || !strings.HasSuffix(last, "}}"+end) {
				t.Errorf("the stream's last words are %q, %v", rest, err)
			}
		})
	}
}

func TestAccessKeys(t *testing.T) {
	p := newProvider(t, answerWith(reply))
	_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.AccessKeys = []secret.String{secret.New("gate-1"), secret.New("gate-2")} })
	tests := map[string]struct {
		query  string
		header []string
		status int
		sent   string // the x-api-key that the provider gets
	}{
		"none":                        {"", nil, 401, ""},
		"a wrong one":                 {"", []string{"x-api-key", "gate-3"}, 401, ""},
		"in place of the provider's":  {"", []string{"x-api-key", "gate-1"}, 200, ""},
		"as a bearer token":           {"", []string{"Authorization", "Bearer gate-2"}, 200, ""},
		"in the query":                {"?key=gate-2", nil, 200, ""},
		"beside the provider's":       {"", []string{"warmpath-key", "gate-1", "x-api-key", "theirs"}, 200, "theirs"},
		"a wrong one beside a right":  {"", []string{"warmpath-key", "gate-3", "x-api-key", "gate-1"}, 200, ""},
		"a prefix of a key":           {"", []string{"x-api-key", "gate-"}, 401, ""},
		"an empty key is not a key":   {"", []string{"x-api-key", ""}, 401, ""},
		"the scheme has to be bearer": {"", []string{"Authorization", "Basic gate-1"}, 401, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := p.count()
			resp, got := send(t, "POST", base+"/v1/messages"+test.query, `{"model":"claude-opus-5"}`, test.header...)
			if resp.StatusCode != test.status {
				t.Fatalf("status %d, want %d: %s", resp.StatusCode, test.status, got)
			}
			if strings.Contains(got, "gate-") {
				t.Errorf("the answer holds a key: %s", got)
			}
			if test.status != 200 {
				if p.count() != before {
					t.Error("it reached the provider")
				}
				return
			}
			at := p.last(t)
			if sent := at.header.Get("X-Api-Key"); sent != test.sent {
				t.Errorf("the provider got the key %q, want %q", sent, test.sent)
			}
			if wire := fmt.Sprint(at); strings.Contains(wire, "gate-") {
				t.Errorf("the provider got the gateway's key: %s", wire)
			}
		})
	}
}

func TestStopRightAfterStart(t *testing.T) {
	for range 20 {
		g, _, _ := start(t, "http://127.0.0.1:1", nil)
		stopped := make(chan error, 1)
		go func() { stopped <- g.Stop(context.Background()) }()
		select {
		case err := <-stopped:
			if err != nil {
				t.Errorf("Stop() = %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("Stop() hangs")
		}
	}
}

// rawProvider writes an answer as it is and closes.
func rawProvider(t *testing.T, answer string, reset bool) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.WriteString(conn, answer)
			}
			if reset {
				_ = conn.(*net.TCPConn).SetLinger(0)
				time.Sleep(50 * time.Millisecond)
			}
			conn.Close()
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestEndsOfStreams(t *testing.T) {
	const first = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n"
	const last = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	tests := map[string]struct {
		answer string
		reset  bool
		want   string // exact, or with … for an error event's end
	}{
		"clean end within an event":       {head + chunk(first) + chunk("event: content_block") + "0\r\n\r\n", false, first + "event: content_block\n\nevent: error\n…"},
		"cut after the terminal event":    {head + chunk(first) + chunk(last), false, first + last},
		"reset after the terminal event":  {head + chunk(first) + chunk(last), true, first + last},
		"cut before the terminal event":   {head + chunk(first), false, first + "event: error\n…"},
		"whole although not quite closed": {head + chunk(first) + chunk(strings.TrimSuffix(last, "\n")) + "0\r\n\r\n", false, first + strings.TrimSuffix(last, "\n")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, base, lines := start(t, rawProvider(t, test.answer, test.reset), nil)
			_, got := send(t, "POST", base+"/v1/messages", `{"model":"claude-sonnet-4-6","stream":true}`)
			if want, open := strings.CutSuffix(test.want, "…"); open && !strings.HasPrefix(got, want) || !open && got != want {
				t.Errorf("the client got %q, want %q", got, test.want)
			}
			eventually(t, func() bool {
				return strings.Contains(lines.String(), " 200 ") && strings.Contains(lines.String(), "[") == strings.HasSuffix(test.want, "…")
			}, func() string { return lines.String() })
		})
	}
}
