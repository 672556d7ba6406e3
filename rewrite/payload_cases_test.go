package rewrite_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warmpath/rewrite"
)

// What only its provider can read comes back through a client of any dialect: of
// whatever format and version it is, and byte for byte.
func TestPayloadCases(t *testing.T) {
	asText := cmp.Transformer("text", func(j rewrite.JSON) string { return string(j) })
	for name, payload := range map[string]rewrite.Payload{
		"PP-02 of an unknown format":         {Format: "messages/telepathy_tool_result", Version: "1", Value: rewrite.JSON(`{"type":"telepathy_tool_result","x":1}`)},
		"PP-02 of an unknown version":        {Format: "messages/web_search_tool_result", Version: "2031-12-31", Value: rewrite.JSON(`{"type":"web_search_tool_result","novel":{}}`)},
		"PP-05 of any spelling":              {Format: "messages/web_search_tool_result", Version: "1", Value: rewrite.JSON(`{"z":1.50,"a":"<&>\u00e9\/é","type":"web_search_tool_result","n":1E+2,"big":12345678901234567890}`)},
		"PP-06 of the version it began with": {Format: "messages/web_search_tool_result", Version: "2023-06-01", Value: rewrite.JSON(`{"type":"web_search_tool_result","old":true}`)},
	} {
		payload.Provider = "home"
		for dialect, client := range codecs {
			if client.decodeRequest == nil {
				continue // no client speaks it
			}
			t.Run(name+", "+dialect.String(), func(t *testing.T) {
				hosted := rewrite.Item{
					Kind: rewrite.ItemHosted, ID: "srvtoolu_1", Role: rewrite.RoleAssistant, Payload: payload,
					Hosted: rewrite.Hosted{ID: "srvtoolu_1", Name: "web_search", State: rewrite.HostedCompleted},
				}
				said := rewrite.Item{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "Found."}}}
				reply := client.encodeReply(&rewrite.Reply{ID: "r", Model: "m", Items: []rewrite.Item{hosted, said}, Stop: rewrite.Stop{Reason: rewrite.StopEnd}})
				c, err := client.decodeRequest([]byte(client.echo(string(reply))), "away")
				if err != nil {
					t.Fatalf("%v: %s", err, reply)
				}
				var back []rewrite.Payload
				for i := range c.Items {
					if c.Items[i].Payload.Provider == "home" {
						back = append(back, c.Items[i].Payload)
					}
				}
				if diff := cmp.Diff([]rewrite.Payload{payload}, back, asText); diff != "" {
					t.Errorf("%s in %s", diff, reply)
				}
				body, err := codecs[rewrite.Messages].encodeRequest(c, "home", nil)
				if err != nil || !bytes.Contains(body, payload.Value) {
					t.Errorf("%v: its provider gets %s", err, body)
				}
			})
		}
	}
}

// An activity that was never finished is no call of a tool: nobody answers it, and
// nothing stands in for what came of it.
func TestOpenActivitiesAreNotAnswered(t *testing.T) {
	for dialect, provider := range codecs {
		for name, of := range map[string]string{"HA-05 of its own": "home", "HA-06 of another provider": "elsewhere"} {
			t.Run(name+", "+dialect.String(), func(t *testing.T) {
				value, format := `{"toolUse":{"toolUseId":"srvtoolu_1"}}`, "converse/block"
				if v, ok := map[rewrite.Dialect]string{
					rewrite.Messages:    `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`,
					rewrite.Responses:   `{"type":"web_search_call","id":"ws_1","status":"in_progress"}`,
					rewrite.Gemini:      `{"toolCall":{"id":"srvtoolu_1"}}`,
					rewrite.Completions: `{"x":1}`,
				}[dialect]; ok {
					value = v
					format = map[rewrite.Dialect]string{
						rewrite.Messages: "messages/server_tool_use", rewrite.Responses: "responses/web_search_call",
						rewrite.Gemini: "gemini/part", rewrite.Completions: "completions/hosted",
					}[dialect]
				}
				c := &rewrite.Conversation{Model: "m", Dialect: dialect, Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("9")}, Items: []rewrite.Item{
					{Parts: []rewrite.Part{{Text: "Search."}}},
					{
						Kind: rewrite.ItemHosted, ID: "srvtoolu_1", Role: rewrite.RoleAssistant,
						Hosted:  rewrite.Hosted{ID: "srvtoolu_1", Name: "web_search"},
						Payload: rewrite.Payload{Provider: of, Format: format, Version: "1", Value: rewrite.JSON(value)},
					},
					{Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "I looked."}}},
					{Parts: []rewrite.Part{{Text: "Go on."}}},
				}}
				body, err := provider.encodeRequest(c, "home", nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, word := range []string{"interrupted", "tool_result", "function_call_output", "functionResponse", `"tool_call_id"`} {
					if strings.Contains(string(body), word) {
						t.Errorf("%q in %s", word, body)
					}
				}
				if !strings.Contains(string(body), "I looked.") || (of != "home") == strings.Contains(string(body), value) && dialect != rewrite.Completions {
					t.Errorf("got %s", body)
				}
			})
		}
	}
}
