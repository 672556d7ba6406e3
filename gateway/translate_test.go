package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	providers "warmpath/fixtures/provider/server"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/sse"
)

// speaker is a client of one dialect.
type speaker struct {
	path    func(model string, stream bool) string
	key     string // the header line that its key stands in
	encode  func(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error)
	decoder func() interface {
		Event(name, data []byte, yield func(*rewrite.Event))
		Close(yield func(*rewrite.Event))
	}
	whole func(body []byte, provider string, yield func(*rewrite.Event)) error
}

type streamReader = interface {
	Event(name, data []byte, yield func(*rewrite.Event))
	Close(yield func(*rewrite.Event))
}

var speakers = map[rewrite.Dialect]speaker{
	rewrite.Messages: {
		func(string, bool) string { return "/v1/messages" }, "X-Api-Key",
		anthropic.EncodeRequest, func() streamReader { return anthropic.NewDecoder("") }, anthropic.DecodeReply,
	},
	rewrite.Completions: {
		func(string, bool) string { return "/v1/chat/completions" }, "Authorization",
		completions.EncodeRequest, func() streamReader { return completions.NewDecoder("") }, completions.DecodeReply,
	},
	rewrite.Responses: {
		func(string, bool) string { return "/v1/responses" }, "Authorization",
		responses.EncodeRequest, func() streamReader { return responses.NewDecoder("") }, responses.DecodeReply,
	},
	rewrite.Gemini: {
		func(model string, stream bool) string {
			path := "/v1beta/models/" + strings.ReplaceAll(model, "/", "%2F")
			if stream {
				return path + ":streamGenerateContent?alt=sse"
			}
			return path + ":generateContent"
		}, "X-Goog-Api-Key",
		gemini.EncodeRequest, func() streamReader { return gemini.NewDecoder("") }, gemini.DecodeReply,
	},
}

// ask sends a conversation and reads the reply.
func (s *speaker) ask(t testing.TB, base string, c *rewrite.Conversation, headers ...string) (*rewrite.Reply, http.Header) {
	t.Helper()
	status, body, header := s.send(t, base, c, headers...)
	if status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	var fold rewrite.Fold
	if !c.Stream {
		if err := s.whole(body, "", fold.Add); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
	} else {
		d := s.decoder()
		var split sse.Splitter
		take := func(e sse.Event) { d.Event(e.Name, e.Data, fold.Add) }
		split.Feed(body, take)
		split.Close(take)
		d.Close(fold.Add)
	}
	reply := fold.Reply()
	if reply.Fault != nil || reply.Stop.Reason == rewrite.StopUnknown {
		t.Fatalf("the reply ends with %+v, %+v: %s", reply.Fault, reply.Stop, body)
	}
	return reply, header
}

func (s *speaker) send(t testing.TB, base string, c *rewrite.Conversation, headers ...string) (int, []byte, http.Header) {
	t.Helper()
	body, err := s.encode(c, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", base+s.path(c.Model, c.Stream), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	key := "sk-client"
	if s.key == "Authorization" {
		key = "Bearer " + key
	}
	req.Header.Set(s.key, key)
	if s.key == "X-Api-Key" {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer, resp.Header
}

// everyProvider is a gateway in front of all simulated providers, each speaking one
// dialect: claude, chat, gpt, gemini and bedrock, whose requests are signed.
func everyProvider(t testing.TB, change func(*config.Config)) (core *provider.Core, base string) {
	t.Helper()
	return everyProviderWith(t, gateway.Options{}, change)
}

func everyProviderWith(t testing.TB, opts gateway.Options, change func(*config.Config)) (core *provider.Core, base string) {
	t.Helper()
	_, core, base = everyProviderOf(t, opts, nil, change)
	return core, base
}

// everyProviderRouted does more for some models.
func everyProviderRouted(t testing.TB, opts gateway.Options, routes map[string]catalog.RouteRow, change func(*config.Config)) (core *provider.Core, base string) {
	t.Helper()
	_, core, base = everyProviderOf(t, opts, routes, change)
	return core, base
}

// everyProviderOf gives the gateway too.
func everyProviderOf(t testing.TB, opts gateway.Options, routes map[string]catalog.RouteRow, change func(*config.Config)) (g *gateway.Gateway, core *provider.Core, base string) {
	t.Helper()
	core = provider.New(provider.Options{})
	origin := httptest.NewServer(providers.New(core))
	t.Cleanup(origin.Close)
	snapshot, problems := catalog.Build(catalog.Settings{Routes: routes, Providers: everyRow(origin.URL)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	g, base, _ = startWith(t, origin.URL, opts, func(cfg *config.Config) {
		cfg.Catalog = snapshot
		if change != nil {
			change(cfg)
		}
	})
	return g, core, base
}

// everyRow has the simulated providers.
func everyRow(origin string) map[string]catalog.Row {
	return map[string]catalog.Row{
		"claude": {BaseURL: origin + "/anthropic", Dialects: []string{"messages"}, KeyStyle: "x-api-key", Endpoint: "anthropic"},
		"chat":   {BaseURL: origin + "/openai", Dialects: []string{"chat"}},
		"lax":    {BaseURL: origin + "/openai", Dialects: []string{"chat"}, MissingTools: "leave_out"},
		"gpt":    {BaseURL: origin + "/openai", Dialects: []string{"responses"}},
		"google": {BaseURL: origin + "/gemini", Dialects: []string{"gemini"}, KeyStyle: "x-goog-api-key"},
		"bedrock": {
			BaseURL: origin, Region: "eu-central-1",
			AccessKey: secret.New("KEY1"), SecretKey: secret.New("secret-KEY1"), SessionToken: secret.New("session-1"),
		},
	}
}

// models are a model of each provider, by the dialect that it speaks.
var models = map[rewrite.Dialect]string{
	rewrite.Messages: "claude/claude-opus-5-5", rewrite.Completions: "chat/gpt-4.1",
	rewrite.Responses: "gpt/gpt-5.5", rewrite.Gemini: "google/gemini-3.1-pro-preview",
	rewrite.Converse: "bedrock/eu.anthropic.claude-opus-5-5-v1:0",
}

// A client of every dialect completes a loop of parallel tools on a model of every
// other: whole and streamed.
func TestEveryDialectCompletesAToolLoopOnEveryProvider(t *testing.T) {
	_, base := everyProvider(t, nil)
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, stream %v", from, to, stream), func(t *testing.T) {
					if to == rewrite.Completions {
						model = "chat/gpt-5.1" // one that reasons
					}
					c := &rewrite.Conversation{
						Dialect: from, Model: model, Stream: stream,
						System: []rewrite.Part{{Text: "You are careful."}},
						Items: []rewrite.Item{{Parts: []rewrite.Part{{
							Text: `Go on. DO[think 20; call weather {"city":"Zürich"}; call clock {"zone":"CET"}; then; say It is noon.]`,
						}}}},
						Thinking: rewrite.Thinking{Effort: "high"},
					}
					if from == rewrite.Completions && stream {
						c.Extra = []rewrite.Member{{Name: "stream_options", Value: rewrite.JSON(`{"include_usage":true}`)}}
					}
					for _, name := range []string{"weather", "clock"} {
						c.Tools = append(c.Tools, rewrite.Tool{
							Name: name, Description: "Tells.",
							Schema: rewrite.JSON(`{"type":"object","properties":{"city":{"type":"string"},"zone":{"type":"string"}}}`),
						})
					}
					reply, _ := client.ask(t, base, c)
					var calls []string
					for i := range reply.Items {
						item := &reply.Items[i]
						c.Items = append(c.Items, *item)
						if item.Kind == rewrite.ItemCall {
							calls = append(calls, item.Call.Name+string(item.Call.Arguments))
						}
					}
					if diff := cmp.Diff([]string{`weather{"city":"Zürich"}`, `clock{"zone":"CET"}`}, calls); diff != "" {
						t.Fatal(diff)
					}
					if reply.Stop.Reason != rewrite.StopTools {
						t.Errorf("the reply stopped for %s", reply.Stop.Reason)
					}
					for i := range reply.Items {
						if call := reply.Items[i].Call; reply.Items[i].Kind == rewrite.ItemCall {
							c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: call.ID, Name: call.Name}, Parts: []rewrite.Part{{Text: "fine"}}})
						}
					}
					reply, _ = client.ask(t, base, c)
					var said string
					for i := range reply.Items {
						for _, part := range reply.Items[i].Parts {
							if reply.Items[i].Kind == rewrite.ItemMessage {
								said += part.Text
							}
						}
					}
					if said != "It is noon." || reply.Stop.Reason != rewrite.StopEnd {
						t.Errorf("the model said %q and stopped for %s", said, reply.Stop.Reason)
					}
					if !reply.Usage.InputTotal.Known || !reply.Usage.OutputTotal.Known {
						t.Errorf("the usage is %+v", reply.Usage)
					}
				})
			}
		}
	}
}

// What another dialect has no words for is told, or refused if the client asks.
func TestLossesAreToldOrRefused(t *testing.T) {
	core, base := everyProvider(t, nil)
	client := speakers[rewrite.Completions]
	c := &rewrite.Conversation{
		Dialect: rewrite.Completions, Model: models[rewrite.Messages],
		Items:    []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}},
		Sampling: rewrite.Sampling{Seed: rewrite.JSON("7")},
	}
	_, header := client.ask(t, base, c)
	if got := header.Get("Warmpath-Losses"); got != "seed (no such member)" {
		t.Errorf("losses are %q", got)
	}
	asked := lastRecord(core).Number
	status, body, _ := client.send(t, base, c, "Warmpath-Strict", "1")
	if status != 400 || !strings.Contains(string(body), "seed (no such member)") || lastRecord(core).Number != asked {
		t.Errorf("status %d: %s", status, body)
	}
	c.Sampling.Seed = nil
	if status, body, header := client.send(t, base, c, "Warmpath-Strict", "1"); status != 200 || header.Get("Warmpath-Losses") != "" {
		t.Errorf("status %d, losses %q: %s", status, header.Get("Warmpath-Losses"), body)
	}
}

// A provider's error reaches the client in its own dialect, with the provider's
// status and words.
func TestProviderErrorsAreTranslated(t *testing.T) {
	_, base := everyProvider(t, nil)
	for from, client := range speakers {
		for to, model := range models {
			if from == to {
				continue
			}
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, stream %v", from, to, stream), func(t *testing.T) {
					c := &rewrite.Conversation{Dialect: from, Model: model, Stream: stream,
						Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "DO[status 422 These words are wrong.]"}}}}}
					status, body, header := client.send(t, base, c)
					if status != 422 || gjson.GetBytes(body, "error.message").Str != "These words are wrong." || header.Get("Content-Type") != "application/json" {
						t.Errorf("status %d, %s: %s", status, header.Get("Content-Type"), body)
					}
				})
			}
		}
	}
}

// A stream that breaks off ends with an error of the client's dialect, never like
// one that is over.
func TestCutStreamsAreTranslatedAsErrors(t *testing.T) {
	_, base := everyProvider(t, nil)
	for from, client := range speakers {
		for to, model := range models {
			if from == to {
				continue
			}
			t.Run(fmt.Sprintf("PB-26 ST-12 %s to %s", from, to), func(t *testing.T) {
				c := &rewrite.Conversation{Dialect: from, Model: model, Stream: true,
					Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "DO[text 20 events=9; cut after=5]"}}}}}
				status, body, _ := client.send(t, base, c)
				d := client.decoder()
				var fold rewrite.Fold
				var split sse.Splitter
				take := func(e sse.Event) { d.Event(e.Name, e.Data, fold.Add) }
				split.Feed(body, take)
				split.Close(take)
				d.Close(fold.Add)
				reply := fold.Reply()
				if status != 200 || reply.Fault == nil || reply.Stop.Reason != rewrite.StopUnknown || !strings.Contains(reply.Fault.Message, "closed the stream") {
					t.Errorf("status %d: %s", status, body)
				}
			})
		}
	}
}

// A client of Gemini's that asks for no event stream gets its stream as an array.
func TestGeminiStreamsAsAnArray(t *testing.T) {
	_, base := everyProvider(t, nil)
	req, err := http.NewRequest("POST", base+"/v1beta/models/claude%2Fclaude-opus-5-5:streamGenerateContent",
		strings.NewReader(`{"contents":[{"role":"user","parts":[{"text":"DO[text 20 events=9]"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Goog-Api-Key", "sk-client")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	frames := gjson.ParseBytes(body)
	if n := len(frames.Array()); resp.StatusCode != 200 || !gjson.ValidBytes(body) || n < 9 || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("status %d, %d frames of %s: %s", resp.StatusCode, n, resp.Header.Get("Content-Type"), body)
	}
}

// The client's own key goes to the provider that it names, where that looks for
// it, and nothing else that was meant for another vendor.
func TestCredentialsAreTranslated(t *testing.T) {
	core, base := everyProvider(t, nil)
	places := map[rewrite.Dialect]string{rewrite.Messages: "X-Api-Key", rewrite.Gemini: "X-Goog-Api-Key", rewrite.Completions: "Authorization", rewrite.Responses: "Authorization", rewrite.Converse: "Authorization"}
	for from, client := range speakers {
		for to, model := range models {
			if from == to {
				continue
			}
			c := &rewrite.Conversation{Dialect: from, Model: model, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
			client.ask(t, base, c, "X-Stainless-Lang", "js", "OpenAI-Organization", "org", "Warmpath-Mode", "on", "User-Agent", "an agent")
			header := http.Header{}
			for _, field := range lastRecord(core).Headers {
				header.Add(field[0], field[1])
			}
			var keys []string
			for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Authorization"} {
				if header.Get(name) != "" {
					keys = append(keys, name)
				}
			}
			if diff := cmp.Diff([]string{places[to]}, keys); diff != "" {
				t.Errorf("%s to %s: %s", from, to, diff)
			}
			if header.Get("X-Stainless-Lang")+header.Get("OpenAI-Organization")+header.Get("Warmpath-Mode") != "" || header.Get("User-Agent") != "an agent" {
				t.Errorf("%s to %s: %v", from, to, header)
			}
		}
	}
}

// A provider that finds its cache by a key gets the same for all of a conversation,
// and another for every other.
func TestCacheKeysStayWithTheirConversation(t *testing.T) {
	core, base := everyProvider(t, nil)
	client := speakers[rewrite.Messages]
	key := func(items ...string) string {
		c := &rewrite.Conversation{Dialect: rewrite.Messages, Model: models[rewrite.Responses]}
		for i, text := range items {
			c.Items = append(c.Items, rewrite.Item{Role: rewrite.Role(i % 2), Parts: []rewrite.Part{{Text: text}}})
		}
		client.ask(t, base, c)
		return gjson.Get(lastRecord(core).Body, "prompt_cache_key").Str
	}
	first := key("One thing.")
	if again := key("One thing.", "Yes.", "And more."); first == "" || again != first {
		t.Errorf("the keys of a conversation are %q and %q", first, again)
	}
	if other := key("Another thing."); other == first {
		t.Errorf("two conversations have the key %q", other)
	}
}
