package converse_test

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"warmpath/fixtures/provider"
	"warmpath/fixtures/provider/bedrock"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/splice"
)

// rover makes conversations such as no well-meaning client would send.
type rover struct {
	*rand.Rand
	calls *int
}

func (r rover) one(of ...string) string { return of[r.IntN(len(of))] }

func (r rover) mark() rewrite.Mark {
	return rewrite.Mark{Set: r.IntN(4) == 0, TTL: r.one("", "5m", "1h", "30m")}
}

func (r rover) part() rewrite.Part {
	p := rewrite.Part{Text: r.one("", " ", "x", "é🙂", "a longer text"), Mark: r.mark()}
	media := rewrite.Media{Data: "AAAA", Name: r.one("", "a.pdf", "a  b", "ä")}
	switch r.IntN(9) {
	case 0:
		p.Kind, p.MIME, p.Media = rewrite.PartImage, r.one("image/png", "image/tiff", ""), media
	case 1:
		p.Kind, p.MIME, p.Media = rewrite.PartFile, r.one("application/pdf", "text/csv", "text/x-go", "a/b"), media
	case 2:
		p.Kind = rewrite.PartOpaque
	case 3:
		p.Attributions = []rewrite.Attribution{{URL: "https://a", Payload: own("citation", `{"title":"a","location":{"web":{"url":"https://a"}}}`)}}
	}
	return p
}

func (r rover) parts() (parts []rewrite.Part) {
	for range r.IntN(3) {
		parts = append(parts, r.part())
	}
	return parts
}

func (r rover) item() rewrite.Item {
	call := rewrite.Call{ID: r.one("a", "b", "c|d", strings.Repeat("e", 80)), Name: r.one("read", "files.read", "gone"), Arguments: rewrite.JSON(r.one("", "{}", `{"a":1.50}`, "[", "5"))}
	foreign := rewrite.Payload{Provider: "away", Format: "messages/thinking", Value: rewrite.JSON("{}")}
	item := rewrite.Item{Parts: r.parts(), Mark: r.mark()}
	switch r.IntN(12) {
	case 0, 1:
		item.Kind, item.Role, item.Call = rewrite.ItemCall, rewrite.RoleAssistant, call
		item.Call.ID += fmt.Sprint(*r.calls) // nobody uses one twice
		*r.calls++
	case 2, 3:
		item.Kind, item.Call, item.Failed = rewrite.ItemResult, call, r.IntN(2) == 0
		item.Call.ID += fmt.Sprint(r.IntN(6))
	case 4:
		item.Kind, item.Role, item.Payload = rewrite.ItemReasoning, rewrite.RoleAssistant, foreign
	case 5:
		item.Kind, item.Role = rewrite.ItemHosted, rewrite.RoleAssistant
	case 6:
		item.Role = rewrite.RoleSystem
	case 7:
		item.Kind, item.Role, item.Directive = rewrite.ItemDirective, rewrite.RoleSystem, rewrite.Directive{Add: []string{r.one("read", "x")}, Remove: []string{"files.read"}}
	case 8:
		item.Kind, item.Payload = rewrite.ItemOpaque, foreign
	case 9, 10:
		item.Role = rewrite.RoleAssistant
	}
	return item
}

func (r rover) conversation() *rewrite.Conversation {
	c := &rewrite.Conversation{
		Dialect: rewrite.Dialects[1+r.IntN(4)], Model: r.one(claude, "anthropic.claude-opus-4-8", "us.amazon.nova-pro-v1:0", "meta.llama4-x-v1:0"),
		System: r.parts(), Choice: rewrite.ToolChoice{Mode: r.one("", "auto", "any", "tool", "none"), Name: r.one("read", "gone")},
		Thinking: rewrite.Thinking{Effort: r.one("", "", "none", "minimal", "high")}, User: r.one("", "u", "{}"),
		Sampling: rewrite.Sampling{Temperature: rewrite.JSON(r.one("", "0.5", "2")), TopK: rewrite.JSON(r.one("", "4")), MaxTokens: rewrite.JSON(r.one("", "2000"))},
	}
	if r.IntN(3) > 0 {
		for _, name := range []string{"read", "files.read"} {
			c.Tools = append(c.Tools, rewrite.Tool{Name: name, Mark: r.mark(), Deferred: r.IntN(5) == 0, Strict: rewrite.Switch(r.IntN(3))})
		}
	}
	if r.IntN(4) == 0 && c.Dialect == rewrite.Messages {
		c.Extra = []rewrite.Member{{Name: "cache_control", Value: rewrite.JSON(`{"type":"ephemeral","ttl":"1h"}`)}}
	}
	for range 1 + r.IntN(12) {
		c.Items = append(c.Items, r.item())
	}
	return c
}

// Whatever stands in a conversation, in whatever order, the provider takes what is
// made of it, unless nothing is left to answer.
func TestProviderTakesWhatever(t *testing.T) {
	sim := bedrock.New(provider.New(provider.Options{Keep: 1}), bedrock.Options{})
	taken := 0
	for seed := range uint64(1500) {
		c := rover{rand.New(rand.NewPCG(seed, 1)), new(int)}.conversation()
		if !strings.Contains(c.Model, "opus") {
			c.TellInstructions(nil)
			c.SettleTools()
		}
		body, err := converse.EncodeRequest(c, "home", nil)
		if err != nil && strings.Contains(err.Error(), "nothing to answer") {
			continue
		}
		if err != nil || splice.Valid(body) != nil {
			t.Fatalf("seed %d: %v, %s", seed, err, body)
		}
		r := httptest.NewRequest("POST", "/model/"+url.QueryEscape(c.Model)+"/converse", strings.NewReader(string(body)))
		r.Header.Set("Authorization", "Bearer key")
		w := httptest.NewRecorder()
		if sim.ServeHTTP(w, r); w.Code == 200 {
			taken++
		} else if answer := w.Body.String(); !strings.Contains(answer, "must start with a user message") && !strings.Contains(answer, "must end with a user message") {
			t.Fatalf("seed %d: status %d: %s\n%s", seed, w.Code, answer, body)
		}
	}
	if taken < 600 {
		t.Errorf("only %d were taken", taken)
	}
}

// What was sent stands first in what is sent next, whatever the history holds, so
// that it is read from the cache.
func TestPromptsOnlyGrow(t *testing.T) {
	grown := 0
	for seed := range uint64(150) {
		r := rover{rand.New(rand.NewPCG(seed, 2)), new(int)}
		c := r.conversation()
		c.Model, c.Thinking, c.Choice = claude, rewrite.Thinking{Effort: "high"}, rewrite.ToolChoice{}
		c.Sampling, c.Tools = rewrite.Sampling{}, []rewrite.Tool{{Name: "read"}, {Name: "files.read"}}
		core := provider.New(provider.Options{Keep: 1})
		sim := bedrock.New(core, bedrock.Options{})
		var before string
		for _, ask := range []string{"DO[think 5; call read; call read; then; say one]", "DO[think 5; say two]", "DO[say three]"} {
			c.Items = append(c.Items, speech(rewrite.RoleUser, ask), speech(rewrite.RoleSystem, "Mind the time."))
			for more := true; more; {
				reply := answered(t, sim, c)
				more = reply.Stop.Reason == rewrite.StopTools
				last, _ := core.Log.Last()
				if !strings.HasPrefix(last.Seen.Prompt, before) {
					t.Fatalf("seed %d: \n%s\ndoes not begin with\n%s", seed, last.Seen.Prompt, before)
				}
				before = last.Seen.Prompt
				grown++
			}
		}
	}
	if grown < 600 {
		t.Errorf("only %d requests", grown)
	}
}
