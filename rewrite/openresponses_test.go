package rewrite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"warmpath/fixtures/openresponses"
	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/responses"
)

// told are the streams of all golden files, by the dialect of their provider.
func toldStreams(t *testing.T) map[rewrite.Dialect]map[string]string {
	t.Helper()
	out := map[rewrite.Dialect]map[string]string{}
	for dialect, folder := range map[rewrite.Dialect]string{
		rewrite.Messages: "anthropic/testdata/replies", rewrite.Completions: "completions/testdata/streams",
		rewrite.Responses: "responses/testdata/streams", rewrite.Gemini: "gemini/testdata/replies",
	} {
		out[dialect] = map[string]string{"crossing": crossers[dialect].reply}
		for _, pattern := range []string{folder + "/*.txt", "testdata/" + dialect.String() + "/*.txt"} {
			paths, err := filepath.Glob(pattern)
			if err != nil || len(paths) == 0 {
				t.Fatalf("%s: %d, %v", pattern, len(paths), err)
			}
			for _, path := range paths {
				if stream := show.Load(t, path).Text("stream"); stream != "" {
					out[dialect][filepath.Base(path)] = stream
				}
			}
		}
	}
	return out
}

// asking are requests that a reply repeats.
var asking = map[string]string{
	"plain": `{"model":"m","input":"hi"}`,
	"everything": `{"model":"m","instructions":"Be kind.","input":[{"role":"system","content":"s"},{"role":"user","content":"hi"}],` +
		`"tools":[{"type":"function","name":"orbit","parameters":{"type":"object"}},{"type":"function","name":"bare"},{"type":"function","name":"full","description":"d","parameters":{"type":"object","properties":{}},"strict":true}],` +
		`"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"orbit"}]},"parallel_tool_calls":false,` +
		`"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}},"verbosity":"low"},"temperature":0.3,"top_p":0.9,"presence_penalty":0.1,` +
		`"frequency_penalty":-0.5,"top_logprobs":3,"reasoning":{"effort":"high","summary":"auto"},"max_output_tokens":100,"max_tool_calls":3,"store":true,` +
		`"service_tier":"flex","metadata":{"a":"b"},"truncation":"auto","background":false,"safety_identifier":"u","prompt_cache_key":"k"}`,
	"choices": `{"model":"m","input":"hi","tools":[{"type":"function","name":"orbit"}],"tool_choice":{"type":"function","name":"orbit"},` +
		`"text":{"format":{"type":"json_object"}},"reasoning":{"effort":"low"},"store":false,"service_tier":"auto","truncation":null,"metadata":null}`,
	"activities": `{"model":"m","input":"hi","include":["warmpath:hosted_activity"]}`,
}

// Whoever has made a reply, and whether it came whole or as a stream, each event
// and the reply itself are what Open Responses promises; a client that has asked
// for none of our extensions meets none.
func TestOpenResponsesOfEveryProvider(t *testing.T) {
	judged := 0
	for dialect, streams := range toldStreams(t) {
		for name, stream := range streams {
			for asked, body := range asking {
				for _, events := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%s/%v", dialect, name, asked, events), func(t *testing.T) {
						request, err := responses.DecodeRequest([]byte(body), home)
						if err != nil {
							t.Fatal(err)
						}
						o := responses.EncoderOptions{Provider: home, Request: request, Model: "m", ID: "resp_wp_1", Keep: asked == "everything", Events: events}
						judged++
						r := crossers[dialect].folded(stream, "maker")
						judge := openresponses.Judge{Extended: events || asked == "activities", Vendor: vendors(r)}
						if r.Fault == nil && r.Stop.Reason == rewrite.StopUnknown {
							r.Fault = &rewrite.Fault{Type: "server_error", Message: "the provider broke the stream off"}
						}
						if err := judge.Reply(responses.EncodeReply(nil, r, o)); err != nil {
							t.Error(err)
						}
						if err := judge.Stream(retell(dialect, stream, o)); err != nil {
							t.Error(err)
						}
					})
				}
			}
		}
	}
	if judged < 300 {
		t.Errorf("only %d replies were judged", judged)
	}
}

// vendors says that a reply holds what only the vendor's own API has a word for:
// pictures, and calls with free text.
func vendors(r *rewrite.Reply) bool {
	return slices.ContainsFunc(r.Items, func(i rewrite.Item) bool {
		return i.Call.Custom || slices.ContainsFunc(i.Parts, func(p rewrite.Part) bool { return p.Kind == rewrite.PartImage })
	})
}

// retell writes a provider's stream for a client, as it comes, with the error of
// one that breaks off.
func retell(dialect rewrite.Dialect, stream string, o responses.EncoderOptions) (out []byte) {
	e, ended := responses.NewEncoder(o), false
	crossers[dialect].tell(stream, "maker", func(event *rewrite.Event) {
		ended = ended || event.Kind == rewrite.EventEnd || event.Kind == rewrite.EventError
		out = e.Append(out, event)
	})
	if !ended {
		out = e.Append(out, &rewrite.Event{Kind: rewrite.EventError, Fault: &rewrite.Fault{Type: "server_error", Message: "the provider broke the stream off"}})
	}
	return out
}
