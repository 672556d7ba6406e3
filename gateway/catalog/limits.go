package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"warmpath/rewrite"
)

//go:embed limits.yaml
var limitsYAML []byte

// limit is a row of what some models refuse.
type limit struct {
	Starts  []string `yaml:"starts"`
	Reasons string   `yaml:"reasons"`
	Asked   string   `yaml:"asked"`
	Efforts []string `yaml:"efforts"`
	Budget  struct {
		Least int64 `yaml:"least"`
		Most  int64 `yaml:"most"`
	} `yaml:"budget"`
	Most             int64    `yaml:"most"`
	Refused          []string `yaml:"refused"`
	RefusedReasoning []string `yaml:"refused_reasoning"`
}

// reasoningWords are what may stand for how a model reasons.
var reasoningWords = map[string]rewrite.Reasoning{
	"": rewrite.ReasoningUnknown, "never": rewrite.ReasoningNever, "asked": rewrite.ReasoningIfAsked, "always": rewrite.ReasoningAlways,
}

// limits are the rows by the group of their dialect.
var limits = sync.OnceValue(func() map[string][]limit {
	var rows map[string][]limit
	if err := yaml.UnmarshalWithOptions(limitsYAML, &rows, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("BUG: limits.yaml: %v", err))
	}
	return rows
})

// usualBound is what the Messages codec asks for where a client has given no
// bound.
const usualBound = 32000

func (r *limit) compiled(group string) *rewrite.Limits {
	l := &rewrite.Limits{
		MostTokens: r.Most, Reasons: reasoningWords[r.Reasons], Asked: r.Asked, Efforts: r.Efforts,
		LeastBudget: r.Budget.Least, MostBudget: r.Budget.Most, Refused: r.Refused, RefusedReasoning: r.RefusedReasoning,
	}
	if group == "messages" {
		l.Within, l.Resumes = true, true
		if r.Most > 0 && r.Most < usualBound {
			l.UsualTokens = r.Most
		}
	}
	return l
}

// limitGroups are the groups of rows by dialect.
var limitGroups = map[rewrite.Dialect]string{
	rewrite.Messages: "messages", rewrite.Converse: "messages",
	rewrite.Completions: "openai", rewrite.Responses: "openai", rewrite.Gemini: "gemini",
}

// Limits is what a model that is spoken to in a dialect refuses, by any name that
// providers have for it; none are known of a model that is not listed.
func Limits(d rewrite.Dialect, model string) *rewrite.Limits {
	group := limitGroups[d]
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	name = strings.TrimPrefix(plain(name), "ft:")
	var found *limit
	longest := 0
	rows := limits()[group]
	for i := range rows {
		for _, start := range rows[i].Starts {
			if len(start) > longest && strings.HasPrefix(name, start) {
				found, longest = &rows[i], len(start)
			}
		}
	}
	l := &rewrite.Limits{}
	if found != nil {
		l = found.compiled(group)
	}
	l.NamesJSON = group == "openai"
	if d == rewrite.Converse {
		// A conversation has to end with the user's turn here, whatever the model.
		l.Refused = append(slices.Clip(l.Refused), "prefill")
	}
	return l
}
