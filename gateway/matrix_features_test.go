package gateway_test

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// does is a script of the simulated models.
func does(script string) func(*rewrite.Conversation, rewrite.Dialect) {
	return func(c *rewrite.Conversation, _ rewrite.Dialect) {
		c.Items[len(c.Items)-1].Parts[0].Text = "Go on. DO[" + script + "]"
	}
}

// offers adds a tool that tells the time.
func offers(c *rewrite.Conversation) {
	c.Tools = append(c.Tools, rewrite.Tool{Name: "clock", Description: "Tells the time.", Schema: rewrite.JSON(`{"type":"object","properties":{"zone":{"type":"string"}}}`)})
}

// answers appends a reply, as it came, and a result for each of its calls.
func answers(o *outcome) {
	c, reply := o.c, o.reply
	if o.from == rewrite.Responses {
		c.Items = append(c.Items, o.output()...)
	} else {
		c.Items = append(c.Items, reply.Items...)
	}
	for i := range reply.Items {
		if call := reply.Items[i].Call; reply.Items[i].Kind == rewrite.ItemCall {
			c.Items = append(c.Items, rewrite.Item{
				Kind: rewrite.ItemResult, Call: rewrite.Call{ID: call.ID, Name: call.Name, Custom: call.Custom}, Parts: []rewrite.Part{{Text: "fine"}},
			})
		}
	}
}

// output are the items of a reply of Responses, as they came.
func (o *outcome) output() (items []rewrite.Item) {
	whole := o.body
	for line := range strings.Lines(o.body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, `"type":"response.completed"`) {
			whole = gjson.Get(data, "response").Raw
		}
	}
	for _, item := range gjson.Get(whole, "output").Array() {
		items = append(items, rewrite.Item{
			Kind: rewrite.ItemOpaque, Role: rewrite.RoleAssistant, Payload: rewrite.Payload{Format: "responses/" + item.Get("type").Str, Value: rewrite.JSON(item.Raw)},
		})
	}
	return items
}

// chooses asks for a choice of tools.
func chooses(mode, name string) func(*rewrite.Conversation, rewrite.Dialect) {
	return func(c *rewrite.Conversation, _ rewrite.Dialect) {
		offers(c)
		c.Choice = rewrite.ToolChoice{Mode: mode, Name: name}
	}
}

// chose reads the choice of tools in a provider's words.
func chose(o *outcome) string {
	for _, path := range []string{
		"tool_choice.function.name", "tool_choice.name", "tool_choice.type", "tool_choice", "toolConfig.functionCallingConfig.allowedFunctionNames.0",
		"toolConfig.functionCallingConfig.mode", "toolConfig.toolChoice.tool.name", "toolConfig.toolChoice.any", "toolConfig.toolChoice.auto",
	} {
		if v := gjson.Get(o.sent, path); v.Exists() && v.Type == gjson.String {
			return strings.ToLower(v.Str)
		} else if v.Exists() && v.IsObject() && strings.HasPrefix(path, "toolConfig.toolChoice.") {
			return path[len("toolConfig.toolChoice."):]
		}
	}
	return ""
}

// adds adds a part to what the user says.
func adds(part rewrite.Part) func(*rewrite.Conversation, rewrite.Dialect) {
	return func(c *rewrite.Conversation, _ rewrite.Dialect) {
		c.Items[0].Parts = append(c.Items[0].Parts, part)
	}
}

// sets changes a setting.
func sets(change func(*rewrite.Conversation)) func(*rewrite.Conversation, rewrite.Dialect) {
	return func(c *rewrite.Conversation, _ rewrite.Dialect) { change(c) }
}

// wants is kept if the provider got some words.
func wants(words ...string) func(*outcome) bool {
	return func(o *outcome) bool { return o.asked(words...) && o.said() != "" }
}

// searches declares the hosted web search in the client's own words.
func searches(c *rewrite.Conversation, from rewrite.Dialect) {
	c.Tools = []rewrite.Tool{{Kind: rewrite.ToolHosted, Name: "web_search", Capability: "web_search", Payload: map[rewrite.Dialect]rewrite.Payload{
		rewrite.Messages:    {Format: "messages/tool", Value: rewrite.JSON(`{"type":"web_search_20250305","name":"web_search"}`)},
		rewrite.Completions: {Format: "chat/web_search_options", Value: rewrite.JSON(`{}`)},
		rewrite.Responses:   {Format: "responses/web_search", Value: rewrite.JSON(`{"type":"web_search"}`)},
		rewrite.Gemini:      {Format: "gemini/tool", Value: rewrite.JSON(`{"googleSearch":{}}`)},
	}[from]}}
	if from == rewrite.Responses && !strings.HasPrefix(c.Model, "gpt/") {
		c.Extra = append(c.Extra, rewrite.Member{Name: "include", Value: rewrite.JSON(`["warmpath:hosted_activity"]`)})
	}
	does("search blue cats")(c, from)
}

// withdrawn is kept if the model is offered the weather, and no clock: in the
// provider's own words, by what it may choose, or by what there is.
func withdrawn(o *outcome) bool {
	tools, choice := gjson.Get(o.sent, "tools").Raw+gjson.Get(o.sent, "toolConfig.tools").Raw, gjson.Get(o.sent, "tool_choice").Raw
	switch {
	case !strings.Contains(tools, "weather"):
		return false
	case o.asked("tool_removal", "clock"), o.asked("toolRemoval", "clock"), !strings.Contains(tools, "clock"):
		return true
	}
	return strings.Contains(choice, "weather") && !strings.Contains(choice, "clock")
}

// ran is kept if the provider has searched and the client sees what it found.
func ran(o *outcome) bool {
	tool := o.asked("web_search") || o.asked("googleSearch")
	return tool && strings.Contains(o.said(), "blue cats")
}

// showsSearch is kept if the client sees that the provider has searched.
func showsSearch(o *outcome) bool {
	item := o.item(rewrite.ItemHosted)
	return item != nil && item.Hosted.Name == "web_search"
}

// showsReasoning is kept if the client is shown what the model thought.
func showsReasoning(o *outcome) bool {
	item := o.item(rewrite.ItemReasoning)
	return item != nil && len(item.Parts) > 0 && item.Parts[0].Text != ""
}

// cited is kept if the answer has sources, at places within it.
func cited(o *outcome) bool {
	for i := range o.reply.Items {
		for _, part := range o.reply.Items[i].Parts {
			for _, a := range part.Attributions {
				if a.URL == "" || a.Start < 0 || a.End < a.Start || a.End > utf8.RuneCountInString(part.Text) {
					return false
				}
			}
			if len(part.Attributions) > 0 {
				return true
			}
		}
	}
	return false
}

const (
	picture  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	document = "JVBERi0xLjQKJSVFT0YK"
	sound    = "UklGRiQAAABXQVZFZm10IBAAAAABAAEA"
)

// warmModels sample, and reasoners reason.
var (
	warmModels = map[rewrite.Dialect]string{
		rewrite.Messages: "claude/claude-opus-4-6", rewrite.Converse: "bedrock/eu.anthropic.claude-opus-4-6-v1:0", rewrite.Responses: "gpt/gpt-4.1",
	}
	reasoners = map[rewrite.Dialect]string{rewrite.Completions: "chat/gpt-5.1"}
	unseen    = map[rewrite.Dialect]string{rewrite.Completions: "the provider shows no reasoning in Chat Completions"}
	openai    = []rewrite.Dialect{rewrite.Completions, rewrite.Responses}
)
