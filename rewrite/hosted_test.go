package rewrite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/splice"
)

// answer is what every reply of the cases says in the end.
const answer = "The answer."

// whole is the reply of a case in one piece.
func (c *hostedCase) whole(d rewrite.Dialect) string {
	steps := strings.Join(c.steps, ",")
	if steps != "" {
		steps += ","
	}
	switch d {
	case rewrite.Messages:
		return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + steps + `{"type":"text","text":"` + answer + `"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
	case rewrite.Responses:
		return `{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed","output":[` + steps + said + `],"usage":{"input_tokens":1,"output_tokens":1}}`
	case rewrite.Gemini:
		return `{"candidates":[{"index":0,"content":{"role":"model","parts":[` + steps + `{"text":"` + answer + `"}]},"finishReason":"STOP"` + c.metadata() + `}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"m","responseId":"r1"}`
	case rewrite.Completions:
		return `{"id":"r1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + answer + `","executed_tools":[` + strings.Join(c.steps, ",") + `]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
	}
	return `{"output":{"message":{"role":"assistant","content":[` + steps + `{"text":"` + answer + `"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":1}}`
}

const said = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"` + answer + `","annotations":[]}]}`

func (c *hostedCase) metadata() string {
	if c.beside == "" {
		return ""
	}
	return "," + c.beside
}

// stream is the same reply as it comes piece by piece.
func (c *hostedCase) stream(t *testing.T, d rewrite.Dialect) string {
	t.Helper()
	var b strings.Builder
	event := func(name, data string) {
		if name != "" {
			b.WriteString("event: " + name + "\n")
		}
		b.WriteString("data: " + data + "\n\n")
	}
	switch d {
	case rewrite.Messages:
		event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`)
		for i, step := range append(c.steps, `{"type":"text","text":""}`) {
			input := gjson.Get(step, "input").Raw
			if input != "" {
				step = strings.Replace(step, `"input":`+input, `"input":{}`, 1)
			}
			event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, step))
			for _, piece := range halves(input) {
				event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, quoted(piece)))
			}
			if i == len(c.steps) {
				event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":"%s"}}`, i, answer))
			}
			event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
		}
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}`)
		event("message_stop", `{"type":"message_stop"}`)
	case rewrite.Responses:
		event("response.created", `{"type":"response.created","response":{"id":"resp_1","model":"m","created_at":1}}`)
		for i, step := range append(c.steps, said) {
			begun := fmt.Sprintf(`{"type":%s,"id":%s,"status":"in_progress","role":"assistant","content":[]}`, gjson.Get(step, "type").Raw, gjson.Get(step, "id").Raw)
			event("response.output_item.added", fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, i, begun))
			event("response.output_item.done", fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, step))
		}
		event("response.completed", `{"type":"response.completed","response":`+c.whole(d)+`}`)
	case rewrite.Gemini:
		frame := func(part, rest string) {
			event("", `{"candidates":[{"index":0,"content":{"role":"model","parts":[`+part+`]}`+rest+`}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"m","responseId":"r1"}`)
		}
		for _, step := range c.steps {
			frame(step, "")
		}
		frame(`{"text":"The an"}`, "")
		frame(`{"text":"swer."}`, `,"finishReason":"STOP"`+c.metadata())
	case rewrite.Completions:
		chunk := func(delta, rest string) {
			event("", `{"id":"r1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":`+delta+`,"finish_reason":`+rest+`}]}`)
		}
		for _, step := range c.steps {
			begun := fmt.Sprintf(`{"index":%s,"type":%s,"arguments":%s}`, gjson.Get(step, "index").Raw, gjson.Get(step, "type").Raw, gjson.Get(step, "arguments").Raw)
			chunk(`{"executed_tools":[`+begun+`]}`, "null")
		}
		for _, step := range c.steps {
			chunk(`{"executed_tools":[`+step+`]}`, "null")
		}
		chunk(`{"content":"The an"}`, "null")
		chunk(`{"content":"swer."}`, "null")
		chunk(`{}`, `"stop"`)
		event("", "[DONE]")
	default:
		event("messageStart", `{"role":"assistant"}`)
		for i, step := range c.steps {
			kind := "toolUse"
			delta := `{"input":` + quoted(gjson.Get(step, "toolUse.input").Raw) + `}`
			if gjson.Get(step, "toolResult").Exists() {
				kind, delta = "toolResult", gjson.Get(step, "toolResult.content").Raw
			}
			head := splice.WriteTo(nil)
			head.Open('{')
			gjson.Get(step, kind).ForEach(func(name, value gjson.Result) bool {
				if name.Str != "input" && name.Str != "content" {
					head.Value(name.Str, []byte(value.Raw))
				}
				return true
			})
			head.Close('}')
			event("contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"%s":%s}}`, i, kind, head.Bytes()))
			event("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"%s":%s}}`, i, kind, delta))
			event("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, i))
		}
		event("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"text":"%s"}}`, len(c.steps), answer))
		event("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, len(c.steps)))
		event("messageStop", `{"stopReason":"end_turn"}`)
		event("metadata", `{"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":1}}`)
	}
	return b.String()
}

// halves are the pieces in which a text comes: an empty one first, as the vendor
// does it.
func halves(text string) []string {
	if text == "" {
		return nil
	}
	return []string{"", text[:len(text)/2], text[len(text)/2:]}
}

func quoted(text string) string {
	return string(splice.AppendString(nil, text))
}

// hostedLines are the activities of a reply, a line for each item.
func hostedLines(items []rewrite.Item) (lines string) {
	for i := range items {
		h := &items[i].Hosted
		if items[i].Kind != rewrite.ItemHosted {
			continue
		}
		lines += h.Name + " " + h.State.String() + " " + h.ID
		if len(h.Input) > 0 {
			lines += " " + string(h.Input)
		}
		if h.Error != "" {
			lines += " " + h.Error
		}
		for _, s := range h.Sources {
			lines += " [" + s.URL + " " + s.Title + "]"
		}
		lines += "\n"
	}
	return lines
}

// hostedReplies are the reply of a case as it is read streamed and whole.
func hostedReplies(t *testing.T, d rewrite.Dialect, c *hostedCase) (streamed, whole *rewrite.Reply) {
	t.Helper()
	var f rewrite.Fold
	if err := crossers[d].decodeReply([]byte(c.whole(d)), "maker", f.Add); err != nil {
		t.Fatal(err)
	}
	whole = f.Reply()
	streamed = crossers[d].folded(c.stream(t, d), "maker")
	for _, r := range []*rewrite.Reply{streamed, whole} {
		if r.Stop.Reason != rewrite.StopEnd || !strings.Contains(gist(r), answer) {
			t.Fatalf("the reply is not read: %+v", r)
		}
	}
	return streamed, whole
}

// Whatever tool a provider has run, it is read as one that nobody has to run, the
// same from a stream as from a whole reply.
func TestHostedActivitiesAreRead(t *testing.T) {
	for d, cases := range hostedCases {
		for i := range cases {
			c := &cases[i]
			t.Run(c.name+", "+d.String(), func(t *testing.T) {
				streamed, whole := hostedReplies(t, d, c)
				for name, r := range map[string]*rewrite.Reply{"streamed": streamed, "whole": whole} {
					if diff := cmp.Diff(c.want, hostedLines(r.Items)); diff != "" {
						t.Errorf("%s: %s", name, diff)
					}
					for _, item := range r.Items {
						if item.Kind == rewrite.ItemCall || item.Kind == rewrite.ItemResult || item.Incomplete {
							t.Errorf("%s: %+v", name, item)
						}
					}
				}
				raw := cmp.Transformer("text", func(j rewrite.JSON) string { return string(j) })
				if diff := cmp.Diff(whole.Items, streamed.Items, raw); diff != "" {
					t.Errorf("whole (-) and streamed (+) differ: %s", diff)
				}
			})
		}
	}
}

// byItself are members of a candidate, which Gemini makes anew and wants from nobody.
func byItself(p *rewrite.Payload) bool {
	return p.Format == "gemini/grounding" || p.Format == "gemini/url_context"
}

// conversing is a conversation in which a reply was given, and which goes on.
func conversing(r *rewrite.Reply) *rewrite.Conversation {
	c := &rewrite.Conversation{Dialect: rewrite.Responses, Model: "m", Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("100")}}
	c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "Hi."}}})
	c.Items = append(c.Items, r.Items...)
	c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "On."}}})
	return c
}

// HA-05, HA-06, RP-01, RP-02: what a provider has made of its own tools returns to
// it byte for byte, in one piece with what belongs to it, and is neither answered
// nor mended; any other provider gets what was said, and nothing of that.
func TestHostedActivitiesReturn(t *testing.T) {
	for d, cases := range hostedCases {
		for i := range cases {
			c := &cases[i]
			name := strings.TrimLeft(c.name, "HA-01234567 ") + ", " + d.String()
			streamed, whole := hostedReplies(t, d, c)
			t.Run("RP-01 "+name, func(t *testing.T) {
				for _, r := range []*rewrite.Reply{streamed, whole} {
					body, err := crossers[d].encodeRequest(conversing(r), "maker", nil)
					if err != nil {
						t.Fatal(err)
					}
					// Steps that belong together stay together, as they were. Groq takes none back.
					if all := strings.Join(c.steps, ","); d != rewrite.Completions && !strings.Contains(string(body), all) {
						t.Errorf("%s\nis not in\n%s", all, body)
					}
					for _, item := range r.Items {
						if value := item.Payload.Value; !byItself(&item.Payload) && !strings.Contains(string(body), string(value)) {
							t.Errorf("%s\nis not in\n%s", value, body)
						}
					}
				}
			})
			t.Run("HA-05 HA-06 RP-02 "+name, func(t *testing.T) {
				for other := range crossers {
					var lost rewrite.Losses
					body, err := crossers[other].encodeRequest(conversing(whole), "other", &lost)
					if err != nil {
						t.Fatal(err)
					}
					text := string(body)
					if !strings.Contains(text, answer) {
						t.Errorf("%s is not told what was said: %s", other, text)
					}
					for _, item := range whole.Items {
						if value := string(item.Payload.Value); item.Kind == rewrite.ItemHosted && value != "" && strings.Contains(text, value) {
							t.Errorf("%s gets %s", other, item.Payload.Value)
						}
						if id := item.Hosted.ID; id != "" && strings.Contains(text, `"`+id+`"`) {
							t.Errorf("%s gets the name %s: %s", other, id, text)
						}
					}
					for _, mended := range []string{"interrupted", "tool_result", "function_call", "functionResponse", "toolResult", `"tool_calls"`, `"role":"tool"`} {
						if strings.Contains(text, mended) {
							t.Errorf("%s is told of %s: %s", other, mended, text)
						}
					}
					if len(lost.All) == 0 && !(c.beside != "" && other == rewrite.Gemini) { // who searches anew anyway
						t.Errorf("nothing is told to be lost for %s", other)
					}
				}
			})
		}
	}
}

// A client of the normalized API that asks for it is told of every activity in one
// form, step by step, with its provider's words.
func TestHostedActivitiesAreShown(t *testing.T) {
	for d, cases := range hostedCases {
		for i := range cases {
			c := &cases[i]
			t.Run(c.name+", "+d.String(), func(t *testing.T) {
				_, r := hostedReplies(t, d, c)
				o := responses.EncoderOptions{Provider: "openai", Events: true, Request: &rewrite.Conversation{Dialect: rewrite.Responses, Extensions: []string{"warmpath:hosted_activity"}}}
				if d == rewrite.Responses {
					o.Provider = "maker" // who speaks the dialect is shown as it speaks, too
				}
				encoder := responses.NewEncoder(o)
				var stream []byte
				crossers[d].tell(c.stream(t, d), "maker", func(e *rewrite.Event) { stream = encoder.Append(stream, e) })
				var states []string
				for line := range strings.Lines(string(stream)) {
					if state, ok := strings.CutPrefix(line, "event: warmpath:hosted_activity."); ok {
						states = append(states, strings.TrimSpace(state))
					}
				}
				items := gjson.GetBytes(responses.EncodeReply(nil, r, o), `output.#(type=="warmpath:hosted_activity")#`).Array()
				var want []string
				n := 0
				for _, item := range r.Items {
					if item.Kind != rewrite.ItemHosted {
						continue
					}
					if (d == rewrite.Responses || d == rewrite.Completions) && item.Hosted.State != rewrite.HostedStarted {
						want = append(want, "started") // one item has both
					}
					want = append(want, item.Hosted.State.String())
					if n >= len(items) {
						t.Fatalf("%d items for %s", len(items), hostedLines(r.Items))
					}
					got := items[n]
					n++
					status := item.Hosted.State.String()
					if status == "started" {
						status = "in_progress"
					}
					if got.Get("name").Str != item.Hosted.Name || got.Get("status").Str != status || item.Hosted.ID != "" && got.Get("id").Str != item.Hosted.ID || got.Get("id").Str == "" ||
						got.Get("error_code").Str != item.Hosted.Error || got.Get("input").Raw != string(item.Hosted.Input) {
						t.Errorf("%s of %+v", got, item.Hosted)
					}
					if value := got.Get("payload.value").Raw; d != rewrite.Responses && value != string(item.Payload.Value) {
						t.Errorf("the payload is %s, was %s", value, item.Payload.Value)
					}
				}
				slices.Sort(want)
				slices.Sort(states)
				if diff := cmp.Diff(want, states); diff != "" || n != len(items) {
					t.Errorf("%d items, and events: %s", len(items), diff)
				}
			})
		}
	}
}
