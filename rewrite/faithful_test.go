package rewrite_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/anthropic"
	"warmpath/rewrite/completions"
	"warmpath/rewrite/gemini"
	"warmpath/rewrite/responses"
	"warmpath/rewrite/sse"
)

// What a client gets of a reply in its provider's own dialect, which was taken apart and
// put together anew because the gateway runs tools, is compared with what it would have
// got straight, member by member.

// differences are the members in which two documents differ, by their paths.
func differences(path string, want, got any) (diffs []string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{path + " changed"}
		}
		for name, value := range w {
			at := strings.TrimPrefix(path+"."+name, ".")
			if other, ok := g[name]; ok {
				diffs = append(diffs, differences(at, value, other)...)
			} else {
				diffs = append(diffs, at+" lost")
			}
		}
		for name := range g {
			if _, ok := w[name]; !ok {
				diffs = append(diffs, strings.TrimPrefix(path+"."+name, ".")+" added")
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{path + fmt.Sprintf(" changed from %d elements", len(w))}
		}
		for i := range w {
			diffs = append(diffs, differences(fmt.Sprintf("%s.%d", path, i), w[i], g[i])...)
		}
	default:
		if !reflect.DeepEqual(want, got) {
			diffs = append(diffs, fmt.Sprintf("%s changed", path))
		}
	}
	slices.Sort(diffs)
	return diffs
}

func tree(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// richReplies have every member that the vendors document, and some that they do not.
var richReplies = map[rewrite.Dialect]string{
	rewrite.Completions: `{"id":"chatcmpl-1","object":"chat.completion","created":1764000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","refusal":null,"annotations":[],"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"call_2","type":"custom","custom":{"name":"g","input":"x"}}],"reasoning_content":"hm"},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":50,"audio_tokens":3},"completion_tokens_details":{"reasoning_tokens":5,"audio_tokens":1,"accepted_prediction_tokens":2,"rejected_prediction_tokens":4}},"service_tier":"flex","system_fingerprint":"fp_1","provider":"x","moderation":null,"future":{"b":1}}`,
	rewrite.Responses:   `{"id":"resp_1","object":"response","created_at":1764000000,"completed_at":1764000001,"status":"completed","background":false,"error":null,"incomplete_details":null,"instructions":"Rules.","max_output_tokens":100,"max_tool_calls":3,"model":"m","output":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"},{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},{"type":"message","role":"assistant","id":"msg_1","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":"ok","annotations":[{"type":"url_citation","url":"https://e.test","title":"t","start_index":0,"end_index":2}],"logprobs":[]},{"type":"refusal","refusal":"no"}]},{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"a\": 1}","status":"completed"},{"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"g","input":"x","status":"completed"},{"type":"compaction","id":"cmp_1","encrypted_content":"gBBB"},{"type":"future_item","id":"fi_1"}],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":"k","prompt_cache_retention":"24h","reasoning":{"effort":"high","summary":"detailed"},"safety_identifier":"s","service_tier":"flex","store":false,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"required","tools":[{"type":"function","name":"f","description":null,"strict":true,"parameters":{"type":"object"}}],"top_logprobs":0,"top_p":1.0,"truncation":"disabled","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":50,"cache_write_tokens":10,"audio_tokens":1},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5,"audio_tokens":2},"total_tokens":120,"cost":1},"user":"u","metadata":{"k":"v"},"billing":{"payer":"x"},"frequency_penalty":0.0,"presence_penalty":0.0,"conversation":null,"future":{"b":1}}`,
	rewrite.Messages:    `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"ok","citations":null},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"c","citations":[{"type":"web_search_result_location","url":"https://e.test","title":"t","encrypted_index":"ZQ==","cited_text":"c"}]},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a": 1},"caller":{"type":"direct"}},{"type":"future_block","x":1}],"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"container":{"id":"cont_1","expires_at":"2026-01-01T00:00:00Z"},"context_management":{"applied_edits":[]},"diagnostics":{"cache_miss_reason":null},"input_transformations":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":15,"ephemeral_1h_input_tokens":5},"output_tokens":9,"output_tokens_details":{"thinking_tokens":4},"server_tool_use":{"web_search_requests":1,"web_fetch_requests":0},"service_tier":"standard","inference_geo":"us","speed":"fast","iterations":[{"type":"message","input_tokens":10,"output_tokens":9}],"future":1},"future":{"b":1}}`,
	rewrite.Gemini:      `{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"ok","thoughtSignature":"c2ln"},{"functionCall":{"id":"c1","name":"f","args":{"a": 1}},"thoughtSignature":"c2ln"},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}]},"finishReason":"STOP","finishMessage":"done","index":0,"avgLogprobs":-0.1,"tokenCount":3,"safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"NEGLIGIBLE"}],"citationMetadata":{"citationSources":[{"startIndex":0,"endIndex":2,"uri":"https://e.test"}]},"groundingMetadata":{"webSearchQueries":["q"],"searchEntryPoint":{"renderedContent":"<b>"},"groundingChunks":[{"web":{"uri":"https://e.test","title":"t"}}],"groundingSupports":[{"segment":{"startIndex":0,"endIndex":2,"text":"ok"},"groundingChunkIndices":[0],"confidenceScores":[0.9]}]},"urlContextMetadata":{"urlMetadata":[{"retrievedUrl":"https://e.test","urlRetrievalStatus":"URL_RETRIEVAL_STATUS_SUCCESS"}]}}],"promptFeedback":{"safetyRatings":[]},"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":50,"candidatesTokenCount":10,"thoughtsTokenCount":5,"toolUsePromptTokenCount":7,"totalTokenCount":122,"promptTokensDetails":[{"modality":"TEXT","tokenCount":100}],"cacheTokensDetails":[{"modality":"TEXT","tokenCount":50}],"candidatesTokensDetails":[{"modality":"TEXT","tokenCount":10}],"toolUsePromptTokensDetails":[{"modality":"TEXT","tokenCount":7}],"serviceTier":"flex","trafficType":"ON_DEMAND"},"modelVersion":"m","modelStatus":{"modelStage":"STABLE"},"responseId":"r1","createTime":"2026-01-01T00:00:00Z","future":{"b":1}}`,
}

// changedReplies are the members that a reply loses or changes on purpose.
var changedReplies = map[rewrite.Dialect]map[string]string{
	rewrite.Messages: {
		"content.1.citations lost": "null says no more than nothing does",
	},
}

func TestRepliesStayWhole(t *testing.T) {
	for dialect, body := range richReplies {
		t.Run(dialect.String(), func(t *testing.T) {
			codec := codecs[dialect]
			var fold rewrite.Fold
			if err := codec.decodeReply([]byte(body), "", fold.Add); err != nil {
				t.Fatal(err)
			}
			reply := fold.Reply()
			got := codec.encodeReply(reply)
			if dialect == rewrite.Responses { // It repeats what was asked.
				c, err := responses.DecodeRequest([]byte(askedFor), "")
				if err != nil {
					t.Fatal(err)
				}
				got = responses.EncodeReply(nil, reply, responses.EncoderOptions{Request: c})
			}
			compare(t, changedReplies[dialect], []byte(body), got)
		})
	}
}

// askedFor is the request of the rich reply of Responses.
const askedFor = `{"model":"m","instructions":"Rules.","input":"hi","metadata":{"k":"v"},"store":false,"tool_choice":"required","tools":[{"type":"function","name":"f","description":null,"strict":true,"parameters":{"type":"object"}}]}`

// compare wants no difference but those that are meant.
func compare(t *testing.T, meant map[string]string, want, got []byte) {
	t.Helper()
	diffs := differences("", tree(t, want), tree(t, got))
	for _, d := range diffs {
		if meant[d] == "" {
			t.Error(d)
		}
	}
	for d := range meant {
		if !slices.Contains(diffs, d) {
			t.Errorf("not %s: take it off the list", d)
		}
	}
}

// at are codecs between a provider and a client that speak the same.
var at = map[rewrite.Dialect]func() (encoder, decoder){
	rewrite.Messages: func() (encoder, decoder) {
		return anthropic.NewEncoder(anthropic.EncoderOptions{Provider: "p"}), anthropic.NewDecoder("p")
	},
	rewrite.Completions: func() (encoder, decoder) {
		asked := &rewrite.Conversation{Dialect: rewrite.Completions, Extra: []rewrite.Member{{Name: "stream_options", Value: rewrite.JSON(`{"include_usage":true}`)}}}
		return completions.NewEncoder(completions.EncoderOptions{Provider: "p", Request: asked}), completions.NewDecoder("p")
	},
	rewrite.Responses: func() (encoder, decoder) {
		return responses.NewEncoder(responses.EncoderOptions{Provider: "p"}), responses.NewDecoder("p")
	},
	rewrite.Gemini: func() (encoder, decoder) {
		return gemini.NewEncoder(gemini.EncoderOptions{Provider: "p"}), gemini.NewDecoder("p")
	},
}

// Who gets the reply as a stream gets the same members in it as straight.
func TestStreamsStayWhole(t *testing.T) {
	for dialect, meant := range changedStreams {
		paths, err := filepath.Glob("testdata/" + dialect.String() + "/*.txt")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%d files, %v", len(paths), err)
		}
		for _, path := range paths {
			if brokenStreams.MatchString(filepath.Base(path)) {
				continue
			}
			t.Run(dialect.String()+"/"+filepath.Base(path), func(t *testing.T) {
				stream := show.Load(t, path).Text("stream")
				e, d := at[dialect]()
				var again []byte
				var split sse.Splitter
				say := func(event *rewrite.Event) { again = e.Append(again, event) }
				hear := func(event sse.Event) { d.Event(event.Name, event.Data, say) }
				split.Feed([]byte(stream), hear)
				split.Close(hear)
				d.Close(say)
				told := members(again)
				for _, member := range slices.Sorted(maps.Keys(members([]byte(stream)))) {
					if !told[member] && meant[member] == "" {
						t.Errorf("%s is lost", member)
					}
				}
			})
		}
	}
}

// members are the paths of all members in the events of a stream, with a * for each
// place in a list.
func members(stream []byte) map[string]bool {
	all := map[string]bool{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, inner := range value {
				walk(strings.TrimPrefix(path+"."+name, "."), inner)
			}
		case []any:
			for _, inner := range value {
				walk(path+".*", inner)
			}
		case nil:
		default:
			all[path] = true
		}
	}
	var split sse.Splitter
	hear := func(event sse.Event) {
		var value any
		if json.Unmarshal(event.Data, &value) == nil {
			walk("", value)
		}
	}
	split.Feed(stream, hear)
	split.Close(hear)
	return all
}

// brokenStreams end with an error, or not at all: the client is told so in one form, and
// nothing of what would have come last.
var brokenStreams = regexp.MustCompile(`cut|error|failed`)

// changedStreams are the members that streams lose, or tell in another place, on purpose.
var changedStreams = map[rewrite.Dialect]map[string]string{
	rewrite.Messages: {
		"delta.content":           "a compaction stands in its block as a whole",
		"delta.encrypted_content": "a compaction stands in its block as a whole",
		"mood":                    "an event that nobody knows",
		"index":                   "a block that nobody knows, with pieces that nobody can put together",
		"content_block.type":      "a block that nobody knows, with pieces that nobody can put together",
		"delta.data":              "a block that nobody knows, with pieces that nobody can put together",
		"delta.type":              "a block that nobody knows, with pieces that nobody can put together",
	},
	rewrite.Completions: {
		"citations.*":    "told as annotations, where the text refers to them",
		"choices.*.text": "that of the API before this one, told as content",
	},
	rewrite.Responses: {
		"response.usage.input_tokens_details.cache_write_tokens_details.ttl_12h_tokens": "some clients want only numbers there: it is for those that ask for warmpath:usage",
		"response.usage.input_tokens_details.cache_write_tokens_details.ttl_30m_tokens": "some clients want only numbers there: it is for those that ask for warmpath:usage",
	},
	rewrite.Gemini: {},
}
