package completions

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Habits are in what the many servers of this dialect differ. The zero Habits are
// the inventor's.
type Habits struct {
	// OlderBound is for servers that know the bound on tokens as max_tokens.
	OlderBound bool
	// PlainChoice is for servers that cannot narrow the choice to some of the
	// tools: those that are not offered are left out.
	PlainChoice bool
	// NoStrict is for servers that refuse the strict of a tool.
	NoStrict bool
	// Marks is for servers that take cache breakpoints on parts, and CacheControl
	// for those that call them cache_control.
	Marks, CacheControl bool
	// CacheKey is for servers that find what they have cached by a key of the
	// conversation's.
	CacheKey bool
	// SearchOptions is for servers whose models search where a member asks for it.
	// RouterTools is for those with OpenRouter's own tools, and GroqTools for those
	// with Groq's.
	SearchOptions, RouterTools, GroqTools bool
}

// EncodeRequest writes a conversation as a request to provider. Its own payloads
// go there byte for byte, everything else by what all dialects share; losses
// gets what cannot be said. The same conversation gives the same bytes. It fails
// for a payload of provider's that is no JSON.
func EncodeRequest(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error) {
	return Habits{}.EncodeRequest(c, provider, losses)
}

// EncodeRequest is EncodeRequest for a server that has these habits.
func (h Habits) EncodeRequest(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error) {
	w := requestWriter{habits: h, c: c, provider: provider, losses: losses}
	w.Grow(c.Volume())
	w.Open('{')
	w.Name("model")
	w.String(c.Model)
	w.messages()
	w.tools()
	w.choice()
	if c.Parallel != rewrite.Unset && len(c.Tools) > 0 {
		w.Name("parallel_tool_calls")
		w.Bool(c.Parallel == rewrite.On)
	}
	w.sampling()
	w.thinking()
	w.format()
	w.account()
	if c.Stream {
		w.Literal(`"stream":true`)
		if c.Dialect != rewrite.Completions {
			w.Literal(`"stream_options":{"include_usage":true}`)
		}
	}
	w.extra()
	w.Close('}')
	if w.broken != nil {
		return nil, &rewrite.Failure{
			Reason: rewrite.ReasonBadRequest, Cause: w.broken,
			Message: "the conversation holds a payload that is no JSON; send what the provider made as it came",
		}
	}
	return w.Bytes(), nil
}

// requestWriter writes one request.
type requestWriter struct {
	splice.Writer
	habits   Habits
	c        *rewrite.Conversation
	provider string
	losses   *rewrite.Losses
	// pictures are what tools gave besides text, due after their results.
	pictures []*rewrite.Part
	// added and removed are the tools that directives have changed.
	added, removed map[string]bool
	// broken is what is wrong with a payload of the provider's.
	broken error
}

// native is the value of a payload that the provider gets byte for byte, with the
// member that it belongs to; nil if it is another's.
func (w *requestWriter) native(p *rewrite.Payload) (member string, value []byte) {
	if !p.For(w.provider, rewrite.Completions) {
		return "", nil
	}
	if err := splice.Valid(p.Value); err != nil {
		w.broken = err
	}
	return strings.TrimPrefix(p.Format, formats), p.Value
}

// sampling writes how tokens are chosen.
func (w *requestWriter) sampling() {
	s := &w.c.Sampling
	if !w.c.HasExtra(rewrite.Completions, "max_tokens") {
		name := "max_completion_tokens"
		if w.habits.OlderBound {
			name = "max_tokens"
		}
		w.Value(name, s.MaxTokens)
	}
	w.Value("temperature", s.Temperature)
	w.Value("top_p", s.TopP)
	w.Value("seed", s.Seed)
	w.Value("presence_penalty", s.PresencePenalty)
	w.Value("frequency_penalty", s.FrequencyPenalty)
	w.perReply()
	if len(s.Stop) > 0 {
		w.Name("stop")
		w.Open('[')
		for _, stop := range s.Stop {
			w.String(stop)
		}
		w.Close(']')
	}
	if len(s.TopK) > 0 && !w.c.HasExtra(rewrite.Completions, "top_k") {
		w.losses.Add("top_k", "no such member")
	}
}

// perReply writes how many replies are asked for, and how likely their words are:
// both have no place in a reply of another dialect.
func (w *requestWriter) perReply() {
	s := &w.c.Sampling
	if w.c.Dialect != rewrite.Completions {
		if len(s.Candidates) > 0 && string(s.Candidates) != "1" {
			w.losses.Add("candidates", "one reply is asked for")
		}
		if s.LogProbs == rewrite.On {
			w.losses.Add("logprobs", "likelihoods have no place in a translated reply")
		}
		if len(s.TopLogProbs) > 0 && string(s.TopLogProbs) != "0" {
			w.losses.Add("top_logprobs", "likelihoods have no place in a translated reply")
		}
		return
	}
	w.Value("n", s.Candidates)
	if s.LogProbs != rewrite.Unset {
		w.Name("logprobs")
		w.Bool(s.LogProbs == rewrite.On)
	} else if n, ok := splice.Int(s.TopLogProbs); ok && n > 0 {
		w.Literal(`"logprobs":true`)
	}
	w.Value("top_logprobs", s.TopLogProbs)
}

// thinking writes what is asked of the model's reasoning; a client of this
// dialect has said it in its own way.
func (w *requestWriter) thinking() {
	t := &w.c.Thinking
	if w.c.HasExtra(rewrite.Completions, "reasoning_effort") || w.c.HasExtra(rewrite.Completions, "reasoning") || w.c.HasExtra(rewrite.Completions, "thinking") {
		return
	}
	effort := t.Effort
	switch {
	case t.Mode == rewrite.Off:
		effort = "none"
	case effort == "" && len(t.Budget) > 0:
		effort = rewrite.EffortFor(t.Budget)
		w.losses.Add("thinking.budget", "sent as effort "+effort)
	}
	w.Text("reasoning_effort", effort)
}

// format writes the form that the answer must have.
func (w *requestWriter) format() {
	f := &w.c.Format
	switch f.Kind {
	case "json":
		w.Literal(`"response_format":{"type":"json_object"}`)
	case "schema":
		w.Literal(`"response_format":{"type":"json_schema"`)
		w.Name("json_schema")
		w.Open('{')
		name := f.Name
		if name == "" {
			name = "answer"
		}
		w.Text("name", name)
		w.Text("description", f.Description)
		w.Value("schema", f.Schema)
		if f.Strict != rewrite.Unset {
			w.Name("strict")
			w.Bool(f.Strict == rewrite.On)
		}
		w.Close('}')
		w.Close('}')
	}
	w.Text("verbosity", f.Verbosity)
}

// account writes on whose behalf the request is made, and what is to be kept of
// it.
func (w *requestWriter) account() {
	c := w.c
	family := c.Dialect == rewrite.Responses || c.Dialect == rewrite.Completions
	if c.CacheKey != "" && w.habits.CacheKey && c.Dialect != rewrite.Completions {
		w.Text("prompt_cache_key", identifier(c.CacheKey))
	}
	if c.User != "" && !w.c.HasExtra(rewrite.Completions, "safety_identifier") && !w.c.HasExtra(rewrite.Completions, "user") {
		w.Text("user", identifier(c.User))
	}
	if family {
		w.Value("metadata", c.Metadata)
		w.Text("service_tier", c.ServiceTier)
	} else {
		if len(c.Metadata) > 0 && c.User == "" {
			w.losses.Add("metadata", "the dialect has another form of it")
		}
		if c.ServiceTier != "" && c.ServiceTier != "auto" {
			w.losses.Add("service_tier", "the dialect has other tiers")
		}
	}
	switch {
	case c.Dialect == rewrite.Completions && c.Store != rewrite.Unset:
		w.Name("store")
		w.Bool(c.Store == rewrite.On)
	case c.Store == rewrite.On:
		w.losses.Add("store", "nothing is kept")
	}
	if c.Previous != "" {
		w.losses.Add("previous_response_id", "the dialect has no stored history")
	}
}

// longestIdentifier is how many characters a name of the end user may have.
const longestIdentifier = 128

// identifier is a name of the end user that is not too long, and always the same
// for the same user.
func identifier(user string) string {
	if len(user) <= longestIdentifier {
		return user
	}
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:])
}

// extra writes the members that only this dialect knows.
func (w *requestWriter) extra() {
	for i := range w.c.Extra {
		if m := &w.c.Extra[i]; w.c.Dialect == rewrite.Completions {
			w.Value(m.Name, m.Value)
		} else if !m.Said {
			w.losses.Add(m.Name, "no such member")
		}
	}
}
