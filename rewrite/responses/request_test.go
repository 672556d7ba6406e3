package responses_test

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
	"warmpath/rewrite/responses"
)

// ask sends a request to the simulated API.
func ask(t *testing.T, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	core := provider.New(provider.Options{Clock: provider.NewManualClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))})
	r := httptest.NewRequest("POST", "/v1/responses", strings.NewReader(string(body)))
	r.Header.Set("Authorization", "Bearer key-1")
	w := httptest.NewRecorder()
	openai.New(core).ServeHTTP(w, r)
	return w
}

func decode(t *testing.T, body, provider string) *rewrite.Conversation {
	t.Helper()
	c, err := responses.DecodeRequest([]byte(body), provider)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func encode(t *testing.T, c *rewrite.Conversation, provider string) (body, losses string) {
	t.Helper()
	var l rewrite.Losses
	out, err := responses.EncodeRequest(c, provider, &l)
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
			// What is sealed was invented, which is the last thing that is found out.
			if w := ask(t, []byte(sent)); w.Code != 200 && !strings.Contains(w.Body.String(), "invalid_encrypted_content") {
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
		"no JSON":            {`{"input":[}`, "byte"},
		"no object":          {`[]`, "the request body is no JSON object"},
		"input is a number":  {`{"input":1}`, "input is neither text nor a list"},
		"item is text":       {`{"input":["a"]}`, "input[0] is no object"},
		"unknown role":       {`{"input":[{"role":"user","content":"a"},{"role":"tool","content":"a"}]}`, "input[1].role is none of"},
		"part without type":  {`{"input":[{"role":"user","content":[{"text":"a"}]}]}`, "input[0].content[0].type is missing"},
		"text is a number":   {`{"input":[{"role":"user","content":[{"type":"input_text","text":1}]}]}`, "input[0].content[0].text is no text"},
		"arguments object":   {`{"input":[{"type":"function_call","call_id":"c","name":"n","arguments":{}}]}`, "input[0].arguments is no text"},
		"tool without name":  {`{"tools":[{"type":"function"}]}`, "tools[0].name is missing"},
		"nested tool":        {`{"tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}]}`, "tools[0].tools[0].name"},
		"choice":             {`{"tool_choice":"any"}`, "tool_choice is none of"},
		"effort":             {`{"reasoning":{"effort":7}}`, "reasoning.effort is no text"},
		"temperature":        {`{"temperature":"hot"}`, "temperature is no number"},
		"format":             {`{"text":{"format":{"type":"xml"}}}`, "text.format.type is none of"},
		"directive":          {`{"input":[{"type":"warmpath:directive","blocks":[{"type":"image"}]}]}`, "input[0].blocks has a block"},
		"activity":           {`{"input":[{"type":"warmpath:hosted_activity","id":"a","name":"web_search","status":"done"}]}`, "input[0].status is none of"},
		"PP-03 incomplete":   {`{"input":[{"type":"warmpath:hosted_activity","id":"a","status":"completed","payload":{"provider":"p"}}]}`, "input[0].payload lacks"},
		"PP-03 in reasoning": {`{"input":[{"type":"reasoning","summary":[],"encrypted_content":"` + (&rewrite.Payload{Provider: "p", Format: "f", Value: rewrite.JSON(`{`)}).Envelope() + `"}]}`, "input[0].encrypted_content was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := responses.DecodeRequest([]byte(c.body), "openai")
			var f *rewrite.Failure
			if !errors.As(err, &f) || f.Reason != rewrite.ReasonBadRequest || !strings.Contains(f.Message, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// PP-04: what is wrong with a payload is told without telling the payload.
func TestErrorsHoldNoPayloads(t *testing.T) {
	for _, body := range []string{
		`{"input":[{"type":"warmpath:hosted_activity","id":"a","status":"completed","payload":{"provider":"p","format":"f","value":null,"x":"SECRET"}}]}`,
		`{"input":[{"type":"reasoning","summary":"SECRET","encrypted_content":1}, {"SECRET":1}]}`,
		`{"input":[{"type":"reasoning","summary":{"a":"SECRET"},"encrypted_content":"SECRET"}]}`,
	} {
		if _, err := responses.DecodeRequest([]byte(body), "openai"); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", body, err)
		}
	}
}
