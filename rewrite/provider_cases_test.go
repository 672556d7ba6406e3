package rewrite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// PB-16: a signature that Gemini puts on a thought of its own, before the call that
// it belongs to, comes back from a client of any dialect, each part as it was.
func TestSignaturesOfSeparateThoughts(t *testing.T) {
	const thought, call = `{"text":"Hm.","thought":true,"thoughtSignature":"q83v+/="}`, `{"functionCall":{"id":"f1","name":"orbit","args":{"body": "io"}}}`
	stream := `data: {"candidates":[{"index":0,"content":{"role":"model","parts":[` + thought + `]}}],"responseId":"r1"}` + "\n\n" +
		`data: {"candidates":[{"index":0,"content":{"role":"model","parts":[` + call + `]},"finishReason":"STOP"}],"responseId":"r1"}` + "\n\n"
	for to, client := range crossers {
		if client.whole == nil {
			continue
		}
		t.Run("PB-16 by "+to.String(), func(t *testing.T) {
			r := crossers[rewrite.Gemini].folded(stream, "maker")
			c, err := client.decodeRequest([]byte(client.next(gjson.ParseBytes(client.whole(r)))), home)
			if err != nil {
				t.Fatal(err)
			}
			c.Model = "gemini-3.1-pro-preview"
			body, err := crossers[rewrite.Gemini].encodeRequest(c, "maker", nil)
			if err != nil || !strings.Contains(string(body), thought+","+`{"functionCall":{"id":"f1"`) {
				t.Errorf("%v, sent is %s", err, body)
			}
		})
	}
}

// PB-17: an item of reasoning goes back to its provider as it came, and to any other
// not even by its name; without its content, there is nothing that is looked up.
func TestReasoningItemsGoBackWhole(t *testing.T) {
	const item = `{"type":"reasoning","id":"rs_x","summary":[], "encrypted_content":"Zz+/="}`
	decode := func(t *testing.T, item string) *rewrite.Conversation {
		t.Helper()
		c, err := crossers[rewrite.Responses].decodeRequest([]byte(`{"model":"m","input":[{"role":"user","content":"hi"},`+item+`,{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"r"}]}`), "openai")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Run("PB-17 home", func(t *testing.T) {
		body, err := crossers[rewrite.Responses].encodeRequest(decode(t, item), "openai", nil)
		if err != nil || !strings.Contains(string(body), item) {
			t.Errorf("%v, sent is %s", err, body)
		}
	})
	for other := range crossers {
		// PB-18: what another provider cannot read is told to be lost.
		t.Run("PB-17 PB-18 to another "+other.String(), func(t *testing.T) {
			var lost rewrite.Losses
			body, err := crossers[other].encodeRequest(decode(t, item), "other", &lost)
			if err != nil || strings.Contains(string(body), "rs_x") || strings.Contains(string(body), "Zz+/=") {
				t.Errorf("%v, sent is %s", err, body)
			}
			if !strings.Contains(told(lost.All), "items.1: ") {
				t.Errorf("told is %q", told(lost.All))
			}
		})
	}
}

// PB-21: a source that one vendor names is a citation of another's, the same
// streamed as whole, and no opaque field is made up or empty.
func TestSourcesBecomeCitations(t *testing.T) {
	for i := range citings {
		c := &citings[i]
		if c.d == rewrite.Messages {
			continue
		}
		t.Run("PB-21 "+c.name+", "+c.d.String(), func(t *testing.T) {
			_, r := c.replies(t)
			whole := gjson.GetBytes(crossers[rewrite.Messages].whole(r), "content.#.citations|@flatten").Array()
			var streamed []gjson.Result
			for line := range strings.Lines(string(crossers[rewrite.Messages].stream(r))) {
				if data, ok := strings.CutPrefix(line, "data: "); ok && gjson.Get(data, "delta.type").Str == "citations_delta" {
					streamed = append(streamed, gjson.Get(data, "delta.citation"))
				}
			}
			raw := func(list []gjson.Result) (texts []string) {
				for _, one := range list {
					texts = append(texts, one.Raw)
				}
				return texts
			}
			if diff := cmp.Diff(raw(whole), raw(streamed)); diff != "" || len(whole) != strings.Count(c.want, "\n")+1 {
				t.Errorf("%d of %s: %s", len(whole), c.want, diff)
			}
			for _, citation := range whole {
				index := citation.Get("encrypted_index").Str
				if _, ours := rewrite.OpenEnvelope(index); !ours {
					t.Errorf("the index is %q", index)
				}
			}
		})
	}
}
