package responses

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// appendEcho appends what a reply repeats of its request, as members. Clients
// want them all there, so that what was left out has the dialect's defaults.
func appendEcho(dst []byte, c *rewrite.Conversation) []byte {
	if c == nil {
		c = &rewrite.Conversation{}
	}
	w := requestWriter{c: c, Writer: splice.WriteTo(dst)}
	w.orText("previous_response_id", c.Previous, "null")
	var instructions []byte
	for i := range c.System {
		if c.System[i].Payload.Format == formats+"instructions" {
			instructions = c.System[i].Payload.Value
		}
	}
	w.or("instructions", instructions, "null")
	w.Name("tools")
	w.Open('[')
	w.offer(c.Tools, func(*rewrite.Tool) bool { return true })
	w.Close(']')
	size := w.Size()
	if w.choice(); w.Size() == size {
		w.Literal(`"tool_choice":"auto"`)
	}
	w.Name("parallel_tool_calls")
	w.Bool(c.Parallel != rewrite.Off)
	size = w.Size()
	if w.text(); w.Size() == size {
		w.Literal(`"text":{"format":{"type":"text"}}`)
	}
	w.echoSettings()
	return w.Bytes()
}

// echoSettings writes the settings that have a value whether they were sent or
// not.
func (w *requestWriter) echoSettings() {
	c := w.c
	s := &c.Sampling
	w.or("temperature", s.Temperature, "1.0")
	w.or("top_p", s.TopP, "1.0")
	w.or("presence_penalty", s.PresencePenalty, "0.0")
	w.or("frequency_penalty", s.FrequencyPenalty, "0.0")
	w.or("top_logprobs", s.TopLogProbs, "0")
	w.Name("reasoning")
	w.Open('{')
	w.orText("effort", c.Thinking.Effort, "null")
	w.orText("summary", c.Thinking.Summary, "null")
	w.Close('}')
	w.or("max_output_tokens", s.MaxTokens, "null")
	w.Name("store")
	w.Bool(c.Store == rewrite.On)
	tier := c.ServiceTier
	if tier == "auto" {
		tier = ""
	}
	w.orText("service_tier", tier, `"default"`)
	w.or("metadata", c.Metadata, "{}")
	w.or("truncation", extraOf(c, "truncation"), `"disabled"`)
	w.or("background", extraOf(c, "background"), "false")
	for _, name := range [...]string{"max_tool_calls", "safety_identifier", "prompt_cache_key", "user"} {
		w.or(name, extraOf(c, name), "null")
	}
}

// or writes a member with a value, or with another if there is none.
func (w *requestWriter) or(name string, value []byte, otherwise string) {
	w.Name(name)
	if len(value) == 0 {
		value = []byte(otherwise)
	}
	w.Raw(value)
}

// orText is or for a member that is a string.
func (w *requestWriter) orText(name, text, otherwise string) {
	w.Name(name)
	if text == "" {
		w.Literal(otherwise)
	} else {
		w.String(text)
	}
}

// extraOf is a member of the client's request that has no field.
func extraOf(c *rewrite.Conversation, name string) []byte {
	if c.Dialect != rewrite.Responses {
		return nil
	}
	for i := range c.Extra {
		if c.Extra[i].Name == name {
			return c.Extra[i].Value
		}
	}
	return nil
}
