package converse

import (
	"slices"
	"strconv"
	"strings"

	"warmpath/rewrite"
)

// settings writes what stands beside the prompt.
func (rw *requestWriter) settings() {
	thinks := rw.thinks()
	rw.object("inferenceConfig", func() { rw.inference(thinks) })
	rw.object("additionalModelRequestFields", func() { rw.vendor(thinks) })
	if rw.family == familyClaude && len(rw.c.Sampling.Stop) > 0 {
		// Which sequence was met is told only to who asks.
		rw.w.Literal(`"additionalModelResponseFieldPaths":["/stop_sequence","/delta/stop_sequence"]`)
	}
	rw.object("outputConfig", rw.output)
	rw.tier()
	rw.metadata()
	rw.lost()
}

// inference writes how tokens are chosen. The range is narrower than in other
// dialects, and there is none where the model thinks.
func (rw *requestWriter) inference(thinks bool) {
	s, w := &rw.c.Sampling, &rw.w
	w.Value("maxTokens", s.MaxTokens)
	temperature := s.Temperature
	if len(temperature) > 0 {
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
	w.Value("topP", s.TopP)
	rw.list("stopSequences", func() {
		for _, word := range s.Stop {
			if strings.TrimSpace(word) == "" && rw.family == familyClaude {
				rw.lose("stop", "a stop sequence of white space")
				continue
			}
			w.String(word)
		}
	})
}

// thinks reports whether the model was asked to reason.
func (rw *requestWriter) thinks() bool {
	t := &rw.c.Thinking
	return rw.family == familyClaude && t.Mode != rewrite.Off && t.Effort != "none" &&
		(t.Mode == rewrite.On || len(t.Budget) > 0 || t.Effort != "" || t.Summary != "")
}

// vendor writes what only the model's own vendor has a member for.
func (rw *requestWriter) vendor(thinks bool) {
	c, w := rw.c, &rw.w
	switch rw.family {
	case familyClaude:
		rw.thinking(thinks)
		w.Value("top_k", c.Sampling.TopK)
		return
	case familyNova:
		if k := c.Sampling.TopK; len(k) > 0 {
			w.Name("inferenceConfig")
			w.Open('{')
			w.Value("topK", k)
			w.Close('}')
		}
	case familyOther:
		if len(c.Sampling.TopK) > 0 {
			rw.lose("top_k", "no such member")
		}
	}
	if t := &c.Thinking; t.Mode == rewrite.On || len(t.Budget) > 0 {
		rw.lose("thinking", "how this model reasons is asked for by its effort only")
	}
}

// thinking writes what is asked of the model's reasoning.
func (rw *requestWriter) thinking(thinks bool) {
	t, w := &rw.c.Thinking, &rw.w
	if t.Extra.For(rw.provider, rewrite.Messages) {
		// It is the vendor's own object in either dialect.
		w.Value("thinking", t.Extra.Value)
		return
	}
	if !thinks {
		if t.Mode == rewrite.Off || t.Effort == "none" {
			w.Name("thinking")
			w.Literal(`{"type":"disabled"}`)
		}
		return
	}
	w.Name("thinking")
	w.Open('{')
	if len(t.Budget) > 0 && t.Effort == "" {
		w.Text("type", "enabled")
		w.Value("budget_tokens", t.Budget)
	} else {
		w.Text("type", "adaptive")
	}
	switch t.Summary {
	case "":
	case "none":
		w.Text("display", "omitted")
	default:
		w.Text("display", "summarized")
	}
	w.Close('}')
}

// output writes effort and format.
func (rw *requestWriter) output() {
	c, w := rw.c, &rw.w
	switch c.Thinking.Effort {
	case "", "none":
	case "minimal":
		w.Text("effort", "low")
		rw.lose("effort", "minimal is low here")
	default:
		w.Text("effort", c.Thinking.Effort)
	}
	switch f := &c.Format; {
	case f.Kind == "schema" && len(f.Schema) > 0:
		w.Name("textFormat")
		w.Open('{')
		w.Text("type", "json_schema")
		w.Name("structure")
		w.Open('{')
		w.Name("jsonSchema")
		w.Open('{')
		w.Text("name", f.Name)
		w.Text("description", f.Description)
		w.Name("schema")
		w.Bytestring(f.Schema) // a schema is a text here
		w.Close('}')
		w.Close('}')
		w.Close('}')
	case f.Kind == "json", f.Kind == "schema":
		rw.lose("format", "only a schema can be asked for")
	}
	if c.Format.Verbosity != "" {
		rw.lose("format.verbosity", "no such member")
	}
}

// tier writes the service tier in this dialect's words.
func (rw *requestWriter) tier() {
	tier := rw.c.ServiceTier
	switch tier {
	case "", "auto":
		return
	case "standard_only":
		tier = "default"
	case "default", "priority", "flex", "reserved":
	default:
		rw.lose("service_tier", "no such tier")
		return
	}
	rw.w.Name("serviceTier")
	rw.w.Open('{')
	rw.w.Text("type", tier)
	rw.w.Close('}')
}

// lost notes the members that this dialect has no word for.
func (rw *requestWriter) lost() {
	c := rw.c
	for _, lost := range []struct {
		name string
		said bool
	}{
		{"seed", len(c.Sampling.Seed) > 0},
		{"presence_penalty", len(c.Sampling.PresencePenalty) > 0},
		{"frequency_penalty", len(c.Sampling.FrequencyPenalty) > 0},
		{"logprobs", c.Sampling.LogProbs == rewrite.On},
		{"top_logprobs", len(c.Sampling.TopLogProbs) > 0},
	} {
		if lost.said {
			rw.lose(lost.name, "no such member")
		}
	}
	if n := c.Sampling.Candidates; len(n) > 0 && string(n) != "1" {
		rw.lose("candidates", "there is one reply to a request")
	}
	if c.Store == rewrite.On {
		rw.lose("store", "replies are not kept")
	}
	if c.Parallel == rewrite.Off {
		rw.lose("parallel", "the model decides how many calls it makes")
	}
	for _, m := range c.Extra {
		if !m.Said && !rw.automatic(m.Name) {
			rw.lose(m.Name, "no such member")
		}
	}
}

// automatic reports a member that asks for a mark at the end of the prompt.
func (rw *requestWriter) automatic(name string) bool {
	return rw.c.Dialect == rewrite.Messages && name == "cache_control"
}

// marksEnd reports whether the end of the prompt is to be marked.
func (rw *requestWriter) marksEnd() bool {
	return slices.ContainsFunc(rw.c.Extra, func(m rewrite.Member) bool { return rw.automatic(m.Name) })
}
