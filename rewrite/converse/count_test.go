package converse_test

import (
	"testing"

	"warmpath/rewrite/converse"
)

func TestCount(t *testing.T) {
	const body = `{"inferenceConfig":{"maxTokens":9},"additionalModelRequestFields":{"top_k":1},"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"é 1.50"}]}],"toolConfig":{"tools":[]}}`
	const want = `{"input":{"converse":{"additionalModelRequestFields":{"top_k":1},"system":[{"text":"s"}],"messages":[{"role":"user","content":[{"text":"é 1.50"}]}],"toolConfig":{"tools":[]}}}}`
	if got := string(converse.CountRequest([]byte(body))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for model, want := range map[string]string{
		"eu.anthropic.claude-opus-5-5-v1:0": "anthropic.claude-opus-5-5-v1:0", "anthropic.claude-opus-5": "anthropic.claude-opus-5",
		"arn:aws:bedrock:us-east-1:1:application-inference-profile/a.b": "arn:aws:bedrock:us-east-1:1:application-inference-profile/a.b",
	} {
		if got := converse.CountModel(model); got != want {
			t.Errorf("%s counts as %s", model, got)
		}
	}
	for reply, want := range map[string]int64{`{"inputTokens":42}`: 42, `{"inputTokens":-1}`: -1, `{"message":"no"}`: -1, `[]`: -1} {
		if n, ok := converse.ReadCount([]byte(reply)); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %d, %v", reply, n, ok)
		}
	}
}
