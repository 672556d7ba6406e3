package gemini

import (
	"strings"

	"warmpath/rewrite"
)

// generation writes the settings.
func (rw *requestWriter) generation() {
	s, w := &rw.c.Sampling, &rw.w
	size := w.Size()
	w.Name(generationConfig)
	w.Open('{')
	empty := w.Size()
	w.Value("maxOutputTokens", s.MaxTokens)
	w.Value("temperature", s.Temperature)
	w.Value("topP", s.TopP)
	w.Value("topK", s.TopK)
	w.Value("seed", s.Seed)
	w.Value("presencePenalty", s.PresencePenalty)
	w.Value("frequencyPenalty", s.FrequencyPenalty)
	if len(s.Candidates) > 0 && string(s.Candidates) != "1" && !rw.own {
		rw.lose("candidates", "one reply is asked for")
	} else {
		w.Value("candidateCount", s.Candidates)
	}
	rw.likelihoods()
	if len(s.Stop) > 0 {
		w.Name("stopSequences")
		writeStrings(w, s.Stop)
	}
	rw.thinking()
	rw.format()
	if rw.own {
		for _, m := range rw.c.Extra {
			if name, ok := strings.CutPrefix(m.Name, generationConfig+"."); ok {
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

// likelihoods asks how likely the words of a reply are, which one of another
// dialect cannot show.
func (rw *requestWriter) likelihoods() {
	s, w := &rw.c.Sampling, &rw.w
	if !rw.own {
		if s.LogProbs == rewrite.On {
			rw.lose("logprobs", "likelihoods have no place in a translated reply")
		}
		if len(s.TopLogProbs) > 0 && string(s.TopLogProbs) != "0" {
			rw.lose("top_logprobs", "likelihoods have no place in a translated reply")
		}
		return
	}
	if s.LogProbs != rewrite.Unset {
		w.Name("responseLogprobs")
		w.Bool(s.LogProbs == rewrite.On)
	}
	w.Value("logprobs", s.TopLogProbs)
}

// format writes the form that the answer must have.
func (rw *requestWriter) format() {
	f, w := &rw.c.Format, &rw.w
	if f.Kind == "" || f.Kind == "text" {
		return
	}
	w.Text("responseMimeType", "application/json")
	for _, m := range rw.c.Extra {
		if rw.own && m.Name == generationConfig+".responseSchema" {
			return
		}
	}
	if f.Kind == "schema" {
		w.Value("responseJsonSchema", f.Schema)
	}
}

// thinking writes what is asked of the model's reasoning. There are fewer levels
// here than elsewhere.
func (rw *requestWriter) thinking() {
	t, w := &rw.c.Thinking, &rw.w
	if t.Extra.For(rw.provider, rewrite.Gemini) {
		w.Value("thinkingConfig", t.Extra.Value)
		return
	}
	size := w.Size()
	w.Name("thinkingConfig")
	w.Open('{')
	empty := w.Size()
	off := t.Mode == rewrite.Off || t.Effort == "none"
	asked := !off && (t.Mode == rewrite.On || t.Effort != "" || len(t.Budget) > 0)
	switch {
	case t.Summary != "":
		w.Name("includeThoughts")
		w.Bool(t.Summary != "none")
	case asked && rw.c.Dialect == rewrite.Completions:
		w.Literal(`"includeThoughts":true`) // its clients show what comes, and cannot ask for it
	}
	switch {
	case off:
		w.Name("thinkingBudget")
		w.Int(0)
	case t.Effort != "":
		level := t.Effort
		if level == "xhigh" || level == "max" {
			rw.lose("effort", level+" is high here")
			level = "high"
		}
		w.Text("thinkingLevel", strings.ToUpper(level))
	default:
		w.Value("thinkingBudget", t.Budget)
	}
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	w.Close('}')
}
