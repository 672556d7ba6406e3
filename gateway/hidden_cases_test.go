package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	"warmpath/gateway"
	"warmpath/gateway/catalog"
	"warmpath/gateway/config"
	"warmpath/gateway/tools"
	"warmpath/rewrite"
	"warmpath/rewrite/sse"
)

// slowTool is a tool that answers once it is let go, in place of ask_user.
func slowTool(run func(ctx context.Context, call tools.Call) tools.Result) tools.Tool {
	return tools.Tool{Name: "ask_user", Source: tools.SourceBuiltin, Run: run,
		Definition: rewrite.Tool{Description: "Asks.", Schema: rewrite.JSON(`{"type":"object"}`)}}
}

// gave is a result of parts for the model and for the user.
func gave(model, user string) tools.Result {
	return tools.Result{Parts: []rewrite.Part{
		{Text: user, Annotations: rewrite.JSON(`{"audience":["user"]}`)},
		{Text: model, Annotations: rewrite.JSON(`{"audience":["assistant"]}`)},
	}}
}

func says(text string) *rewrite.Conversation {
	return &rewrite.Conversation{Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: text}}}}}
}

// askedSince are the requests that the provider has got after a number of them.
func askedSince(t *testing.T, core *provider.Core, n int) []provider.Record {
	t.Helper()
	records := core.Log.All()[n:]
	var out []provider.Record
	for _, r := range records {
		if r.Verdict.Status != 200 {
			t.Errorf("the provider says %+v of %s", r.Verdict, r.Body)
		}
		out = append(out, r)
	}
	return out
}

// Tools that take their time are run one after the other, beside those that answer at
// once, and what they say to the user stands where they have ended.
func TestToolsThatTakeTheirTime(t *testing.T) {
	var running atomic.Int32
	tool := slowTool(func(_ context.Context, call tools.Call) tools.Result {
		if running.Add(1) != 1 {
			t.Error("two calls are run at once")
		}
		time.Sleep(5 * time.Millisecond)
		running.Add(-1)
		n := gjson.GetBytes(call.Arguments, "n").Raw
		return gave("model "+n, "user "+n)
	})
	core, base := withTools(t, gateway.Options{Tools: []tools.Tool{tool}}, "tell_user", "ask_user")
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("TU-07 PR-11 %s to %s, stream %v", from, to, stream), func(t *testing.T) {
					before := len(core.Log.All())
					c := says(`DO[say Begin.; call ask_user {"n":1}; call tell_user {"message":"told"}; call ask_user {"n":2}; then; say End.]`)
					c.Dialect, c.Model, c.Stream = from, model, stream
					reply, _ := client.ask(t, base, c)
					if got := strings.Join(spoken(reply), ""); got != "Begin.\n\ntold\n\nuser 1\n\nuser 2\n\nEnd." {
						t.Errorf("the client reads %q", got)
					}
					records := askedSince(t, core, before)
					if len(records) != 2 {
						t.Fatalf("the provider was asked %d times", len(records))
					}
					last := records[1].Body
					one, told, two := strings.Index(last, "model 1"), strings.Index(last, "Message shown to user."), strings.Index(last, "model 2")
					if one < 0 || told < one || two < told || strings.Contains(last, "user 1") {
						t.Errorf("the model is told %s", last)
					}
				})
			}
		}
	}
}

// TU-08: beside a call of the client's, the hidden one is answered with the client's
// result in one turn, in the order of the calls, and the reply stops for the tool.
func TestMixedCallsAreAnsweredTogether(t *testing.T) {
	tool := slowTool(func(context.Context, tools.Call) tools.Result { return gave("asked", "Asked.") })
	core, base := withTools(t, gateway.Options{Tools: []tools.Tool{tool}}, "tell_user", "ask_user")
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("TU-08 %s to %s, stream %v", from, to, stream), func(t *testing.T) {
					before := len(core.Log.All())
					c := says(`DO[say Begin.; call ask_user {}; call clock {"zone":"CET"}; call tell_user {"message":"told"}; then; say End.]`)
					c.Dialect, c.Model, c.Stream = from, model, stream
					offers(c)
					reply, _ := client.ask(t, base, c)
					var calls []string
					for i := range reply.Items {
						if reply.Items[i].Kind == rewrite.ItemCall {
							calls = append(calls, reply.Items[i].Call.Name)
						}
					}
					if diff := cmp.Diff([]string{"clock"}, calls); diff != "" || reply.Stop.Reason != rewrite.StopTools {
						t.Fatalf("the reply stops for %s: %s", reply.Stop.Reason, diff)
					}
					if words := strings.Join(strings.Fields(strings.Join(spoken(reply), " ")), " "); words != "Begin. told Asked." {
						t.Errorf("the client reads %q", words)
					}
					if len(askedSince(t, core, before)) != 1 {
						t.Error("the provider was asked again")
					}
					answersAll(c, reply.Items)
					if reply, _ = client.ask(t, base, c); strings.Join(spoken(reply), "") != "End." {
						t.Errorf("the client reads %q", spoken(reply))
					}
					last := askedSince(t, core, before)[1].Body
					asked, noon, told := strings.Index(last, `asked`), strings.LastIndex(last, "noon"), strings.LastIndex(last, "Message shown to user.")
					if asked < 0 || noon < asked || told < noon {
						t.Errorf("the model is told %s", last)
					}
				})
			}
		}
	}
}

// framesOf are the names and data of a stream.
func framesOf(body []byte) (names []string, data []gjson.Result) {
	var split sse.Splitter
	take := func(e sse.Event) {
		names = append(names, string(e.Name))
		data = append(data, gjson.ParseBytes(bytes.Clone(e.Data)))
	}
	split.Feed(body, take)
	split.Close(take)
	return names, data
}

func TestSplicedStreamsAreOneMessage(t *testing.T) {
	_, base := withTools(t, gateway.Options{}, "tell_user")
	const script = `DO[think 10; say One.; call tell_user {"message":"Two."}; call clock {}; then; think 10; say Three.; call tell_user {"message":"Four."}; then; say Five.]`
	ask := func(t *testing.T, from, to rewrite.Dialect, offered bool) (names []string, data []gjson.Result) {
		c := says(script)
		if !offered {
			c = says(strings.Replace(script, "call clock {}; ", "", 1))
		}
		c.Dialect, c.Model, c.Stream = from, models[to], true
		if from == rewrite.Completions {
			c.Extra = []rewrite.Member{{Name: "stream_options", Value: rewrite.JSON(`{"include_usage":true}`)}}
		}
		offers(c)
		client := speakers[from]
		status, body, _ := client.send(t, base, c)
		if status != 200 || bytes.Contains(body, []byte("tell_user")) {
			t.Fatalf("WS-04: status %d: %s", status, body)
		}
		return framesOf(body)
	}
	for to := range models {
		for _, mixed := range []bool{false, true} {
			t.Run(fmt.Sprintf("WS-02 WS-03 messages to %s, mixed %v", to, mixed), func(t *testing.T) {
				names, data := ask(t, rewrite.Messages, to, mixed)
				begins, ends, blocks := 0, 0, 0
				for i, name := range names {
					switch name {
					case "message_start":
						begins++
					case "message_stop":
						ends++
					case "content_block_start":
						if got := int(data[i].Get("index").Int()); got != blocks {
							t.Errorf("block %d has the index %d", blocks, got)
						}
						blocks++
					}
				}
				if begins != 1 || ends != 1 || blocks == 0 {
					t.Errorf("%d begins, %d ends, %d blocks", begins, ends, blocks)
				}
			})
			t.Run(fmt.Sprintf("WS-02 WS-03 WS-07 responses to %s, mixed %v", to, mixed), func(t *testing.T) {
				names, data := ask(t, rewrite.Responses, to, mixed)
				begins, ends, items := 0, 0, 0
				for i, name := range names {
					if data[i].Get("error").Exists() {
						t.Errorf("an event has an error: %s", data[i].Raw)
					}
					if got := data[i].Get("sequence_number"); got.Exists() && int(got.Int()) != i {
						t.Errorf("event %d has the number %d", i, got.Int())
					}
					switch name {
					case "response.created":
						begins++
					case "response.completed":
						ends++
						if got := len(data[i].Get("response.output").Array()); got != items {
							t.Errorf("the reply has %d items at its end, and %d before", got, items)
						}
					case "response.output_item.added":
						if got := int(data[i].Get("output_index").Int()); got != items {
							t.Errorf("item %d has the index %d", items, got)
						}
						items++
					}
				}
				if begins != 1 || ends != 1 || items == 0 {
					t.Errorf("%d begins, %d ends, %d items", begins, ends, items)
				}
			})
			t.Run(fmt.Sprintf("WS-02 WS-03 WS-07 chat to %s, mixed %v", to, mixed), func(t *testing.T) {
				_, data := ask(t, rewrite.Completions, to, mixed)
				ends, calls := 0, map[int64]bool{}
				for _, d := range data {
					if d.Get("error").Exists() {
						t.Errorf("a chunk has an error: %s", d.Raw)
					}
					if d.Get("choices.0.finish_reason").Str != "" {
						ends++
					}
					for _, call := range d.Get("choices.0.delta.tool_calls").Array() {
						calls[call.Get("index").Int()] = true
					}
				}
				if want := map[bool]int{true: 1}[mixed]; ends != 1 || len(calls) != want || mixed && !calls[0] {
					t.Errorf("%d ends, calls %v", ends, calls)
				}
			})
		}
	}
}

// WS-08: the prompt is that of the last call, what was given is that of all.
// WS-09: a whole reply is what the stream comes to.
func TestUsageAndWholeRepliesOfSeveralCalls(t *testing.T) {
	core, base := withTools(t, gateway.Options{}, "tell_user")
	for from, client := range speakers {
		for to, model := range models {
			t.Run(fmt.Sprintf("WS-08 WS-09 %s to %s", from, to), func(t *testing.T) {
				var replies []*rewrite.Reply
				for _, stream := range []bool{true, false} {
					before := len(core.Log.All())
					c := says(fmt.Sprintf(`%s %s %v DO[say One.; call tell_user {"message":"Two."}; then; say Three.]`, from, to, stream))
					c.Dialect, c.Model, c.Stream = from, model, stream
					if from == rewrite.Completions && stream {
						c.Extra = []rewrite.Member{{Name: "stream_options", Value: rewrite.JSON(`{"include_usage":true}`)}}
					}
					reply, _ := client.ask(t, base, c)
					replies = append(replies, reply)
					records := askedSince(t, core, before)
					if len(records) != 2 {
						t.Fatalf("the provider was asked %d times", len(records))
					}
					// A client that has the tool itself is told of both.
					c.Tools = []rewrite.Tool{{Name: "tell_user", Schema: rewrite.JSON(`{"type":"object"}`)}}
					first, _ := client.ask(t, base, c)
					answersAll(c, first.Items)
					second, _ := client.ask(t, base, c)
					given, prompt := first.Usage.OutputTotal.N+second.Usage.OutputTotal.N, records[1].Charge.Total
					if u := reply.Usage; u.OutputTotal.N != given || u.InputTotal.N != prompt {
						t.Errorf("stream %v: the client is told of %d and %d tokens, want %d and %d", stream, u.InputTotal.N, u.OutputTotal.N, prompt, given)
					}
				}
				if diff := cmp.Diff(spoken(replies[0]), spoken(replies[1])); diff != "" || replies[0].Stop.Reason != replies[1].Stop.Reason {
					t.Error(diff)
				}
			})
		}
	}
}

// WS-06: what was kept is lost; the conversation goes on.
func TestLostLedgersLeaveTheRequestLegal(t *testing.T) {
	m := newMortal(t, map[string]catalog.RouteRow{"*": {Builtin: []string{"tell_user"}}})
	for from, client := range speakers {
		for to, model := range models {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("WS-06 %s to %s, stream %v", from, to, stream), func(t *testing.T) {
					c := says(`DO[think 20; say One.; call tell_user {"message":"Two."}; then; think 20; say Three.; call clock {}; call tell_user {"message":"Four."}; then; say Five.]`)
					c.Dialect, c.Model, c.Stream, c.Thinking = from, model, stream, rewrite.Thinking{Effort: "high"}
					if to == rewrite.Completions {
						c.Model = "chat/gpt-5.1"
					}
					offers(c)
					reply, _ := client.ask(t, m.base, c)
					answersAll(c, reply.Items)
					m.loses()
					reply, _ = client.ask(t, m.base, c)
					if got := strings.Join(spoken(reply), ""); !strings.Contains(got, "Five.") {
						// Without the hidden round the script may be at an earlier place.
						t.Logf("the client reads %q", got)
					}
					last := lastRecord(m.core).Body
					if !strings.Contains(last, "Two.") || strings.Contains(last, "Message shown to user.") {
						t.Errorf("the model is told %s", last)
					}
					answersAll(c, reply.Items)
					c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "DO[say Six.]"}}})
					if reply, _ = client.ask(t, m.base, c); strings.Join(spoken(reply), "") != "Six." {
						t.Errorf("the client reads %q", spoken(reply))
					}
				})
			}
		}
	}
}

// WT-09: a client that waits gets heartbeats, and no connection to the provider is
// held meanwhile. A client that leaves ends the run.
func TestWaitingForTools(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	goOn := make(chan struct{})
	tool := slowTool(func(ctx context.Context, _ tools.Call) tools.Result {
		began <- struct{}{}
		select {
		case <-goOn:
			return gave("model", "user")
		case <-ctx.Done():
			ended <- struct{}{}
			return tools.Failure("gone")
		}
	})
	_, base := everyProviderRouted(t, gateway.Options{Tools: []tools.Tool{tool}}, map[string]catalog.RouteRow{"*": {Builtin: []string{"ask_user"}}}, func(cfg *config.Config) {
		keepsReplies(cfg)
		cfg.Timeouts.Heartbeat = 20 * time.Millisecond
	})
	beats := map[rewrite.Dialect]string{
		rewrite.Messages: "event: ping", rewrite.Completions: ": keep-alive", rewrite.Responses: ": keep-alive", rewrite.Gemini: "\n\n\n\n",
	}
	for from, client := range speakers {
		for _, leaves := range []bool{false, true} {
			t.Run(fmt.Sprintf("WT-09 %s, leaves %v", from, leaves), func(t *testing.T) {
				c := says(`DO[say One.; call ask_user {}; then; say Two.]`)
				c.Dialect, c.Model, c.Stream = from, models[rewrite.Messages], true
				body, err := client.encode(c, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				req, err := http.NewRequestWithContext(ctx, "POST", base+client.path(c.Model, true), bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set(client.key, map[bool]string{true: "Bearer "}[client.key == "Authorization"]+"sk-client")
				req.Header.Set("Anthropic-Version", "2023-06-01")
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				select {
				case <-began:
				case <-time.After(10 * time.Second):
					all, _ := io.ReadAll(resp.Body)
					t.Fatalf("the tool is not run: status %d: %s", resp.StatusCode, all)
				}
				var got []byte
				buf := make([]byte, 4096)
				for !strings.Contains(string(got), beats[from]) {
					n, err := resp.Body.Read(buf)
					if err != nil {
						t.Fatalf("%v after %s", err, got)
					}
					got = append(got, buf[:n]...)
				}
				if leaves {
					leave()
					<-ended
					return
				}
				goOn <- struct{}{}
				rest, err := io.ReadAll(resp.Body)
				if all := string(got) + string(rest); err != nil || !strings.Contains(all, "user") || !strings.Contains(all, "Two.") {
					t.Errorf("%v: %s", err, all)
				}
			})
		}
	}
}
