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
	w := splice.WriteTo(dst)
	orNull := func(name string, value []byte) {
		w.Name(name)
		if len(value) == 0 {
			value = []byte("null")
		}
		w.Raw(value)
	}
	or := func(name string, value []byte, otherwise string) {
		w.Name(name)
		if len(value) == 0 {
			value = []byte(otherwise)
		}
		w.Raw(value)
	}
	w.Name("previous_response_id")
	if c.Previous == "" {
		w.Literal("null")
	} else {
		w.String(c.Previous)
	}
	var instructions []byte
	for i := range c.System {
		if c.System[i].Payload.Format == formats+"instructions" {
			instructions = c.System[i].Payload.Value
		}
	}
	orNull("instructions", instructions)
	w.Name("tools")
	echo := requestWriter{c: c, Writer: w}
	echo.Open('[')
	echo.offer(c.Tools, func(*rewrite.Tool) bool { return true })
	echo.Close(']')
	size := echo.Size()
	if echo.choice(); echo.Size() == size {
		echo.Literal(`"tool_choice":"auto"`)
	}
	w = echo.Writer
	w.Name("parallel_tool_calls")
	w.Bool(c.Parallel != rewrite.Off)
	size = w.Size()
	echo.Writer = w
	if echo.text(); echo.Size() == size {
		echo.Literal(`"text":{"format":{"type":"text"}}`)
	}
	w = echo.Writer
	or("temperature", c.Sampling.Temperature, "1.0")
	or("top_p", c.Sampling.TopP, "1.0")
	or("presence_penalty", c.Sampling.PresencePenalty, "0.0")
	or("frequency_penalty", c.Sampling.FrequencyPenalty, "0.0")
	or("top_logprobs", c.Sampling.TopLogProbs, "0")
	w.Name("reasoning")
	w.Open('{')
	for _, m := range [...]struct{ name, text string }{{"effort", c.Thinking.Effort}, {"summary", c.Thinking.Summary}} {
		w.Name(m.name)
		if m.text == "" {
			w.Literal("null")
		} else {
			w.String(m.text)
		}
	}
	w.Close('}')
	orNull("max_output_tokens", c.Sampling.MaxTokens)
	w.Name("store")
	w.Bool(c.Store == rewrite.On)
	w.Name("service_tier")
	if c.ServiceTier == "" || c.ServiceTier == "auto" {
		w.Literal(`"default"`)
	} else {
		w.String(c.ServiceTier)
	}
	or("metadata", c.Metadata, "{}")
	or("truncation", extraOf(c, "truncation"), `"disabled"`)
	or("background", extraOf(c, "background"), "false")
	for _, name := range [...]string{"max_tool_calls", "safety_identifier", "prompt_cache_key", "user"} {
		orNull(name, extraOf(c, name))
	}
	return w.Bytes()
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
