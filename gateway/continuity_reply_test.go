package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/gateway/config"
)

// What a repair leaves out of the prompt is told to clients that have asked, in
// their own numbering, and to no others.
func TestTransformationsAreForWhoAsked(t *testing.T) {
	t.Parallel()
	core, origin := simulated(t)
	_, base, _ := start(t, origin, func(cfg *config.Config) { cfg.Quiet = true })
	for _, tt := range []struct {
		asks, streamed bool
		want           []string
	}{
		{false, false, nil},
		{false, true, nil},
		{true, false, []string{"messages.1.content.0", "messages.3.content.0", "messages.5.content.0"}},
		{true, true, []string{"messages.1.content.0", "messages.3.content.0", "messages.5.content.0"}},
	} {
		t.Run(fmt.Sprintf("asks %v, streamed %v", tt.asks, tt.streamed), func(t *testing.T) {
			key := t.Name()
			post := func(body string) (answer string, header http.Header) {
				t.Helper()
				req, err := http.NewRequest("POST", base+"/v1/messages", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("X-Api-Key", key)
				req.Header.Set("Anthropic-Version", "2023-06-01")
				if tt.asks {
					req.Header.Set("Anthropic-Beta", "thinking-binding-controls-2026-08-01")
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != 200 {
					t.Fatalf("%v, status %d: %s", err, resp.StatusCode, text)
				}
				return string(text), resp.Header
			}
			body := func(system, stream string, messages []string) string {
				return `{"model":"claude-opus-5-5","max_tokens":100,"thinking":{"type":"adaptive"}` + stream + `,"system":"` + system + `","messages":[` + strings.Join(messages, ",") + `]}`
			}
			messages := []string{`{"role":"user","content":"one DO[think 5; say a]"}`}
			for turn := range 3 {
				system := "Be brief."
				if turn > 0 {
					system += " Be kind." // said in a message of the gateway's
				}
				answer, _ := post(body(system, "", messages))
				var reply struct{ Content json.RawMessage }
				if err := json.Unmarshal([]byte(answer), &reply); err != nil {
					t.Fatal(err)
				}
				messages = append(messages, `{"role":"assistant","content":`+string(reply.Content)+`}`,
					fmt.Sprintf(`{"role":"user","content":"turn %d DO[think 5; say b]"}`, turn))
			}
			messages[0] = `{"role":"user","content":"another DO[say a]"}`
			stream := ""
			if tt.streamed {
				stream = `,"stream":true`
			}
			answer, header := post(body("Be brief. Be kind.", stream, messages))
			if header.Get("Warmpath-Repaired") != "drop_block" {
				t.Fatalf("not repaired: %v", header)
			}
			if sent := lastRecord(core).Body; !strings.Contains(sent, `"drop_block"`) {
				t.Fatalf("the provider was not asked: %s", sent)
			}
			if got := transformed(t, answer); cmp.Diff(tt.want, got) != "" {
				t.Errorf("got %v, want %v in %s", got, tt.want, answer)
			}
			if has := strings.Contains(answer, "input_transformations"); has != tt.asks {
				t.Errorf("the client asked %v and was told %v: %s", tt.asks, has, answer)
			}
		})
	}
}

// transformed are the paths of what was left out, by a reply or by the beginning
// of a stream.
func transformed(t *testing.T, answer string) (paths []string) {
	t.Helper()
	type told struct {
		Transformed []struct{ Path string } `json:"input_transformations"`
	}
	var reply struct {
		told
		Message told
	}
	if _, data, ok := strings.Cut(answer, "event: message_start\ndata: "); ok {
		answer, _, _ = strings.Cut(data, "\n")
	}
	if err := json.Unmarshal([]byte(answer), &reply); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, one := range append(reply.Transformed, reply.Message.Transformed...) {
		paths = append(paths, one.Path)
	}
	return paths
}
