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

	"warmpath/fixtures/show"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/secret"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/sse"
)

// heard reads a stream that a client got, whatever it ended with.
func (s *speaker) heard(body []byte) *rewrite.Reply {
	d := s.decoder()
	var fold rewrite.Fold
	var split sse.Splitter
	take := func(e sse.Event) { d.Event(e.Name, e.Data, fold.Add) }
	split.Feed(body, take)
	split.Close(take)
	d.Close(fold.Add)
	return fold.Reply()
}

// An error in the middle of a stream reaches the client as one of its dialect.
func TestBedrockFailsInMidStream(t *testing.T) {
	_, base := everyProvider(t, nil)
	for from, client := range speakers {
		t.Run(from.String(), func(t *testing.T) {
			c := &rewrite.Conversation{Dialect: from, Model: models[rewrite.Converse], Stream: true,
				Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "DO[text 20 events=9; error throttling after=4 slow down]"}}}}}
			status, body, _ := client.send(t, base, c)
			reply := client.heard(body)
			if status != 200 || reply.Fault == nil || reply.Fault.Message != "slow down" || reply.Stop.Reason != rewrite.StopUnknown {
				t.Errorf("status %d, fault %+v: %s", status, reply.Fault, body)
			}
			if from == rewrite.Messages && !strings.Contains(string(body), "rate_limit_error") {
				t.Errorf("%s", body)
			}
		})
	}
}

// bedrockAt is a gateway whose provider bedrock is a server of the test's own.
func bedrockAt(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	origin := httptest.NewServer(answer)
	t.Cleanup(origin.Close)
	snapshot, problems := catalog.Build(catalog.Settings{Providers: map[string]catalog.Row{"bedrock": {BaseURL: origin.URL}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, base, _ := start(t, origin.URL, func(cfg *config.Config) { cfg.Catalog = snapshot })
	return base
}

// A stream that is damaged on its way ends with an error, and what came before the
// damage is told.
func TestBedrockStreamIsDamaged(t *testing.T) {
	whole := show.Frames(t, `messageStart {"role":"assistant"}
contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"one "}}
contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"two"}}
contentBlockStop {"contentBlockIndex":0}
messageStop {"stopReason":"end_turn"}
metadata {"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`)
	at := bytes.Index(whole, []byte("two"))
	damaged := bytes.Clone(whole)
	damaged[at] ^= 1
	base := bedrockAt(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(damaged)
	})
	for from, client := range speakers {
		c := &rewrite.Conversation{Dialect: from, Model: models[rewrite.Converse], Stream: true, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
		_, body, _ := client.send(t, base, c)
		reply := client.heard(body)
		if reply.Fault == nil || !strings.Contains(reply.Fault.Message, "damaged") || !strings.Contains(string(body), "one ") {
			t.Errorf("%s: %+v, %s", from, reply.Fault, body)
		}
	}
}

// The name of an error stands in the head of Amazon's replies.
func TestBedrockErrorsHaveTheirNames(t *testing.T) {
	base := bedrockAt(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", "ThrottlingException:http://internal.amazon.com/coral/")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"Message":"Too many tokens, please wait before trying again."}`)
	})
	client := speakers[rewrite.Completions]
	c := &rewrite.Conversation{Dialect: rewrite.Completions, Model: models[rewrite.Converse], Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
	status, body, _ := client.send(t, base, c)
	if failure := gjson.GetBytes(body, "error"); status != 429 || !strings.HasPrefix(failure.Get("message").Str, "Too many tokens") || failure.Get("code").Str != "ThrottlingException" {
		t.Errorf("status %d: %s", status, body)
	}
}

// Agents that cannot mark their prompts have them read from the cache.
func TestPromptsAreMarkedForBedrock(t *testing.T) {
	for from, client := range speakers {
		for name, marks := range map[string]bool{"marked": true, "left alone": false} {
			t.Run(from.String()+" "+name, func(t *testing.T) {
				core, base := everyProvider(t, func(cfg *config.Config) { cfg.Continuity.Marks = marks })
				c := &rewrite.Conversation{
					Dialect: from, Model: models[rewrite.Converse], System: []rewrite.Part{{Text: strings.Repeat("Work with care. ", 300)}},
					Tools: []rewrite.Tool{{Name: "read", Description: "Reads.", Schema: rewrite.JSON(`{"type":"object","properties":{}}`)}},
					Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "DO[call read; then; call read; then; call read; then; say done]"}}}},
				}
				var read int64
				for range 4 {
					reply, _ := client.ask(t, base, c)
					read = reply.Usage.CacheRead.N
					c.Items = append(c.Items, reply.Items...)
					for _, item := range reply.Items {
						if item.Kind == rewrite.ItemCall {
							c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemResult, Call: item.Call, Parts: []rewrite.Part{{Text: "fine"}}})
						}
					}
				}
				if points := strings.Count(lastRecord(core).Body, "cachePoint"); (points > 0) != marks || points > 4 || (read > 1000) != marks {
					t.Errorf("%d cache points, %d tokens read", points, read)
				}
			})
		}
	}
}

// A client of Bedrock's own that names the provider gets the bytes of its reply,
// for a request that the gateway has signed in its stead.
func TestBedrocksOwnClientsPass(t *testing.T) {
	core, base := everyProvider(t, nil)
	const body = `{"messages":[{"role":"user","content":[{"text":"DO[say hello]"}]}]}`
	req, err := http.NewRequest("POST", base+"/p/bedrock/model/eu.anthropic.claude-opus-5-5-v1%3A0/converse-stream", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=NOBODY/20261120/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=00")
	req.Header.Set("X-Amz-Date", "20261120T120000Z")
	req.Header.Set("X-Amz-Security-Token", "theirs")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/vnd.amazon.eventstream" || !bytes.Contains(answer, []byte("hello")) {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
	if last := lastRecord(core); last.Body != body || last.Account != "aws_KEY1" {
		t.Errorf("%s got %s", last.Account, last.Body)
	}
}

// Names that Bedrock does not allow are others there, and the client's own again in
// what it gets.
func TestToolsKeepTheirNamesOnBedrock(t *testing.T) {
	core, base := everyProvider(t, nil)
	client := speakers[rewrite.Gemini]
	long := "mcp__" + strings.Repeat("a_long_server_", 5) + "read"
	for _, stream := range []bool{false, true} {
		c := &rewrite.Conversation{
			Dialect: rewrite.Gemini, Model: models[rewrite.Converse], Stream: stream,
			Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "DO[call NAME1; call NAME2; call plain; then; say done]"}}}},
		}
		for _, name := range []string{"files.read:all", long, "plain"} {
			c.Tools = append(c.Tools, rewrite.Tool{Name: name, Description: "Reads.", Schema: rewrite.JSON(`{"type":"object","properties":{}}`)})
		}
		text := &c.Items[0].Parts[0].Text
		*text = strings.NewReplacer("NAME1", converse.ToolName("", "files.read:all"), "NAME2", converse.ToolName("", long)).Replace(*text)
		var called []string
		reply, _ := client.ask(t, base, c)
		for _, item := range reply.Items {
			if c.Items = append(c.Items, item); item.Kind == rewrite.ItemCall {
				called = append(called, item.Call.Name)
			}
		}
		if diff := cmp.Diff([]string{"files.read:all", long, "plain"}, called); diff != "" {
			t.Fatalf("stream %v: %s", stream, diff)
		}
		for _, item := range reply.Items {
			if item.Kind == rewrite.ItemCall {
				c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemResult, Call: item.Call, Parts: []rewrite.Part{{Text: "fine"}}})
			}
		}
		if reply, _ = client.ask(t, base, c); reply.Stop.Reason != rewrite.StopEnd {
			t.Errorf("stream %v: the reply stopped for %s", stream, reply.Stop.Reason)
		}
		if body := lastRecord(core).Body; strings.Contains(body, "files.read") || strings.Contains(body, long) {
			t.Errorf("%s", body)
		}
	}
}

// Neither what requests are signed with nor a signature is told to anybody but the
// provider.
func TestBedrockLeaksNoSecret(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "broken") {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("X-Amzn-Errortype", "AccessDeniedException:")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"message":"no"}`)
	}))
	defer origin.Close()
	snapshot, problems := catalog.Build(catalog.Settings{Providers: map[string]catalog.Row{"bedrock": {
		BaseURL: origin.URL, Region: "eu-central-1", AccessKey: secret.New("HIDDENKEY"), SecretKey: secret.New("hidden-secret"), SessionToken: secret.New("hidden-session"),
	}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	g, base, lines := start(t, origin.URL, func(cfg *config.Config) { cfg.Catalog = snapshot })
	var told strings.Builder
	for from, client := range speakers {
		for _, model := range []string{"bedrock/anthropic.denied", "bedrock/anthropic.broken"} {
			c := &rewrite.Conversation{Dialect: from, Model: model, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
			_, body, header := client.send(t, base, c)
			told.Write(body)
			_ = header.Write(&told)
		}
	}
	for _, path := range []string{"/metrics", "/api/requests", "/api/status", "/"} {
		resp, err := http.Get("http://" + g.AdminAddr() + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&told, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	told.WriteString(lines.String())
	if text := told.String(); !strings.Contains(text, "anthropic.denied") || !strings.Contains(text, "no") {
		t.Errorf("nothing is told: %s", text)
	} else if lower := strings.ToLower(text); strings.Contains(lower, "hiddenkey") || strings.Contains(lower, "hidden-se") || strings.Contains(lower, "signature=") {
		t.Errorf("%s", text)
	}
}

// A client that edits what stood before the reasoning of its turns, which is bound
// to that, goes on without it.
func TestBoundReasoningIsLeftOutForBedrock(t *testing.T) {
	core, base := everyProvider(t, nil)
	for _, from := range []rewrite.Dialect{rewrite.Messages, rewrite.Gemini} { // whose clients here bring reasoning back
		client := speakers[from]
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", from, stream), func(t *testing.T) {
				c := &rewrite.Conversation{
					Dialect: from, Model: models[rewrite.Converse], Stream: stream, Thinking: rewrite.Thinking{Effort: "high"},
					System: []rewrite.Part{{Text: "It is Monday."}}, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "DO[think 20; say one]"}}}},
				}
				reply, _ := client.ask(t, base, c)
				c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "DO[think 20; say two]"}}})
				if reply, header := client.ask(t, base, c); len(reply.Items) == 0 || strings.Contains(header.Get("Warmpath-Losses"), "take back") || !strings.Contains(lastRecord(core).Body, "reasoningContent") {
					t.Errorf("without an edit: %q, %s", header.Get("Warmpath-Losses"), lastRecord(core).Body)
				}
				c.System[0].Text = "It is Tuesday."
				_, header := client.ask(t, base, c)
				if !strings.Contains(header.Get("Warmpath-Losses"), "reasoning that the provider does not take back") || strings.Contains(lastRecord(core).Body, "reasoningContent") {
					t.Errorf("%q, %s", header.Get("Warmpath-Losses"), lastRecord(core).Body)
				}
			})
		}
	}
	_, off := everyProvider(t, func(cfg *config.Config) { cfg.Mode = rewrite.ModeObserve })
	client := speakers[rewrite.Messages]
	c := &rewrite.Conversation{Dialect: rewrite.Messages, Model: models[rewrite.Converse], Thinking: rewrite.Thinking{Effort: "high"},
		System: []rewrite.Part{{Text: "It is Monday."}}, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "DO[think 20; say one]"}}}}}
	reply, _ := client.ask(t, off, c)
	c.Items = append(append(c.Items, reply.Items...), rewrite.Item{Parts: []rewrite.Part{{Text: "on"}}})
	c.System[0].Text = "It is Tuesday."
	if status, body, _ := client.send(t, off, c); status != 400 || !strings.Contains(string(body), "bound to a different conversation") {
		t.Errorf("in mode observe: status %d: %s", status, body)
	}
}

const goodStream = `messageStart {"role":"assistant"}
contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"hello"}}
contentBlockStop {"contentBlockIndex":0}
messageStop {"stopReason":"end_turn"}
metadata {"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`

// A stream that is nothing but an error is the answer to its request: it is tried
// again where that may help, and has a status for the client.
func TestBedrockStreamsThatAreRefusals(t *testing.T) {
	calls := 0
	base := bedrockAt(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		switch {
		case strings.Contains(r.URL.Path, "throttled"):
			_, _ = w.Write(show.Frames(t, `throttlingException {"message":"slow down"}`))
		case calls == 1:
			_, _ = w.Write(show.Frames(t, `serviceUnavailableException {"message":"soon"}`))
		default:
			_, _ = w.Write(show.Frames(t, goodStream))
		}
	})
	client := speakers[rewrite.Messages]
	ask := func(model string) (int, []byte) {
		c := &rewrite.Conversation{Dialect: rewrite.Messages, Model: model, Stream: true, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
		status, body, _ := client.send(t, base, c)
		return status, body
	}
	if status, body := ask("bedrock/anthropic.soon"); status != 200 || calls != 2 || client.heard(body).Stop.Reason != rewrite.StopEnd {
		t.Errorf("status %d after %d calls: %s", status, calls, body)
	}
	status, body := ask("bedrock/anthropic.throttled")
	if status != 429 || gjson.GetBytes(body, "error.message").Str != "slow down" || gjson.GetBytes(body, "error.type").Str != "rate_limit_error" {
		t.Errorf("status %d: %s", status, body)
	}
}

// A stream that takes its time to begin is none of these: its head is passed on.
func TestBedrockStreamsThatBeginLate(t *testing.T) {
	got := make(chan struct{})
	base := bedrockAt(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		frames := show.Frames(t, goodStream)
		_, _ = w.Write(frames[:7])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-got:
			_, _ = w.Write(frames[7:])
		case <-r.Context().Done():
		}
	})
	body := `{"model":"bedrock/anthropic.late","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	resp, err := http.Post(base+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	close(got)
	client := speakers[rewrite.Messages]
	if answer, err := io.ReadAll(resp.Body); err != nil || client.heard(answer).Stop.Reason != rewrite.StopEnd || !strings.Contains(string(answer), "hello") {
		t.Errorf("%v: %s", err, answer)
	}
}

// What is damaged behind the end of a message is not missed.
func TestBedrockStreamIsDamagedBehindItsEnd(t *testing.T) {
	damaged := show.Frames(t, goodStream)
	damaged[bytes.Index(damaged, []byte("inputTokens"))] ^= 1
	base := bedrockAt(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(damaged)
	})
	for from, client := range speakers {
		c := &rewrite.Conversation{Dialect: from, Model: models[rewrite.Converse], Stream: true, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "hi"}}}}}
		_, body, _ := client.send(t, base, c)
		if reply := client.heard(body); reply.Fault != nil || reply.Stop.Reason != rewrite.StopEnd {
			t.Errorf("%s: %+v, %s", from, reply.Fault, body)
		}
	}
}
