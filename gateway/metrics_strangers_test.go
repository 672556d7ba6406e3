package gateway_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warmpath/fixtures/series"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

// FuzzLabels sends what strangers may write: no label has any of it, and no request
// makes a series that the closed sets do not have.
func FuzzLabels(f *testing.F) {
	f.Add("/v1/messages", "claude-opus-5-5", "X-A: b", "read_file")
	f.Add("/p/nobody/v1/messages", `none`, "Warmpath-Mode: nonsense", "other")
	f.Add("/v1/messages?provider=x", "openai/\\n\\\"}", "Warmpath-Conversation: {x=\"y\"}", "a b")
	f.Add("/v1beta/models/%7B%22%7D:generateContent", "x", "Anthropic-Beta: "+strings.Repeat("b", 500), strings.Repeat("t", 300))
	f.Add("/unknown/\xff", "\xff", "A\x00: b", "\xff")
	origin := httpProvider(f)
	var cfg *config.Config
	g, _, _ := start(f, origin, func(c *config.Config) { c.Quiet, cfg = true, c })
	all := series.Metrics(&series.Names{Providers: cfg.Catalog.Providers(), Models: cfg.Catalog.Models()})
	f.Fuzz(func(t *testing.T, path, model, header, tool string) {
		body := fmt.Sprintf(`{"model":%q,"stream":true,"max_tokens":9,"tools":[{"name":%q,"input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}]}`, model, tool)
		conn, err := net.Dial("tcp", g.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(300 * time.Millisecond))
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\nContent-Length: %d\r\n\r\n%s", path, header, len(body), body)
		_, _ = io.Copy(io.Discard, conn)
		samples, err := series.Read(counts(g, false))
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range series.Problems(all, samples) {
			t.Error(problem)
		}
	})
}

// httpProvider answers every request under a name of its own.
func httpProvider(t testing.TB) string {
	var n atomic.Int64
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Replace(reply, "claude-opus-5", fmt.Sprintf("m-%d", n.Add(1)), 1))
	})
	return p.URL
}

// What a provider does not report is in no ratio and no break, in any dialect, whole or
// streamed, however warm its cache must be.
func TestWhatIsNotReportedIsNoMiss(t *testing.T) {
	for name, c := range map[string]struct{ path, body, answer string }{
		"Messages": {"/v1/messages", turnTwo, strings.Replace(calling, `"input_tokens":10,`, `"input_tokens":5000,`, 1)},
		"Chat Completions": {"/v1/chat/completions", `{"model":"gpt-5.5","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":"hi"}]}`,
			`{"id":"c","object":"chat.completion","model":"gpt-5.5","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":5000,"completion_tokens":5,"total_tokens":5005}}`},
		"Responses": {"/v1/responses", `{"model":"gpt-5.5","input":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":"hi"}]}`,
			`{"id":"resp_1","object":"response","status":"completed","model":"gpt-5.5","output":[],"usage":{"input_tokens":5000,"output_tokens":5,"total_tokens":5005}}`},
		"no usage at all": {"/v1/messages", turnTwo, strings.Replace(calling, `,"usage":{"input_tokens":10,"output_tokens":5}`, "", 1)},
		"an error":        {"/v1/messages", turnTwo, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if c.answer == "" {
					w.WriteHeader(http.StatusUnprocessableEntity)
				}
				_, _ = io.WriteString(w, c.answer)
			})
			g, base, _ := startWith(t, p.URL, gateway.Options{}, nil)
			for range 3 {
				send(t, "POST", base+c.path, c.body)
			}
			samples, err := series.Read(counts(g, true))
			if err != nil {
				t.Fatal(err)
			}
			unreported := 0.0
			for _, s := range samples {
				switch s.Name {
				case "warmpath_cache_breaks_total", "warmpath_cache_break_tokens_total", "warmpath_input_tokens_total":
					if s.Value != 0 {
						t.Errorf("%s%v is %v", s.Name, s.Labels, s.Value)
					}
				case "warmpath_provider_cache_requests_total":
					if s.Labels["outcome"] == "unreported" {
						unreported += s.Value
					} else if s.Value != 0 {
						t.Errorf("%s%v is %v", s.Name, s.Labels, s.Value)
					}
				}
			}
			if want := map[bool]float64{false: 3}[c.answer == ""]; unreported != want {
				t.Errorf("%v requests are unreported, want %v", unreported, want)
			}
		})
	}
}
