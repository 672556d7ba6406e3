package rewrite

import "slices"

// efforts are the words for how much a model reasons, in their order.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// budgets are how many tokens of reasoning come near an effort.
var budgets = map[string]int64{"minimal": 1024, "low": 4096, "medium": 16384, "high": 24576, "xhigh": 32768, "max": 32768}

// usualTokens is the bound that requests are sent with where the dialect needs one
// and the client has given none.
const usualTokens = 32000

// EffortFor is the effort that comes near a bound in tokens.
func EffortFor(budget JSON) string {
	switch n, _ := number(budget); {
	case n <= 4096:
		return "low"
	case n <= 16384:
		return "medium"
	}
	return "high"
}

// same says that two ask for the same, in whatever words.
func (t *Thinking) same(other *Thinking) bool {
	return t.Mode == other.Mode && t.Effort == other.Effort && t.Summary == other.Summary && string(t.Budget) == string(other.Budget)
}

// asked is whether the client wants no reasoning, or some.
func (f *fitting) asked() (off, on bool) {
	t := &f.Thinking
	off = t.Mode == Off || t.Effort == "none"
	return off, !off && (t.Mode == On || t.Effort != "" || len(t.Budget) > 0 || t.Summary != "" && t.Summary != "none")
}

// setting is by which member the client has asked.
func (f *fitting) setting() string {
	switch t := &f.Thinking; {
	case t.Effort != "":
		return "effort"
	case len(t.Budget) > 0:
		return "thinking.budget"
	}
	return "thinking"
}

// quiet asks for no reasoning, or for as little as there is.
func (f *fitting) quiet() {
	t := &f.Thinking
	*t = Thinking{Extra: t.Extra, Mode: Off}
	if f.l.Reasons != ReasoningAlways {
		return
	}
	switch t.Mode = Unset; {
	case f.l.Asked == "budget":
		t.Mode, t.Budget = On, digits(f.l.LeastBudget)
	case len(f.l.Efforts) > 0:
		t.Effort = f.l.Efforts[0]
	}
}

// reasoning asks the model for its reasoning in the way that it can be asked.
func (f *fitting) reasoning() {
	off, on := f.asked()
	t := &f.Thinking
	f.wrote = f.setting()
	switch {
	case f.l.Reasons == ReasoningUnknown || !off && !on:
		return
	case f.l.Reasons == ReasoningNever:
		if on {
			f.losses.Add(f.wrote, "this model does not reason")
		}
		*t = Thinking{Extra: t.Extra}
		return
	case off:
		if f.l.Reasons == ReasoningAlways {
			f.losses.Add(f.wrote, "this model always reasons")
		}
		f.quiet()
		return
	case f.l.Resumes && f.l.Asked == "budget" && f.foreign():
		f.losses.Add(f.wrote, "this model cannot go on from a call that another has made, and reason")
		f.quiet()
		return
	}
	switch f.l.Asked {
	case "effort":
		f.byEffort()
	case "budget":
		f.byBudget()
	}
	if len(t.Effort) > 0 && f.l.Efforts != nil && !slices.Contains(f.l.Efforts, t.Effort) {
		word := nearest(f.l.Efforts, t.Effort)
		f.losses.Add("effort", t.Effort+" is "+word+" here")
		t.Effort = word
	}
	f.bounded()
}

// nearest is the highest effort of some that is no more than another, or the
// lowest of them.
func nearest(some []string, effort string) string {
	for i := slices.Index(efforts, effort); i >= 0; i-- {
		if slices.Contains(some, efforts[i]) {
			return efforts[i]
		}
	}
	return some[0]
}

// byEffort turns a budget into an effort.
func (f *fitting) byEffort() {
	t := &f.Thinking
	if len(t.Budget) == 0 {
		return
	}
	if t.Effort == "" {
		t.Effort = EffortFor(t.Budget)
	}
	f.losses.Add("thinking.budget", "sent as effort "+t.Effort)
	t.Budget, t.Mode = nil, On
}

// byBudget turns an effort into a budget.
func (f *fitting) byBudget() {
	t := &f.Thinking
	switch {
	case len(t.Budget) > 0 && t.Effort != "":
		f.losses.Add("effort", "the budget counts")
	case len(t.Budget) == 0 && t.Effort != "":
		n := max(budgets[t.Effort], f.l.LeastBudget)
		if f.l.MostBudget > 0 {
			n = min(n, f.l.MostBudget)
		}
		t.Budget, f.guessed = digits(n), true
	case len(t.Budget) == 0:
		t.Budget = digits(max(budgets["low"], f.l.LeastBudget))
	}
	t.Effort, t.Mode = "", On
}

// bounded keeps a budget within what the model takes and the reply has room for.
func (f *fitting) bounded() {
	t := &f.Thinking
	budget, ok := number(t.Budget)
	if !ok {
		return
	}
	most, given := number(f.Sampling.MaxTokens)
	if !given {
		most = usualTokens
	}
	fits := max(budget, f.l.LeastBudget)
	if f.l.MostBudget > 0 {
		fits = min(fits, f.l.MostBudget)
	}
	if f.l.Within && fits >= most {
		fits = most / 2
	}
	switch {
	case fits < f.l.LeastBudget:
		f.losses.Add(f.wrote, "the reply has no room for reasoning")
		f.quiet()
	case fits != budget || f.guessed:
		t.Budget = digits(fits)
		f.losses.Add(f.wrote, "sent as a budget of "+string(t.Budget)+" tokens")
	}
}

// foreign says that the conversation goes on from results of calls which do not
// begin with reasoning that the provider has made itself.
func (f *fitting) foreign() bool {
	results := false
	for i := len(f.Items) - 1; i >= 0; i-- {
		item := &f.Items[i]
		switch {
		case item.Kind == ItemResult:
			results = true
		case item.Side() != RoleAssistant:
			if !results {
				return false
			}
		case !results:
			return false
		default:
			first := i
			for first > 0 && f.Items[first-1].Side() == RoleAssistant {
				first--
			}
			own := f.Items[first].Kind == ItemReasoning && f.Items[first].Payload.For(f.provider, Messages)
			return !own
		}
	}
	return false
}
