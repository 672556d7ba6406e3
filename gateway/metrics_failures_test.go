package gateway_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"warmpath/cache"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
	"warmpath/rewrite"
)

// plain is a request that nothing is wrong with.
const plain = `{"model":"claude-opus-5-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`

// ofFailures are situations in which something goes wrong.
var ofFailures = map[string]func(*testing.T){
	"refused before a provider is known": func(t *testing.T) {
		p := newProvider(t, answerWith(reply))
		g, base, _ := start(t, p.URL, func(cfg *config.Config) {
			cfg.AccessKeys = []secret.String{secret.New("open-sesame-0123456789")}
			cfg.Timeouts.Header, cfg.Timeouts.Body = 200*time.Millisecond, 200*time.Millisecond
		})
		key := []string{"warmpath-key", "open-sesame-0123456789"}
		asksFor(t, 401, base+"/v1/messages", plain)
		asksFor(t, 400, base+"/v1/messages", `{"model":"m",}`, key...)
		asksFor(t, 404, base+"/v1/nothing", `{}`, key...)
		asksFor(t, 413, base+"/v1/messages", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`, key...)
		const tail = "Host: x\r\nConnection: close\r\nWarmpath-Key: open-sesame-0123456789\r\n"
		for request, status := range map[string]string{
			"BREW /v1/messages HTTP/1.1\r\n" + tail + "\r\n":                                             "405",
			"POST /v1/messages HTTP/1.1\r\n" + tail + "X-A: " + strings.Repeat("a", 20_000) + "\r\n\r\n": "431",
			"POST /v1/messages HTTP/1.1\r\n" + tail + "Content-Length: 10\r\n\r\n{":                      "408",
		} {
			if got := raw(t, g.Addr(), request); !strings.HasPrefix(got, "HTTP/1.1 "+status) {
				t.Errorf("answered %q, want %s", got, status)
			}
		}
	},
	"forbidden": func(t *testing.T) {
		p := newProvider(t, answerWith(reply))
		_, base, _ := start(t, p.URL, func(cfg *config.Config) {
			cfg.Catalog, _ = catalog.Build(catalog.Settings{Providers: map[string]catalog.Row{"anthropic": {BaseURL: p.URL, Key: secret.New("k")}}})
		})
		asksFor(t, 403, base+"/v1/messages", plain, "Origin", "https://elsewhere.example")
	},
	"busy": func(t *testing.T) {
		p := newProvider(t, answerWith(reply))
		_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Limits.BodiesInFlight = 100 })
		asksFor(t, 503, base+"/v1/messages", strings.Replace(plain, "hi", strings.Repeat("hi", 100), 1))
	},
	"the client leaves": leaves,
	"the provider refuses": func(t *testing.T) {
		p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			switch {
			case strings.Contains(string(body), "elsewhere"):
				http.Redirect(w, r, "https://elsewhere.example", http.StatusFound)
			default:
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		_, base, _ := start(t, p.URL, nil)
		asksFor(t, 503, base+"/v1/messages", plain)
		req, err := http.NewRequest("POST", base+"/v1/messages", strings.NewReader(strings.Replace(plain, "hi", "elsewhere", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultTransport.RoundTrip(req); err != nil || resp.StatusCode != http.StatusFound {
			t.Errorf("%v, %v", resp, err)
		} else {
			_ = resp.Body.Close()
		}
	},
	"no connection": func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close()
		_, base, _ := start(t, "http://"+listener.Addr().String(), nil)
		asksFor(t, 502, base+"/v1/messages", plain)
	},
	"a provider that says nothing": func(t *testing.T) {
		over := make(chan struct{})
		p := newProvider(t, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-over:
			case <-r.Context().Done():
			}
		})
		defer close(over)
		_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Timeouts.UpstreamHeader = 50 * time.Millisecond })
		asksFor(t, 504, base+"/v1/messages", plain)
	},
	"a provider that hangs up": func(t *testing.T) {
		_, base, _ := start(t, rawProvider(t, "", false), nil)
		asksFor(t, 502, base+"/v1/messages", plain)
	},
	"a provider that takes nothing": func(t *testing.T) {
		// It takes the first byte of a request that is longer than all buffers between.
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Read(make([]byte, 1))
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}
		}()
		_, base, _ := start(t, "http://"+listener.Addr().String(), func(cfg *config.Config) {
			cfg.Limits.Body, cfg.Limits.DecodedBody, cfg.Limits.BodiesInFlight = 32<<20, 32<<20, 256<<20
		})
		asksFor(t, 502, base+"/v1/messages", strings.Replace(plain, "hi", strings.Repeat("hi", 12<<20), 1))
	},
	"a stream that is cut": func(t *testing.T) {
		p := newProvider(t, streamWith(goldenStream(t, rewrite.Messages, "cited_cut"), true))
		_, base, _ := start(t, p.URL, nil)
		asksFor(t, 200, base+asked[rewrite.Messages].path, asked[rewrite.Messages].body)
	},
	"a fault of the gateway's": func(t *testing.T) {
		events := func(cfg *config.Config) { cfg.Events = "-" }
		_, base, _ := startWith(t, "http://127.0.0.1:1", gateway.Options{Events: faulty{}}, events)
		asksFor(t, 500, base+"/v1/messages", plain)
		p := newProvider(t, answerWith(reply))
		_, base, _ = startWith(t, p.URL, gateway.Options{Events: faulty{}}, events)
		for range 2 { // And at the end of a reply, which ends no other.
			if resp, err := http.Post(base+"/v1/messages", "application/json", strings.NewReader(plain)); err == nil {
				_ = resp.Body.Close()
			}
		}
	},
	"a store that fails": func(t *testing.T) {
		for name, fault := range map[string]error{"error": errDeaf, "timeout": context.DeadlineExceeded} {
			t.Run(name, func(t *testing.T) {
				p := newProvider(t, answerWith(calling))
				_, base, _ := startWith(t, p.URL, gateway.Options{Store: &troubled{cache.NewMemory(1 << 20), fault}}, nil)
				asksFor(t, 200, base+"/v1/messages", turnOne)
				for range 8 { // Then it is not asked any more.
					asksFor(t, 200, base+"/v1/messages", turnTwo)
				}
			})
		}
	},
	"a store with too much to do": func(t *testing.T) {
		p := newProvider(t, answerWith(calling))
		slow := &slowly{Store: cache.NewMemory(1 << 20), goOn: make(chan struct{})}
		g, base, _ := startWith(t, p.URL, gateway.Options{Store: slow}, nil)
		var all sync.WaitGroup
		for range 300 {
			all.Go(func() { _, _, _ = postMessages(t, base, "k", []byte(turnTwo)) })
		}
		eventually(t, func() bool {
			return strings.Contains(counts(g, false), `warmpath_store_failures_total{op="get",reason="busy"} 4`)
		}, func() string { return "the store is never too busy" })
		close(slow.goOn)
		all.Wait()
	},
	"a log that cannot be kept": func(t *testing.T) {
		g, base := logging(t, config.KeptInMemory, nil)
		client := speakers[rewrite.Messages]
		client.ask(t, base, simple(rewrite.Messages, models[rewrite.Messages], "Hello. DO[say Hi.]", true))
		asksFor(t, 400, base+"/v1/messages", `{"model":"claude/claude-opus-5-5","max_tokens":9,"messages":7}`, "X-Api-Key", "k", "Anthropic-Version", "2023-06-01")
		g.EndLog()
		client.ask(t, base, simple(rewrite.Messages, models[rewrite.Messages], "Hello. DO[say Hi.]", true))
	},
	"a reply that the log cannot read": func(t *testing.T) {
		p := newProvider(t, answerWith(`{"id":`))
		_, base, _ := start(t, p.URL, func(cfg *config.Config) { cfg.Log = config.Log{Events: config.KeptInMemory} })
		asksFor(t, 200, base+"/v1/messages", plain)
	},
}

// leaves: a client that goes away, before its stream has begun and within it.
func leaves(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	g, base, _ := start(t, p.URL, nil)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/messages", strings.NewReader(strings.Replace(plain, "{", `{"stream":true,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	_ = resp.Body.Close()
	eventually(t, func() bool {
		return strings.Contains(counts(g, false), `warmpath_requests_total{dialect="messages",provider="anthropic",reason="client_gone",status="4xx"} 1`)
	}, func() string { return "nobody is counted to have left" })
}

// troubled is a store whose every answer is an error.
type troubled struct {
	cache.Store
	err error
}

func (s *troubled) GetMany(context.Context, ...string) ([][]byte, error) { return nil, s.err }

func (s *troubled) Set(context.Context, ...cache.Entry) error { return s.err }

// slowly is a store that reads nothing before it may.
type slowly struct {
	cache.Store
	goOn chan struct{}
}

func (s *slowly) GetMany(ctx context.Context, keys ...string) ([][]byte, error) {
	<-s.goOn
	return s.Store.GetMany(ctx, keys...)
}

// faulty breaks whoever writes to it.
type faulty struct{}

func (faulty) Write([]byte) (int, error) { panic("a fault") }
