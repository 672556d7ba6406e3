package anthropic

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// defaultMaxTokens is what a reply may take where the client does not say: this
// dialect has to, and all models allow it.
const defaultMaxTokens = "32000"

// EncodeRequest writes a conversation as the body of a request to a provider.
// The same conversation always gives the same bytes. What cannot be said is
// noted in losses; the error, a *rewrite.Failure, is of a conversation that would
// not be the same without it.
func EncodeRequest(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error) {
	if c.Previous != "" {
		return nil, refuse("previous response", "%q is kept by another provider; send the whole conversation", c.Previous)
	}
	rw := requestWriter{c: c, provider: provider, losses: losses, own: c.Dialect == rewrite.Messages}
	l := rw.layout()
	rw.skip = countMarks(c) - maxMarks
	if len(l.messages) == 0 && !rw.own {
		return nil, refuse("messages", "there is nothing to answer; send a message")
	}
	w := &rw.w
	w.Grow(c.Volume())
	w.Open('{')
	w.Name("model")
	w.String(c.Model)
	rw.settings()
	rw.extra()
	rw.tools()
	rw.system(l.system)
	w.Name("messages")
	w.Open('[')
	for i := range l.messages {
		rw.message(&l.messages[i])
	}
	w.Close(']')
	w.Close('}')
	return w.Bytes(), nil
}

// requestWriter writes one request.
type requestWriter struct {
	w        splice.Writer
	c        *rewrite.Conversation
	provider string
	losses   *rewrite.Losses
	// own says that the conversation comes from a client of this dialect, who
	// keeps its rules himself.
	own bool
	// skip is how many cache marks are still too many, and short says that one of
	// the shorter lifetime was written, behind which no longer one may stand.
	skip  int
	short bool
}

// lose notes what is not said.
func (rw *requestWriter) lose(path, why string) { rw.losses.Add(path, why) }

// native reports whether a payload is written in place of what it stands for.
func (rw *requestWriter) native(p *rewrite.Payload) bool { return p.For(rw.provider, rewrite.Messages) }

// settings writes what stands beside the prompt.
func (rw *requestWriter) settings() {
	c, w := rw.c, &rw.w
	w.Name("max_tokens")
	if s := c.Sampling.MaxTokens; len(s) > 0 {
		w.Raw(s)
	} else {
		w.Literal(defaultMaxTokens)
	}
	thinks := rw.thinking()
	rw.outputConfig()
	rw.sampling(thinks)
	rw.choice()
	switch {
	case rw.own && len(c.Metadata) > 0:
		w.Value("metadata", c.Metadata)
	case c.User != "":
		w.Name("metadata")
		w.Open('{')
		w.Text("user_id", c.User)
		w.Close('}')
	}
	if !rw.own && len(c.Metadata) > 0 {
		rw.lose("metadata", "no such member")
	}
	rw.tier()
	if c.Stream {
		w.Name("stream")
		w.Bool(true)
	}
	if !rw.own && c.Store == rewrite.On {
		rw.lose("store", "replies are not kept")
	}
}

// thinking writes what is asked of the model's reasoning, and reports whether it
// is on.
func (rw *requestWriter) thinking() bool {
	t, w := &rw.c.Thinking, &rw.w
	off := t.Mode == rewrite.Off || t.Effort == "none"
	if t.Extra.For(rw.provider, rewrite.Messages) {
		w.Value("thinking", t.Extra.Value)
		return !off
	}
	switch {
	case off:
		w.Name("thinking")
		w.Literal(`{"type":"disabled"}`)
		return false
	case len(t.Budget) > 0 && t.Effort == "":
		w.Name("thinking")
		w.Open('{')
		w.Text("type", "enabled")
		w.Value("budget_tokens", t.Budget)
	case t.Mode == rewrite.On || t.Effort != "" || t.Summary != "":
		w.Name("thinking")
		w.Open('{')
		w.Text("type", "adaptive")
	default:
		return false
	}
	summary := t.Summary
	if summary == "" && rw.c.Dialect == rewrite.Completions {
		summary = "auto" // its clients show what comes, and cannot ask for it
	}
	switch summary {
	case "":
	case "none":
		w.Text("display", "omitted")
	default:
		w.Text("display", "summarized")
	}
	w.Close('}')
	return true
}

// outputConfig writes effort and format.
func (rw *requestWriter) outputConfig() {
	c, w := rw.c, &rw.w
	size := w.Size()
	w.Name(outputConfig)
	w.Open('{')
	empty := w.Size()
	switch c.Thinking.Effort {
	case "none":
	case "minimal":
		w.Text("effort", "low")
		rw.lose("effort", "minimal is low here")
	default:
		w.Text("effort", c.Thinking.Effort)
	}
	switch f := &c.Format; {
	case f.Kind == "schema" && len(f.Schema) > 0:
		w.Name("format")
		w.Open('{')
		w.Text("type", "json_schema")
		w.Value("schema", f.Schema)
		w.Close('}')
	case f.Kind == "json", f.Kind == "schema":
		rw.lose("format", "only a schema can be asked for")
	}
	if c.Format.Verbosity != "" {
		rw.lose("format.verbosity", "no such member")
	}
	if rw.own {
		for _, m := range c.Extra {
			if name, ok := strings.CutPrefix(m.Name, outputConfig+"."); ok {
				w.Value(name, m.Value)
			}
		}
	}
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	w.Close('}')
}

// sampling writes how tokens are chosen. The dialect has a narrower range than
// others, and none where the model thinks.
func (rw *requestWriter) sampling(thinks bool) {
	s, w := &rw.c.Sampling, &rw.w
	temperature := s.Temperature
	if !rw.own && len(temperature) > 0 {
		switch t, err := strconv.ParseFloat(string(temperature), 64); {
		case err != nil:
			temperature = nil
			rw.lose("temperature", "not a number")
		case thinks && t != 1:
			temperature = nil
			rw.lose("temperature", "a model that thinks has none")
		case t > 1:
			temperature = rewrite.JSON("1")
			rw.lose("temperature", "the highest is 1 here")
		}
	}
	w.Value("temperature", temperature)
	w.Value("top_p", s.TopP)
	w.Value("top_k", s.TopK)
	if len(s.Stop) > 0 {
		w.Name("stop_sequences")
		w.Open('[')
		for _, word := range s.Stop {
			w.String(word)
		}
		w.Close(']')
	}
	for _, lost := range []struct {
		name  string
		value rewrite.JSON
	}{
		{"seed", s.Seed}, {"presence_penalty", s.PresencePenalty}, {"frequency_penalty", s.FrequencyPenalty}, {"top_logprobs", s.TopLogProbs},
	} {
		if len(lost.value) > 0 {
			rw.lose(lost.name, "no such member")
		}
	}
	if s.LogProbs == rewrite.On {
		rw.lose("logprobs", "no such member")
	}
	if len(s.Candidates) > 0 && string(s.Candidates) != "1" {
		rw.lose("candidates", "there is one reply to a request")
	}
}

// choice writes which tools the model may call.
func (rw *requestWriter) choice() {
	c, w := rw.c, &rw.w
	if rw.native(&c.Choice.Payload) {
		w.Value("tool_choice", c.Choice.Payload.Value)
		return
	}
	mode := c.Choice.Mode
	if len(c.Choice.Allowed) > 0 {
		rw.lose("tool_choice.allowed", "all tools are offered")
	}
	if len(c.Tools) == 0 && !rw.own {
		return
	}
	if mode == "" && c.Parallel == rewrite.Off {
		mode = "auto"
	}
	name, ok := c.Choice.Name, true
	switch functions := c.Functions(); {
	case mode == "tool":
		name, ok = rw.demanded(name)
	case !c.DemandsFunction():
	case len(functions) == 1:
		mode, name = "tool", toolName(functions[0].Namespace, functions[0].Name)
	default:
		ok = false
	}
	if !ok {
		rw.losses.Miss("tool_choice", "such a call cannot be demanded beside tools that the provider runs")
		return
	}
	// Saying what goes without saying would be another prefix than not saying it,
	// as agents that withdraw their tools do.
	if mode == "" || mode == "auto" && c.Parallel != rewrite.Off && !rw.own {
		return
	}
	w.Name("tool_choice")
	w.Open('{')
	w.Text("type", mode)
	if mode == "tool" {
		w.Text("name", name)
	}
	if c.Parallel != rewrite.Unset && mode != "none" && (rw.own || c.Parallel == rewrite.Off) {
		w.Name("disable_parallel_tool_use")
		w.Bool(c.Parallel == rewrite.Off)
	}
	w.Close('}')
}

// tier writes the service tier in this dialect's words.
func (rw *requestWriter) tier() {
	tier := rw.c.ServiceTier
	if !rw.own {
		switch tier {
		case "", "auto":
		case "default":
			tier = "standard_only"
		default:
			rw.lose("service_tier", "no such tier")
			tier = ""
		}
	}
	rw.w.Text("service_tier", tier)
}

// extra writes the members that the hub has no field for.
func (rw *requestWriter) extra() {
	for _, m := range rw.c.Extra {
		switch {
		case !rw.own:
			if !m.Said {
				rw.lose(m.Name, "no such member")
			}
		case !strings.HasPrefix(m.Name, outputConfig+"."):
			rw.w.Value(m.Name, m.Value)
		}
	}
}

// tools writes the catalogue.
func (rw *requestWriter) tools() {
	if len(rw.c.Tools) == 0 {
		return
	}
	w := &rw.w
	size := w.Size()
	w.Name("tools")
	w.Open('[')
	empty := w.Size()
	for i := range rw.c.Tools {
		rw.tool("tools."+strconv.Itoa(i), &rw.c.Tools[i])
	}
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	w.Close(']')
}

// tool writes one tool.
func (rw *requestWriter) tool(path string, t *rewrite.Tool) {
	w := &rw.w
	if rw.native(&t.Payload) {
		w.Raw(t.Payload.Value)
		return
	}
	schema := t.Schema
	switch t.Kind {
	case rewrite.ToolHosted:
		rw.hosted(path, t)
		return
	case rewrite.ToolCustom:
		schema = rewrite.JSON(rewrite.FreeTextSchema)
		if t.Grammar.Definition != "" {
			rw.lose(path+".format", "free text has no grammar here")
		}
	case rewrite.ToolFunction:
	}
	if len(schema) == 0 {
		schema = rewrite.JSON(`{"type":"object","properties":{}}`)
	}
	w.Open('{')
	w.Text("name", toolName(t.Namespace, t.Name))
	w.Text("description", t.Description)
	w.Value("input_schema", schema)
	if t.Strict != rewrite.Unset && (rw.own || t.Strict == rewrite.On) {
		w.Name("strict")
		w.Bool(t.Strict == rewrite.On)
	}
	if t.Deferred {
		w.Name("defer_loading")
		w.Bool(true)
	}
	if !t.Deferred {
		rw.mark(t.Mark)
	}
	w.Close('}')
}

// toolName is the name of a tool in a dialect without namespaces.
func toolName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "__" + name
}

// system writes the standing instruction.
func (rw *requestWriter) system(parts []placed) {
	w := &rw.w
	size := w.Size()
	w.Name("system")
	w.Open('[')
	empty := w.Size()
	for _, p := range parts {
		rw.part(p.path, p.part, rewrite.RoleSystem)
	}
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	w.Close(']')
}
