package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// disliking stands in front of the simulated providers and refuses what it dislikes.
type disliking struct {
	http.Handler
	mu sync.Mutex
	// refuse gives the status and the words of a refusal; 0 for none.
	refuse func(body string) (status int, words string)
	bodies []string
}

func (d *disliking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.mu.Lock()
	d.bodies = append(d.bodies, string(body))
	status, words := d.refuse(string(body))
	d.mu.Unlock()
	if status == 0 {
		d.Handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, strconv.Quote(words))
}

// got are the bodies that have come since it was asked last.
func (d *disliking) got(refuse func(body string) (int, string)) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	bodies := d.bodies
	d.bodies = nil
	if refuse != nil {
		d.refuse = refuse
	}
	return bodies
}

// withDislikes is a gateway that runs tell_user for all models of providers that dislike
// something.
func withDislikes(t *testing.T) (d *disliking, g *gateway.Gateway, base string) {
	t.Helper()
	d = &disliking{Handler: providers.New(provider.New(provider.Options{})), refuse: func(string) (int, string) { return 0, "" }}
	origin := httptest.NewServer(d)
	t.Cleanup(origin.Close)
	snapshot, problems := catalog.Build(catalog.Settings{
		Routes:    map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}}},
		Providers: everyRow(origin.URL),
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	g, base, _ = start(t, origin.URL, func(cfg *config.Config) {
		keepsReplies(cfg)
		cfg.Catalog = snapshot
	})
	return d, g, base
}

// dislikes refuses bodies that hold something.
func dislikes(what string, status int, words string) func(string) (int, string) {
	return func(body string) (int, string) {
		if strings.Contains(body, what) {
			return status, words
		}
		return 0, ""
	}
}

// A provider that refuses the gateway's tools is asked once more without, and not asked
// with them again; the client's request fares as it would without the gateway.
func TestRefusedToolsAreSetAside(t *testing.T) {
	for name, refusal := range map[string]struct {
		status int
		words  string
	}{
		"a model that takes no tools":     {400, "registry.example/x does not support tools"},
		"no endpoint that takes tools":    {404, "No endpoints found that support tool use."},
		"a schema":                        {422, "Invalid schema for tell_user"},
		"a server without tools":          {500, "tools param requires --jinja flag"},
		"a refusal that gives no reasons": {400, "Bad request"},
	} {
		d, g, base := withDislikes(t)
		asides := 0
		for from, client := range speakers {
			for to, model := range models {
				t.Run(fmt.Sprintf("WS-04 %s, %s to %s", name, from, to), func(t *testing.T) {
					d.got(dislikes("tell_user", refusal.status, refusal.words))
					for turn := range 2 {
						c := says(fmt.Sprintf("%s to %s, turn %d. DO[say Yes.]", from, to, turn))
						c.Dialect, c.Model, c.Stream = from, model, turn == 0
						reply, _ := client.ask(t, base, c)
						if got := strings.Join(spoken(reply), ""); got != "Yes." {
							t.Errorf("the client reads %q", got)
						}
						bodies := d.got(nil)
						switch {
						case len(bodies) > 1 && turn == 0:
							asides++ // where it has edits of its own, they are given up before
						case len(bodies) > 1:
							t.Errorf("the provider was asked %d times", len(bodies))
						}
						last := bodies[len(bodies)-1]
						if strings.Contains(last, "tell_user") {
							t.Errorf("the provider got %s", last)
						}
						if own, err := client.encode(c, "", nil); err != nil {
							t.Fatal(err)
						} else if from == to && turn == 1 && last != strings.Replace(string(own), c.Model, bare(c.Model), 1) {
							t.Errorf("the provider got %s, want the client's own %s", last, own)
						}
					}
				})
			}
		}
		if asides != len(models) {
			t.Errorf("%s: %d requests were refused, want one of each model", name, asides)
		}
		_, page := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", "")
		if want := fmt.Sprintf("warmpath_retreats_total{reason=\"tools\"} %d\n", asides); !strings.Contains(page, want) {
			t.Errorf("not counted: %s", want)
		}
	}
}

// bare is a model's name at its provider.
func bare(model string) string {
	_, name, _ := strings.Cut(model, "/")
	return name
}

// What the client itself has done wrong it hears, in the words for its own request, and
// nothing is learned of that.
func TestRefusalsThatToolsHaveNoPartIn(t *testing.T) {
	d, _, base := withDislikes(t)
	for name, tc := range map[string]struct {
		status, calls int
		words, want   string
	}{
		"a fault of the client's":  {400, 2, "max_tokens is too high", "max_tokens is too high"},
		"a name of the gateway's":  {402, 1, "nobody may use tell_user or tell_user_2", "nobody may use a tool of the gateway's or tell_user_2"},
		"a key":                    {401, 1, "who are you, tell_user?", "who are you, a tool of the gateway's?"},
		"a model that there isn't": {404, 1, "no such model", "no such model"},
		"a spent budget":           {429, 1, "slow", "slow"},
	} {
		for from, client := range speakers {
			for to, model := range models {
				for _, stream := range []bool{false, true} {
					t.Run(fmt.Sprintf("WS-04 %s, %s to %s, stream %v", name, from, to, stream), func(t *testing.T) {
						d.got(func(string) (int, string) { return tc.status, tc.words })
						c := says("DO[say Yes.]")
						c.Dialect, c.Model, c.Stream = from, model, stream
						status, body, _ := client.send(t, base, c)
						bodies := d.got(dislikes("nothing like it", 0, ""))
						if status != tc.status || !strings.Contains(string(body), tc.want) {
							t.Errorf("status %d: %s", status, body)
						}
						if n := len(bodies); n < tc.calls || tc.calls == 1 && n > 1 && to != rewrite.Messages {
							t.Errorf("the provider was asked %d times, want %d", n, tc.calls)
						}
						if client.ask(t, base, c); !strings.Contains(strings.Join(d.got(nil), ""), "tell_user") {
							t.Error("the tools are not offered any more")
						}
					})
				}
			}
		}
	}
}

// A prompt is counted without tools that the provider refuses.
func TestCountsWithoutRefusedTools(t *testing.T) {
	d, _, base := withDislikes(t)
	d.got(dislikes("tell_user", 400, "This model does not support tools."))
	speaker := speakers[rewrite.Messages]
	speaker.path = func(string, bool) string { return "/v1/messages/count_tokens" }
	speaker.encode = func(*rewrite.Conversation, string, *rewrite.Losses) ([]byte, error) {
		return []byte(`{"model":"` + models[rewrite.Messages] + `","messages":[{"role":"user","content":"hi"}]}`), nil
	}
	for turn, want := range []int{2, 1} {
		status, body, _ := speaker.send(t, base, says("hi"))
		if bodies := d.got(nil); status != 200 || !bytes.Contains(body, []byte("input_tokens")) || len(bodies) != want {
			t.Errorf("request %d: status %d after %d calls: %s", turn, status, len(bodies), body)
		}
	}
}

// A client that goes on by the name of a reply does so at a provider that no longer takes
// the tools, and from what it gets there.
func TestNamesOfRepliesAndRefusedTools(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for to, model := range models {
			t.Run(fmt.Sprintf("to %s, stream %v", to, stream), func(t *testing.T) {
				d, _, base := withDislikes(t)
				client := speakers[rewrite.Responses]
				ask := func(previous, text string) (id string) {
					t.Helper()
					c := says(text)
					c.Dialect, c.Model, c.Stream, c.Previous, c.Store = rewrite.Responses, model, stream, previous, rewrite.On
					reply, _ := client.ask(t, base, c)
					if got := strings.Join(spoken(reply), ""); got != "One." && got != "Two.\n\nOne." {
						t.Errorf("the client reads %q", got)
					}
					return reply.ID
				}
				first := ask("", `Begin. DO[call tell_user {"message":"Two."}; then; say One.]`)
				d.got(dislikes(`"name":"tell_user"`, 400, "This model does not support tools."))
				second := ask(first, "Go on. DO[say One.]")
				if bodies := d.got(nil); len(bodies) < 2 || !strings.Contains(bodies[len(bodies)-1], "Begin.") || !strings.Contains(bodies[len(bodies)-1], "Two.") {
					t.Errorf("the provider got %s", bodies)
				}
				ask(second, "And on. DO[say One.]")
				bodies := d.got(nil)
				if last := bodies[len(bodies)-1]; !strings.Contains(last, "Begin.") && !strings.Contains(last, `"previous_response_id":"`+second) {
					t.Errorf("the provider got %s", last)
				}
			})
		}
	}
}
