package gateway_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warmpath/fixtures/show"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// streamWith answers every request with one stream, and breaks off after it if
// cut is set.
func streamWith(stream string, cut bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("request-id", "req_1")
		_, _ = io.WriteString(w, stream)
		if cut {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}
}

// asked is how a client of a dialect asks for a stream.
var asked = map[rewrite.Dialect]struct{ path, body string }{
	rewrite.Messages:    {"/v1/messages", `{"model":"claude-opus-5-5","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"my secret"}]}`},
	rewrite.Completions: {"/v1/chat/completions", `{"model":"openrouter/m","stream":true,"messages":[{"role":"user","content":"my secret"}]}`},
	rewrite.Responses:   {"/v1/responses", `{"model":"gpt-6.1-sol","stream":true,"input":"my secret"}`},
	rewrite.Gemini:      {"/v1beta/models/gemini-4-neon:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"my secret"}]}]}`},
}

// goldenStream is a provider's stream of the dialects' own tests.
func goldenStream(t *testing.T, dialect rewrite.Dialect, name string) string {
	t.Helper()
	return show.Load(t, filepath.Join("..", "rewrite", "testdata", dialect.String(), name+".txt")).Text("stream")
}

var volatile = regexp.MustCompile(`"(time|duration_ms|first_token_ms|conversation)":("[^"]*"|[0-9.]+)`)

// settled is an event log with what differs from run to run in one form.
func settled(log string) string { return volatile.ReplaceAllString(log, `"$1":0`) }

// Each call is a line, with all that is told of it and none of what was said.
func TestEventLog(t *testing.T) {
	show.Each(t, "testdata/events", func(t *testing.T, f *show.File) {
		of, _ := f.Section("of")
		from, name, _ := strings.Cut(of, "/")
		dialect, ok := rewrite.ParseDialect(from)
		if !ok {
			t.Fatalf("%s is of no dialect", of)
		}
		stream := goldenStream(t, dialect, name)
		p := newProvider(t, streamWith(stream, false))
		log := new(buffer)
		g, base, _ := startWith(t, p.URL, gateway.Options{Events: log}, func(c *config.Config) { c.Events = "-" })
		_, body := send(t, "POST", base+asked[dialect].path, asked[dialect].body)
		if !strings.HasPrefix(body, stream) {
			t.Fatalf("the stream was changed: %s", body)
		}
		eventually(t, func() bool { return strings.Contains(log.String(), "\n") }, log.String)
		if !json.Valid([]byte(log.String())) {
			t.Errorf("no JSON: %s", log)
		}
		f.Want(t, *update, "log", settled(log.String()))
		_, page := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", "")
		var counted []string
		for line := range strings.Lines(page) {
			if spent.MatchString(line) && !strings.HasSuffix(line, " 0\n") {
				counted = append(counted, line)
			}
		}
		f.Want(t, *update, "metrics", strings.Join(counted, ""))
	})
}

var spent = regexp.MustCompile(`^warmpath_(cost_usd|unpriced_requests|hosted_activity|citations)_total\{`)

// One request may take several calls, and each is a line.
func TestEventLogHasEachCall(t *testing.T) {
	answers := 0
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		if answers++; answers < 3 {
			w.Header().Set("retry-after-ms", "1")
			w.WriteHeader(529)
			return
		}
		answerWith(reply)(w, r)
	})
	log := new(buffer)
	g, base, _ := startWith(t, p.URL, gateway.Options{Events: log}, func(c *config.Config) { c.Events = "-" })
	send(t, "POST", base+"/v1/messages", `{"model":"claude-opus-5","messages":[]}`)
	eventually(t, func() bool { return strings.Count(log.String(), "\n") == 3 }, log.String)
	type line struct {
		Call, Status int
		Last         bool
		Reason       string
		ReplyID      string `json:"reply_id"`
	}
	var got []line
	for text := range strings.Lines(log.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	want := []line{{1, 529, false, "provider", ""}, {2, 529, false, "provider", ""}, {3, 200, true, "none", "msg_1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, rows := send(t, "GET", "http://"+g.AdminAddr()+"/api/requests", ""); strings.Count(rows, `{"provider":"anthropic","model":"claude-opus-5","status":529,"reason":"provider",`) != 2 {
		t.Errorf("the earlier calls are not in %s", rows)
	}
	// What reaches no provider is no call.
	send(t, "POST", base+"/v1/messages", `{"model":`)
	send(t, "POST", base+"/v1/messages", `{"model":"claude-opus-5","messages":[]}`)
	eventually(t, func() bool { return strings.Count(log.String(), "\n") == 4 }, log.String)
}

// US-05, ST-02, ST-11: what was told until a stream broke off is kept, and marked.
func TestCutStreamsKeepTheirUsage(t *testing.T) {
	for dialect, name := range map[rewrite.Dialect]string{
		rewrite.Messages: "cited_cut", rewrite.Completions: "cited_cut", rewrite.Responses: "cited_cut", rewrite.Gemini: "grounding_cut",
	} {
		t.Run("US-05 ST-02 ST-11 "+dialect.String(), func(t *testing.T) {
			p := newProvider(t, streamWith(goldenStream(t, dialect, name), true))
			log := new(buffer)
			_, base, lines := startWith(t, p.URL, gateway.Options{Events: log}, func(c *config.Config) { c.Events = "-" })
			send(t, "POST", base+asked[dialect].path, asked[dialect].body)
			eventually(t, func() bool { return strings.Contains(log.String(), "\n") }, log.String)
			told := []string{`"status":200`, `"reason":"stream_cut"`, `"partial":true`, `"incomplete":`}
			if dialect == rewrite.Messages || dialect == rewrite.Gemini {
				told = append(told, `"usage":{"input":100`)
				if !strings.Contains(lines.String(), " so far") {
					t.Errorf("the line does not say that it is partial: %s", lines)
				}
			}
			if dialect == rewrite.Messages {
				told = append(told, `"state":"abandoned"`)
			}
			for _, want := range told {
				if !strings.Contains(log.String(), want) {
					t.Errorf("no %s in %s", want, log)
				}
			}
			if strings.Contains(log.String(), `"incomplete":0`) {
				t.Errorf("no source is incomplete: %s", log)
			}
		})
	}
}

// US-05: the same where the stream is translated on its way, or is to be whole.
func TestCutTranslationsKeepTheirUsage(t *testing.T) {
	stream := goldenStream(t, rewrite.Messages, "cited_cut")
	for name, test := range map[string]struct{ path, body string }{
		"streamed":    {"/v1/responses", `{"model":"only/m","stream":true,"input":"hi"}`},
		"to Gemini":   {"/v1beta/models/only%2Fm:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		"to be whole": {"/v1/chat/completions", `{"model":"only/m","messages":[{"role":"user","content":"hi"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, streamWith(stream, true))
			log := new(buffer)
			_, base, _ := startWith(t, p.URL, gateway.Options{Events: log}, func(c *config.Config) {
				c.Events, c.Catalog = "-", only(t, rewrite.Messages, p.URL)
			})
			send(t, "POST", base+test.path, test.body)
			eventually(t, func() bool { return strings.Contains(log.String(), "\n") }, log.String)
			for _, want := range []string{`"partial":true`, `"usage":{"input":100`, `"cost_usd":{"total":`, `"incomplete":1`, `"state":"abandoned"`} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("no %s in %s", want, log)
				}
			}
		})
	}
}

// PB-28, US-05: what a client has left behind has been used all the same.
func TestClientsThatLeaveAreCharged(t *testing.T) {
	stream := goldenStream(t, rewrite.Messages, "cited_cut")
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	log := new(buffer)
	_, base, _ := startWith(t, p.URL, gateway.Options{Events: log}, func(c *config.Config) { c.Events = "-" })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "POST", base+"/v1/messages", strings.NewReader(asked[rewrite.Messages].body))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, len(stream))); err != nil {
		t.Fatal(err)
	}
	cancel()
	eventually(t, func() bool { return strings.Contains(log.String(), "\n") }, log.String)
	for _, want := range []string{`"status":499`, `"reason":"client_gone"`, `"partial":true`, `"usage":{"input":100`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
}

// only is a catalog with one provider, of one dialect, whose model has a price.
func only(t *testing.T, dialect rewrite.Dialect, address string) *catalog.Snapshot {
	t.Helper()
	price := catalog.PriceRow{
		Tokens: map[string]string{"input": "1", "read": "0.5", "write": "2", "output": "4"},
		Hosted: map[string]string{"web_search": "10"},
		Terms:  map[string]string{"flex": "0.5", "fast": "2", "priority": "3", "regional": "1.1"},
	}
	snapshot, problems := catalog.Build(catalog.Settings{
		Providers: map[string]catalog.Row{"only": {BaseURL: address, Dialects: []string{dialect.String()}}},
		Prices:    map[string]catalog.PriceRow{"only/m": price},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return snapshot
}

// US-01 to US-04, V7: a call counts the same whether its bytes pass or are
// translated.
func TestTranslatedCallsCountTheSame(t *testing.T) {
	clients := map[rewrite.Dialect]struct{ path, body string }{
		rewrite.Messages:    {"/v1/messages", `{"model":"only/m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`},
		rewrite.Completions: {"/v1/chat/completions", `{"model":"only/m","stream":true,"messages":[{"role":"user","content":"hi"}]}`},
		rewrite.Responses:   {"/v1/responses", `{"model":"only/m","stream":true,"input":"hi"}`},
		rewrite.Gemini:      {"/v1beta/models/only%2Fm:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
	}
	counted, lossy := regexp.MustCompile(`"usage":.*`), regexp.MustCompile(`,"losses":\d+`)
	for vendor, name := range map[rewrite.Dialect]string{
		rewrite.Messages: "hosted", rewrite.Completions: "cited", rewrite.Responses: "hosted", rewrite.Gemini: "grounding",
	} {
		want := ""
		for _, client := range []rewrite.Dialect{vendor, rewrite.Messages, rewrite.Completions, rewrite.Responses, rewrite.Gemini} {
			t.Run(fmt.Sprintf("%s to %s", client, vendor), func(t *testing.T) {
				p := newProvider(t, streamWith(goldenStream(t, vendor, name), false))
				log := new(buffer)
				_, base, _ := startWith(t, p.URL, gateway.Options{Events: log}, func(c *config.Config) {
					c.Events, c.Catalog = "-", only(t, vendor, p.URL)
				})
				resp, text := send(t, "POST", base+clients[client].path, clients[client].body)
				if resp.StatusCode != 200 {
					t.Fatal(text)
				}
				eventually(t, func() bool { return strings.Contains(log.String(), "\n") }, log.String)
				got := lossy.ReplaceAllString(counted.FindString(log.String()), "")
				if want == "" {
					want = got
				}
				if !strings.Contains(got, `"cost_usd":{"total":0.0`) || got != want {
					t.Errorf("counted %s\nwant %s\n%s", got, want, log)
				}
			})
		}
	}
}

// The rows of the console have the cost too, and null where it is not known.
func TestRequestsHaveTheirCost(t *testing.T) {
	p := newProvider(t, streamWith(goldenStream(t, rewrite.Messages, "hosted"), false))
	g, base, lines := start(t, p.URL, func(c *config.Config) { c.Catalog = only(t, rewrite.Messages, p.URL) })
	body := `{"model":"only/%s","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	for _, model := range []string{"m", "of-no-price"} {
		send(t, "POST", base+"/v1/messages", fmt.Sprintf(body, model))
	}
	eventually(t, func() bool { return strings.Count(lines.String(), "\n") == 2 }, lines.String)
	_, text := send(t, "GET", "http://"+g.AdminAddr()+"/api/requests", "")
	type row struct {
		Model     string
		Cost      *json.Number `json:"cost_usd"`
		Least     bool         `json:"cost_is_least"`
		Citations int
		Hosted    []struct{ ID, Name, State string }
	}
	var list struct{ Requests []row }
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Requests) != 2 {
		t.Fatal(err, text)
	}
	unpriced, priced := list.Requests[0], list.Requests[1]
	// 100 tokens at $1 and 64 at $4 a million, three factors on them, a search, and
	// tools whose price nobody knows.
	if unpriced.Cost != nil || priced.Cost == nil || *priced.Cost != "0.0123496" || !priced.Least {
		t.Errorf("costs in %s", text)
	}
	if priced.Citations != 2 || len(priced.Hosted) != 5 || priced.Hosted[4].State != "abandoned" {
		t.Errorf("hosted tools and sources in %s", text)
	}
	if !strings.Contains(lines.String(), " ≥$0.0123 ") {
		t.Errorf("no cost in %s", lines)
	}
}

// A client of the Responses API that asks for it is told of the use in its stream.
func TestUsageIsToldInTheStream(t *testing.T) {
	p := newProvider(t, streamWith(goldenStream(t, rewrite.Messages, "hosted"), false))
	for name, test := range map[string]struct{ include, header string }{
		"by header": {"", "all"}, "by include": {`,"include":["warmpath:usage"]`, ""}, "not asked": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, base, _ := start(t, p.URL, func(c *config.Config) { c.Catalog = only(t, rewrite.Messages, p.URL) })
			header := []string{}
			if test.header != "" {
				header = []string{"warmpath-events", test.header}
			}
			_, stream := send(t, "POST", base+"/v1/responses", `{"model":"only/m","stream":true,"input":"hi"`+test.include+`}`, header...)
			const want = `"call":1,"stop_reason":"stop","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},` +
				`"output_tokens":64,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":164},"hosted":{"web_search":1,"web_fetch":0,"other":1}}`
			told := strings.Contains(stream, "event: warmpath:usage\n") && strings.Contains(stream, want)
			if told != (name != "not asked") || name == "not asked" && strings.Contains(stream, "warmpath:") {
				t.Errorf("told %v in %s", told, stream)
			}
		})
	}
}

// A log that was moved aside is begun anew when the configuration is loaded again,
// and one that cannot be is said.
func TestEventLogIsReopened(t *testing.T) {
	p := newProvider(t, answerWith(reply))
	path := filepath.Join(t.TempDir(), "events.jsonl")
	var cfg *config.Config
	g, base, _ := startWith(t, p.URL, gateway.Options{}, func(c *config.Config) { c.Events, cfg = path, c })
	count := func(path string, want int) {
		t.Helper()
		deadline := time.Now().Add(5 * time.Second)
		for {
			text, _ := os.ReadFile(path)
			if strings.Count(string(text), "\n") == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s has %q, want %d lines", path, text, want)
			}
			time.Sleep(time.Millisecond)
		}
	}
	ask := func() { send(t, "POST", base+"/v1/messages", `{"model":"claude-opus-5","messages":[]}`) }
	ask()
	count(path, 1)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if unchanged := g.Reload(cfg); len(unchanged) > 0 {
		t.Error(unchanged)
	}
	ask()
	count(path, 1)
	count(path+".1", 1)
	other := *cfg
	other.Events = filepath.Join(path, "not a folder")
	if unchanged := g.Reload(&other); len(unchanged) != 1 || !strings.Contains(unchanged[0], "event log") {
		t.Errorf("a path that cannot be opened: %q", unchanged)
	}
	ask()
	count(path, 2)
	if _, err := gateway.New(&other, gateway.Options{}); err == nil {
		t.Error("a gateway was built without its event log")
	}
}
