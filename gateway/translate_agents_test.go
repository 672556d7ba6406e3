package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/provider"
	"warmpath/rewrite"
)

// A message thread is none of another dialect's: who begins one is answered, and
// who goes on with one is told to send the whole, as by a provider that lost it.
func TestThreadsEndAtOtherDialects(t *testing.T) {
	core, base := everyProvider(t, nil)
	for dialect, model := range models {
		if dialect == rewrite.Messages {
			continue
		}
		for _, test := range []struct {
			thread string
			status int
			code   string
		}{
			{`{"type":"create"}`, 200, ""},
			{`{"type":"continue","previous_message_id":"msg_1"}`, 404, "thread_not_found"},
		} {
			before := len(core.Log.All())
			status, body, header := postThread(t, base+"/v1/messages", `{"model":"`+model+`","max_tokens":10,"messages":[{"role":"user","content":"DO[say hi]"}],"thread":`+test.thread+`}`)
			if status != test.status || gjson.GetBytes(body, "error.details.error_code").Str != test.code {
				t.Errorf("%s on %s: status %d: %s", test.thread, model, status, body)
			}
			if losses := header.Get("Warmpath-Losses"); strings.Contains(losses, "thread") {
				t.Errorf("%s on %s: losses %s", test.thread, model, losses)
			}
			if asked := len(core.Log.All()) - before; (asked == 1) != (test.status == 200) {
				t.Errorf("%s on %s: %d requests reached the provider", test.thread, model, asked)
			}
		}
	}
}

func postThread(t *testing.T, url, body string) (int, []byte, http.Header) {
	t.Helper()
	req, err := http.NewRequest("POST", url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "sk-client")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer, resp.Header
}

// An agent of any dialect that edits its tools and its instructions in the middle
// of a conversation with Claude keeps the prefix warm: from the second request on
// all that was sent before is read from the cache, and the edits stand at the end.
func TestTranslatedEditsAreAppended(t *testing.T) {
	for from, client := range speakers {
		if from == rewrite.Messages {
			continue
		}
		t.Run(from.String(), func(t *testing.T) {
			core, base := everyProvider(t, nil)
			rules := strings.Repeat("You are careful. ", 200)
			c := &rewrite.Conversation{
				Dialect: from, Model: models[rewrite.Messages], Stream: true, System: []rewrite.Part{{Text: rules}},
				Tools:    []rewrite.Tool{look("weather"), look("clock")},
				Thinking: rewrite.Thinking{Effort: "high"},
			}
			known := int64(0)
			for turn, edit := range []func(){
				func() {},
				func() {},
				func() { c.Tools = append([]rewrite.Tool{look("map")}, c.Tools...) },
				func() { c.Tools = c.Tools[1:2] },
				func() { c.System = []rewrite.Part{{Text: rules}, {Text: "Today is the first of May."}} },
				func() { c.System = []rewrite.Part{{Text: rules}, {Text: "Today is the second of May."}} },
			} {
				edit()
				c.Items = append(c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: fmt.Sprintf("Turn %d. DO[think 20; say Well.; call clock {\"zone\":\"CET\"}]", turn)}}})
				reply, _ := client.ask(t, base, c)
				record := lastRecord(core)
				if record.Charge.Read < known {
					t.Errorf("turn %d: %d of %d tokens were read, %d were known\n%s", turn, record.Charge.Read, record.Charge.Total, known, record.Body)
				}
				known = record.Charge.Total
				c.Items = append(c.Items, reply.Items...)
				for i := range reply.Items {
					if call := reply.Items[i].Call; reply.Items[i].Kind == rewrite.ItemCall {
						c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: call.ID, Name: call.Name}, Parts: []rewrite.Part{{Text: "noon"}}})
					}
				}
			}
			knowsInTheEnd(t, lastRecord(core), "weather")
		})
	}
}

func look(name string) rewrite.Tool {
	return rewrite.Tool{
		Name: name, Description: "Looks at the " + name + ".",
		Schema: rewrite.JSON(`{"type":"object","properties":{"zone":{"type":"string"}}}`),
	}
}

// knowsInTheEnd checks the tools that a model saw as offered, and that it knows of the
// newest instruction.
func knowsInTheEnd(t *testing.T, record *provider.Record, want ...string) {
	t.Helper()
	var names []string
	for _, tool := range record.Seen.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("tools (-want +got): %s", diff)
	}
	if said := strings.Join(record.Seen.Instructions, "\n"); !strings.Contains(said, "second of May") {
		t.Errorf("the instructions are %s", said)
	}
}

// What an agent's conversations begin with is read from the cache by the next one,
// though its dialect has no marks to set.
func TestTranslatedAgentsShareTheirStart(t *testing.T) {
	for from, client := range speakers {
		if from == rewrite.Messages {
			continue
		}
		core, base := everyProvider(t, nil)
		for turn, words := range []string{"One thing.", "Quite another."} {
			c := &rewrite.Conversation{
				Dialect: from, Model: models[rewrite.Messages], System: []rewrite.Part{{Text: strings.Repeat("You are careful. ", 200)}},
				Tools: []rewrite.Tool{look("weather")}, Items: []rewrite.Item{{Parts: []rewrite.Part{{Text: words + " DO[say Well.]"}}}},
			}
			client.ask(t, base, c)
			if charge := lastRecord(core).Charge; (charge.Read > 0) != (turn > 0) || charge.Fresh > 0 {
				t.Errorf("%s, conversation %d: %+v", from, turn, charge)
			}
		}
	}
}
