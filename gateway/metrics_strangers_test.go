package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"warmpath/fixtures/series"
	"warmpath/gateway"
	"warmpath/gateway/config"
)

// What strangers write in paths, models, header lines and names of tools is in no label,
// and no request makes a series that the closed sets do not have.
func TestStrangersMakeNoLabels(t *testing.T) {
	var cfg *config.Config
	g, _, _ := start(t, strangely(t), func(c *config.Config) { c.Quiet, cfg = true, c })
	requests := [][4]string{
		{"/v1/messages", "claude-opus-5-5", "X-A: b", "read_file"},
		{"/p/nobody/v1/messages", "none", "Warmpath-Mode: nonsense", "other"},
		{"/v1/messages?provider=x", "openai/\n\"}", `Warmpath-Conversation: {x="y"}`, "a b"},
		{"/v1beta/models/%7B%22%7D:generateContent", "x", "Anthropic-Beta: " + strings.Repeat("b", 500), strings.Repeat("t", 300)},
		{"/unknown/\xff", "\xff", "A\x00: b", "\xff"},
	}
	r := rand.New(rand.NewPCG(7, 7))
	strange := func() string {
		text := make([]byte, r.IntN(40))
		for i := range text {
			text[i] = byte(0x21 + r.IntN(0xde))
		}
		return string(text)
	}
	for range 100 {
		path := []string{"/v1/messages", "/v1/chat/completions", "/v1/responses", "/p/" + strange() + "/v1/messages", "/" + strange()}[r.IntN(5)]
		model := []string{strange(), "openrouter/" + strange(), "anthropic/claude-" + strange()}[r.IntN(3)]
		requests = append(requests, [4]string{path, model, "Warmpath-Agent: " + strange(), strange()})
	}
	for _, request := range requests {
		model, _ := json.Marshal(request[1])
		tool, _ := json.Marshal(request[3])
		body := fmt.Sprintf(`{"model":%s,"stream":true,"max_tokens":9,"tools":[{"name":%s,"input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"hi"}]}`, model, tool)
		raw(t, g.Addr(), fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\nContent-Length: %d\r\n\r\n%s", request[0], request[2], len(body), body))
	}
	samples, err := series.Read(counts(g, true))
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0.0
	for _, s := range samples {
		if s.Name == "warmpath_requests_total" && s.Labels["status"] == "2xx" {
			accepted += s.Value
		}
	}
	if accepted < 10 {
		t.Errorf("%v requests were accepted: the test would show nothing", accepted)
	}
	for _, problem := range series.Problems(series.Metrics(&series.Names{Providers: cfg.Catalog.Providers(), Models: cfg.Catalog.Models()}), samples) {
		t.Error(problem)
	}
}

// strangely answers every request under another name.
func strangely(t testing.TB) string {
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
