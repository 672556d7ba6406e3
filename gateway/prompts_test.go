package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"warmpath/cache/redis"
	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	asking "warmpath/gateway/question"
	"warmpath/rewrite"
)

// asksUser is a script in which the model asks the user something.
const asksUser = `DO[say One.; call ask_user {"questions":[{"kind":"choice","text":"Which database?","options":["PostgreSQL","SQLite"]}]}; then; say Two.]`

// chosen answers the question.
const chosen = `{"action":"accept","content":{"q1":"SQLite"}}`

// people is a gateway in front of every provider, whose models may ask the user.
type people struct {
	gateway *gateway.Gateway
	core    *provider.Core
	base    string
	active  atomic.Int64 // connections that providers have a request on
}

func withPeople(t *testing.T, opts gateway.Options, change func(*config.Config)) *people {
	t.Helper()
	return withPeopleOf(t, opts, provider.Options{}, catalog.RouteRow{Builtin: []string{"ask_user"}}, change)
}

// withPeopleOf is withPeople with other providers, and other tools for all models.
func withPeopleOf(t *testing.T, opts gateway.Options, simulated provider.Options, route catalog.RouteRow, change func(*config.Config)) *people {
	t.Helper()
	p := &people{core: provider.New(simulated)}
	origin := httptest.NewUnstartedServer(providers.New(p.core))
	origin.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateActive:
			p.active.Add(1)
		case http.StateIdle, http.StateClosed, http.StateHijacked:
			p.active.Add(-1)
		case http.StateNew:
			// Nothing is asked yet: it counts once it is active, and is closed then.
		}
	}
	origin.Start()
	t.Cleanup(origin.Close)
	snapshot, problems := catalog.Build(catalog.Settings{
		Routes:    map[string]catalog.RouteRow{"*": route},
		Providers: everyRow(origin.URL),
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p.gateway, p.base, _ = startWith(t, origin.URL, opts, func(cfg *config.Config) {
		cfg.Catalog = snapshot
		keepsReplies(cfg)
		cfg.Timeouts.Heartbeat = 20 * time.Millisecond
		cfg.Prompts.Expiry, cfg.Prompts.Grace = 20*time.Second, 100*time.Millisecond
		if change != nil {
			change(cfg)
		}
	})
	return p
}

// stream is a reply that is being read in the background.
type stream struct {
	status int
	header http.Header
	done   chan struct{}
	text   buffer
	leave  context.CancelFunc
}

// begin sends a conversation; headers are names and values.
func (p *people) begin(t *testing.T, from rewrite.Dialect, script string, headers ...string) *stream {
	t.Helper()
	client := speakers[from]
	c := says(script)
	c.Dialect, c.Model, c.Stream = from, models[rewrite.Messages], true
	body, err := client.encode(c, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", p.base+client.path(c.Model, true), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(client.key, keyOf(from))
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	s := &stream{done: make(chan struct{}), leave: leave}
	go func() {
		defer close(s.done)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		s.status, s.header = resp.StatusCode, resp.Header
		_, _ = io.Copy(&s.text, resp.Body)
	}()
	t.Cleanup(func() {
		leave()
		<-s.done
	})
	return s
}

// rest is the whole reply once it has ended.
func (s *stream) rest(t *testing.T) string {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(20 * time.Second):
		t.Fatalf("the reply does not end: %s", s.text.String())
	}
	return s.text.String()
}

// keyOf is the credential of the clients of a dialect as they show it.
func keyOf(from rewrite.Dialect) string {
	if speakers[from].key == "Authorization" {
		return "Bearer sk-client"
	}
	return "sk-client"
}

// call calls the API of prompts as a client of a dialect.
func (p *people) call(t *testing.T, from rewrite.Dialect, method, path, body string) (int, gjson.Result) {
	t.Helper()
	return p.callAs(t, speakers[from].key, keyOf(from), method, path, body)
}

func (p *people) callAs(t *testing.T, header, key, method, path, body string) (int, gjson.Result) {
	t.Helper()
	return request(t, method, p.base+"/warmpath/v1/prompts"+path, body, header, key)
}

func request(t *testing.T, method, url, body string, headers ...string) (int, gjson.Result) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, gjson.ParseBytes(text)
}

// open waits until a prompt of a client's is open.
func (p *people) open(t *testing.T, from rewrite.Dialect) gjson.Result {
	t.Helper()
	var open gjson.Result
	eventually(t, func() bool {
		_, list := p.call(t, from, "GET", "?state=open", "")
		open = list.Get("prompts.0")
		return open.Exists()
	}, func() string { return "no prompt opens" })
	return open
}

const capable = "prompt.form"

func TestPeopleAreAsked(t *testing.T) {
	beats := map[rewrite.Dialect]string{
		rewrite.Messages: "event: ping", rewrite.Completions: ": keep-alive", rewrite.Responses: ": keep-alive", rewrite.Gemini: "\n\n\n\n",
	}
	for from := range speakers {
		t.Run(fmt.Sprintf("WT-01 WT-09 an answer resumes, %s", from), func(t *testing.T) {
			p := withPeople(t, gateway.Options{}, nil)
			s := p.begin(t, from, asksUser, "Warmpath-Capabilities", capable)
			open := p.open(t, from)
			if open.Get("kind").Str != "question" || open.Get("tool.name").Str != "ask_user" || open.Get("questions.0.text").Str != "Which database?" || open.Get("schema.properties.q1.type").Str != "string" {
				t.Errorf("the client sees %s", open)
			}
			eventually(t, func() bool { return strings.Count(s.text.String(), beats[from]) >= 3 }, func() string { return "no three heartbeats: " + s.text.String() })
			eventually(t, func() bool { return p.active.Load() == 0 }, func() string { return fmt.Sprint(p.active.Load(), " connections to the provider are held") })
			if asked := len(p.core.Log.All()); asked != 1 {
				t.Errorf("the provider was asked %d times", asked)
			}
			path := "/" + open.Get("id").Str + "/answer"
			if status, said := p.call(t, from, "POST", path, `{"action":"accept","content":{"q1":"Oracle"}}`); status != 422 {
				t.Errorf("WT-05: an answer that is none gives %d %s", status, said)
			}
			if status, said := p.call(t, from, "POST", path, chosen); status != 200 {
				t.Fatalf("%d %s", status, said)
			}
			got := s.rest(t)
			if !strings.Contains(got, "One.") || !strings.Contains(got, "Two.") || strings.Contains(got, "error\":{") {
				t.Errorf("the client reads %s", got)
			}
			if from == rewrite.Responses { // it has an event for it, and no call
				told := strings.Count(got, "event: warmpath:prompt.opened") + strings.Count(got, "event: warmpath:prompt.closed")
				if told != 2 || strings.Contains(got, "function_call") {
					t.Errorf("the client reads %s", got)
				}
			} else if strings.Contains(got, "ask_user") || strings.Contains(got, "prompt.") {
				t.Errorf("WS-04: the client reads %s", got)
			}
			if told := lastRecord(p.core).Body; !strings.Contains(told, "Which database?") || !strings.Contains(told, "SQLite") || !strings.Contains(told, "The user has answered.") {
				t.Errorf("the model is told %s", told)
			}
			if status, _ := p.call(t, from, "POST", path, chosen); status != 409 {
				t.Errorf("PR-13: a second answer gives %d", status)
			}
		})
		t.Run(fmt.Sprintf("WT-03 nobody answers in time, %s", from), func(t *testing.T) {
			p := withPeople(t, gateway.Options{}, func(cfg *config.Config) { cfg.Prompts.Expiry = 200 * time.Millisecond })
			s := p.begin(t, from, asksUser, "Warmpath-Capabilities", capable)
			id := p.open(t, from).Get("id").Str
			if got := s.rest(t); !strings.Contains(got, "Two.") {
				t.Errorf("the client reads %s", got)
			}
			if told := lastRecord(p.core).Body; !strings.Contains(told, asking.Tell(asking.Unasked, nil, nil)) {
				t.Errorf("the model is told %s", told)
			}
			if status, _ := p.call(t, from, "POST", "/"+id+"/answer", chosen); status != 410 {
				t.Errorf("a late answer gives %d", status)
			}
		})
		t.Run(fmt.Sprintf("WT-04 the client leaves, %s", from), func(t *testing.T) {
			p := withPeople(t, gateway.Options{}, nil)
			s := p.begin(t, from, asksUser, "Warmpath-Capabilities", capable)
			id := p.open(t, from).Get("id").Str
			s.leave()
			eventually(t, func() bool {
				_, view := p.call(t, from, "GET", "/"+id, "")
				return view.Get("state").Str == "cancelled"
			}, func() string { return "the prompt stays open" })
			if status, _ := p.call(t, from, "POST", "/"+id+"/answer", chosen); status != 410 {
				t.Errorf("a late answer gives %d", status)
			}
			if asked := len(p.core.Log.All()); asked != 1 {
				t.Errorf("PR-12: the provider was asked %d times", asked)
			}
		})
		t.Run(fmt.Sprintf("WT-07 nobody there, %s", from), func(t *testing.T) {
			p := withPeople(t, gateway.Options{}, nil)
			got := p.begin(t, from, asksUser).rest(t)
			if told := lastRecord(p.core).Body; !strings.Contains(got, "Two.") || !strings.Contains(told, asking.Tell(asking.Unasked, nil, nil)) {
				t.Errorf("the client reads %s, the model %s", got, told)
			}
		})
		t.Run(fmt.Sprintf("WT-12 the gateway stops, %s", from), func(t *testing.T) {
			p := withPeople(t, gateway.Options{}, nil)
			s := p.begin(t, from, asksUser, "Warmpath-Capabilities", capable)
			p.open(t, from)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if err := p.gateway.Stop(ctx); err != nil {
				t.Error(err)
			}
			if got := s.rest(t); !strings.Contains(got, "error") || !strings.Contains(got, "Send the request again") || strings.Contains(got, "Two.") {
				t.Errorf("the client reads %s", got)
			}
		})
	}
}

func TestPeopleOfWholeReplies(t *testing.T) {
	ask := func(t *testing.T, p *people, headers ...string) {
		t.Helper()
		c := says(asksUser)
		c.Dialect, c.Model = rewrite.Messages, models[rewrite.Messages]
		client := speakers[rewrite.Messages]
		reply, _ := client.ask(t, p.base, c, headers...)
		if got := strings.Join(spoken(reply), " "); !strings.Contains(got, "Two.") {
			t.Errorf("the client reads %q", got)
		}
	}
	t.Run("WT-07 are not waited for", func(t *testing.T) {
		p := withPeople(t, gateway.Options{}, nil)
		ask(t, p, "Warmpath-Capabilities", capable)
		if told := lastRecord(p.core).Body; !strings.Contains(told, asking.Tell(asking.Unasked, nil, nil)) {
			t.Errorf("the model is told %s", told)
		}
	})
	t.Run("WT-07 but for as long as the client says", func(t *testing.T) {
		p := withPeople(t, gateway.Options{}, nil)
		answered := make(chan int)
		go func() {
			id := p.open(t, rewrite.Messages).Get("id").Str
			status, _ := p.call(t, rewrite.Messages, "POST", "/"+id+"/answer", chosen)
			answered <- status
		}()
		ask(t, p, "Warmpath-Capabilities", capable, "Warmpath-Wait", "15s")
		if status := <-answered; status != 200 || !strings.Contains(lastRecord(p.core).Body, "SQLite") {
			t.Errorf("the answer gives %d, the model is told %s", status, lastRecord(p.core).Body)
		}
	})
}

func TestPeopleElsewhere(t *testing.T) {
	t.Run("WT-08 the root answers for the agents that it calls", func(t *testing.T) {
		p := withPeople(t, gateway.Options{}, nil)
		lease := p.look(t, p.base+"/warmpath/v1/prompts/stream?conversation=main", "X-Api-Key", "sk-client")
		s := p.begin(t, rewrite.Messages, asksUser, "Warmpath-Conversation", "child", "Warmpath-Parent", "main", "Warmpath-Agent", "homer")
		open := p.open(t, rewrite.Messages)
		if open.Get("conversation").Str != "main" || open.Get("path").Raw != `["homer"]` {
			t.Errorf("the root sees %s", open)
		}
		path := "/" + open.Get("id").Str
		if status, _ := p.callAs(t, "X-Api-Key", "sk-stranger", "POST", path+"/answer", chosen); status != 404 {
			t.Errorf("a stranger's answer gives %d", status)
		}
		if _, list := p.callAs(t, "X-Api-Key", "sk-stranger", "GET", "", ""); list.Raw != "{\"prompts\":[]}\n" && list.Get("prompts.#").Int() != 0 {
			t.Errorf("a stranger sees %s", list)
		}
		if status, _ := p.call(t, rewrite.Messages, "POST", path+"/answer", chosen); status != 200 {
			t.Errorf("the root's answer gives %d", status)
		}
		if got := s.rest(t); !strings.Contains(got, "Two.") || !strings.Contains(lease.String(), "event: opened") {
			t.Errorf("the client reads %s", got)
		}
	})
	t.Run("WT-06 a console answers", func(t *testing.T) {
		p := withPeople(t, gateway.Options{}, nil)
		admin := "http://" + p.gateway.AdminAddr() + "/api/prompts"
		p.look(t, admin+"/stream")
		s := p.begin(t, rewrite.Completions, asksUser)
		id := p.open(t, rewrite.Completions).Get("id").Str
		if status, said := request(t, "POST", admin+"/"+id+"/answer", `{"action":"decline"}`, "Origin", "https://evil.example"); status != 403 {
			t.Errorf("a page of another origin gets %d %s", status, said)
		}
		if status, said := request(t, "POST", admin+"/"+id+"/answer", `{"action":"decline"}`); status != 200 {
			t.Errorf("%d %s", status, said)
		}
		if got := s.rest(t); !strings.Contains(got, "Two.") {
			t.Errorf("the client reads %s", got)
		}
		if told := lastRecord(p.core).Body; !strings.Contains(told, asking.Tell(asking.Declined, nil, nil)) {
			t.Errorf("the model is told %s", told)
		}
	})
	t.Run("a page of another origin", func(t *testing.T) {
		p := withPeople(t, gateway.Options{}, nil)
		for _, path := range []string{"", "/stream", "/p_x"} {
			if status, _ := request(t, "GET", p.base+"/warmpath/v1/prompts"+path, "", "Origin", "https://evil.example"); status != 403 {
				t.Errorf("%q gives %d", path, status)
			}
		}
	})
	t.Run("WT-02 PR-14 another gateway takes the answer", func(t *testing.T) {
		address := redisServer(t)
		shared := func() gateway.Options {
			store, err := redis.Open(address, redis.Options{Timeout: 10 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			return gateway.Options{Store: store}
		}
		here, there := withPeople(t, shared(), nil), withPeople(t, shared(), nil)
		s := here.begin(t, rewrite.Messages, asksUser, "Warmpath-Capabilities", capable)
		id := there.open(t, rewrite.Messages).Get("id").Str
		if status, said := there.call(t, rewrite.Messages, "POST", "/"+id+"/answer", chosen); status != 200 {
			t.Fatalf("%d %s", status, said)
		}
		if got := s.rest(t); !strings.Contains(got, "Two.") || !strings.Contains(lastRecord(here.core).Body, "SQLite") {
			t.Errorf("the client reads %s", got)
		}
		for _, p := range []*people{here, there} {
			if status, _ := p.call(t, rewrite.Messages, "POST", "/"+id+"/answer", chosen); status != 409 {
				t.Errorf("PR-13: a second answer gives %d", status)
			}
		}
	})
	t.Run("WT-02 a console at another gateway", func(t *testing.T) {
		address := redisServer(t)
		shared := func() gateway.Options {
			store, err := redis.Open(address, redis.Options{Timeout: 10 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			return gateway.Options{Store: store}
		}
		here, there := withPeople(t, shared(), nil), withPeople(t, shared(), nil)
		admin := "http://" + there.gateway.AdminAddr() + "/api/prompts"
		console := there.look(t, admin+"/stream")
		var s *stream
		// The first gateway has to have heard of the console.
		eventually(t, func() bool {
			s = here.begin(t, rewrite.Messages, asksUser)
			select {
			case <-s.done:
				return false
			case <-time.After(500 * time.Millisecond):
				return true
			}
		}, func() string { return "nobody is asked" })
		eventually(t, func() bool { return strings.Contains(console.String(), "event: opened") }, func() string { return "the console is not told" })
		_, list := request(t, "GET", admin+"?state=open", "")
		if status, said := request(t, "POST", admin+"/"+list.Get("prompts.0.id").Str+"/answer", chosen); status != 200 {
			t.Fatalf("%d %s of %s", status, said, list)
		}
		if got := s.rest(t); !strings.Contains(got, "Two.") || !strings.Contains(lastRecord(here.core).Body, "SQLite") {
			t.Errorf("the client reads %s", got)
		}
	})
}

// look holds a stream of prompts until the test is over, and collects it.
func (p *people) look(t *testing.T, url string, headers ...string) *buffer {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	got, done := new(buffer), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(got, resp.Body)
	}()
	t.Cleanup(func() {
		leave()
		_ = resp.Body.Close()
		<-done
	})
	eventually(t, func() bool { return strings.Contains(got.String(), "retry:") }, func() string { return "the stream does not begin" })
	return got
}
