package completions_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/openai"
	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/completions"
)

// ask sends a request to the simulated API.
func ask(t *testing.T, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	core := provider.New(provider.Options{Clock: provider.NewManualClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))})
	r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(string(body)))
	r.Header.Set("Authorization", "Bearer key-1")
	w := httptest.NewRecorder()
	openai.New(core).ServeHTTP(w, r)
	return w
}

func decode(t *testing.T, body, provider string) *rewrite.Conversation {
	t.Helper()
	c, err := completions.DecodeRequest([]byte(body), provider)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func encode(t *testing.T, c *rewrite.Conversation, provider string) (body, losses string) {
	t.Helper()
	var l rewrite.Losses
	out, err := completions.EncodeRequest(c, provider, &l)
	if err != nil {
		t.Fatal(err)
	}
	for _, loss := range l.All {
		losses += loss.Path + ": " + loss.Why + "\n"
	}
	return string(out), losses
}

// lines writes an item or a tool on a line of its own.
func lines(body string) string {
	for _, begin := range []string{`{"type":"`, `{"role":"`} {
		body = strings.ReplaceAll(body, ","+begin, ",\n "+begin)
	}
	return body
}

// What a client sends is written for its own provider, which accepts it, and for
// another one, which gets nothing that is not its own.
func TestGoldenRequests(t *testing.T) {
	show.Each(t, "testdata/requests", func(t *testing.T, g *show.File) {
		own := decode(t, g.Text("request"), "openai")
		body, losses := encode(t, own, "openai")
		g.Want(t, *update, "to its provider", lines(body))
		g.Want(t, *update, "lost there", losses)
		foreign := decode(t, g.Text("request"), "openai")
		other, losses := encode(t, foreign, "elsewhere")
		g.Want(t, *update, "to another", lines(other))
		g.Want(t, *update, "lost on another", losses)
		for _, sent := range []string{body, other} {
			if w := ask(t, []byte(sent)); w.Code != 200 && !strings.Contains(g.About, "does not know") {
				t.Errorf("the provider refuses it: %s\n%s", w.Body, lines(sent))
			}
		}
		// The meaning survives: what was written reads as what was read.
		again := decode(t, body, "openai")
		ours := cmpopts.IgnoreFields(rewrite.Conversation{}, "Extensions")
		if diff := cmp.Diff(own, again, ours, show.AnyPath, cmpopts.EquateEmpty(), cmp.Comparer(equalPayloads)); diff != "" && !strings.Contains(g.About, "rewritten") {
			t.Errorf("read again (-was +is): %s", diff)
		}
		if second, _ := encode(t, again, "openai"); second != body {
			t.Errorf("written again: %s", cmp.Diff(lines(body), lines(second)))
		}
		if second, _ := encode(t, decode(t, g.Text("request"), "openai"), "openai"); second != body {
			t.Error("the same request gives other bytes")
		}
	})
}

func equalPayloads(a, b rewrite.Payload) bool {
	return a.Provider == b.Provider && a.Format == b.Format && a.Version == b.Version && string(a.Value) == string(b.Value)
}

func TestRefusedRequests(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"no JSON":           {`{"messages":[}`, "byte"},
		"no object":         {`[]`, "the request body is no JSON object"},
		"messages":          {`{"messages":{}}`, "messages is no list"},
		"message is text":   {`{"messages":["a"]}`, "messages[0] is no object"},
		"unknown role":      {`{"messages":[{"role":"user","content":"a"},{"role":"robot"}]}`, "messages[1].role is none of"},
		"part without type": {`{"messages":[{"role":"user","content":[{"text":"a"}]}]}`, "messages[0].content[0].type is missing"},
		"text is a number":  {`{"messages":[{"role":"user","content":[{"type":"text","text":1}]}]}`, "messages[0].content[0].text is no text"},
		"call of nothing":   {`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"function"}]}]}`, "messages[0].tool_calls[0] names no function"},
		"tool without name": {`{"tools":[{"type":"function","function":{}}]}`, "tools[0].function.name is missing"},
		"choice":            {`{"tool_choice":"some"}`, "tool_choice is none of"},
		"temperature":       {`{"temperature":"hot"}`, "temperature is no number"},
		"bound":             {`{"max_tokens":"many"}`, "max_tokens is no number"},
		"format":            {`{"response_format":{"type":"xml"}}`, "response_format.type is none of"},
		"PP-03 changed":     {`{"messages":[{"role":"assistant","reasoning_details":[{"format":"warmpath","data":"SECRET"}]}]}`, "messages[0].reasoning_details was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := completions.DecodeRequest([]byte(c.body), "openai")
			var f *rewrite.Failure
			if !errors.As(err, &f) || f.Reason != rewrite.ReasonBadRequest || !strings.Contains(f.Message, c.want) || strings.Contains(f.Message, "SECRET") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
