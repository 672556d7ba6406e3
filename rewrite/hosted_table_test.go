package rewrite_test

import "warmpath/rewrite"

// hostedCase is what a provider tells of a tool that it runs: in its own words, and
// what is read of it, a line for each item.
type hostedCase struct {
	name string
	// steps are blocks, items or parts of a reply in the provider's dialect, in
	// order.
	steps []string
	// beside are members of a candidate of Gemini's.
	beside string
	want   string
}

// hostedCases are all that the providers' contracts list, and what they do not
// list yet.
var hostedCases = map[rewrite.Dialect][]hostedCase{
	rewrite.Messages: {
		{"HA-01 web search", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"io \u00e9", "n":1.50},"caller":{"type":"direct"}}`,
			`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","caller":{"type":"direct"},"content":[{"type":"web_search_result","url":"https://a.test","title":"A","page_age":"2 days","encrypted_content":"Eo8+/="},{"type":"web_search_result","url":"https://b.test","title":"B","encrypted_content":"Eo9"}]}`,
		}, "", "web_search started srvtoolu_1 {\"query\":\"io \\u00e9\", \"n\":1.50}\nweb_search completed srvtoolu_1 [https://a.test A] [https://b.test B]\n"},
		{"web search that finds nothing", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`,
		}, "", "web_search started srvtoolu_1 {\"query\":\"x\"}\nweb_search completed srvtoolu_1\n"},
		{"web search that fails", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}`,
		}, "", "web_search started srvtoolu_1 {}\nweb_search failed srvtoolu_1 max_uses_exceeded\n"},
		{"web fetch", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_fetch","input":{"url":"https://a.test"}}`,
			`{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_fetch_result","url":"https://a.test","retrieved_at":"2026-11-01","content":{"type":"document","source":{"type":"text","media_type":"text/plain","data":"page"},"title":"A"}}}`,
		}, "", "web_fetch started srvtoolu_1 {\"url\":\"https://a.test\"}\nweb_fetch completed srvtoolu_1 [https://a.test ]\n"},
		{"web fetch that fails", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_fetch","input":{"url":"x"}}`, `{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_fetch_tool_result_error","error_code":"url_not_accessible"}}`,
		}, "", "web_fetch started srvtoolu_1 {\"url\":\"x\"}\nweb_fetch failed srvtoolu_1 url_not_accessible\n"},
		{"code execution", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"code_execution","input":{"code":"1"}}`,
			`{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"code_execution_result","stdout":"1","stderr":"","return_code":0,"content":[{"type":"code_execution_output","file_id":"file_1"}]}}`,
		}, "", "code_execution started srvtoolu_1 {\"code\":\"1\"}\ncode_execution completed srvtoolu_1\n"},
		{"code execution, closed", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"code_execution","input":{"code":"1"}}`,
			`{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"encrypted_code_execution_result","encrypted_stdout":"Zz+/=","stderr":"","return_code":0,"content":[]}}`,
		}, "", "code_execution started srvtoolu_1 {\"code\":\"1\"}\ncode_execution completed srvtoolu_1\n"},
		{"code execution that fails", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"code_execution","input":{"code":"1"}}`, `{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"code_execution_tool_result_error","error_code":"execution_time_exceeded"}}`,
		}, "", "code_execution started srvtoolu_1 {\"code\":\"1\"}\ncode_execution failed srvtoolu_1 execution_time_exceeded\n"},
		{"bash", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"bash_code_execution","input":{"command":"ls"}}`,
			`{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"bash_code_execution_result","stdout":"x","stderr":"","return_code":0,"content":[{"type":"bash_code_execution_output","file_id":"f"}]}}`,
		}, "", "code_execution started srvtoolu_1 {\"command\":\"ls\"}\ncode_execution completed srvtoolu_1\n"},
		{"text editor", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"text_editor_code_execution","input":{"command":"view","path":"x"}}`,
			`{"type":"text_editor_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"text_editor_code_execution_view_result","content":"x","file_type":"text","num_lines":1,"start_line":1,"total_lines":1}}`,
		}, "", "code_execution started srvtoolu_1 {\"command\":\"view\",\"path\":\"x\"}\ncode_execution completed srvtoolu_1\n"},
		{"text editor that fails", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"text_editor_code_execution","input":{}}`, `{"type":"text_editor_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"text_editor_code_execution_tool_result_error","error_code":"file_not_found","error_message":"x"}}`,
		}, "", "code_execution started srvtoolu_1 {}\ncode_execution failed srvtoolu_1 file_not_found\n"},
		{"search for tools by pattern", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_regex","input":{"pattern":"x"}}`,
			`{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"f"}]}}`,
		}, "", "tool_search started srvtoolu_1 {\"pattern\":\"x\"}\ntool_search completed srvtoolu_1\n"},
		{"search for tools by words, failed", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query":"x","limit":3}}`,
			`{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_result_error","error_code":"unavailable"}}`,
		}, "", "tool_search started srvtoolu_1 {\"query\":\"x\",\"limit\":3}\ntool_search failed srvtoolu_1 unavailable\n"},
		{"advisor", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"advisor","input":{}}`, `{"type":"advisor_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"advisor_result","text":"Think.","stop_reason":"end_turn"}}`,
		}, "", "advisor started srvtoolu_1 {}\nadvisor completed srvtoolu_1\n"},
		{"advisor, closed", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"advisor","input":{}}`, `{"type":"advisor_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"advisor_redacted_result","encrypted_content":"Zz+/=","stop_reason":"end_turn"}}`,
		}, "", "advisor started srvtoolu_1 {}\nadvisor completed srvtoolu_1\n"},
		{"advisor that fails", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"advisor","input":{}}`, `{"type":"advisor_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"advisor_tool_result_error","error_code":"model_not_found"}}`,
		}, "", "advisor started srvtoolu_1 {}\nadvisor failed srvtoolu_1 model_not_found\n"},
		{"a tool of a server", []string{
			`{"type":"mcp_tool_use","id":"mcptoolu_1","name":"read","server_name":"wiki","input":{"page":"x"}}`, `{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[{"type":"text","text":"page"}]}`,
		}, "", "mcp started mcptoolu_1 {\"page\":\"x\"}\nmcp completed mcptoolu_1\n"},
		{"a tool of a server that fails", []string{
			`{"type":"mcp_tool_use","id":"mcptoolu_1","name":"read","server_name":"wiki","input":{}}`, `{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":true,"content":"no"}`,
		}, "", "mcp started mcptoolu_1 {}\nmcp failed mcptoolu_1\n"},
		{"what nobody knows yet", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"dream","input":{"of":"x"}}`, `{"type":"dream_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"dream_result","sheep":[1,2.50]}}`,
		}, "", "other started srvtoolu_1 {\"of\":\"x\"}\nother completed srvtoolu_1\n"},
		{"HA-02 begun and nothing after", []string{`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`}, "", "web_search started srvtoolu_1 {\"query\":\"x\"}\n"},
		{"HA-03 an end whose beginning was told before", []string{`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_0","content":[]}`}, "", "web_search completed srvtoolu_0\n"},
		{"HA-07 two side by side", []string{
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`, `{"type":"server_tool_use","id":"srvtoolu_2","name":"web_fetch","input":{"url":"y"}}`,
			`{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_2","content":{"type":"web_fetch_tool_result_error","error_code":"unavailable"}}`, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`,
		}, "", "web_search started srvtoolu_1 {\"query\":\"x\"}\nweb_fetch started srvtoolu_2 {\"url\":\"y\"}\nweb_fetch failed srvtoolu_2 unavailable\nweb_search completed srvtoolu_1\n"},
	},
	rewrite.Responses: {
		{"web search", []string{`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","queries":["io \u00e9"],"sources":[{"type":"url","url":"https://a.test"}], "n":1.50}}`}, "",
			"web_search completed ws_1 {\"type\":\"search\",\"queries\":[\"io \\u00e9\"],\"sources\":[{\"type\":\"url\",\"url\":\"https://a.test\"}], \"n\":1.50} [https://a.test ]\n"},
		{"a page that is opened", []string{`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"open_page","url":"https://a.test"}}`}, "", "web_search completed ws_1 {\"type\":\"open_page\",\"url\":\"https://a.test\"}\n"},
		{"a page that is searched", []string{`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"find_in_page","url":"https://a.test","pattern":"x"}}`}, "", "web_search completed ws_1 {\"type\":\"find_in_page\",\"url\":\"https://a.test\",\"pattern\":\"x\"}\n"},
		{"web search that fails", []string{`{"type":"web_search_call","id":"ws_1","status":"failed"}`}, "", "web_search failed ws_1\n"},
		{"web search that does not end", []string{`{"type":"web_search_call","id":"ws_1","status":"incomplete","action":{"type":"search","queries":["x"]}}`}, "", "web_search started ws_1 {\"type\":\"search\",\"queries\":[\"x\"]}\n"},
		{"files", []string{`{"type":"file_search_call","id":"fs_1","status":"completed","queries":["x"],"results":[{"file_id":"f","filename":"a.txt","score":0.90,"text":"t","attributes":{}}]}`}, "", "file_search completed fs_1 {\"queries\":[\"x\"]} [ a.txt]\n"},
		{"code", []string{`{"type":"code_interpreter_call","id":"ci_1","status":"completed","code":"1+1","container_id":"c","outputs":[{"type":"logs","logs":"2"}]}`}, "", "code_execution completed ci_1 {\"code\":\"1+1\"}\n"},
		{"a picture", []string{`{"type":"image_generation_call","id":"ig_1","status":"completed","result":"AAAA","revised_prompt":"p"}`}, "", "image_generation completed ig_1\n"},
		{"a list of a server's tools", []string{`{"type":"mcp_list_tools","id":"mcpl_1","server_label":"wiki","tools":[{"name":"read","input_schema":{"type":"object"},"description":"d","annotations":null}]}`}, "", "mcp completed mcpl_1\n"},
		{"a list of a server that is away", []string{`{"type":"mcp_list_tools","id":"mcpl_1","server_label":"wiki","tools":[],"error":"no route"}`}, "", "mcp failed mcpl_1 no route\n"},
		{"a tool of a server", []string{`{"type":"mcp_call","id":"mcp_1","server_label":"wiki","name":"read","arguments":"{\"page\":1.50}","output":"o","status":"completed"}`}, "", "mcp completed mcp_1 {\"page\":1.50}\n"},
		{"a tool of a server that fails", []string{`{"type":"mcp_call","id":"mcp_1","server_label":"wiki","name":"read","arguments":"{}","error":{"type":"http_error","code":502,"message":"m"},"status":"failed"}`}, "", "mcp failed mcp_1 {} http_error\n"},
		{"search for tools", []string{
			`{"type":"tool_search_call","id":"tsc_1","call_id":null,"execution":"server","status":"completed","arguments":{"query":"x"}}`,
			`{"type":"tool_search_output","id":"tso_1","call_id":null,"execution":"server","status":"completed","tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`,
		}, "", "tool_search completed tsc_1 {\"query\":\"x\"}\n"},
		{"search on x", []string{`{"type":"x_search_call","id":"xs_1","status":"completed","arguments":{"query":"x"}}`}, "", "web_search completed xs_1 {\"query\":\"x\"}\n"},
		{"code at xai", []string{`{"type":"code_execution_call","id":"ce_1","status":"completed","code":"1"}`}, "", "code_execution completed ce_1 {\"code\":\"1\"}\n"},
		{"a picture that is looked at", []string{`{"type":"view_image_call","id":"vi_1","status":"completed","action":{"url":"https://a.test"}}`}, "", "other completed vi_1 {\"url\":\"https://a.test\"}\n"},
		{"what nobody knows yet", []string{`{"type":"dream_call","id":"dc_1","status":"completed","sheep":[1,2.50]}`}, "", "other completed dc_1\n"},
		{"HA-07 two side by side", []string{
			`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","queries":["x"]}}`, `{"type":"web_search_call","id":"ws_2","status":"failed"}`,
		}, "", "web_search completed ws_1 {\"type\":\"search\",\"queries\":[\"x\"]}\nweb_search failed ws_2\n"},
	},
	rewrite.Gemini: {
		{"code", []string{
			`{"executableCode":{"id":"e1","language":"PYTHON","code":"print(1.50)"}}`, `{"codeExecutionResult":{"id":"e1","outcome":"OUTCOME_OK","output":"1.5"}}`,
		}, "", "code_execution started e1 {\"id\":\"e1\",\"language\":\"PYTHON\",\"code\":\"print(1.50)\"}\ncode_execution completed e1\n"},
		{"HA-04 code that fails", []string{
			`{"executableCode":{"language":"PYTHON","code":"x"}}`, `{"codeExecutionResult":{"outcome":"OUTCOME_DEADLINE_EXCEEDED","output":""}}`,
		}, "", "code_execution started  {\"language\":\"PYTHON\",\"code\":\"x\"}\ncode_execution failed  OUTCOME_DEADLINE_EXCEEDED\n"},
		{"a traced search", []string{
			`{"toolCall":{"id":"t1","toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["x"]}},"thoughtSignature":"q83v+/="}`, `{"toolResponse":{"id":"t1","toolType":"GOOGLE_SEARCH_WEB","response":{"n":1.50}}}`,
		}, "", "web_search started t1 {\"queries\":[\"x\"]}\nweb_search completed t1\n"},
		{"a traced search for pictures", []string{`{"toolCall":{"id":"t1","toolType":"GOOGLE_SEARCH_IMAGE","args":{}}}`, `{"toolResponse":{"id":"t1","toolType":"GOOGLE_SEARCH_IMAGE","response":{}}}`}, "", "web_search started t1 {}\nweb_search completed t1\n"},
		{"traced pages", []string{`{"toolCall":{"id":"t1","toolType":"URL_CONTEXT","args":{}}}`, `{"toolResponse":{"id":"t1","toolType":"URL_CONTEXT","response":{}}}`}, "", "web_fetch started t1 {}\nweb_fetch completed t1\n"},
		{"traced maps", []string{`{"toolCall":{"id":"t1","toolType":"GOOGLE_MAPS","args":{}}}`, `{"toolResponse":{"id":"t1","toolType":"GOOGLE_MAPS","response":{}}}`}, "", "maps started t1 {}\nmaps completed t1\n"},
		{"traced files", []string{`{"toolCall":{"id":"t1","toolType":"FILE_SEARCH","args":{}}}`, `{"toolResponse":{"id":"t1","toolType":"FILE_SEARCH","response":{}}}`}, "", "file_search started t1 {}\nfile_search completed t1\n"},
		{"traced media", []string{`{"toolCall":{"id":"t1","toolType":"MEDIA_PROCESSING","args":{}}}`, `{"toolResponse":{"id":"t1","toolType":"MEDIA_PROCESSING","response":{}}}`}, "", "other started t1 {}\nother completed t1\n"},
		{"what nobody knows yet", []string{`{"toolCall":{"id":"t1","toolType":"DREAM","args":{}}}`, `{"toolResponse":{"id":"t1","toolType":"DREAM","response":{}}}`}, "", "other started t1 {}\nother completed t1\n"},
		{"HA-03 a search that only its metadata shows", nil, `"groundingMetadata":{"webSearchQueries":["io"],"searchEntryPoint":{"renderedContent":"<div>"},"groundingChunks":[{"web":{"uri":"https://a.test","title":"a.test"}}],"groundingSupports":[{"segment":{"endIndex":3,"text":"The"},"groundingChunkIndices":[0]}]}`,
			"web_search completed grounding_r1 {\"queries\":[\"io\"]} [https://a.test a.test]\n"},
		{"maps that only their metadata shows", nil, `"groundingMetadata":{"groundingChunks":[{"maps":{"uri":"https://maps.test","title":"Bern","placeId":"p"}}]}`, "maps completed grounding_r1 {\"queries\":[]} [https://maps.test Bern]\n"},
		{"files that only their metadata shows", nil, `"groundingMetadata":{"groundingChunks":[{"retrievedContext":{"uri":"gs://a","title":"a.txt","text":"t"}}]}`, "file_search completed grounding_r1 {\"queries\":[]} [gs://a a.txt]\n"},
		{"pages that only their metadata shows", nil, `"urlContextMetadata":{"urlMetadata":[{"retrievedUrl":"https://a.test","urlRetrievalStatus":"URL_RETRIEVAL_STATUS_SUCCESS"}]}`, "web_fetch completed urls_r1 [https://a.test ]\n"},
	},
	rewrite.Completions: {
		{"a search at groq", []string{`{"index":0,"type":"browser_search","arguments":"{\"query\":\"x\"}","output":"found","search_results":{"results":[{"title":"A","url":"https://a.test","content":"t","score":0.90}]}}`}, "",
			"web_search completed executed_r1_0 {\"query\":\"x\"} [https://a.test A]\n"},
		{"code at groq", []string{`{"index":0,"type":"python","arguments":"{\"code\":\"1.50\"}","output":"1.5"}`}, "", "code_execution completed executed_r1_0 {\"code\":\"1.50\"}\n"},
		{"a page at groq", []string{`{"index":0,"type":"visit","arguments":"{}","output":"page"}`}, "", "web_fetch completed executed_r1_0 {}\n"},
		{"HA-02 begun and nothing after", []string{`{"index":0,"type":"search","arguments":"{}","output":null}`}, "", "web_search started executed_r1_0 {}\n"},
		{"what nobody knows yet", []string{`{"index":0,"type":"dream","arguments":"{}","output":"sheep"}`}, "", "other completed executed_r1_0 {}\n"},
		{"HA-07 two side by side", []string{`{"index":0,"type":"search","arguments":"{}","output":"a"}`, `{"index":1,"type":"python","arguments":"{}","output":"b"}`}, "",
			"web_search completed executed_r1_0 {}\ncode_execution completed executed_r1_1 {}\n"},
	},
	rewrite.Converse: {
		{"web search", []string{
			`{"toolUse":{"toolUseId":"tooluse_1","name":"nova_grounding","type":"server_tool_use","input":{"query": "x"}}}`,
			`{"toolResult":{"toolUseId":"tooluse_1","type":"nova_grounding_result","content":[{"text":"found"}],"status":"success"}}`,
		}, "", "web_search started tooluse_1 {\"query\": \"x\"}\nweb_search completed tooluse_1\n"},
		{"code", []string{
			`{"toolUse":{"toolUseId":"tooluse_1","name":"nova_code_interpreter","type":"server_tool_use","input":{}}}`,
			`{"toolResult":{"toolUseId":"tooluse_1","type":"nova_code_interpreter_result","content":[{"json":{"n":1.50}}],"status":"error"}}`,
		}, "", "code_execution started tooluse_1 {}\ncode_execution failed tooluse_1\n"},
		{"what nobody knows yet", []string{
			`{"toolUse":{"toolUseId":"tooluse_1","name":"dream","type":"server_tool_use","input":{}}}`, `{"toolResult":{"toolUseId":"tooluse_1","type":"dream_result","content":[{"text":"x"}]}}`,
		}, "", "other started tooluse_1 {}\nother completed tooluse_1\n"},
	},
}
