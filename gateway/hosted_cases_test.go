package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/cache"
	"warmpath/gateway"
	"warmpath/gateway/config"
	"warmpath/rewrite"
)

// RP-03: a reply that calls a client's tool while a search of the provider's is
// under way is answered with the results alone, beside tools that have not changed;
// what the search has found begins the next reply.
func TestMixedTurns(t *testing.T) {
	for from, client := range speakers {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("RP-03 %s, stream %v", from, stream), func(t *testing.T) {
				core, base := everyProvider(t, nil)
				c := &rewrite.Conversation{
					Dialect: from, Model: models[rewrite.Messages], Stream: stream,
					Tools: []rewrite.Tool{
						{Name: "weather", Description: "Tells.", Schema: rewrite.JSON(`{"type":"object","properties":{"city":{"type":"string"}}}`)},
						{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: searchTools[from]},
					},
					Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: `Where? DO[search zürich; call weather {"city":"Bern"}; then; say Done.]`}}}},
				}
				reply, _ := client.ask(t, base, c)
				first := lastBody(core)
				c.Items = append(c.Items, reply.Items...)
				calls := 0
				for i := range reply.Items {
					if call := reply.Items[i].Call; reply.Items[i].Kind == rewrite.ItemCall {
						calls++
						c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: call.ID, Name: call.Name}, Parts: []rewrite.Part{{Text: "fine"}}})
					}
				}
				if calls != 1 || reply.Stop.Reason != rewrite.StopTools {
					t.Fatalf("%d calls, stopped for %s", calls, reply.Stop.Reason)
				}
				reply, _ = client.ask(t, base, c)
				second := gjson.Parse(lastBody(core))
				results := second.Get("messages.2.content.#.type").Raw
				if results != `["tool_result"]` || second.Get("tools").Raw != gjson.Get(first, "tools").Raw {
					t.Errorf("results are %s, tools %s", results, second.Get("tools"))
				}
				if from != rewrite.Responses && !second.Get(`messages.1.content.#(type=="server_tool_use")`).Exists() {
					t.Errorf("the open search is not in %s", second.Get("messages"))
				}
				if said := strings.Join(spoken(reply), ""); !strings.HasSuffix(said, "Done.") {
					t.Errorf("the model said %q", said)
				}
			})
		}
	}
}

// RP-04: a turn that has paused goes on from what was sent back alone: by another
// gateway, which has never seen it.
func TestPausedTurnsGoOnElsewhere(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("RP-04 stream %v", stream), func(t *testing.T) {
			_, base := everyProvider(t, nil)
			client := speakers[rewrite.Messages]
			c := &rewrite.Conversation{Dialect: rewrite.Messages, Model: models[rewrite.Messages], Stream: stream,
				Tools: []rewrite.Tool{{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: searchTools[rewrite.Messages]}},
				Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: "Look. DO[search zürich; stop pause; then; say Found.]"}}}}}
			reply, _ := client.ask(t, base, c)
			if reply.Stop.Reason != rewrite.StopPause {
				t.Fatalf("the reply stopped for %s", reply.Stop.Reason)
			}
			core, other := everyProvider(t, nil)
			c.Items = append(c.Items, reply.Items...)
			reply, _ = client.ask(t, other, c)
			if said := spoken(reply); len(said) == 0 || said[len(said)-1] != "Found." || reply.Stop.Reason != rewrite.StopEnd {
				t.Errorf("the model said %q and stopped for %s", said, reply.Stop.Reason)
			}
			if body := lastBody(core); gjson.Get(body, "messages.#").Int() != 2 || !strings.Contains(body, `"server_tool_use"`) {
				t.Errorf("sent is %s", body)
			}
		})
	}
}

// sealedReply is a reply with opaque fields, in a spelling that no encoder has.
const sealedReply = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + sealedBlocks + `,` +
	`{"type":"text","text":"It rains.","citations":[{"type":"web_search_result_location","cited_text":"rain","url":"https://a.test","title":"A","encrypted_index":"OPAQUE-INDEX"}]}],` +
	`"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}`

const sealedBlocks = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"\u00e9", "n":1.50}},` +
	`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://a.test", "title":"<A>","encrypted_content":"OPAQUE-CONTENT"}]}`

// PP-04: what only a provider can read stands in no line, event, metric, page or
// error. PP-05: it comes out of a store as it went in, to the byte.
func TestPayloadsAreKeptAndNotTold(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, sealedReply)
	})
	log := new(buffer)
	g, base, lines := startWith(t, p.URL, gateway.Options{Events: log, Store: cache.NewMemory(1 << 20)}, func(c *config.Config) {
		c.Events, c.Catalog = "-", only(t, rewrite.Messages, p.URL)
		keepReplies(c)
	})
	c := caller{t, base, "sk"}
	first := c.create(`{"model":"only/m","include":["warmpath:hosted_activity"],"input":"a","tools":[{"type":"web_search"}]}`)
	c.create(`{"model":"only/m","input":"b","tools":[{"type":"web_search"}],"previous_response_id":"` + first.Get("id").Str + `"}`)
	t.Run("PP-05 out of the store", func(t *testing.T) {
		p.mu.Lock()
		sent := p.seen[len(p.seen)-1].body
		p.mu.Unlock()
		if !strings.Contains(sent, sealedBlocks) {
			t.Errorf("%s\nis not in\n%s", sealedBlocks, sent)
		}
	})
	broken := strings.ReplaceAll(first.Get("output").Raw, `"format":"messages/server_tool_use"`, `"format":""`)
	status, refused := c.do("POST", "/v1/responses", `{"model":"only/m","input":`+broken+`}`)
	for name, text := range map[string]func() string{
		"lines": lines.String, "events": log.String,
		"an error": func() string { return refused.Raw },
		"metrics":  func() string { _, text := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", ""); return text },
		"requests": func() string { _, text := send(t, "GET", "http://"+g.AdminAddr()+"/api/requests", ""); return text },
		"the page": func() string { _, text := send(t, "GET", "http://"+g.AdminAddr()+"/", ""); return text },
	} {
		t.Run("PP-04 "+name, func(t *testing.T) {
			if text := text(); text == "" || strings.Contains(text, "OPAQUE") || strings.Contains(text, "It rains") {
				t.Errorf("told is %s", text)
			}
		})
	}
	if status != 400 || !strings.Contains(refused.Get("error.message").Str, "input[0].payload") {
		t.Errorf("status %d: %s", status, refused)
	}
}

// PB-27: every event reaches the client before the provider says the next, whether
// it passes or is translated, and no proxy on the way is told to keep it.
func TestEventsArriveOneByOne(t *testing.T) {
	events := strings.SplitAfter(goldenStream(t, rewrite.Messages, "hosted"), "\n\n")
	for name, path := range map[string]string{"as it is": "/v1/messages", "in chat": "/v1/chat/completions", "in responses": "/v1/responses", "in gemini": "/v1beta/models/only%2Fm:streamGenerateContent?alt=sse"} {
		t.Run("PB-27 "+name, func(t *testing.T) {
			next := make(chan struct{}, len(events))
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") == "gzip" {
					t.Error("the provider may pack its stream")
				}
				w.Header().Set("Content-Type", "text/event-stream")
				for _, event := range events {
					_, _ = io.WriteString(w, event)
					w.(http.Flusher).Flush()
					if strings.Contains(event, "text_delta") {
						select {
						case <-next:
						case <-r.Context().Done():
							return
						}
					}
				}
			})
			_, base, _ := startWith(t, p.URL, gateway.Options{}, func(c *config.Config) { c.Catalog = only(t, rewrite.Messages, p.URL) })
			body := `{"model":"only/m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}],"input":"hi","contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
			resp, err := http.Post(base+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			deltas, want := 0, strings.Count(strings.Join(events, ""), `"text_delta"`)
			for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
				line := scan.Text()
				if strings.Contains(line, "text_delta") || strings.Contains(line, `"delta":{"content"`) || strings.Contains(line, `"response.output_text.delta"`) && strings.HasPrefix(line, "data") || strings.Contains(line, `"parts":[{"text":`) {
					deltas++
					next <- struct{}{}
				}
			}
			if resp.StatusCode != 200 || deltas < want || want == 0 {
				t.Errorf("status %d, %d of %d deltas", resp.StatusCode, deltas, want)
			}
			if path != "/v1/messages" && (resp.Header.Get("X-Accel-Buffering") != "no" || !strings.Contains(resp.Header.Get("Cache-Control"), "no-transform")) {
				t.Errorf("the head is %v", resp.Header)
			}
		})
	}
}

// What strangers write is shown to people without what moves a terminal's cursor or
// hides text, and none of it as a link; to clients it goes as it came. [decide: an
// address of a source is never a link on a surface of the gateway's, so that none has
// to be told harmless.]
func TestStrangersWordsAreHarmless(t *testing.T) {
	const evil = `x\u001b[2J\u009b31m\r\u0007\u202ey`
	reply := strings.NewReplacer("srvtoolu_1", "srvtoolu_"+evil, "msg_1", "msg_"+evil, `"model":"m"`, `"model":"`+evil+`"`, "https://a.test", "javascript:alert(1)//"+evil).Replace(sealedReply)
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.Header.Get("User-Agent"), "refused") {
			w.WriteHeader(422)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"`+evil+`","message":"`+evil+`"}}`)
			return
		}
		_, _ = io.WriteString(w, reply)
	})
	log := new(buffer)
	g, base, lines := startWith(t, p.URL, gateway.Options{Events: log}, func(c *config.Config) { c.Events, c.Catalog = "-", only(t, rewrite.Messages, p.URL) })
	const body = `{"model":"only/m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	_, passed := send(t, "POST", base+"/v1/messages", body)
	send(t, "POST", base+"/v1/messages", body, "User-Agent", "refused")
	send(t, "POST", base+"/v1/responses", `{"model":"only/m","input":"hi","`+evil+`":1}`, "User-Agent", "refused")
	eventually(t, func() bool { return strings.Count(lines.String(), "\n") >= 3 && strings.Count(log.String(), "\n") >= 3 }, lines.String)
	if passed != reply {
		t.Errorf("the client got %q", passed)
	}
	for name, text := range map[string]func() string{
		"lines": lines.String, "events": log.String,
		"metrics":  func() string { _, text := send(t, "GET", "http://"+g.AdminAddr()+"/metrics", ""); return text },
		"requests": func() string { _, text := send(t, "GET", "http://"+g.AdminAddr()+"/api/requests", ""); return text },
	} {
		t.Run(name, func(t *testing.T) {
			told := text()
			for _, r := range told {
				if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r == 0x202e {
					t.Fatalf("%U is told in %q", r, told)
				}
			}
			if told == "" || strings.Contains(told, "javascript:") {
				t.Errorf("told is %s", told)
			}
		})
	}
}

// ST-10: a stream that breaks off once the client has some of it is not asked for
// again, whether it passes or is translated: nothing of a second attempt can join it.
func TestNothingJoinsACutStream(t *testing.T) {
	cut := goldenStream(t, rewrite.Messages, "cited_cut")
	for name, path := range map[string]string{"as it is": "/v1/messages", "in chat": "/v1/chat/completions", "in responses": "/v1/responses"} {
		t.Run("ST-10 "+name, func(t *testing.T) {
			p := newProvider(t, streamWith(cut, true))
			_, base, lines := startWith(t, p.URL, gateway.Options{}, func(c *config.Config) { c.Catalog = only(t, rewrite.Messages, p.URL) })
			send(t, "POST", base+path, `{"model":"only/m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}],"input":"hi"}`)
			eventually(t, func() bool { return strings.Contains(lines.String(), "[stream_cut]") }, lines.String)
			p.mu.Lock()
			defer p.mu.Unlock()
			if len(p.seen) != 1 {
				t.Errorf("the provider was asked %d times", len(p.seen))
			}
		})
	}
}
