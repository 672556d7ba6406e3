package rewrite

import (
	"slices"
	"strconv"
	"strings"
)

// Fit takes from a conversation what its model would refuse, and says what is
// next to it where something is. The provider is whose own reasoning the model
// can read. What changes is noted in losses.
func (c *Conversation) Fit(l *Limits, provider string, losses *Losses) {
	f := fitting{Conversation: c, l: l, provider: provider, losses: losses}
	f.tokens()
	before := c.Thinking
	if f.reasoning(); !c.Thinking.same(&before) {
		c.Thinking.Extra = Payload{} // which says what was asked before
	}
	_, asked := f.asked()
	f.sampling(asked)
	f.choice(asked)
	f.hosted()
	f.format()
	f.begun(asked)
}

// fitting fits one conversation.
type fitting struct {
	*Conversation
	l        *Limits
	provider string
	losses   *Losses
	// wrote is the setting by which the client has asked for reasoning.
	wrote string
	// guessed says that an effort was turned into a budget, which is told.
	guessed bool
}

// refuses says that the model does not take a setting, and why.
func (f *fitting) refuses(setting string, asked bool) (why string, is bool) {
	if slices.Contains(f.l.Refused, setting) {
		return "this model does not take it", true
	}
	return "not while this model reasons", asked && slices.Contains(f.l.RefusedReasoning, setting)
}

// tokens bounds the reply.
func (f *fitting) tokens() {
	most := &f.Sampling.MaxTokens
	n, ok := number(*most)
	switch {
	case len(*most) == 0 && f.l.UsualTokens > 0:
		*most = digits(f.l.UsualTokens)
	case ok && f.l.MostTokens > 0 && n > f.l.MostTokens:
		*most = digits(f.l.MostTokens)
		f.losses.Add("max_tokens", "this model gives "+string(*most)+" at most")
	}
}

// sampling takes what the model has no use for. What says no more than its
// default is nothing to lose.
func (f *fitting) sampling(asked bool) {
	s := &f.Sampling
	if _, is := f.refuses("both", asked); is && len(s.Temperature) > 0 && len(s.TopP) > 0 {
		s.TopP = nil
		f.losses.Add("top_p", "this model does not take it beside a temperature")
	}
	for _, setting := range []struct {
		name  string
		value *JSON
		usual string
	}{
		{"temperature", &s.Temperature, "1"}, {"top_p", &s.TopP, "1"}, {"top_k", &s.TopK, ""},
		{"presence_penalty", &s.PresencePenalty, "0"}, {"frequency_penalty", &s.FrequencyPenalty, "0"},
		{"top_logprobs", &s.TopLogProbs, "0"},
	} {
		why, is := f.refuses(setting.name, asked)
		if !is || len(*setting.value) == 0 {
			continue
		}
		if got, err := strconv.ParseFloat(string(*setting.value), 64); err != nil || strconv.FormatFloat(got, 'g', -1, 64) != setting.usual {
			f.losses.Add(setting.name, why)
		}
		*setting.value = nil
	}
	if why, is := f.refuses("stop", asked); is && len(s.Stop) > 0 {
		s.Stop = nil
		f.losses.Add("stop", why)
	}
	if why, is := f.refuses("logprobs", asked); is && s.LogProbs != Unset {
		if s.LogProbs == On {
			f.losses.Add("logprobs", why)
		}
		s.LogProbs = Unset
	}
}

// choice leaves the model a choice of tools where it insists on one.
func (f *fitting) choice(asked bool) {
	choice := &f.Choice
	if choice.Mode != "any" && choice.Mode != "tool" {
		return
	}
	if why, is := f.refuses("forced", asked); is {
		choice.Mode, choice.Name, choice.Payload = "auto", "", Payload{}
		f.losses.Add("tool_choice", why+": sent as auto")
	}
}

// hosted leaves out the tools of the provider's own where the model does not take
// them beside functions.
func (f *fitting) hosted() {
	hosted, functions := 0, false
	for i := range f.Tools {
		if f.Tools[i].Kind == ToolHosted {
			hosted++
		} else {
			functions = true
		}
	}
	if _, is := f.refuses("mixed", false); !is || hosted == 0 || !functions {
		return
	}
	for i := range f.Tools {
		if f.Tools[i].Kind == ToolHosted {
			f.Tools[i].Capability = "" // nothing that the provider has is like it
		}
	}
}

// format asks in words for a form that the model cannot be held to.
func (f *fitting) format() {
	form := &f.Format
	if form.Kind == "schema" && len(form.Schema) == 0 {
		form.Kind = "json"
	}
	if form.Kind == "json" && f.l.NamesJSON && !f.speaksOfJSON() {
		f.losses.Add("format.json", "an instruction speaks of it, without which it is refused")
		f.System = append(slices.Clip(f.System), Part{Text: "Answer in JSON."})
	}
	if _, is := f.refuses(form.Kind, false); !is || form.Kind != "json" && form.Kind != "schema" {
		return
	}
	path, text := "format.json", "Answer with one JSON object and nothing else."
	if form.Kind == "schema" {
		path = "format"
		text = "Answer with one JSON value and nothing else. It has to be valid by this JSON Schema:\n" + string(form.Schema)
	}
	f.losses.Add(path, "told as an instruction")
	f.System = append(slices.Clip(f.System), Part{Text: text})
	form.Kind, form.Schema = "", nil
}

// speaksOfJSON reports whether the word stands in the prompt.
func (f *fitting) speaksOfJSON() bool {
	speaks := func(p Part) bool { return strings.Contains(strings.ToLower(p.Text), "json") }
	return slices.ContainsFunc(f.System, speaks) || slices.ContainsFunc(f.Items, func(i Item) bool {
		return i.Kind == ItemMessage && slices.ContainsFunc(i.Parts, speaks)
	})
}

// begun asks a model to go on where the client has begun its reply.
func (f *fitting) begun(asked bool) {
	last := len(f.Items) - 1
	if last < 0 || f.Items[last].Kind != ItemMessage || f.Items[last].Role != RoleAssistant {
		return
	}
	if _, is := f.refuses("prefill", asked); is {
		f.Items = append(slices.Clip(f.Items), Item{Parts: []Part{{Text: "Go on exactly where your message ends."}}})
		f.losses.Add("items."+strconv.Itoa(last), "this model begins its replies itself: asked to go on")
	}
}

// number is what digits say.
func number(j JSON) (int64, bool) {
	n, err := strconv.ParseInt(string(j), 10, 64)
	return n, err == nil
}

func digits(n int64) JSON { return strconv.AppendInt(nil, n, 10) }
