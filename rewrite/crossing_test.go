package rewrite_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/sse"
)

// teller takes the events of a stream in a dialect.
type teller interface {
	Event(name, data []byte, yield func(*rewrite.Event))
	Close(yield func(*rewrite.Event))
}

// crosser is what every dialect's package exports for translation. One that no
// client speaks has no half for clients, and a stream that is no text.
type crosser struct {
	decodeRequest func(body []byte, provider string) (*rewrite.Conversation, error)
	encodeRequest func(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error)
	decoder       func(provider string) teller
	decodeReply   func(body []byte, provider string, yield func(*rewrite.Event)) error
	// stream and whole give a reply to a client whose own provider is named home.
	stream func(r *rewrite.Reply) []byte
	whole  func(r *rewrite.Reply) []byte
	// next is the request that a client makes after a whole reply: its question,
	// the reply, and the results of the calls.
	next func(reply gjson.Result) string
	// reply is a stream of the dialect's provider, with something to bring back.
	reply string
}

const home = "home"

func appended(r *rewrite.Reply, add func(dst []byte, e *rewrite.Event) []byte) (out []byte) {
	r.Tell(func(e *rewrite.Event) { out = add(out, e) })
	return out
}

func results(calls []string, format func(id string) string) (text string) {
	for _, id := range calls {
		text += "," + format(id)
	}
	return text
}

func ids(list gjson.Result, path string) (all []string) {
	for _, item := range list.Array() {
		if id := item.Get(path); id.Exists() {
			all = append(all, id.Str)
		}
	}
	return all
}

var crossers = map[rewrite.Dialect]crosser{
	rewrite.Messages: {
		anthropic.DecodeRequest, anthropic.EncodeRequest,
		func(p string) teller { return anthropic.NewDecoder(p) }, anthropic.DecodeReply,
		func(r *rewrite.Reply) []byte {
			return appended(r, anthropic.NewEncoder(anthropic.EncoderOptions{Provider: home, ID: "msg_1"}).Append)
		},
		func(r *rewrite.Reply) []byte {
			return anthropic.EncodeReply(nil, r, anthropic.EncoderOptions{Provider: home, ID: "msg_1"})
		},
		func(reply gjson.Result) string {
			content := reply.Get("content")
			var calls []string
			for _, b := range content.Array() {
				if b.Get("type").Str == "tool_use" {
					calls = append(calls, b.Get("id").Str)
				}
			}
			given := results(calls, func(id string) string { return `{"type":"tool_result","tool_use_id":"` + id + `","content":"r"}` })
			return `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":` + content.Raw + `},{"role":"user","content":[` +
				strings.TrimPrefix(given, ",") + `]}]}`
		},
		`event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm é🙂"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQ+/="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Zz+/="}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look."}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"orbit","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"body\": \"io\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":20}}

event: message_stop
data: {"type":"message_stop"}

`,
	},
	rewrite.Responses: {
		responses.DecodeRequest, responses.EncodeRequest,
		func(p string) teller { return responses.NewDecoder(p) }, responses.DecodeReply,
		func(r *rewrite.Reply) []byte {
			return appended(r, responses.NewEncoder(responses.EncoderOptions{Provider: home}).Append)
		},
		func(r *rewrite.Reply) []byte {
			return responses.EncodeReply(nil, r, responses.EncoderOptions{Provider: home})
		},
		func(reply gjson.Result) string {
			given := results(ids(reply.Get("output"), "call_id"), func(id string) string {
				return `{"type":"function_call_output","call_id":"` + id + `","output":"r"}`
			})
			items := strings.TrimSuffix(strings.TrimPrefix(reply.Get("output").Raw, "["), "]")
			return `{"model":"m","input":[{"role":"user","content":"hi"},` + items + given + `]}`
		},
		`data: {"type":"response.created","response":{"id":"resp_1","model":"gpt-6.2","created_at":1}}

data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm é🙂"}],"encrypted_content":"Zz+/="}}

data: {"type":"response.output_item.done","output_index":1,"item":{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","queries":["io"], "z":1.50}}}

data: {"type":"response.output_item.done","output_index":2,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]}}

data: {"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"orbit","arguments":"{\"body\": \"io\"}","status":"completed"}}

data: {"type":"response.completed","response":{"id":"resp_1","model":"gpt-6.2","created_at":1,"status":"completed","usage":{"input_tokens":10,"output_tokens":20}}}

`,
	},
	rewrite.Completions: {
		completions.DecodeRequest, completions.EncodeRequest,
		func(p string) teller { return completions.NewDecoder(p) }, completions.DecodeReply,
		func(r *rewrite.Reply) []byte {
			return appended(r, completions.NewEncoder(completions.EncoderOptions{Provider: home}).Append)
		},
		func(r *rewrite.Reply) []byte {
			return completions.EncodeReply(nil, r, completions.EncoderOptions{Provider: home})
		},
		func(reply gjson.Result) string {
			message := reply.Get("choices.0.message")
			given := results(ids(message.Get("tool_calls"), "id"), func(id string) string {
				return `{"role":"tool","tool_call_id":"` + id + `","content":"r"}`
			})
			return `{"model":"m","messages":[{"role":"user","content":"hi"},` + message.Raw + given + `]}`
		},
		`data: {"id":"gen-1","created":1,"model":"k","choices":[{"index":0,"delta":{"role":"assistant","reasoning":"Hm é🙂","reasoning_details":[{"type":"reasoning.text","text":"Hm é🙂","signature":"s+/="}]}}]}

data: {"id":"gen-1","created":1,"model":"k","choices":[{"index":0,"delta":{"content":"I look."}}]}

data: {"id":"gen-1","created":1,"model":"k","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"orbit","arguments":"{\"body\": \"io\"}"}}]}}]}

data: {"id":"gen-1","created":1,"model":"k","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":20}}

data: [DONE]

`,
	},
	rewrite.Converse: {
		nil, converse.EncodeRequest,
		func(p string) teller { return converse.NewDecoder(p) }, converse.DecodeReply,
		nil, nil, nil,
		`event: messageStart
data: {"role":"assistant"}

event: contentBlockDelta
data: {"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm é🙂"}}}

event: contentBlockDelta
data: {"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"EqQ+/="}}}

event: contentBlockStop
data: {"contentBlockIndex":0}

event: contentBlockDelta
data: {"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"Wno="}}}

event: contentBlockStop
data: {"contentBlockIndex":1}

event: contentBlockDelta
data: {"contentBlockIndex":2,"delta":{"text":"I look."}}

event: contentBlockStop
data: {"contentBlockIndex":2}

event: contentBlockStart
data: {"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"orbit"}}}

event: contentBlockDelta
data: {"contentBlockIndex":3,"delta":{"toolUse":{"input":"{\"body\": \"io\"}"}}}

event: contentBlockStop
data: {"contentBlockIndex":3}

event: messageStop
data: {"stopReason":"tool_use"}

event: metadata
data: {"usage":{"inputTokens":10,"outputTokens":20,"totalTokens":30},"metrics":{"latencyMs":1}}

`,
	},
	rewrite.Gemini: {
		gemini.DecodeRequest, gemini.EncodeRequest,
		func(p string) teller { return gemini.NewDecoder(p) }, gemini.DecodeReply,
		func(r *rewrite.Reply) []byte {
			return appended(r, gemini.NewEncoder(gemini.EncoderOptions{Provider: home}).Append)
		},
		func(r *rewrite.Reply) []byte {
			return gemini.EncodeReply(nil, r, gemini.EncoderOptions{Provider: home})
		},
		func(reply gjson.Result) string {
			content := reply.Get("candidates.0.content")
			var given []string
			for _, p := range content.Get("parts").Array() {
				if call := p.Get("functionCall"); call.Exists() {
					given = append(given, `{"functionResponse":{"id":"`+call.Get("id").Str+`","name":"`+call.Get("name").Str+`","response":{"output":"r"}}}`)
				}
			}
			return `{"contents":[{"role":"user","parts":[{"text":"hi"}]},` + content.Raw + `,{"role":"user","parts":[` + strings.Join(given, ",") + `]}]}`
		},
		`data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Hm é🙂","thought":true}]}}],"modelVersion":"g","responseId":"r1"}

data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"I look."}]}}],"modelVersion":"g","responseId":"r1"}

data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"id":"f1","name":"orbit","args":{"body": "io"}},"thoughtSignature":"q83v+/="}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":20,"totalTokenCount":30},"modelVersion":"g","responseId":"r1"}

`,
	},
}

// folded is a stream as a whole reply.
func (c crosser) folded(stream, provider string) *rewrite.Reply {
	var f rewrite.Fold
	c.tell(stream, provider, f.Add)
	return f.Reply()
}

// tell yields the events of a stream.
func (c crosser) tell(stream, provider string, yield func(*rewrite.Event)) {
	d := c.decoder(provider)
	s := sse.Splitter{Bare: true}
	read := func(e sse.Event) { d.Event(e.Name, e.Data, yield) }
	s.Feed([]byte(stream), read)
	s.Close(read)
	d.Close(yield)
}

// gist is what of a reply every dialect says.
func gist(r *rewrite.Reply) string {
	var text, calls strings.Builder
	for _, item := range r.Items {
		switch item.Kind {
		case rewrite.ItemMessage:
			for _, p := range item.Parts {
				text.WriteString(p.Text)
			}
		case rewrite.ItemCall:
			var args bytes.Buffer
			if err := json.Compact(&args, item.Call.Arguments); err != nil {
				args.WriteString(err.Error())
			}
			calls.WriteString(item.Call.ID + " " + item.Call.Name + " " + args.String() + "\n")
		default:
		}
	}
	return text.String() + "\n" + calls.String() + r.Stop.Reason.String() + "\n"
}

// kept are the payloads that a provider wants back, in order, byte for byte.
func kept(items []rewrite.Item, provider string) (all []string) {
	for _, item := range items {
		if p := &item.Payload; p.Provider == provider && !p.Empty() && item.Kind != rewrite.ItemMessage && !(item.Kind == rewrite.ItemCall && strings.HasPrefix(p.Format, "responses/")) {
			all = append(all, p.Format+" "+string(p.Value))
		}
	}
	return all
}

// Between any two dialects a reply says the same, streamed or whole, and what its
// client brings back has all that its provider wants back (PB-15 to PB-20, PP-01,
// RP-01).
func TestCrossings(t *testing.T) {
	for from, provider := range crossers {
		for to, client := range crossers {
			if client.stream == nil {
				continue
			}
			t.Run("PP-01 RP-01 PB-15 PB-16 PB-17 PB-18 "+from.String()+" to "+to.String(), func(t *testing.T) {
				reply := provider.folded(provider.reply, "maker")
				if reply.Stop.Reason != rewrite.StopTools || len(kept(reply.Items, "maker")) == 0 {
					t.Fatalf("the reply is not read: %+v", reply)
				}
				streamed := client.folded(string(client.stream(reply)), home)
				if diff := cmp.Diff(gist(reply), gist(streamed)); diff != "" {
					t.Errorf("streamed: %s", diff)
				}
				whole := client.whole(reply)
				var f rewrite.Fold
				if err := client.decodeReply(whole, home, f.Add); err != nil {
					t.Fatalf("%v: %s", err, whole)
				}
				if diff := cmp.Diff(gist(reply), gist(f.Reply())); diff != "" {
					t.Errorf("whole: %s", diff)
				}
				next := client.next(gjson.ParseBytes(whole))
				c, err := client.decodeRequest([]byte(next), home)
				if err != nil {
					t.Fatalf("%v: %s", err, next)
				}
				if diff := cmp.Diff(kept(reply.Items, "maker"), kept(c.Items, "maker")); diff != "" {
					t.Errorf("brought back: %s\n%s", diff, next)
				}
				c.Model = "m"
				if string(c.Sampling.MaxTokens) == "" {
					c.Sampling.MaxTokens = rewrite.JSON("100")
				}
				body, err := provider.encodeRequest(c, "maker", nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, item := range reply.Items {
					p := &item.Payload
					if item.Kind == rewrite.ItemMessage || item.Kind == rewrite.ItemCall && from == rewrite.Responses {
						// Every client can say these without their names.
						continue
					}
					// Members of a message go back without the brackets around them.
					if value := bytes.Trim(p.Value, "{}"); from == rewrite.Completions && !bytes.Contains(body, value) || from != rewrite.Completions && !bytes.Contains(body, p.Value) {
						t.Errorf("%s is not sent back: %s\n%s", p.Format, p.Value, body)
					}
				}
			})
		}
	}
}
