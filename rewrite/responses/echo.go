package responses

import (
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// appendEcho appends what a reply repeats of its request, as members. Clients
// want them all there, so that what was left out has the dialect's defaults.
// Stored says that the reply is kept.
func appendEcho(dst []byte, c *rewrite.Conversation, stored bool) []byte {
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
	w.echoTools()
	size := w.Size()
	if w.choice(); w.Size() == size {
		word := "auto"
		switch c.Choice.Mode { // of which a client without tools may speak, too
		case "none":
			word = "none"
		case "any":
			word = "required"
		}
		w.Text("tool_choice", word)
	}
	w.Name("parallel_tool_calls")
	w.Bool(c.Parallel != rewrite.Off)
	w.echoText()
	w.echoSettings()
	w.Name("store")
	w.Bool(stored)
	return w.Bytes()
}

// echoTools writes the catalogue as it came, but functions with all that they may
// have left out.
func (w *requestWriter) echoTools() {
	list := requestWriter{c: w.c}
	list.Open('[')
	list.offer(w.c.Tools, func(*rewrite.Tool) bool { return true })
	list.Close(']')
	w.Name("tools")
	w.Open('[')
	splice.Elements(list.Bytes(), func(tool []byte) bool {
		w.Raw(completed(tool))
		return true
	})
	w.Close(']')
}

// completed is a tool with the members that every function has in a reply, and
// without the credentials that were sent along for its server.
func completed(tool []byte) []byte {
	missing := []string{"description", "parameters", "strict"}
	function, secret := false, false
	splice.Fields(tool, func(key, value []byte) bool {
		function = function || string(key) == "type" && string(value) == `"function"`
		secret = secret || isSecret(key)
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == string(key) })
		return true
	})
	if !secret && (!function || len(missing) == 0) {
		return tool
	}
	var w splice.Writer
	w.Open('{')
	splice.Fields(tool, func(key, value []byte) bool {
		if !isSecret(key) {
			w.Value(string(key), value)
		}
		return true
	})
	for _, name := range missing {
		if function {
			w.Name(name)
			w.Literal("null")
		}
	}
	w.Close('}')
	return w.Bytes()
}

// isSecret says that a member of a tool holds credentials.
func isSecret(key []byte) bool { return string(key) == "authorization" || string(key) == "headers" }

// echoText writes the form that the answer must have.
func (w *requestWriter) echoText() {
	f := &w.c.Format
	w.Name("text")
	w.Open('{')
	w.Name("format")
	switch f.Kind {
	case "json":
		w.Literal(`{"type":"json_object"}`)
	case "schema":
		w.Literal(`{"type":"json_schema"`)
		w.Name("name")
		w.String(f.Name)
		w.orText("description", f.Description, "null")
		w.or("schema", f.Schema, "null")
		w.Name("strict")
		w.Bool(f.Strict == rewrite.On)
		w.Close('}')
	default:
		w.Literal(`{"type":"text"}`)
	}
	w.Text("verbosity", f.Verbosity)
	w.Close('}')
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
