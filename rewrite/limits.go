package rewrite

// Limits is what a model refuses of what its dialect can say. The zero Limits
// refuses nothing.
type Limits struct {
	// MostTokens is the highest bound on a reply, and UsualTokens the bound that a
	// request without one is sent with; zero is none.
	MostTokens, UsualTokens int64
	// Reasons is whether the model reasons, and Asked how it is asked to: by
	// effort, by budget, or empty for either.
	Reasons Reasoning
	Asked   string
	// Efforts are the words that it knows; nil is all of them.
	Efforts []string
	// LeastBudget and MostBudget bound the tokens of its reasoning; zero is none.
	// Within says that these count as part of the reply's.
	LeastBudget, MostBudget int64
	Within                  bool
	// NamesJSON says that JSON of any form is given only if the prompt speaks of it.
	NamesJSON bool
	// Resumes says that a model which reasons by a budget goes on from results of
	// tools only where it has begun with reasoning of its own.
	Resumes bool
	// Refused are settings that the model does not take, and RefusedReasoning
	// those that it does not take while it is asked to reason: temperature, top_p,
	// top_k, both (temperature and top_p at once), stop, presence_penalty,
	// frequency_penalty, logprobs, top_logprobs, forced (a choice of tools that
	// leaves no choice), mixed (tools of the provider's own beside others), prefill
	// (a reply that is begun already), json and schema.
	Refused, RefusedReasoning []string
}

// Reasoning is whether a model reasons before it answers.
type Reasoning uint8

// The ways to reason. ReasoningUnknown lets everything through.
const (
	ReasoningUnknown Reasoning = iota
	ReasoningNever
	ReasoningIfAsked
	ReasoningAlways
)
