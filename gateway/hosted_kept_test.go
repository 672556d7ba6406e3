package gateway_test

import (
	"strings"
	"testing"

	"warmpath/cache"
	"warmpath/gateway"
	"warmpath/rewrite"
)

// A turn in which the provider's search is still open when the model calls a tool
// is gone on with from what is stored: by another gateway, and by another provider.
func TestOpenTurnsAreStored(t *testing.T) {
	store := cache.NewMemory(64 << 20)
	_, base := everyProviderWith(t, gateway.Options{Store: unclosed{store}}, keepReplies)
	first := caller{t, base, "sk"}.create(`{"model":"` + models[rewrite.Messages] + `","tools":[{"type":"web_search"},{"type":"function","name":"orbit"}],` +
		`"input":"What erupts? DO[search io volcano; call orbit {}; then; say Loki does.]"}`)
	call := first.Get(`output.#(type=="function_call").call_id`).Str
	if call == "" {
		t.Fatalf("no call in %s", first)
	}
	next := `"previous_response_id":"` + first.Get("id").Str + `","input":[{"type":"function_call_output","call_id":"` + call + `","output":"done"}]}`

	t.Run("RP-04 after a restart", func(t *testing.T) {
		core, base := everyProviderWith(t, gateway.Options{Store: unclosed{store}}, keepReplies)
		caller{t, base, "sk"}.create(`{"model":"` + models[rewrite.Messages] + `","tools":[{"type":"web_search"},{"type":"function","name":"orbit"}],` + next)
		sent := lastBody(core)
		if !strings.Contains(sent, `"type":"server_tool_use"`) || strings.Contains(sent, `"web_search_tool_result"`) || !strings.Contains(sent, `"tool_use_id":"`+call+`"`) {
			t.Errorf("sent is %s", sent)
		}
	})
	t.Run("RP-06 with another provider", func(t *testing.T) {
		core, base := everyProviderWith(t, gateway.Options{Store: unclosed{store}}, keepReplies)
		reply := caller{t, base, "sk"}.create(`{"model":"` + models[rewrite.Completions] + `","tools":[{"type":"function","name":"orbit"}],` + next)
		sent := lastBody(core)
		if strings.Contains(sent, "server_tool_use") || strings.Contains(sent, "interrupted") || !strings.Contains(sent, `"tool_call_id":"`+call+`"`) {
			t.Errorf("sent is %s", sent)
		}
		if text := reply.Get(`output.#(type=="message").content.0.text`).Str; text != "Loki does." {
			t.Errorf("the model said %q", text)
		}
	})
}

// unclosed is a store that outlives its gateway.
type unclosed struct{ cache.Store }

func (unclosed) Close() error { return nil }
