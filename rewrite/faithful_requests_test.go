package rewrite_test

import (
	"testing"

	"warmpath/rewrite"
)

// richRequests have every member that the vendors document, and some that they do not.
var richRequests = map[rewrite.Dialect]string{
	rewrite.Completions: `{"model":"m","messages":[
{"role":"system","content":"Rules.","name":"root"},
{"role":"developer","content":[{"type":"text","text":"More."}],"name":"dev"},
{"role":"user","name":"ada","content":"hi"},
{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"https://e.test/a.png","detail":"high"}},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},{"type":"file","file":{"file_id":"file-1"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}]},
{"role":"assistant","name":"bot","content":"ok","refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"call_2","type":"custom","custom":{"name":"g","input":"x"}}]},
{"role":"tool","tool_call_id":"call_1","content":"r"},
{"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"r2"}]},
{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"no"}]},
{"role":"user","content":"more"},
{"role":"assistant","content":"b","audio":{"id":"audio_1"},"annotations":[],"reasoning_content":"hm"},
{"role":"user","content":"on"}],
"store":false,"metadata":{"k":"v"},"logit_bias":{"50256":-100},"max_completion_tokens":100,"parallel_tool_calls":false,
"prediction":{"type":"content","content":"p"},"prompt_cache_key":"k","prompt_cache_retention":"24h","safety_identifier":"s","user":"u","seed":7,"service_tier":"flex","stop":["a"],
"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false},"temperature":0.5,"top_p":0.9,"verbosity":"low","reasoning_effort":"high","presence_penalty":0.1,"frequency_penalty":0.2,
"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","strict":true,"schema":{"type":"object"}}},
"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"number"}}}}},{"type":"function","function":{"name":"h"}},{"type":"custom","custom":{"name":"g","description":"d","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"x"}}}}],
"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}},
"web_search_options":{"search_context_size":"low","user_location":{"type":"approximate","approximate":{"city":"Zürich"}}},
"provider":{"order":["a"]},"transforms":[],"usage":{"include":true},"future":{"b":1}}`,

	rewrite.Responses: `{"model":"m","instructions":"Rules.","input":[
{"role":"system","content":"s"},{"type":"message","role":"developer","content":[{"type":"input_text","text":"d"}]},
{"role":"user","content":"hi"},{"type":"message","role":"user","status":"completed","id":"msg_0","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"https://e.test/a.png","detail":"high"},{"type":"input_image","file_id":"file-2","detail":"auto"},{"type":"input_file","file_id":"file-1"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"},{"type":"input_file","file_url":"https://e.test/a.pdf"}]},
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA","content":[]},
{"type":"message","role":"assistant","id":"msg_1","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"ok","annotations":[{"type":"url_citation","url":"https://e.test","title":"t","start_index":0,"end_index":2}],"logprobs":[]}]},
{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"a\": 1}","status":"completed"},
{"type":"function_call_output","id":"fco_1","call_id":"call_1","output":"r","status":"completed"},
{"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"g","input":"x"},
{"type":"custom_tool_call_output","call_id":"call_2","output":"y"},
{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
{"type":"mcp_call","id":"mcp_1","name":"x","server_label":"s","arguments":"{}","output":"o"},
{"type":"mcp_list_tools","id":"mcpl_1","server_label":"s","tools":[]},
{"type":"computer_call","id":"cu_1","call_id":"call_3","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"},
{"type":"computer_call_output","call_id":"call_3","output":{"type":"computer_screenshot","image_url":"https://e.test/s.png"}},
{"type":"compaction","id":"cmp_1","encrypted_content":"gBBB"},
{"role":"assistant","content":"plain"},
{"role":"user","content":"on"}],
"background":false,"include":["reasoning.encrypted_content"],"max_output_tokens":100,"max_tool_calls":3,"metadata":{"k":"v"},"parallel_tool_calls":false,
"prompt_cache_key":"k","prompt_cache_retention":"24h","reasoning":{"effort":"high","summary":"auto"},"safety_identifier":"s","service_tier":"flex","store":false,"stream":true,"stream_options":{"include_obfuscation":false},
"temperature":0.5,"top_p":0.9,"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","description":"d","strict":true,"schema":{"type":"object"}}},
"tools":[{"type":"function","name":"f","description":"d","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"number"}}}},{"type":"function","name":"h","parameters":{"type":"object"},"strict":null},{"type":"custom","name":"g","description":"d","format":{"type":"grammar","syntax":"lark","definition":"x"}},{"type":"web_search","filters":{"allowed_domains":["e.test"]},"search_context_size":"low","user_location":{"type":"approximate","city":"Zürich"}},{"type":"mcp","server_label":"s","server_url":"https://e.test","require_approval":"never"},{"type":"code_interpreter","container":{"type":"auto"}}],
"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]},"truncation":"auto","user":"u","future":{"b":1}}`,

	rewrite.Messages: `{"model":"m","max_tokens":100,"system":[{"type":"text","text":"Rules.","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"More."}],"messages":[
{"role":"user","content":"hi"},
{"role":"assistant","content":"plain"},
{"role":"user","content":[{"type":"text","text":"see","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"image","source":{"type":"url","url":"https://e.test/a.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t","context":"c","citations":{"enabled":true}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}},{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}],"citations":{"enabled":true}},{"type":"container_upload","file_id":"file_2"}]},
{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"ZGF0YQ=="},{"type":"text","text":"ok","citations":[{"type":"char_location","cited_text":"d","document_index":0,"document_title":"t","start_char_index":0,"end_char_index":1}]},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://e.test","title":"t","encrypted_content":"ZQ==","page_age":null}]},{"type":"mcp_tool_use","id":"mcptoolu_1","name":"x","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[]},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a": 1},"caller":{"type":"direct"}},{"type":"tool_use","id":"toolu_2","name":"h","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}],"is_error":false},{"type":"tool_result","tool_use_id":"toolu_2"},{"type":"text","text":"on"}]},
{"role":"system","content":[{"type":"text","text":"mid"}]}],
"tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"a":{"type":"number"}}},"strict":true,"input_examples":[{"a":1}],"cache_control":{"type":"ephemeral"},"eager_input_streaming":true,"allowed_callers":["direct"]},{"type":"custom","name":"h","input_schema":{"type":"object"},"defer_loading":true},{"type":"web_search_20250305","name":"web_search","max_uses":5,"allowed_domains":["e.test"],"user_location":{"type":"approximate","city":"Zürich"}},{"type":"bash_20250124","name":"bash"}],
"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"metadata":{"user_id":"u"},"service_tier":"auto","stop_sequences":["a"],"temperature":0.5,"top_p":0.9,"top_k":5,"stream":true,
"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}},"task_budget":{"type":"tokens","total":1000}},
"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"container":"cont_1","mcp_servers":[{"type":"url","url":"https://e.test","name":"s"}],"inference_geo":"us","speed":"fast","cache_control":{"type":"ephemeral"},"diagnostics":{"previous_message_id":null},"fallbacks":[{"model":"x"}],"future":{"b":1}}`,

	rewrite.Gemini: `{"contents":[{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"AAAA"},"mediaResolution":{"level":"MEDIA_RESOLUTION_HIGH"}},{"fileData":{"mimeType":"application/pdf","fileUri":"https://e.test/a.pdf"}},{"inlineData":{"mimeType":"video/mp4","data":"AAAA"},"videoMetadata":{"fps":1,"startOffset":"1s"}}]},
{"role":"model","parts":[{"text":"hm","thought":true},{"text":"ok","thoughtSignature":"c2ln"},{"functionCall":{"id":"c1","name":"f","args":{"a": 1}},"thoughtSignature":"c2ln"},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}]},
{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"f","response":{"result":"r"},"willContinue":false,"scheduling":"SILENT","parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}},{"text":"on"}]}],
"systemInstruction":{"role":"system","parts":[{"text":"Rules."},{"text":"More."}]},
"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{"a":{"type":"NUMBER"}}},"response":{"type":"OBJECT"},"behavior":"BLOCKING"},{"name":"h","parametersJsonSchema":{"type":"object"}}]},{"googleSearch":{"timeRangeFilter":{"startTime":"2026-01-01T00:00:00Z","endTime":"2026-02-01T00:00:00Z"}}},{"codeExecution":{}},{"urlContext":{}}],
"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]},"retrievalConfig":{"latLng":{"latitude":1,"longitude":2}},"includeServerSideToolInvocations":true},
"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}],
"generationConfig":{"temperature":0.5,"topP":0.9,"topK":5,"maxOutputTokens":100,"stopSequences":["a"],"seed":7,"presencePenalty":0.1,"frequencyPenalty":0.2,"responseMimeType":"application/json","responseSchema":{"type":"OBJECT"},"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"},"mediaResolution":"MEDIA_RESOLUTION_LOW","responseModalities":["TEXT"],"enableEnhancedCivicAnswers":false,"routingConfig":{"autoMode":{}}},
"labels":{"k":"v"},"serviceTier":"flex","future":{"b":1}}`,
}

// What a provider gets of a request in its own dialect, which was taken apart and put
// together anew because the gateway runs tools, is compared with what its client has
// sent, member by member.
func TestRequestsStayWhole(t *testing.T) {
	for dialect, body := range richRequests {
		t.Run(dialect.String(), func(t *testing.T) {
			codec := codecs[dialect]
			c, err := codec.decodeRequest([]byte(body), "p")
			if err != nil {
				t.Fatal(err)
			}
			var losses rewrite.Losses
			got, err := codec.encodeRequest(c, "p", &losses)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, changedRequests[dialect], []byte(body), got)
		})
	}
}

// changedRequests are the members that a request loses or changes on purpose.
var changedRequests = map[rewrite.Dialect]map[string]string{
	rewrite.Completions: {
		"messages.1.content changed from 1 elements": theSame, "messages.6.content changed from 1 elements": theSame,
		"messages.4.refusal lost": theSame, "messages.9.annotations lost": theSame,
		"messages.7.content changed from 2 elements": inMember, "messages.7.refusal added": inMember,
	},
	rewrite.Responses: {
		"input.0.type added": theSame, "input.2.type added": theSame, "input.16.type added": theSame, "input.17.type added": theSame,
		"input.0.content changed": theSame, "input.2.content changed": theSame, "input.16.content changed": theSame, "input.17.content changed": theSame,
		"input.3.id lost": ownNames, "input.3.status lost": ownNames, "input.7.id lost": ownNames, "input.7.status lost": ownNames,
	},
	rewrite.Messages: {
		"messages.0.content changed": theSame, "messages.1.content changed": theSame,
		"messages.4.content.0.is_error lost": theSame, "tools.1.type lost": theSame,
	},
	rewrite.Gemini: {
		"systemInstruction.role lost": "the vendor reads no role there",
	},
}

const (
	theSame  = "the shorter way of writing the same"
	inMember = "a refusal stands in the member for it, where replies have it"
	ownNames = "a client's names and states of what it has written itself; the model reads neither"
)
