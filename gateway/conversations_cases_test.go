package gateway_test

import (
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/rewrite"
	"warmpath/rewrite/transcript"
)

// eventLines are the events of a conversation, told in lines.
func eventLines(events []transcript.Event) (all []string) {
	for i := range events {
		all = append(all, told(&events[i]))
	}
	return all
}

// simple is a request with one message.
func simple(from rewrite.Dialect, model, words string, stream bool) *rewrite.Conversation {
	c := &rewrite.Conversation{Dialect: from, Model: model, Stream: stream, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: words}}}}}
	if from == rewrite.Completions && stream {
		c.Extra = []rewrite.Member{{Name: "stream_options", Value: rewrite.JSON(`{"include_usage":true}`)}}
	}
	return c
}

// A reply that is cut is told as far as it came, and marked as incomplete.
func TestCutRepliesAreLoggedAsIncomplete(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	for from, client := range speakers {
		for to, model := range models {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				status, body, header := client.send(t, base, simple(from, model, "DO[text 20 events=9; cut after=5]", true))
				events, _ := logged(t, g, header.Get("Warmpath-Conversation"), "")
				last, reply := &events[len(events)-1], slices.IndexFunc(events, func(e transcript.Event) bool {
					return e.Type == transcript.ChatResponse && e.Kind == transcript.Message
				})
				if last.Type != transcript.TurnEnd || last.Outcome != transcript.Cut {
					t.Errorf("the last event is %s", told(last))
				}
				if before := &events[len(events)-2]; before.Type != transcript.Error || before.Reason != "stream_cut" || !strings.Contains(before.Message, "closed the stream") {
					t.Errorf("before it is %s", told(before))
				}
				if reply < 0 || !events[reply].Incomplete || len(events[reply].Content) != 1 || events[reply].Content[0].Text == "" {
					t.Errorf("status %d: %s gives %q", status, body, eventLines(events))
				}
			})
		}
	}
}

func TestProviderErrorsAreLogged(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, stream %v", from, to, stream), func(t *testing.T) {
					words := fmt.Sprintf("%s %v: DO[status 422 These words are wrong.]", from, stream)
					status, _, header := client.send(t, base, simple(from, model, words, stream))
					events, _ := logged(t, g, header.Get("Warmpath-Conversation"), "")
					got := eventLines(events)
					want := []string{"turn_start 1", "chat_request " + words, "error provider", "turn_end failed"}
					if diff := cmp.Diff(want, got); diff != "" || status != 422 {
						t.Fatalf("status %d: %s", status, diff)
					}
					if e := events[len(events)-2]; e.Status != 422 || e.Message != "These words are wrong." {
						t.Errorf("the error is %+v", e)
					}
				})
			}
		}
	}
}

// No key is in the log: neither those of header lines, nor one that a prompt or an
// error repeats.
func TestNoSecretIsInTheLog(t *testing.T) {
	folder := t.TempDir()
	g, base := logging(t, config.KeptOnDisk, func(cfg *config.Config) { cfg.Data = folder })
	key := "sk-client" // as all clients here have
	for from, client := range speakers {
		for _, model := range models {
			for _, words := range []string{"My key is " + key + ". DO[say Your key is " + key + ", is it?]", "DO[status 401 The key " + key + " is wrong.]", "DO[call look {\"key\":\"" + key + "\"}]"} {
				c := simple(from, model, words, true)
				c.Tools = []rewrite.Tool{{Name: "look", Schema: rewrite.JSON(`{"type":"object"}`)}}
				status, body, header := client.send(t, base, c, "X-Claude-Code-Session-Id", "session-of-mine", "Cookie", "crumbs=secret-cookie", "Warmpath-Key", "wk-of-the-gateway")
				if header.Get("Warmpath-Conversation") == "" {
					t.Errorf("status %d: %s", status, body)
				}
			}
		}
	}
	if _, list := admin(t, g, "/api/conversations?limit=1000"); len(gjson.GetBytes(list, "conversations").Array()) == 0 {
		t.Fatal("nothing is logged")
	}
	files, err := filepath.Glob(filepath.Join(folder, "conversations", "*.events"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "Your key is ***, is it?") || !strings.Contains(string(text), "The key *** is wrong.") || !strings.Contains(string(text), `{"key":"***"}`) {
			t.Error("what is around the keys is not in the log")
		}
		for _, word := range []string{key, "session-of-mine", "secret-cookie", "wk-of-the-gateway", "secret-KEY1", "session-1", "2023-06-01"} {
			if at := strings.Index(string(text), word); at >= 0 {
				t.Errorf("%q is in the log: …%s…", word, text[max(0, at-200):at+len(word)])
			}
		}
	}
}

// Where the log is off there is none, and nothing is told that was not told before.
func TestWithoutALog(t *testing.T) {
	g, base := logging(t, config.KeptNowhere, nil)
	client := speakers[rewrite.Completions]
	_, header := client.ask(t, base, simple(rewrite.Completions, models[rewrite.Completions], "DO[say Yes.]", true))
	if got := header.Get("Warmpath-Conversation"); got != "" {
		t.Errorf("the conversation is called %q", got)
	}
	if status, body := admin(t, g, "/api/conversations"); status != 404 || !strings.Contains(string(body), "log.events") {
		t.Errorf("status %d: %s", status, body)
	}
}

// A route may be excepted.
func TestRoutesMayBeLeftOut(t *testing.T) {
	origin := httptest.NewServer(providers.New(provider.New(provider.Options{})))
	t.Cleanup(origin.Close)
	g, base, _ := start(t, origin.URL, func(cfg *config.Config) {
		cfg.Log.Events = config.KeptInMemory
		routed, problems := catalog.Build(catalog.Settings{
			Addresses: map[string]string{"openai": origin.URL + "/openai"}, Routes: map[string]catalog.RouteRow{"gpt-4*": {Events: "off"}},
		})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		cfg.Catalog = routed
	})
	client := speakers[rewrite.Completions]
	for model, want := range map[string]bool{"gpt-4.1": false, "gpt-5.1": true} {
		_, header := client.ask(t, base, simple(rewrite.Completions, model, "DO[say Yes.]", false))
		if got := header.Get("Warmpath-Conversation") != ""; got != want {
			t.Errorf("%s: a conversation with a name: %v", model, got)
		}
	}
	if _, list := admin(t, g, "/api/conversations"); len(gjson.GetBytes(list, "conversations").Array()) != 1 {
		t.Errorf("logged: %s", list)
	}
}

// What a reply has besides its text is told with it: reasoning, a form, tools that the
// provider ran, sources.
func TestRepliesAreLoggedWhole(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	for from, client := range speakers {
		for to, model := range models {
			if to == rewrite.Completions || to == rewrite.Converse || from == rewrite.Completions && to == rewrite.Messages {
				continue // they run no tools, or are not offered any
			}
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, stream %v", from, to, stream), func(t *testing.T) {
					c := simple(from, model, "DO[search weather in Bern; say It rains.]", stream)
					c.Tools = []rewrite.Tool{{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search"}}
					status, body, header := client.send(t, base, c)
					if status != 200 {
						t.Skipf("status %d: %s", status, body)
					}
					events, _ := logged(t, g, header.Get("Warmpath-Conversation"), "")
					states := map[string]int{}
					sources := 0
					for i := range events {
						e := &events[i]
						if e.Type == transcript.HostedActivity {
							states[e.State]++
							if e.Name != "web_search" {
								t.Errorf("the activity is %s", told(e))
							}
						}
						for _, b := range e.Content {
							if e.Type == transcript.ChatResponse {
								sources += len(b.Citations)
							}
						}
					}
					if states["completed"] != 1 || states["started"] > 1 || to == rewrite.Messages && states["started"] != 1 || to == rewrite.Responses && stream && states["started"] != 1 {
						t.Errorf("the activities are %v in %q", states, eventLines(events))
					}
					if sources == 0 {
						t.Errorf("no sources in %q", eventLines(events))
					}
				})
			}
		}
	}
}

// A reply that was to have a form is structured.
func TestStructuredRepliesAreTold(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	for from, client := range speakers {
		c := simple(from, models[rewrite.Responses], `DO[say {"a":1}]`, false)
		c.Format = rewrite.Format{Kind: "schema", Name: "form", Schema: rewrite.JSON(`{"type":"object","properties":{"a":{"type":"number"}},"required":["a"],"additionalProperties":false}`)}
		_, header := client.ask(t, base, c)
		events, _ := logged(t, g, header.Get("Warmpath-Conversation"), "?view=user")
		if got := eventLines(events); len(got) != 3 || got[2] != `chat_response structured {"a":1}` {
			t.Errorf("%s: %q", from, got)
		}
	}
}

// A turn that took several calls has the usage of each.
func TestEachCallHasItsUsage(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	for _, stream := range []bool{false, true} {
		c := simple(rewrite.Completions, models[rewrite.Messages], "DO[text 20; stop length; then; say And so on.]", stream)
		client := speakers[rewrite.Completions]
		reply, header := client.ask(t, base, c, "Warmpath-Continue", "1")
		events, _ := logged(t, g, header.Get("Warmpath-Conversation"), "")
		var calls []int
		for _, e := range events {
			if e.Type == transcript.Usage {
				if calls = append(calls, e.Call); e.Tokens == nil || e.Tokens.Output == nil {
					t.Errorf("call %d has used %+v", e.Call, e.Tokens)
				}
			}
		}
		if len(calls) < 2 || calls[0] != 1 || calls[len(calls)-1] != len(calls) {
			t.Errorf("stream %v: the calls are %v of %+v", stream, calls, reply.Stop)
		}
	}
}

// What the gateway says in a request is told: what, and where.
func TestDirectivesAreLogged(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	tool := func(name string) rewrite.Tool {
		return rewrite.Tool{Name: name, Schema: rewrite.JSON(`{"type":"object"}`)}
	}
	c := simple(rewrite.Messages, models[rewrite.Messages], "Go on. DO[say One.]", true)
	c.System = []rewrite.Part{{Text: "You are careful."}}
	c.Tools = []rewrite.Tool{tool("look"), tool("listen")}
	client := speakers[rewrite.Messages]
	reply, first := client.ask(t, base, c, "Warmpath-Conversation", "mine")
	c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "And now? DO[say Two.]"}}})
	c.Tools = c.Tools[:1]
	_, header := client.ask(t, base, c, "Warmpath-Conversation", "mine")
	if header.Get("Warmpath-Conversation") != first.Get("Warmpath-Conversation") {
		t.Fatal("another conversation")
	}
	events, _ := logged(t, g, header.Get("Warmpath-Conversation"), "")
	at := slices.IndexFunc(events, func(e transcript.Event) bool { return e.Type == transcript.Directive })
	if at < 0 {
		_, requests := admin(t, g, "/api/requests?limit=1")
		t.Fatalf("no directive in %q, edits %s: %s", eventLines(events), header.Get("Warmpath-Edits"), requests)
	}
	e := events[at]
	if e.Source != transcript.FromGateway || e.Turn != 2 || e.After == nil || *e.After != 3 || !slices.Equal(e.Removed, []string{"listen"}) {
		t.Errorf("the directive is %+v", e)
	}
}

// A log on disk is there again after a restart, and its conversations go on.
func TestTheLogSurvivesARestart(t *testing.T) {
	folder := t.TempDir()
	client := speakers[rewrite.Responses]
	c := simple(rewrite.Responses, models[rewrite.Gemini], "Hello. DO[say Hi.]", true)
	var names []string
	for range 2 {
		func() {
			g, base := logging(t, config.KeptOnDisk, func(cfg *config.Config) { cfg.Data = folder })
			reply, header := client.ask(t, base, c)
			names = append(names, header.Get("Warmpath-Conversation"))
			c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "Again. DO[say Hi again.]"}}})
			if err := g.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}()
	}
	g, _ := logging(t, config.KeptOnDisk, func(cfg *config.Config) { cfg.Data = folder })
	if names[0] == "" || names[0] != names[1] {
		t.Fatalf("the conversation is called %q", names)
	}
	events, _ := logged(t, g, names[0], "?view=user")
	want := []string{
		"turn_start 1", "chat_request Hello. DO[say Hi.]", "chat_response message Hi.",
		"turn_start 1", "chat_request Again. DO[say Hi again.]", "chat_response message Hi again.",
	}
	if diff := cmp.Diff(want, eventLines(events)); diff != "" {
		t.Error(diff)
	}
}

// A log that cannot be written fails no request, and is counted.
func TestALogThatFailsFailsNoRequest(t *testing.T) {
	g, base := logging(t, config.KeptInMemory, nil)
	client := speakers[rewrite.Messages]
	client.ask(t, base, simple(rewrite.Messages, models[rewrite.Messages], "Hello. DO[say Hi.]", true))
	g.EndLog()
	for to, model := range models {
		for _, stream := range []bool{false, true} {
			reply, _ := client.ask(t, base, simple(rewrite.Messages, model, "Hello. DO[say Hi.]", stream))
			if got := spoken(reply); !slices.Equal(got, []string{"Hi."}) {
				t.Errorf("%s, stream %v: %q", to, stream, got)
			}
		}
	}
	if _, text := admin(t, g, "/metrics"); !regexp.MustCompile(`(?m)^warmpath_log_failures_total\{reason="write"\} [1-9]`).Match(text) {
		t.Error("nothing was counted")
	}
	if status, body := admin(t, g, "/api/conversations/x/events"); status != 404 {
		t.Errorf("status %d: %s", status, body)
	}
}

// BenchmarkLogged is one request through the gateway with the log off and on.
func BenchmarkLogged(b *testing.B) {
	for _, where := range []config.Kept{config.KeptNowhere, config.KeptInMemory, config.KeptOnDisk} {
		for name, c := range map[string]struct{ answer, request []byte }{
			"20KB, stream of 20":  {streamAnswer(20), messagesRequest(20<<10, true)},
			"200KB, stream of 20": {streamAnswer(20), messagesRequest(200<<10, true)},
			"1KB, stream of 2000": {streamAnswer(2000), messagesRequest(1<<10, true)},
		} {
			b.Run(where.String()+"/"+name, func(b *testing.B) {
				g, _, _ := start(b, canned(b, c.answer), func(cfg *config.Config) {
					cfg.Quiet, cfg.Log.Events, cfg.Data = true, where, b.TempDir()
				})
				conn, err := net.Dial("tcp", g.Addr())
				if err != nil {
					b.Fatal(err)
				}
				defer conn.Close()
				buf := make([]byte, 4<<20)
				b.ReportAllocs()
				for b.Loop() {
					exchange(b, conn, c.request, buf, []byte("0\r\n\r\n"))
				}
			})
		}
	}
}
