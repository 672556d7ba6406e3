package responses

import (
	"bytes"
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
	r := requestReader{reader: reader{provider}, c: &rewrite.Conversation{Dialect: rewrite.Responses, Items: rewrite.RoomFor(len(body))}}
	var f *fault
	w := splice.Walk(body)
	if !w.Fields(func(key []byte) {
		switch {
		case f != nil:
		case string(key) == "input":
			f = r.input(&w).in("input")
		default:
			f = r.member(string(key), w.Value())
		}
	}) {
		f = bad("", "is no JSON object; send one")
	}
	if f == nil {
		f = r.offers()
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
	// stored says that the history begins elsewhere.
	stored bool
	// owed are payloads of calls that are still to come.
	owed map[string]rewrite.Payload
	// late are tools that items have brought.
	late []rewrite.Tool
	// user is the end user by the older of the two names.
	user string
	own  []byte
}

// member reads a member of the request.
func (r *requestReader) member(name string, value []byte) (f *fault) {
	c := r.c
	switch name {
	case "model":
		c.Model, f = textOf(value)
	case "stream":
		c.Stream = string(value) == "true"
	case "instructions":
		f = r.instructions(value)
	case "tools":
		c.Tools, f = r.tools(rewrite.Path{}, value, c.Tools)
	case "tool_choice":
		c.Choice, f = r.choice(value)
	case "parallel_tool_calls":
		c.Parallel = switchOf(value)
	case "reasoning":
		f = r.thinking(value)
	case "text":
		f = r.text(value)
	case "metadata":
		c.Metadata = present(value)
	case "service_tier":
		c.ServiceTier, f = textOf(value)
	case "store":
		c.Store = switchOf(value)
	case "previous_response_id":
		c.Previous, f = textOf(value)
	case "warmpath":
		r.own = value
	default:
		if f, known := r.number(name, value); known {
			return f.in(name)
		}
		return r.extra(name, value)
	}
	return f.in(name)
}

// number reads a member that is a number with a field of its own.
func (r *requestReader) number(name string, value []byte) (f *fault, known bool) {
	s := &r.c.Sampling
	field := map[string]*rewrite.JSON{
		"max_output_tokens": &s.MaxTokens, "temperature": &s.Temperature, "top_p": &s.TopP,
		"presence_penalty": &s.PresencePenalty, "frequency_penalty": &s.FrequencyPenalty, "top_logprobs": &s.TopLogProbs,
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
func (r *requestReader) extra(name string, value []byte) *fault {
	switch name {
	case "safety_identifier":
		r.c.User = splice.Text(value)
	case "user":
		r.user = splice.Text(value)
	case "conversation":
		r.stored = !splice.Null(value)
	case "include":
		if value = r.include(value); value == nil {
			return nil
		}
	}
	if !splice.Null(value) {
		r.c.Extra = append(r.c.Extra, rewrite.Member{Name: name, Value: value, Said: name == "safety_identifier" || name == "user" || name == "prompt_cache_key"})
	}
	return nil
}

// include takes our own names out of a list of what a reply is to include; nil
// where nothing else is left.
func (r *requestReader) include(value []byte) []byte {
	var others splice.Writer
	others.Open('[')
	before := len(r.c.Extensions)
	splice.Elements(value, func(element []byte) bool {
		if name := splice.Text(element); isOwn(name) {
			r.c.Extensions = append(r.c.Extensions, name)
		} else {
			others.Raw(element)
		}
		return true
	})
	if len(r.c.Extensions) == before {
		return value
	}
	if others.Size() == 1 {
		return nil
	}
	others.Close(']')
	return others.Bytes()
}

// instructions are the first section of the system prompt, and remember where
// they stood, because some models render them behind everything else.
func (r *requestReader) instructions(value []byte) *fault {
	text, f := textOf(value)
	if f == nil && text != "" {
		r.c.System = append(r.c.System, rewrite.Part{Path: rewrite.Path{}.In("instructions"), Text: text, Payload: written("instructions", value)})
	}
	return f
}

// input reads the history: a string is what the user says.
func (r *requestReader) input(w *splice.Walker) (f *fault) {
	switch w.Next() {
	case 'n':
		return nil
	case '"':
		at := rewrite.Path{}.In("input")
		r.c.Items = append(r.c.Items, rewrite.Item{Path: at, Parts: []rewrite.Part{{Path: at, Text: splice.Text(w.Value())}}})
		return nil
	}
	i := 0
	if !w.Elements(func() {
		if f != nil {
			return
		}
		if f = r.item(rewrite.Path{}.At("input", i), w); f != nil {
			f = f.in("[" + strconv.Itoa(i) + "]")
		}
		i++
	}) {
		return bad("", "is neither text nor a list of items; send one of them")
	}
	return f
}

// thinking reads what is asked of the model's reasoning.
func (r *requestReader) thinking(value []byte) (f *fault) {
	if splice.Null(value) {
		return nil
	}
	t, other := &r.c.Thinking, false
	if !splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "effort":
			t.Effort, f = textOf(value)
		case "summary", "generate_summary":
			if t.Summary == "" {
				t.Summary, f = textOf(value)
			}
		default:
			other = other || !splice.Null(value)
		}
		f = f.in(string(key))
		return f == nil
	}) {
		return bad("", "is no object; send one")
	}
	if t.Effort == "none" {
		t.Mode = rewrite.Off
	}
	if other {
		t.Extra = written("reasoning_options", value)
	}
	return f
}

// text reads the form that the answer must have.
func (r *requestReader) text(value []byte) (f *fault) {
	if splice.Null(value) {
		return nil
	}
	if !splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "verbosity":
			r.c.Format.Verbosity, f = textOf(value)
		case "format":
			f = r.format(value)
		}
		f = f.in(string(key))
		return f == nil
	}) {
		return bad("", "is no object; send one")
	}
	return f
}

func (r *requestReader) format(value []byte) (f *fault) {
	format := &r.c.Format
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
		case "name":
			format.Name = splice.Text(value)
		case "description":
			format.Description = splice.Text(value)
		case "schema":
			format.Schema = present(value)
		case "strict":
			format.Strict = switchOf(value)
		}
		return f == nil
	})
	return f
}

// offers reads what of the catalogue is offered at the start.
func (r *requestReader) offers() (f *fault) {
	if splice.Null(r.own) {
		return nil
	}
	splice.Fields(r.own, func(key, value []byte) bool {
		if string(key) != "offered" {
			return true
		}
		offered := map[string]bool{}
		if !splice.Elements(value, func(element []byte) bool {
			offered[splice.Text(element)] = true
			return true
		}) {
			f = bad("warmpath.offered", "is no list; send the names of the tools that are offered at the start")
			return false
		}
		for i := range r.c.Tools {
			r.c.Tools[i].Deferred = r.c.Tools[i].Deferred || !offered[r.c.Tools[i].Name]
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
	for _, tool := range r.late {
		if !catalogued(c.Tools, tool) {
			c.Tools = append(c.Tools, tool)
		}
	}
	r.bounded()
	if c.Previous != "" || r.stored {
		return
	}
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

// catalogued says that a tool stands in the catalogue as it is.
func catalogued(tools []rewrite.Tool, tool rewrite.Tool) bool {
	for i := range tools {
		if tools[i].Name == tool.Name && tools[i].Namespace == tool.Namespace && bytes.Equal(tools[i].Payload.Value, tool.Payload.Value) {
			return true
		}
	}
	return false
}
