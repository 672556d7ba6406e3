package completions

import (
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// DecodeRequest reads a client's request. What only its provider understands is
// kept as a payload of the provider that is named here, unless the client got it
// from another one and it says so. The conversation shares memory with body. The
// error is a *rewrite.Failure that names the place and what to do.
func DecodeRequest(body []byte, provider string) (*rewrite.Conversation, error) {
	if err := splice.Valid(body); err != nil {
		return nil, &rewrite.Failure{Reason: rewrite.ReasonBadRequest, Message: err.Error() + "; send one JSON object", Cause: err}
	}
	r := requestReader{reader: reader{provider}, c: &rewrite.Conversation{Dialect: rewrite.Completions, Items: rewrite.RoomFor(len(body))}}
	var f *fault
	w := splice.Walk(body)
	if !w.Fields(func(key []byte) {
		switch {
		case f != nil:
		case string(key) == "messages":
			f = r.messages(&w).in("messages")
		default:
			f = r.member(string(key), w.Value())
		}
	}) {
		f = bad("", "is no JSON object; send one")
	}
	if f != nil {
		return nil, f.failure()
	}
	r.finish()
	return r.c, nil
}

// requestReader reads one request.
type requestReader struct {
	reader
	c *rewrite.Conversation
	// at is the message that is read.
	at rewrite.Path
	// late are tools that messages have brought.
	late []rewrite.Tool
	// most and older are the bound on tokens by its two names.
	most, older []byte
	user        string
}

// member reads a member of the request.
func (r *requestReader) member(name string, value []byte) (f *fault) {
	c := r.c
	switch name {
	case "model":
		c.Model, f = textOf(value)
	case "stream":
		c.Stream = string(value) == "true"
	case "tools":
		f = r.tools(rewrite.Path{}, value, &c.Tools)
	case "functions":
		f = r.functions(value)
	case "tool_choice":
		c.Choice, f = choice(value)
	case "function_call":
		c.Choice, f = choice(value)
	case "parallel_tool_calls":
		c.Parallel = switchOf(value)
	case "response_format":
		f = r.format(value)
	case "verbosity":
		c.Format.Verbosity, f = textOf(value)
	case "metadata":
		c.Metadata = present(value)
	case "service_tier":
		c.ServiceTier, f = textOf(value)
	case "store":
		c.Store = switchOf(value)
	case "stop":
		f = r.stop(value)
	case "logprobs":
		c.Sampling.LogProbs = switchOf(value)
	case searchOptions:
		if !splice.Null(value) {
			c.Tools = append(c.Tools, rewrite.Tool{
				Kind: rewrite.ToolHosted, Path: rewrite.Path{}.In(name), Name: "web_search", Capability: "web_search",
				Hosting: searching(value), Payload: written(name, value),
			})
		}
	default:
		if f, known := r.number(name, value); known {
			return f.in(name)
		}
		r.extra(name, value)
	}
	return f.in(name)
}

// number reads a member that is a number with a field of its own.
func (r *requestReader) number(name string, value []byte) (f *fault, known bool) {
	s := &r.c.Sampling
	field := map[string]*rewrite.JSON{
		"temperature": &s.Temperature, "top_p": &s.TopP, "seed": &s.Seed, "n": &s.Candidates, "top_logprobs": &s.TopLogProbs,
		"presence_penalty": &s.PresencePenalty, "frequency_penalty": &s.FrequencyPenalty,
		"max_completion_tokens": (*rewrite.JSON)(&r.most), "max_tokens": (*rewrite.JSON)(&r.older),
	}[name]
	if field == nil {
		return nil, false
	}
	if *field = present(value); len(*field) > 0 && value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		f = bad("", "is no number; send one, or leave it out")
	}
	return f, true
}

// extra keeps a member that has no field. Some of them say something beside.
func (r *requestReader) extra(name string, value []byte) {
	if splice.Null(value) {
		return
	}
	t, said := &r.c.Thinking, true
	switch name {
	case "safety_identifier":
		r.c.User = splice.Text(value)
	case "user":
		r.user = splice.Text(value)
	case "top_k":
		r.c.Sampling.TopK = value
	case "reasoning_effort":
		t.Effort = splice.Text(value)
	case "reasoning", "thinking":
		r.thinking(value)
	case "prompt_cache_key", "stream_options":
		// Whoever routes the request makes it of the one, and writes the stream by
		// the other.
	default:
		said = false
	}
	if t.Effort == "none" {
		t.Mode = rewrite.Off
	}
	r.c.Extra = append(r.c.Extra, rewrite.Member{Name: name, Value: value, Said: said})
}

// thinking reads what servers with more to say than an effort are asked for.
func (r *requestReader) thinking(value []byte) {
	t := &r.c.Thinking
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "effort":
			t.Effort = splice.Text(value)
		case "max_tokens", "budget_tokens":
			if _, ok := splice.Int(value); ok {
				t.Budget = value
			}
		case "enabled":
			t.Mode = switchOf(value)
		case "type":
			switch splice.Text(value) {
			case "enabled":
				t.Mode = rewrite.On
			case "disabled":
				t.Mode = rewrite.Off
			}
		}
		return true
	})
}

// stop reads the sequences that end a reply.
func (r *requestReader) stop(value []byte) *fault {
	if splice.Null(value) {
		return nil
	}
	if text, ok := splice.String(value); ok {
		r.c.Sampling.Stop = []string{string(text)}
		return nil
	}
	if !splice.Elements(value, func(element []byte) bool {
		r.c.Sampling.Stop = append(r.c.Sampling.Stop, splice.Text(element))
		return true
	}) {
		return bad("", "is neither text nor a list; send one of them")
	}
	return nil
}

// format reads the form that the answer must have.
func (r *requestReader) format(value []byte) (f *fault) {
	format := &r.c.Format
	var schema []byte
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			switch kind := splice.Text(value); kind {
			case "text":
			case "json_object":
				format.Kind = "json"
			case "json_schema":
				format.Kind = "schema"
			default:
				f = bad("type", "is none of text, json_object and json_schema")
			}
		case "json_schema":
			schema = value
		}
		return f == nil
	})
	splice.Fields(schema, func(key, value []byte) bool {
		switch string(key) {
		case "name":
			format.Name = splice.Text(value)
		case "description":
			format.Description = splice.Text(value)
		case "schema":
			format.Schema = present(value)
		case "strict":
			format.Strict = switchOf(value)
		}
		return true
	})
	return f
}

// finish puts together what members of any order have said.
func (r *requestReader) finish() {
	c := r.c
	if c.User == "" {
		c.User = r.user
	}
	if c.Sampling.MaxTokens = r.most; len(r.most) == 0 && len(r.older) > 0 {
		// The older name is the only one that many servers know.
		c.Sampling.MaxTokens = r.older
		c.Extra = append(c.Extra, rewrite.Member{Name: "max_tokens", Value: r.older, Said: true})
	}
	c.Tools = append(c.Tools, r.late...)
	head := 0
	for head < len(c.Items) && c.Items[head].Kind == rewrite.ItemMessage && c.Items[head].Role == rewrite.RoleSystem {
		for _, part := range c.Items[head].Parts {
			part.Voice = c.Items[head].Voice
			c.System = append(c.System, part)
		}
		head++
	}
	c.Items = c.Items[head:]
}

// messages reads the history.
func (r *requestReader) messages(w *splice.Walker) (f *fault) {
	if w.Next() == 'n' {
		return nil
	}
	i := 0
	if !w.Elements(func() {
		if f != nil {
			return
		}
		if f = r.message(i, w); f != nil {
			f = f.in("[" + strconv.Itoa(i) + "]")
		}
		i++
	}) {
		return bad("", "is no list of messages; send one")
	}
	return f
}
