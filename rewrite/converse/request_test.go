package converse_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"warmpath/fixtures/show"
	"warmpath/rewrite"
	"warmpath/rewrite/converse"
	"warmpath/rewrite/splice"
)

func speech(role rewrite.Role, text string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemMessage, Role: role, Parts: []rewrite.Part{{Text: text}}}
}

func called(id, name, arguments string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemCall, Role: rewrite.RoleAssistant, Call: rewrite.Call{ID: id, Name: name, Arguments: rewrite.JSON(arguments)}}
}

func gave(id, text string) rewrite.Item {
	return rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: id}, Parts: []rewrite.Part{{Text: text}}}
}

func file(kind rewrite.PartKind, mime string, media rewrite.Media) rewrite.Part {
	return rewrite.Part{Kind: kind, MIME: mime, Media: media}
}

func own(kind, value string) rewrite.Payload {
	return rewrite.Payload{Provider: "home", Format: "converse/" + kind, Value: rewrite.JSON(value)}
}

const claude = "eu.anthropic.claude-opus-5-5"

// conversations are what is written, by the name of its golden file.
var conversations = map[string]func() *rewrite.Conversation{
	"agent": func() *rewrite.Conversation {
		hour := rewrite.Mark{Set: true, TTL: "1h"}
		short := rewrite.Mark{Set: true}
		return &rewrite.Conversation{
			Dialect: rewrite.Messages, Model: claude, Stream: true,
			System:   []rewrite.Part{{Text: "Rules."}, {Text: "More <rules> & é.", Mark: hour}},
			Thinking: rewrite.Thinking{Mode: rewrite.On, Effort: "high", Summary: "auto"},
			Sampling: rewrite.Sampling{MaxTokens: rewrite.JSON("32000"), Stop: []string{"END"}},
			Choice:   rewrite.ToolChoice{Mode: "auto"},
			Tools: []rewrite.Tool{
				{Name: "orbit", Description: "Finds orbits.", Schema: rewrite.JSON(`{"type":"object", "properties":{"z":{"type":"string"},"a":{}}}`), Strict: rewrite.On},
				{Kind: rewrite.ToolCustom, Name: "patch", Namespace: "fs"},
				{Name: "now", Mark: hour},
			},
			User:  "user_1",
			Items: agentItems(short),
		}
	},
	"losses": losing,
	"media": func() *rewrite.Conversation {
		pdf := rewrite.Media{Data: "JVBERg==", Name: "An annual — report.pdf"}
		return &rewrite.Conversation{Model: "us.amazon.nova-pro-v1:0", Dialect: rewrite.Responses, Sampling: rewrite.Sampling{TopK: rewrite.JSON("40"), Temperature: rewrite.JSON("0.5")}, Items: []rewrite.Item{
			{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{
				file(rewrite.PartFile, "application/pdf", pdf), file(rewrite.PartFile, "application/pdf", pdf),
				file(rewrite.PartFile, "text/x-go; charset=utf-8", rewrite.Media{Data: "cGFja2FnZQ=="}),
			}},
			speech(rewrite.RoleAssistant, "I have read them."),
			{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{
				{Text: "And these?"}, file(rewrite.PartImage, "image/jpeg", rewrite.Media{Data: "/9j/"}),
				file(rewrite.PartVideo, "video/mp4", rewrite.Media{URL: "s3://bucket/v.mp4"}),
				file(rewrite.PartImage, "image/png", rewrite.Media{URL: "https://example.com/a.png"}),
				file(rewrite.PartImage, "image/tiff", rewrite.Media{Data: "AAAA"}), file(rewrite.PartFile, "", rewrite.Media{ID: "file_1"}),
				file(rewrite.PartAudio, "audio/wav", rewrite.Media{Data: "UklGRg=="}),
			}},
			speech(rewrite.RoleAssistant, "Thanks."),
			{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{{Text: "On.", Mark: rewrite.Mark{Set: true, TTL: "1h"}}}},
		}}
	},
	"schema": func() *rewrite.Conversation {
		return &rewrite.Conversation{Dialect: rewrite.Completions, Model: "openai.gpt-oss-120b-1:0", ServiceTier: "flex",
			Metadata: rewrite.JSON(`{"team":"a b","bad":"{}","n":5}`), Thinking: rewrite.Thinking{Effort: "low"},
			Format: rewrite.Format{Kind: "schema", Name: "answer", Schema: rewrite.JSON(`{"type": "object"}`)},
			Choice: rewrite.ToolChoice{Mode: "tool", Name: "orbit"}, Tools: []rewrite.Tool{{Name: "orbit", Mark: rewrite.Mark{Set: true}}},
			Items: []rewrite.Item{speech(rewrite.RoleUser, "hi")}}
	},
}

func agentItems(mark rewrite.Mark) []rewrite.Item {
	result := gave("toolu_1", "Jupiter")
	result.Parts[0].Mark = mark
	failed := gave("toolu_2", "no such file")
	failed.Failed = true
	patch := called("toolu_2", "patch", "*** Begin\n")
	patch.Call.Namespace, patch.Call.Custom = "fs", true
	return []rewrite.Item{
		speech(rewrite.RoleSystem, "The opening."),
		{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{{Text: "Where is io?"}, {Text: " \n"}}},
		{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "Hm"}},
			Payload: own("reasoningContent", `{"reasoningContent":{"reasoningText":{"text":"Hm","signature":"Eq+/="}}}`)},
		{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "Cited.", Attributions: []rewrite.Attribution{
			{URL: "https://go.dev", Payload: own("citation", `{"title":"Go", "location":{"web":{"url":"https://go.dev"}}}`)},
		}}}},
		called("toolu_1", "orbit", `{"z": "io", "a":1.50}`), patch,
		failed, result,
		speech(rewrite.RoleSystem, "Answer in French."),
		{Kind: rewrite.ItemDirective, Role: rewrite.RoleSystem, Directive: rewrite.Directive{Remove: []string{"now"}, Add: []string{"orbit"}}},
	}
}

func losing() *rewrite.Conversation {
	foreign := rewrite.Payload{Provider: "away", Format: "messages/thinking", Value: rewrite.JSON(`{}`)}
	return &rewrite.Conversation{
		Dialect: rewrite.Completions, Model: claude, Store: rewrite.On, Parallel: rewrite.Off, ServiceTier: "scale", User: `{"a":1}`,
		Extra:    []rewrite.Member{{Name: "prediction", Value: rewrite.JSON("{}")}},
		Thinking: rewrite.Thinking{Effort: "minimal"}, Format: rewrite.Format{Kind: "json", Verbosity: "low"},
		Choice: rewrite.ToolChoice{Mode: "none", Allowed: []string{"a"}},
		Tools:  []rewrite.Tool{{Kind: rewrite.ToolHosted, Name: "web_search"}, {Name: "later", Deferred: true}},
		Sampling: rewrite.Sampling{
			Temperature: rewrite.JSON("1.5"), Seed: rewrite.JSON("1"), PresencePenalty: rewrite.JSON("1"), FrequencyPenalty: rewrite.JSON("1"),
			LogProbs: rewrite.On, TopLogProbs: rewrite.JSON("2"), Candidates: rewrite.JSON("2"),
		},
		Items: []rewrite.Item{
			called("c.1", "later", `[1]`),
			{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Payload: foreign},
			{Kind: rewrite.ItemHosted, Role: rewrite.RoleAssistant, Hosted: rewrite.Hosted{Name: "web_search"}, Payload: foreign},
			{Kind: rewrite.ItemMessage, Role: rewrite.RoleAssistant, Parts: []rewrite.Part{
				{Text: "Found.", Attributions: []rewrite.Attribution{{URL: "https://a"}}}, file(rewrite.PartImage, "image/png", rewrite.Media{Data: "AAAA"}),
			}},
			speech(rewrite.RoleSystem, "Between."),
			called("c.2", "later", `{}`),
			gave("c.9", "nobody's"),
			{Kind: rewrite.ItemOpaque, Payload: foreign},
			{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{{Kind: rewrite.PartOpaque, Payload: foreign}}},
		},
	}
}

func TestRequestsAreWritten(t *testing.T) {
	for name, build := range conversations {
		t.Run(name, func(t *testing.T) {
			file := show.Load(t, "testdata/requests/"+name+".txt")
			var losses rewrite.Losses
			body, err := converse.EncodeRequest(build(), "home", &losses)
			if err != nil {
				t.Fatal(err)
			}
			if err := splice.Valid(body); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			var lost strings.Builder
			for _, l := range losses.All {
				fmt.Fprintf(&lost, "%s: %s\n", l.Path, l.Why)
			}
			file.Want(t, *update, "request", string(body))
			file.Want(t, *update, "losses", lost.String())
			for range 5 {
				again, err := converse.EncodeRequest(build(), "home", nil)
				if err != nil || string(again) != string(body) {
					t.Fatalf("%v: another time it is %s", err, again)
				}
			}
		})
	}
}

func TestRequestsAreRefused(t *testing.T) {
	for name, c := range map[string]*rewrite.Conversation{
		"a reply that another provider keeps": {Previous: "resp_1", Items: []rewrite.Item{speech(rewrite.RoleUser, "hi")}},
		"nothing to answer":                   {},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := converse.EncodeRequest(c, "home", nil)
			var failure *rewrite.Failure
			if !errors.As(err, &failure) || failure.Reason != rewrite.ReasonBadRequest || failure.Message == "" {
				t.Errorf("%v", err)
			}
		})
	}
}

// points are where marks stand, in the order of the prompt.
func points(t *testing.T, c *rewrite.Conversation) string {
	t.Helper()
	body, err := converse.EncodeRequest(c, "home", nil)
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, list := range []string{"toolConfig.tools", "system", "messages.0.content", "messages.1.content", "messages.2.content"} {
		for i, block := range gjson.GetBytes(body, list).Array() {
			if p := block.Get("cachePoint"); p.Exists() {
				at = append(at, fmt.Sprintf("%s.%d%s", list, i, p.Get("ttl").String()))
			}
		}
	}
	return strings.Join(at, " ")
}

func TestMarks(t *testing.T) {
	marked := func(text, ttl string) rewrite.Part {
		return rewrite.Part{Text: text, Mark: rewrite.Mark{Set: true, TTL: ttl}}
	}
	said := func(role rewrite.Role, parts ...rewrite.Part) rewrite.Item {
		return rewrite.Item{Kind: rewrite.ItemMessage, Role: role, Parts: parts}
	}
	many := func(model string) *rewrite.Conversation {
		return &rewrite.Conversation{
			Model: model, Tools: []rewrite.Tool{{Name: "a", Mark: rewrite.Mark{Set: true, TTL: "1h"}}},
			System: []rewrite.Part{marked("s", "1h"), marked("t", "30m")},
			Items:  []rewrite.Item{said(rewrite.RoleUser, marked("x", "1h"), marked("y", ""))},
		}
	}
	automatic := func(value string) *rewrite.Conversation {
		return &rewrite.Conversation{
			Dialect: rewrite.Messages, Model: claude, Extra: []rewrite.Member{{Name: "cache_control", Value: rewrite.JSON(value)}},
			Items: []rewrite.Item{said(rewrite.RoleUser, rewrite.Part{Text: "x"}), said(rewrite.RoleAssistant, rewrite.Part{Text: "y"}), said(rewrite.RoleUser, rewrite.Part{Text: "z"})},
		}
	}
	arn := many("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abcdef123456")
	for name, c := range map[string]struct {
		c    *rewrite.Conversation
		want string
	}{
		"the last four, each as long as it may be":         {many(claude), "system.11h system.3 messages.0.content.1 messages.0.content.3"},
		"PB-06 a model whose name says nothing":            {arn, "system.11h system.3 messages.0.content.1 messages.0.content.3"},
		"one lifetime, and none among the tools, for Nova": {many("us.amazon.nova-pro-v1:0"), "system.1 system.3 messages.0.content.1 messages.0.content.3"},
		"none for models that keep no prefixes":            {many("meta.llama4-maverick-17b-instruct-v1:0"), ""},
		"PB-07 the end of the prompt":                      {automatic(`{"type":"ephemeral"}`), "messages.2.content.1"},
		"PB-07 the end of the prompt, for an hour":         {automatic(`{"type":"ephemeral","ttl":"1h"}`), "messages.2.content.11h"},
		"none behind documents that become text": {&rewrite.Conversation{Model: claude, Items: []rewrite.Item{
			{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{marked("x", ""), file(rewrite.PartFile, "application/pdf", rewrite.Media{Data: "AA=="})}, Mark: rewrite.Mark{Set: true}},
			speech(rewrite.RoleAssistant, "y"),
			{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{marked("x", ""), file(rewrite.PartFile, "text/csv", rewrite.Media{Data: "AA=="})}, Mark: rewrite.Mark{Set: true}},
		}}, "messages.0.content.1 messages.0.content.3 messages.2.content.1"},
		"none twice, none on nothing and none on a thought": {&rewrite.Conversation{Model: claude, Items: []rewrite.Item{
			{Kind: rewrite.ItemMessage, Parts: []rewrite.Part{marked(" ", ""), marked("x", "")}, Mark: rewrite.Mark{Set: true}},
			{Kind: rewrite.ItemReasoning, Role: rewrite.RoleAssistant, Payload: own("reasoningContent", `{"reasoningContent":{}}`), Mark: rewrite.Mark{Set: true}},
		}}, "messages.0.content.1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := points(t, c.c); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A history with calls needs tools that are declared.
func TestFormerToolsAreDeclared(t *testing.T) {
	c := &rewrite.Conversation{Model: claude, Choice: rewrite.ToolChoice{Mode: "any"}, Items: []rewrite.Item{
		speech(rewrite.RoleUser, "hi"), called("a", "orbit", "{}"), called("b", "orbit", "{}"), gave("a", "x"), gave("b", "y"),
	}}
	var losses rewrite.Losses
	body, err := converse.EncodeRequest(c, "home", &losses)
	if err != nil {
		t.Fatal(err)
	}
	if got := gjson.GetBytes(body, "toolConfig.tools.#.toolSpec.name").Raw; got != `["orbit"]` || len(losses.All) != 1 {
		t.Errorf("%s, %v", body, losses.All)
	}
}

func TestCallIdentifiers(t *testing.T) {
	long := strings.Repeat("x", 70)
	c := &rewrite.Conversation{Model: claude, Items: []rewrite.Item{
		speech(rewrite.RoleUser, "hi"), called("call|1.2", "a", ""), called(long+"1", "a", ""), called(long+"2", "a", ""),
		gave("call|1.2", "x"), gave(long+"1", "y"), gave(long+"2", "z"),
	}}
	body, err := converse.EncodeRequest(c, "home", nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := gjson.GetBytes(body, "messages.1.content.#.toolUse.toolUseId").Array()
	results := gjson.GetBytes(body, "messages.2.content.#.toolResult.toolUseId").Array()
	seen := map[string]bool{}
	for i, call := range calls {
		if call.Str != results[i].Str || len(call.Str) > 64 || seen[call.Str] || strings.ContainsAny(call.Str, "|.") {
			t.Errorf("%s and %s", call.Str, results[i].Str)
		}
		seen[call.Str] = true
	}
	if len(calls) != 3 {
		t.Errorf("%s", body)
	}
}

// What the provider has made goes back to it as it was, and to nobody else.
func TestRoundTrip(t *testing.T) {
	each(t, func(t *testing.T, _ *show.File, stream []byte, _ string) {
		if len(stream) == 0 {
			return
		}
		var fold rewrite.Fold
		if err := events(stream, len(stream), fold.Add); err != nil {
			t.Fatal(err)
		}
		r := fold.Reply()
		c := &rewrite.Conversation{Model: claude, Items: append([]rewrite.Item{speech(rewrite.RoleUser, "hi")}, r.Items...)}
		home, err := converse.EncodeRequest(c, "home", nil)
		if err != nil {
			t.Fatal(err)
		}
		away, err := converse.EncodeRequest(c, "away", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range r.Items {
			values := []string{string(item.Payload.Value)}
			for _, p := range item.Parts {
				for _, a := range p.Attributions {
					values = append(values, string(a.Payload.Value))
				}
			}
			for _, value := range values {
				if value == "" {
					continue
				}
				if !strings.Contains(string(home), value) || strings.Contains(string(away), value) {
					t.Errorf("%s\nhome %s\naway %s", value, home, away)
				}
			}
		}
		if diff := cmp.Diff(1, strings.Count(string(home), `"role":"user"`)); len(r.Items) > 0 && !strings.Contains(string(home), `"toolUse"`) && diff != "" {
			t.Errorf("%s", home)
		}
	})
}

func TestToolNames(t *testing.T) {
	long := strings.Repeat("x", 70)
	seen := map[string]string{}
	for _, c := range [][2]string{{"", "read"}, {"fs", "read"}, {"", "files.read"}, {"", "files_read"}, {"", "files:read"}, {"", long + "1"}, {"", long + "2"}, {"", "é"}} {
		name := converse.ToolName(c[0], c[1])
		if was, twice := seen[name]; twice || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			t.Errorf("%q and %q are both %q", c, was, name)
		}
		seen[name] = c[1]
	}
	if seen["read"] == "" || seen["fs__read"] == "" || seen["files_read"] == "" {
		t.Errorf("names that may stay are changed: %v", seen)
	}
	c := &rewrite.Conversation{Model: claude, Choice: rewrite.ToolChoice{Mode: "tool", Name: "files.read"}, Tools: []rewrite.Tool{{Name: "files.read"}}, Items: []rewrite.Item{
		speech(rewrite.RoleUser, "hi"), called("a", "files.read", "{}"), gave("a", "x"),
		{Kind: rewrite.ItemDirective, Role: rewrite.RoleSystem, Directive: rewrite.Directive{Remove: []string{"files.read", "nobody"}}},
	}}
	var losses rewrite.Losses
	body, err := converse.EncodeRequest(c, "home", &losses)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(body), `"name":"`+converse.ToolName("", "files.read")+`"`); n != 4 || len(losses.All) != 1 {
		t.Errorf("%d times in %s, %v", n, body, losses.All)
	}
}

// A tool may give nothing, which the provider refuses.
func TestEmptyResults(t *testing.T) {
	for name, parts := range map[string][]rewrite.Part{"none": nil, "blank": {{Text: " \n"}}, "lost": {{Kind: rewrite.PartOpaque}}} {
		c := &rewrite.Conversation{Model: claude, Items: []rewrite.Item{
			speech(rewrite.RoleUser, "hi"), called("a", "orbit", "{}"), {Kind: rewrite.ItemResult, Call: rewrite.Call{ID: "a"}, Parts: parts, Failed: true},
		}}
		body, err := converse.EncodeRequest(c, "home", nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := gjson.GetBytes(body, "messages.2.content.0.toolResult.content.0.text").Str; strings.TrimSpace(text) == "" {
			t.Errorf("%s: %s", name, body)
		}
	}
}
