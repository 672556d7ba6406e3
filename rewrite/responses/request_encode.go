package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// EncodeRequest writes a conversation as a request to provider. Its own payloads
// go there byte for byte, everything else by what all dialects share; losses
// gets what cannot be said. The same conversation gives the same bytes. It fails
// for a payload of provider's that is no JSON.
//
// Cache breakpoints are written for clients of this vendor's dialects only: they
// are an error on older models, and the newer ones cache without them.
func EncodeRequest(c *rewrite.Conversation, provider string, losses *rewrite.Losses) ([]byte, error) {
	w := requestWriter{c: c, provider: provider, losses: losses}
	w.marks = c.Dialect == rewrite.Responses || c.Dialect == rewrite.Completions
	w.Grow(c.Volume())
	w.Open('{')
	w.Name("model")
	w.String(c.Model)
	w.instructions()
	w.input()
	w.tools()
	w.choice()
	w.calls()
	if c.Parallel != rewrite.Unset {
		w.Name("parallel_tool_calls")
		w.Bool(c.Parallel == rewrite.On)
	}
	w.sampling()
	w.thinking()
	w.text()
	w.account()
	if c.Stream {
		w.Literal(`"stream":true`)
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
	c        *rewrite.Conversation
	provider string
	losses   *rewrite.Losses
	// marks says that cache breakpoints are written.
	marks bool
	// custom are the calls that were made with free text.
	custom map[string]bool
	// added and removed are the tools that directives have changed.
	added, removed map[string]bool
	// broken is what is wrong with a payload of the provider's.
	broken error
}

// instructions writes the section that the client has sent as such. The others
// begin the input, where they are cached on all models.
func (w *requestWriter) instructions() {
	for i := range w.c.System {
		if raw := w.asInstructions(&w.c.System[i]); raw != nil {
			w.Value("instructions", raw)
			return
		}
	}
}

func (w *requestWriter) asInstructions(part *rewrite.Part) []byte {
	if part.Payload.Format != formats+"instructions" {
		return nil
	}
	return w.native(&part.Payload)
}

// native is the value of a payload that the provider gets byte for byte, in place
// of whatever else is known; nil if it is another's.
func (w *requestWriter) native(p *rewrite.Payload) []byte {
	if !p.For(w.provider, rewrite.Responses) {
		return nil
	}
	if err := splice.Valid(p.Value); err != nil {
		w.broken = err
	}
	return p.Value
}

// sampling writes how tokens are chosen.
func (w *requestWriter) sampling() {
	s := &w.c.Sampling
	if most, ok := splice.Int(s.MaxTokens); ok && most < 16 && w.c.Dialect != rewrite.Responses {
		w.losses.Add("max_tokens", "raised to 16, the least that the dialect allows")
		w.Literal(`"max_output_tokens":16`)
	} else {
		w.Value("max_output_tokens", s.MaxTokens)
	}
	w.Value("temperature", s.Temperature)
	w.Value("top_p", s.TopP)
	if w.c.Dialect == rewrite.Responses {
		w.Value("top_logprobs", s.TopLogProbs)
		w.Value("presence_penalty", s.PresencePenalty)
		w.Value("frequency_penalty", s.FrequencyPenalty)
	} else {
		w.unlikely()
		w.lost("presence_penalty", len(s.PresencePenalty) > 0)
		w.lost("frequency_penalty", len(s.FrequencyPenalty) > 0)
	}
	w.lost("top_k", len(s.TopK) > 0)
	w.lost("seed", len(s.Seed) > 0)
	w.lost("stop", len(s.Stop) > 0)
	w.lost("candidates", len(s.Candidates) > 0 && string(s.Candidates) != "1")
}

// unlikely notes what a reply of another dialect cannot show.
func (w *requestWriter) unlikely() {
	s := &w.c.Sampling
	if s.LogProbs == rewrite.On {
		w.losses.Add("logprobs", "likelihoods have no place in a translated reply")
	}
	if len(s.TopLogProbs) > 0 && string(s.TopLogProbs) != "0" {
		w.losses.Add("top_logprobs", "likelihoods have no place in a translated reply")
	}
}

// lost notes a setting that the dialect does not have.
func (w *requestWriter) lost(name string, is bool) {
	if is {
		w.losses.Add(name, "no such member")
	}
}

// thinking writes what is asked of the model's reasoning.
func (w *requestWriter) thinking() {
	t := &w.c.Thinking
	if raw := w.native(&t.Extra); raw != nil {
		w.Value("reasoning", raw)
		return
	}
	effort, summary := t.Effort, t.Summary
	switch {
	case t.Mode == rewrite.Off:
		effort = "none"
	case effort == "" && len(t.Budget) > 0:
		effort = rewrite.EffortFor(t.Budget)
		w.losses.Add("thinking.budget", "sent as effort "+effort)
	}
	if summary == "none" {
		summary = ""
	}
	if effort == "" && summary == "" {
		return
	}
	w.Name("reasoning")
	w.Open('{')
	w.Text("effort", effort)
	w.Text("summary", summary)
	w.Close('}')
}

// text writes the form that the answer must have.
func (w *requestWriter) text() {
	f := &w.c.Format
	if f.Kind == "" && f.Verbosity == "" {
		return
	}
	w.Name("text")
	w.Open('{')
	switch f.Kind {
	case "json":
		w.Literal(`"format":{"type":"json_object"}`)
	case "text":
		w.Literal(`"format":{"type":"text"}`)
	case "schema":
		w.Literal(`"format":{"type":"json_schema"`)
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
	}
	w.Text("verbosity", f.Verbosity)
	w.Close('}')
}

// account writes on whose behalf the request is made, and what is to be kept of
// it. Clients of other dialects have not asked for their replies to be stored,
// which is what happens here unless it is forbidden; the reasoning then has to
// come along.
func (w *requestWriter) account() {
	c := w.c
	if c.CacheKey != "" && c.Dialect != rewrite.Responses {
		w.Text("prompt_cache_key", identifier(c.CacheKey))
	}
	if c.User != "" && !w.c.HasExtra(rewrite.Responses, "safety_identifier") && !w.c.HasExtra(rewrite.Responses, "user") {
		w.Text("safety_identifier", identifier(c.User))
	}
	if c.Dialect == rewrite.Responses || c.Dialect == rewrite.Completions {
		w.Value("metadata", c.Metadata)
	} else {
		w.lost("metadata", len(c.Metadata) > 0 && c.User == "")
	}
	if w.sameFamily() {
		w.Text("service_tier", c.ServiceTier)
	} else {
		w.lost("service_tier", c.ServiceTier != "" && c.ServiceTier != "auto")
	}
	store := c.Store
	if store == rewrite.Unset && c.Dialect != rewrite.Responses {
		store = rewrite.Off
	}
	if store != rewrite.Unset {
		w.Name("store")
		w.Bool(store == rewrite.On)
	}
	w.Text("previous_response_id", c.Previous)
	if c.Dialect == rewrite.Responses {
		return
	}
	w.include(store == rewrite.Off && c.Thinking.Mode != rewrite.Off && (c.Thinking.Mode == rewrite.On || c.Thinking.Effort != ""))
}

// sameFamily says that the client speaks one of this vendor's dialects.
func (w *requestWriter) sameFamily() bool {
	return w.c.Dialect == rewrite.Responses || w.c.Dialect == rewrite.Completions
}

// include asks for what a reply leaves out unless it is asked for.
func (w *requestWriter) include(reasoning bool) {
	searches := slices.ContainsFunc(w.c.Tools, func(t rewrite.Tool) bool { return t.Kind == rewrite.ToolHosted && t.Capability == "web_search" })
	if !reasoning && !searches {
		return
	}
	w.Name("include")
	w.Open('[')
	if reasoning {
		w.String("reasoning.encrypted_content")
	}
	if searches {
		w.String("web_search_call.action.sources")
	}
	w.Close(']')
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
		if m := &w.c.Extra[i]; w.c.Dialect == rewrite.Responses {
			w.Value(m.Name, m.Value)
		} else if !m.Said {
			w.losses.Add(m.Name, "no such member")
		}
	}
}
