package rewrite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
)

// rich are requests that other dialects cannot say all of.
var rich = map[rewrite.Dialect]struct {
	body   string
	member func(*rewrite.Conversation, string) string
}{
	rewrite.Messages: {`{"model":"m","max_tokens":9,"top_k":4,"temperature":0.5,"stop_sequences":["x"],"service_tier":"standard_only",
		"metadata":{"user_id":"u"},"thinking":{"type":"enabled","budget_tokens":2048},"output_config":{"effort":"max","task_budget":{"total":9}},
		"tool_choice":{"type":"any","disable_parallel_tool_use":true},"mcp_servers":[],
		"tools":[{"name":"f","input_schema":{"type":"object"},"strict":true,"defer_loading":true},{"type":"web_fetch_20260209","name":"web_fetch"},{"type":"advisor_20260301","name":"advisor"}],
		"system":[{"type":"text","text":"a"},{"type":"search_result","title":"t","source":"s","content":[]}],
		"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"file","file_id":"f"}},{"type":"container_upload","file_id":"x"}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},
			{"type":"text","text":"b","citations":[{"type":"char_location","cited_text":"c","document_index":0}]},{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"tool_use","id":"t2","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"file","file_id":"f"}}]}]},
		{"role":"system","content":[{"type":"text","text":"be brief"},{"type":"tool_addition","tool":{"type":"tool_reference","name":"f"}}]},
		{"role":"assistant","content":"c"},{"role":"user","content":"d"}]}`, anthropic.MemberOf},
	rewrite.Completions: {`{"model":"m","max_completion_tokens":3,"n":2,"seed":1,"logprobs":true,"top_logprobs":2,"presence_penalty":1,"frequency_penalty":1,
		"reasoning_effort":"minimal","verbosity":"low","response_format":{"type":"json_object"},"safety_identifier":"u","metadata":{"a":"b"},"service_tier":"flex","store":true,"prediction":{},
		"parallel_tool_calls":false,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}},
		"tools":[{"type":"function","function":{"name":"f","strict":true}},{"type":"mcp_x","server":"s"},{"type":"custom","custom":{"name":"c"}}],"web_search_options":{},
		"messages":[{"role":"system","content":"a"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}},{"type":"file","file":{"file_id":"x"}}]},
		{"role":"assistant","content":"x","reasoning_content":"r","audio":{"id":"a"},"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"t2","type":"function","function":{"name":"f","arguments":"{\"a"}}]},
		{"role":"system","content":[{"type":"text","text":"be brief"}]},{"role":"tool","tool_call_id":"nobody","content":"z"},{"role":"user","content":"d"}]}`, completions.MemberOf},
	rewrite.Responses: {`{"model":"m","max_output_tokens":3,"top_logprobs":2,"reasoning":{"effort":"minimal","summary":"auto"},"text":{"verbosity":"low","format":{"type":"json_object"}},
		"user":"u","metadata":{"a":"b"},"service_tier":"flex","store":true,"truncation":"auto","parallel_tool_calls":false,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]},
		"tools":[{"type":"function","name":"f","strict":true},{"type":"file_search","vector_store_ids":["v"]},{"type":"namespace","name":"n","tools":[{"type":"custom","name":"c"}]}],
		"instructions":"i","input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}},{"type":"input_file","file_id":"x"}]},
		{"type":"reasoning","id":"r1","summary":[],"encrypted_content":"e"},{"type":"web_search_call","id":"w1","status":"completed","action":{"type":"search","query":"q"}},
		{"type":"function_call","call_id":"t1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"t2","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"t1","output":[{"type":"input_text","text":"x"},{"type":"input_file","file_id":"y"}]},{"type":"function_call_output","call_id":"nobody","output":"z"},
		{"role":"developer","content":[{"type":"input_text","text":"be brief"}]},{"type":"warmpath:directive","blocks":[{"type":"tool_removal","name":"f"}]},{"type":"compaction","encrypted_content":"c"},{"role":"user","content":"d"}]}`, responses.MemberOf},
	rewrite.Gemini: {`{"generationConfig":{"candidateCount":2,"seed":1,"topK":4,"presencePenalty":1,"frequencyPenalty":1,"responseLogprobs":true,"logprobs":2,"stopSequences":["x"],
			"thinkingConfig":{"thinkingBudget":9,"includeThoughts":true},"responseMimeType":"application/json","mediaResolution":"LOW"},
		"serviceTier":"flex","safetySettings":[],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f","g"]}},
		"tools":[{"functionDeclarations":[{"name":"f","response":{}},{"name":"g"}]},{"googleSearch":{},"urlContext":{}}],"systemInstruction":{"parts":[{"text":"i"}]},
		"contents":[{"role":"user","parts":[{"text":"a"},{"inlineData":{"mimeType":"video/mp4","data":"AA=="}},{"fileData":{"mimeType":"application/pdf","fileUri":"https://f"}}]},
		{"role":"model","parts":[{"text":"t","thought":true},{"text":"b","thoughtSignature":"s"},{"executableCode":{"code":"1"}},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"},{"functionCall":{"name":"g","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"error":"x"},"parts":[{"inlineData":{"mimeType":"audio/wav","data":"AA=="}}]}},{"functionResponse":{"name":"h","response":{"a":1}}}]}]}`, gemini.MemberOf},
}

// located are the losses of a client's request on its way to another dialect.
func located(t *testing.T, from, to rewrite.Dialect) []rewrite.Loss {
	t.Helper()
	c, err := codecs[from].decodeRequest([]byte(rich[from].body), "")
	if err != nil {
		t.Fatal(err)
	}
	var losses rewrite.Losses
	if _, err := codecs[to].encodeRequest(c, "other", &losses); err != nil {
		t.Fatal(err)
	}
	losses.Locate(c, rich[from].member)
	return losses.All
}

// Every loss names something that stands in the client's own request.
func TestLossesNameWhatTheClientWrote(t *testing.T) {
	for from := range rich {
		for to := range codecs {
			if from == to {
				continue
			}
			t.Run(from.String()+" to "+to.String(), func(t *testing.T) {
				losses := located(t, from, to)
				for _, loss := range losses {
					t.Log(loss.Path, "=>", loss.Why)
					if !gjson.Get(rich[from].body, loss.Path).Exists() {
						t.Errorf("%q stands nowhere in the request (%s)", loss.Path, loss.Why)
					}
				}
				if len(losses) < 5 {
					t.Errorf("%d losses", len(losses))
				}
			})
		}
	}
}

func TestPathString(t *testing.T) {
	messages := rewrite.Path{}.At("messages", 3)
	for _, c := range []struct {
		path rewrite.Path
		want string
	}{
		{rewrite.Path{}, ""},
		{messages, "messages.3"},
		{messages.In("content"), "messages.3.content"},
		{messages.At("content", 0).At("content", 12), "messages.3.content.0.content.12"},
		{messages.At("content", 0).At("content", 12).In("input"), "messages.3.content.0.content.12"},
		{messages.In("never_seen"), "messages.3"},
	} {
		if diff := cmp.Diff(c.want, c.path.String()); diff != "" {
			t.Error(diff)
		}
	}
	if n := testing.AllocsPerRun(10, func() { _ = messages.At("content", 1).IsZero() }); n > 0 {
		t.Errorf("a path costs %v allocations", n)
	}
}
