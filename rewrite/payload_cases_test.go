package rewrite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// future is what no version of ours knows, in a spelling that no encoder would give
// it.
var future = rewrite.Payload{Provider: "maker", Format: "future/thing", Version: "2031-01-01", Value: rewrite.JSON(`{"b":1.50, "a":"\u00e9<&>","z":[1E5,null]}`)}

// A payload goes through a client of any dialect, and through what carries it there,
// as it was: provider, format, version and every byte.
func TestPayloadsGoThroughEveryClient(t *testing.T) {
	for to, client := range crossers {
		if client.whole == nil {
			continue
		}
		for _, kind := range []rewrite.ItemKind{rewrite.ItemReasoning, rewrite.ItemHosted, rewrite.ItemOpaque} {
			// A version that was chosen when an activity began goes back with it, whatever
			// is the newest by then.
			t.Run("PP-02 PP-05 PP-06 "+kind.String()+" by "+to.String(), func(t *testing.T) {
				item := rewrite.Item{Kind: kind, Role: rewrite.RoleAssistant, Payload: future}
				if kind == rewrite.ItemHosted {
					item.ID, item.Hosted = "x_1", rewrite.Hosted{ID: "x_1", Name: "other", State: rewrite.HostedCompleted}
				}
				r := &rewrite.Reply{ID: "r", Model: "m", Stop: rewrite.Stop{Reason: rewrite.StopEnd}, Items: []rewrite.Item{
					item, {Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "So."}}},
				}}
				next := client.next(gjson.ParseBytes(client.whole(r)))
				c, err := client.decodeRequest([]byte(next), home)
				if err != nil {
					t.Fatalf("%v: %s", err, next)
				}
				var back []rewrite.Payload
				for i := range c.Items {
					if p := c.Items[i].Payload; p.Format == future.Format {
						back = append(back, p)
					}
				}
				text := cmp.Transformer("text", func(j rewrite.JSON) string { return string(j) })
				if diff := cmp.Diff([]rewrite.Payload{future}, back, text); diff != "" {
					t.Errorf("%s\n%s", diff, next)
				}
				// An adapter that does not know it leaves it alone.
				for other := range crossers {
					body, err := crossers[other].encodeRequest(c, "other", nil)
					if err != nil || strings.Contains(string(body), "1E5") || !strings.Contains(string(body), "So.") {
						t.Errorf("%s: %v, %s", other, err, body)
					}
				}
			})
		}
	}
}

// RP-06: an activity that was begun elsewhere and has not ended stays so: its own
// provider gets it back as it is, another one none of it, which is told; and it is
// counted as abandoned when its turn is over.
func TestOpenActivitiesStayOpen(t *testing.T) {
	const open = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`
	reply := hostedCase{steps: []string{open}}
	_, r := hostedReplies(t, rewrite.Messages, &reply)
	for other := range crossers {
		t.Run("RP-06 on to "+other.String(), func(t *testing.T) {
			c := conversing(r)
			var lost rewrite.Losses
			body, err := crossers[other].encodeRequest(c, "other", &lost)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(body), "srvtoolu_1") || !strings.Contains(told(lost.All), "items.1: ") {
				t.Errorf("sent is %s, lost is %s", body, told(lost.All))
			}
			if got := hostedLines(c.Items); got != "web_search started srvtoolu_1 {\"query\":\"x\"}\n" {
				t.Errorf("the record has become %s", got)
			}
			home, err := crossers[rewrite.Messages].encodeRequest(c, "maker", nil)
			if err != nil || !strings.Contains(string(home), open) {
				t.Errorf("%v, sent home is %s", err, home)
			}
		})
	}
	t.Run("RP-06 abandoned", func(t *testing.T) {
		for stop, want := range map[rewrite.StopReason]string{rewrite.StopEnd: "abandoned", rewrite.StopError: "abandoned", rewrite.StopPause: "started", rewrite.StopTools: "started"} {
			report := rewrite.Report{Stop: stop}
			report.Begin("srvtoolu_1", "web_search")
			if got := report.StateOf(&report.Activity.Hosted[0]); got != want {
				t.Errorf("%s when the reply ends with %s, want %s", got, stop, want)
			}
		}
	})
}

// equivalent are replies of each vendor to calls that cost the same: a thousand
// tokens of which nine hundred were in a cache and ninety have been put into one,
// and twenty that were written.
var equivalent = map[string]struct {
	d             rewrite.Dialect
	stream, whole string
	// unwritten vendors do not say what has been put into their cache.
	unwritten bool
}{
	"US-01 anthropic": {d: rewrite.Messages,
		whole: `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"cache_read_input_tokens":900,"cache_creation_input_tokens":90,"output_tokens":20}}`,
		stream: messagesStream(textBegins, textGoesOn, textEnds,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"cache_read_input_tokens":900,"cache_creation_input_tokens":90,"output_tokens":20}}`, streamEnds)},
	"US-02 openai": {d: rewrite.Responses,
		whole:  `{"id":"resp_1","created_at":1,"model":"m","status":"completed","output":[` + said + `],"usage":` + openaiUsage + `}`,
		stream: "data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"model\":\"m\"}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"created_at\":1,\"model\":\"m\",\"status\":\"completed\",\"output\":[" + said + "],\"usage\":" + openaiUsage + "}}\n\n"},
	"US-02 openai, in chat": {d: rewrite.Completions,
		whole: `{"id":"r1","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":` + chatUsage + `}`,
		stream: "data: {\"id\":\"r1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":null}],\"usage\":null}\n\ndata: {\"id\":\"r1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\n" +
			"data: {\"id\":\"r1\",\"choices\":[],\"usage\":" + chatUsage + "}\n\ndata: [DONE]\n\n"},
	"US-03 google": {d: rewrite.Gemini, unwritten: true,
		whole: `{"candidates":[{"content":{"role":"model","parts":[{"text":"x"}]},"finishReason":"STOP"}],"usageMetadata":` + geminiUsage + `,"responseId":"r1"}`,
		stream: "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"x\"}]}}],\"usageMetadata\":{\"promptTokenCount\":900,\"cachedContentTokenCount\":900,\"toolUsePromptTokenCount\":100,\"candidatesTokenCount\":1,\"totalTokenCount\":1001},\"responseId\":\"r1\"}\n\n" +
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[]},\"finishReason\":\"STOP\"}],\"usageMetadata\":" + geminiUsage + ",\"responseId\":\"r1\"}\n\n"},
	"US-01 anthropic at amazon": {d: rewrite.Converse,
		whole:  `{"output":{"message":{"role":"assistant","content":[{"text":"x"}]}},"stopReason":"end_turn","usage":` + converseUsage + `}`,
		stream: "event: messageStart\ndata: {\"role\":\"assistant\"}\n\nevent: messageStop\ndata: {\"stopReason\":\"end_turn\"}\n\nevent: metadata\ndata: {\"usage\":" + converseUsage + "}\n\n"},
}

const (
	openaiUsage   = `{"input_tokens":1000,"input_tokens_details":{"cached_tokens":900,"cache_write_tokens":90},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":1020}`
	chatUsage     = `{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1020,"prompt_tokens_details":{"cached_tokens":900,"cache_write_tokens":90},"completion_tokens_details":{"reasoning_tokens":5}}`
	geminiUsage   = `{"promptTokenCount":900,"cachedContentTokenCount":900,"toolUsePromptTokenCount":100,"candidatesTokenCount":15,"thoughtsTokenCount":5,"totalTokenCount":1020}`
	converseUsage = `{"inputTokens":10,"cacheReadInputTokens":900,"cacheWriteInputTokens":90,"outputTokens":20,"totalTokens":1020}`
)

// The same call gives the same numbers, whoever has counted it.
func TestEquivalentCallsCountAlike(t *testing.T) {
	for name, c := range equivalent {
		t.Run(name, func(t *testing.T) {
			var f rewrite.Fold
			if err := crossers[c.d].decodeReply([]byte(c.whole), "maker", f.Add); err != nil {
				t.Fatal(err)
			}
			for form, u := range map[string]rewrite.Usage{"whole": f.Reply().Usage, "streamed": crossers[c.d].folded(c.stream, "maker").Usage} {
				fresh, write := int64(10), int64(90)
				if c.unwritten {
					fresh, write = 100, 0
				}
				if u.InputTotal.N != 1000 || u.InputFresh.N != fresh || u.CacheRead.N != 900 || u.CacheWrite.N != write || u.CacheWrite.Known == c.unwritten || u.OutputTotal.N != 20 {
					t.Errorf("%s: %+v", form, u)
				}
			}
		})
	}
}

// What a provider repeats as a sum is not added up.
func TestUsageIsNotCountedTwice(t *testing.T) {
	t.Run("US-04 sums that grow", func(t *testing.T) {
		stream := messagesStream(textBegins, textGoesOn, textEnds,
			`{"type":"message_delta","delta":{},"usage":{"input_tokens":10,"output_tokens":9,"server_tool_use":{"web_search_requests":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"output_tokens":20,"server_tool_use":{"web_search_requests":2}}}`, streamEnds)
		u := crossers[rewrite.Messages].folded(stream, "maker").Usage
		r := dialects[rewrite.Messages].tap(stream, len(stream))
		if u.InputTotal.N != 10 || u.OutputTotal.N != 20 || r.Usage.OutputTotal.N != 20 || r.Activity.Calls[0].N != 2 {
			t.Errorf("counted %+v, by the tap %+v and %+v", u, r.Usage, r.Activity)
		}
	})
	t.Run("US-05 a stream that is cut before its last sum", func(t *testing.T) {
		stream := messagesStream(textBegins, textGoesOn)
		u := crossers[rewrite.Messages].folded(stream, "maker").Usage
		r := dialects[rewrite.Messages].tap(stream, len(stream))
		if u.InputTotal.N != 10 || r.Usage.InputTotal.N != 10 || r.Ended {
			t.Errorf("counted %+v, by the tap %+v, ended %v", u, r.Usage, r.Ended)
		}
	})
}
