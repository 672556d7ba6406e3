package gateway_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"warmpath/fixtures/openresponses"
	"warmpath/rewrite"
)

// heart is a small red picture as an address that is itself the data.
func heart(t *testing.T) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		picture.Set(i%8, i/8, color.RGBA{200, 0, 40, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// compliance is one case of the Open Responses compliance suite: by its name there,
// what is asked, and what the reply must have beside its shape.
type compliance struct {
	name, input, tools string
	stream             bool
	// has are kinds of items and of events that must be there.
	has []string
}

func cases(t *testing.T) []compliance {
	const weather = `[{"type":"function","name":"get_weather","description":"The weather at a place.","parameters":{"type":"object","properties":{"location":{"type":"string"}},"required":["location"]}}]`
	const asked = `[{"type":"message","role":"user","content":"How is the weather in Oslo? DO[call get_weather {\"location\": \"Oslo\"}]"}]`
	return []compliance{
		{name: "basic-response", input: `[{"type":"message","role":"user","content":"Greet me in three words. DO[say Hello, dear friend.]"}]`, has: []string{"message"}},
		{name: "streaming-response", stream: true, input: `[{"type":"message","role":"user","content":"Count to five. DO[text 20 events=5]"}]`, has: []string{"message", "response.output_text.delta"}},
		{name: "system-prompt", input: `[{"type":"message","role":"system","content":"Talk like a pirate."},{"type":"message","role":"user","content":"Greet me. DO[say Arr.]"}]`, has: []string{"message"}},
		{name: "tool-calling", input: asked, tools: weather, has: []string{"function_call"}},
		{name: "tool-calling-streaming", stream: true, input: asked, tools: weather, has: []string{
			"function_call", "response.output_item.added", "response.function_call_arguments.delta", "response.function_call_arguments.done", "response.output_item.done",
		}},
		{name: "image-input", input: `[{"type":"message","role":"user","content":[{"type":"input_text","text":"What is this? DO[say A heart.]"},{"type":"input_image","image_url":"` + heart(t) + `"}]}]`, has: []string{"message"}},
		{name: "multi-turn", input: `[{"type":"message","role":"user","content":"I am Alice."},{"type":"message","role":"assistant","content":"Hello, Alice."},{"type":"message","role":"user","content":"Who am I? DO[say Alice.]"}]`, has: []string{"message"}},
	}
}

// The cases of the published compliance suite pass for models of every provider.
func TestOpenResponsesCompliance(t *testing.T) {
	_, base := everyProvider(t, keepReplies)
	for dialect, model := range models {
		for _, c := range cases(t) {
			t.Run(dialect.String()+"/"+c.name, func(t *testing.T) {
				body := `{"model":"` + model + `","input":` + c.input
				if c.tools != "" {
					body += `,"tools":` + c.tools
				}
				if c.stream {
					body += `,"stream":true`
				}
				answer, contentType := post(t, base+"/v1/responses", body+"}")
				judge := openresponses.Judge{}
				reply, events := answer, ""
				if c.stream {
					if !strings.HasPrefix(contentType, "text/event-stream") {
						t.Errorf("the stream is %s", contentType)
					}
					// What speaks the dialect itself passes as it is, and ends as the
					// vendor's streams do.
					if dialect != rewrite.Responses {
						if err := judge.Stream(answer); err != nil {
							t.Error(err)
						}
					}
					var err error
					if reply, err = judge.Events(answer); err != nil {
						t.Fatal(err)
					}
					events = string(answer)
				}
				if err := judge.Reply(reply); err != nil {
					t.Fatal(err)
				}
				if status := gjson.GetBytes(reply, "status").Str; status != "completed" || len(gjson.GetBytes(reply, "output").Array()) == 0 {
					t.Errorf("got %s", reply)
				}
				for _, kind := range c.has {
					if !strings.Contains(events, "event: "+kind+"\n") && !gjson.GetBytes(reply, `output.#(type=="`+kind+`")`).Exists() {
						t.Errorf("no %s in %s", kind, answer)
					}
				}
			})
		}
	}
}

// post sends a body with a key and gives the answer, which must be 200, and its
// media type.
func post(t *testing.T, address, body string, headers ...string) ([]byte, string) {
	t.Helper()
	req, err := http.NewRequest("POST", address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-client")
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("status %d, %v: %s", resp.StatusCode, err, answer)
	}
	return answer, resp.Header.Get("Content-Type")
}
