package gateway_test

import (
	"strings"

	"warmpath/rewrite"
)

// features are the rows of the matrix.
var features = []feature{
	{name: "text", ask: does("say It is noon."), kept: func(o *outcome) bool { return o.said() == "It is noon." }},
	{name: "streaming", stream: true, ask: does("text 20 events=9"), kept: func(o *outcome) bool { return o.deltas > 4 && len(o.said()) > 40 }},
	{name: "system prompt", ask: sets(func(c *rewrite.Conversation) { c.System = []rewrite.Part{{Text: "RULE-4711"}} }), kept: wants("RULE-4711")},
	{name: "several turns", ask: sets(func(c *rewrite.Conversation) {
		c.Items = append([]rewrite.Item{{Parts: []rewrite.Part{{Text: "FIRST-1"}}}, {Role: rewrite.RoleAssistant, Parts: []rewrite.Part{{Text: "SECOND-2"}}}}, c.Items...)
	}), kept: wants("FIRST-1", "SECOND-2", "Go on.")},
	{name: "instructions in mid-conversation", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses}, ask: sets(func(c *rewrite.Conversation) {
		c.Items = append(c.Items, rewrite.Item{Role: rewrite.RoleSystem, Parts: []rewrite.Part{{Text: "LATE-4711"}}})
	}), kept: wants("LATE-4711")},
	{name: "tools, called in parallel", ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		offers(c)
		does(`call clock {"zone":"CET"}; call clock {"zone":"UTC"}; then; say It is noon.`)(c, from)
	}, again: answers, kept: func(o *outcome) bool {
		return strings.Count(o.sent, "fine") == 2 && o.asked("CET", "UTC") && o.said() == "It is noon."
	}},
	{name: "tool choice: auto", ask: chooses("auto", ""), kept: func(o *outcome) bool { return chose(o) == "" || chose(o) == "auto" }},
	{name: "tool choice: none", ask: chooses("none", ""), kept: func(o *outcome) bool { return chose(o) == "none" || !strings.Contains(o.sent, "clock") }},
	{name: "tool choice: any", ask: chooses("any", ""), kept: func(o *outcome) bool { return chose(o) == "any" || chose(o) == "required" }},
	{name: "tool choice: by name", ask: chooses("tool", "clock"), kept: func(o *outcome) bool { return chose(o) == "clock" }},
	{name: "one call at a time", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses}, ask: sets(func(c *rewrite.Conversation) {
		offers(c)
		c.Parallel = rewrite.Off
	}), kept: func(o *outcome) bool { return o.asked("parallel") }},
	{name: "custom tools, called with free text", clients: openai, ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		c.Tools = []rewrite.Tool{{Kind: rewrite.ToolCustom, Name: "patch", Description: "Applies a patch."}}
		does(`call patch {"input":"*** Begin"}`)(c, from)
	}, kept: func(o *outcome) bool {
		call := o.item(rewrite.ItemCall)
		return call != nil && call.Call.Custom && strings.Contains(string(call.Call.Arguments), "*** Begin")
	}},
	{name: "tools that are withdrawn in mid-conversation", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Responses}, ask: sets(func(c *rewrite.Conversation) {
		offers(c)
		c.Tools = append(c.Tools, rewrite.Tool{Name: "weather", Schema: c.Tools[0].Schema})
		c.Items = append(c.Items, rewrite.Item{Kind: rewrite.ItemDirective, Role: rewrite.RoleSystem, Directive: rewrite.Directive{Remove: []string{"clock"}}})
		if c.Dialect == rewrite.Responses {
			last := &c.Items[len(c.Items)-1]
			*last = rewrite.Item{Kind: rewrite.ItemOpaque, Role: rewrite.RoleSystem, Payload: rewrite.Payload{
				Format: "responses/warmpath:directive", Value: rewrite.JSON(`{"type":"warmpath:directive","blocks":[{"type":"tool_removal","name":"clock"}]}`),
			}}
		}
	}), kept: withdrawn},
	{name: "going on from a reply by its name (with replies.keep)", whole: true, clients: []rewrite.Dialect{rewrite.Responses}, ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		c.Store = rewrite.On
		does("say NOON-4711.")(c, from)
	}, again: func(o *outcome) {
		o.c.Previous = o.reply.ID
		o.c.Items = []rewrite.Item{{Parts: []rewrite.Part{{Text: "And now? DO[say One.]"}}}}
	}, kept: func(o *outcome) bool {
		return o.said() == "One." && (o.asked("NOON-4711") || o.asked("previous_response_id"))
	}},
	{name: "images as data", ask: adds(rewrite.Part{Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{Data: picture}}), kept: wants(picture)},
	{name: "images by address", ask: adds(rewrite.Part{Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{URL: "https://pics.test/a.png"}}), kept: wants("https://pics.test/a.png")},
	{name: "PDF as data", ask: adds(rewrite.Part{Kind: rewrite.PartFile, MIME: "application/pdf", Media: rewrite.Media{Data: document, Name: "a.pdf"}}), kept: wants(document)},
	{name: "PDF by address", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Responses, rewrite.Gemini}, ask: adds(rewrite.Part{Kind: rewrite.PartFile, MIME: "application/pdf", Media: rewrite.Media{URL: "https://docs.test/a.pdf"}}), kept: wants("https://docs.test/a.pdf")},
	{name: "sound as data", clients: []rewrite.Dialect{rewrite.Completions, rewrite.Gemini}, ask: adds(rewrite.Part{Kind: rewrite.PartAudio, MIME: "audio/wav", Media: rewrite.Media{Data: sound}}), kept: wants(sound)},
	{name: "results of tools with images", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Responses, rewrite.Gemini}, ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		offers(c)
		does("call clock {}; then; say It is noon.")(c, from)
	}, again: func(o *outcome) {
		answers(o)
		last := &o.c.Items[len(o.c.Items)-1]
		last.Parts = append(last.Parts, rewrite.Part{Kind: rewrite.PartImage, MIME: "image/png", Media: rewrite.Media{Data: picture}})
	}, kept: wants(picture)},
	{name: "reasoning shown unasked", clients: []rewrite.Dialect{rewrite.Completions}, models: reasoners, without: map[rewrite.Dialect]string{
		rewrite.Completions: unseen[rewrite.Completions], rewrite.Responses: "the provider shows none unless it is asked to, for which Chat Completions has no words",
	}, ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		c.Thinking.Effort = "high"
		does("think 20; say It is noon.")(c, from)
	}, kept: showsReasoning},
	{name: "reasoning shown if asked for", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Responses, rewrite.Gemini}, models: reasoners, without: unseen, ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		c.Thinking = rewrite.Thinking{Effort: "high", Summary: "auto"}
		does("think 20; say It is noon.")(c, from)
	}, kept: showsReasoning},
	{name: "reasoning that comes back to its provider", models: reasoners, without: unseen, ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		offers(c)
		c.Thinking = rewrite.Thinking{Effort: "high", Summary: "auto"}
		does("think 20; call clock {}; then; say It is noon.")(c, from)
	}, again: answers, kept: func(o *outcome) bool {
		if o.from == rewrite.Responses && o.to == rewrite.Responses {
			return o.asked(`"type":"reasoning"`) // which the provider has stored
		}
		return o.asked(map[rewrite.Dialect]string{
			rewrite.Messages: `"signature":"`, rewrite.Responses: `"encrypted_content":"`, rewrite.Gemini: `"thoughtSignature":"`, rewrite.Converse: `"signature":"`,
		}[o.to]) && !o.asked("skip_thought_signature_validator")
	}},
	{name: "effort", models: reasoners, ask: sets(func(c *rewrite.Conversation) { c.Thinking.Effort = "low" }), kept: func(o *outcome) bool { return o.asked(`"low"`) || o.asked(`"LOW"`) }},
	{name: "no reasoning", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses}, models: reasoners, ask: sets(func(c *rewrite.Conversation) {
		c.Thinking.Mode, c.Thinking.Effort = rewrite.Off, "none"
	}), kept: func(o *outcome) bool { return o.asked("disabled") || o.asked(`"none"`) }},
	{name: "a budget of reasoning", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Gemini}, models: map[rewrite.Dialect]string{
		rewrite.Messages: "claude/claude-opus-4-5", rewrite.Completions: "chat/gpt-5.1", rewrite.Gemini: "google/gemini-2.5-pro", rewrite.Converse: "bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0",
	}, ask: sets(func(c *rewrite.Conversation) {
		c.Sampling.MaxTokens = rewrite.JSON("9000")
		c.Thinking.Mode, c.Thinking.Budget = rewrite.On, rewrite.JSON("2048")
	}), kept: func(o *outcome) bool { return o.asked("2048") }},
	{name: "structured output by a schema", ask: sets(func(c *rewrite.Conversation) {
		c.Format = rewrite.Format{Kind: "schema", Name: "answer", Schema: rewrite.JSON(`{"type":"object","properties":{"zqx":{"type":"string"}},"required":["zqx"],"additionalProperties":false}`)}
		c.Items[0].Parts[0].Text = "What time is it?"
	}), kept: func(o *outcome) bool { return o.asked("zqx") && strings.Contains(o.said(), "zqx") }},
	{name: "JSON of any form", clients: []rewrite.Dialect{rewrite.Completions, rewrite.Responses, rewrite.Gemini}, ask: sets(func(c *rewrite.Conversation) {
		c.Format.Kind, c.Items[0].Parts[0].Text = "json", "Answer in JSON. DO[say {}]"
	}), kept: func(o *outcome) bool { return o.asked("json_object") || o.asked("application/json") }},
	{name: "verbosity", clients: openai, ask: sets(func(c *rewrite.Conversation) { c.Format.Verbosity = "low" }), kept: wants(`"verbosity":"low"`)},
	{name: "stop sequences", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Gemini}, models: warmModels, ask: sets(func(c *rewrite.Conversation) {
		c.Sampling.Stop = []string{"HALT7"}
	}), kept: wants("HALT7")},
	{name: "an end at the bound on tokens", ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		c.Sampling.MaxTokens = rewrite.JSON("20")
		does("text 200 events=9")(c, from)
	}, kept: func(o *outcome) bool { return o.reply.Stop.Reason == rewrite.StopLength }},
	{name: "temperature and top_p", models: warmModels, ask: sets(func(c *rewrite.Conversation) { c.Sampling.Temperature = rewrite.JSON("0.5") }), kept: wants("0.5")},
	{name: "top_k", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Gemini}, models: warmModels, ask: sets(func(c *rewrite.Conversation) { c.Sampling.TopK = rewrite.JSON("17") }), kept: wants("17")},
	{name: "seed", clients: []rewrite.Dialect{rewrite.Completions, rewrite.Gemini}, models: warmModels, ask: sets(func(c *rewrite.Conversation) { c.Sampling.Seed = rewrite.JSON("4711") }), kept: wants("4711")},
	{name: "penalties", clients: []rewrite.Dialect{rewrite.Completions, rewrite.Gemini}, models: warmModels, ask: sets(func(c *rewrite.Conversation) { c.Sampling.PresencePenalty = rewrite.JSON("0.25") }), kept: wants("0.25")},
	{name: "likelihoods of words", clients: []rewrite.Dialect{rewrite.Completions, rewrite.Responses, rewrite.Gemini}, models: warmModels, ask: func(c *rewrite.Conversation, from rewrite.Dialect) {
		if c.Sampling.TopLogProbs = rewrite.JSON("3"); from != rewrite.Responses {
			c.Sampling.LogProbs = rewrite.On
		}
	}, kept: func(o *outcome) bool { return o.asked("ogprobs") }},
	{name: "several replies at once", clients: []rewrite.Dialect{rewrite.Completions, rewrite.Gemini}, ask: sets(func(c *rewrite.Conversation) { c.Sampling.Candidates = rewrite.JSON("2") }), kept: func(o *outcome) bool {
		return o.asked(`"n":2`) || o.asked(`"candidateCount":2`)
	}},
	{name: "a refusal", ask: does("say I cannot help.; stop refusal"), kept: func(o *outcome) bool {
		return o.reply.Stop.Reason == rewrite.StopRefusal || o.reply.Stop.Reason == rewrite.StopFilter
	}},
	{name: "usage, with what the cache has read", ask: sets(func(c *rewrite.Conversation) {
		c.System = []rewrite.Part{{Text: strings.Repeat("Work with care and "+c.Model+". ", 2000), Mark: rewrite.Mark{Set: c.Dialect == rewrite.Messages}}}
		offers(c)
	}), again: func(o *outcome) {
		answers(o)
		o.c.Items = append(o.c.Items, rewrite.Item{Parts: []rewrite.Part{{Text: "And now? DO[say One.]"}}})
	}, kept: func(o *outcome) bool {
		u := &o.reply.Usage
		return u.CacheRead.N > 1000 && u.InputTotal.N >= u.CacheRead.N && u.OutputTotal.N > 0
	}},
	{name: "cache marks", clients: []rewrite.Dialect{rewrite.Messages}, without: map[rewrite.Dialect]string{
		rewrite.Completions: "the provider caches without marks", rewrite.Responses: "the provider caches without marks", rewrite.Gemini: "the provider caches without marks",
	}, ask: sets(func(c *rewrite.Conversation) { c.Items[0].Parts[0].Mark = rewrite.Mark{Set: true} }), kept: func(o *outcome) bool {
		return o.asked("cache_control") || o.asked("cachePoint")
	}},
	{name: "hosted web search", beside: "is not shown", ask: searches, kept: ran},
	{name: "its activity shown", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Responses, rewrite.Gemini}, without: map[rewrite.Dialect]string{
		rewrite.Completions: "the provider does not show its searches in Chat Completions",
	}, ask: searches, kept: showsSearch},
	{name: "citations, with their places", beside: "is not shown", ask: searches, kept: cited},
	{name: "who the end user is", clients: []rewrite.Dialect{rewrite.Messages, rewrite.Completions, rewrite.Responses}, ask: sets(func(c *rewrite.Conversation) { c.User = "user-4711" }), kept: wants("user-4711")},
	{name: "metadata", clients: openai, ask: sets(func(c *rewrite.Conversation) { c.Metadata = rewrite.JSON(`{"job":"4711"}`) }), kept: wants("4711")},
	{name: "service tier", clients: openai, ask: sets(func(c *rewrite.Conversation) { c.ServiceTier = "flex" }), kept: wants(`"flex"`)},
	{name: "errors before the reply", failed: true, ask: does("status 422 These words are wrong."), kept: func(o *outcome) bool {
		return o.status == 422 && strings.Contains(o.body, "These words are wrong.")
	}},
	{name: "errors in the stream", stream: true, broken: true, ask: does("text 20 events=9; error overloaded_error after=5 Too much."), kept: func(o *outcome) bool {
		return o.reply.Fault != nil && strings.Contains(o.reply.Fault.Message, "Too much.")
	}},
	{name: "streams that break off", stream: true, broken: true, ask: does("text 20 events=9; cut after=5"), kept: func(o *outcome) bool {
		return o.reply.Fault != nil && o.reply.Stop.Reason == rewrite.StopUnknown
	}},
}
