package prompt

import "strings"

// Policy decides a prompt where nobody can be asked. The zero Policy says nothing.
type Policy uint8

// The policies.
const (
	// Unset leaves the decision to the next level.
	Unset Policy = iota
	// Auto runs and delivers, and has the model answer questions.
	Auto
	// Defaults answers questions by their defaults, and refuses all else.
	Defaults
	// Deny refuses.
	Deny
)

var policyWords = map[string]Policy{"auto": Auto, "defaults": Defaults, "deny": Deny}

// ParsePolicy reads a policy as the configuration has it.
func ParsePolicy(word string) (Policy, bool) {
	p, ok := policyWords[word]
	return p, ok
}

// String is the policy's word in the configuration.
func (p Policy) String() string { return [...]string{"", "auto", "defaults", "deny"}[p] }

// Detached is what is said of prompts that nobody can answer, for one tool or for
// all of them: Each by kind, All for the kinds that Each leaves unset.
type Detached struct {
	All  Policy
	Each [3]Policy // by Kind
}

// Verdict is what a policy makes of a prompt.
type Verdict uint8

// The verdicts.
const (
	// Refuse fails the call, which tells the model why.
	Refuse Verdict = iota
	// Approve runs the tool or delivers its result.
	Approve
	// UseDefaults answers a question by its defaults.
	UseDefaults
	// AskModel lets the model answer a question.
	AskModel
)

// Decide is the verdict on a prompt. That only a person may answer keeps the model
// from answering; it does not keep the operator from having given leave before.
func (p Policy) Decide(about Prompt) Verdict {
	asks := about.Kind() == Question
	switch p {
	case Auto:
		switch {
		case !asks:
			return Approve
		case !about.HumanOnly():
			return AskModel
		}
	case Defaults:
		if _, ok := defaults(about); ok && asks {
			return UseDefaults
		}
	case Unset, Deny:
	}
	return Refuse
}

// RunMode is whether a tool is asked about before it runs.
type RunMode uint8

// The modes of running. The zero RunMode says nothing.
const (
	RunUnset RunMode = iota
	// RunAsk asks, RunEdit asks and lets the arguments be changed, RunUnattended asks
	// nobody, and RunSkip runs nothing.
	RunAsk
	RunEdit
	RunUnattended
	RunSkip
)

var runWords = map[string]RunMode{"ask": RunAsk, "edit": RunEdit, "unattended": RunUnattended, "skip": RunSkip}

// ParseRunMode reads a mode as the configuration has it.
func ParseRunMode(word string) (RunMode, bool) {
	m, ok := runWords[word]
	return m, ok
}

// String is the mode's word in the configuration.
func (m RunMode) String() string { return [...]string{"", "ask", "edit", "unattended", "skip"}[m] }

// Target is who answers the questions of a tool where somebody is there.
type Target uint8

// The targets. The zero Target says nothing.
const (
	TargetUnset Target = iota
	// ToUser asks people, ToAssistant has the model answer what is not for people
	// only.
	ToUser
	ToAssistant
)

var targetWords = map[string]Target{"user": ToUser, "assistant": ToAssistant}

// ParseTarget reads a target as the configuration has it.
func ParseTarget(word string) (Target, bool) {
	t, ok := targetWords[word]
	return t, ok
}

// String is the target's word in the configuration.
func (t Target) String() string { return [...]string{"", "user", "assistant"}[t] }

// Rule is what is said of the prompts of a tool, or of those of all tools.
type Rule struct {
	// Run is the mode before a tool runs, and Deliver the same for its result.
	Run, Deliver RunMode
	// Target is who answers its questions.
	Target Target
	// HumanOnly keeps the model from answering its questions, whoever is there.
	HumanOnly bool
	// Detached decides where nobody can be asked.
	Detached Detached
}

// Policies are the rules of all tools. They must not be changed once they are used.
type Policies struct {
	Default Rule
	// Tools are rules by the names of tools; a * at the end of one is any rest.
	Tools map[string]Rule
}

// of is the rule of a tool and the name that it stands under: of the one that is
// equal, else of the longest that the tool begins with.
func (p *Policies) of(tool string) (rule Rule, name string, ok bool) {
	if rule, ok = p.Tools[tool]; ok {
		return rule, tool, true
	}
	for pattern, candidate := range p.Tools {
		begin, open := strings.CutSuffix(pattern, "*")
		if open && strings.HasPrefix(tool, begin) && len(pattern) > len(name) {
			rule, name, ok = candidate, pattern, true
		}
	}
	return rule, name, ok
}

// Detached is the policy for a prompt of a tool that nobody can answer, and the
// setting that says so: the first of the tool's own for the kind, the tool's own for
// all kinds, the default for the kind, the default for all kinds; else deny.
func (p *Policies) Detached(tool string, kind Kind) (policy Policy, setting string) {
	if rule, name, ok := p.of(tool); ok {
		at := "prompts.tools." + name + ".detached"
		if policy = rule.Detached.Each[kind]; policy != Unset {
			return policy, at + "." + kind.Key()
		}
		if policy = rule.Detached.All; policy != Unset {
			return policy, at
		}
	}
	const at = "prompts.detached"
	if policy = p.Default.Detached.Each[kind]; policy != Unset {
		return policy, at + "." + kind.Key()
	}
	if policy = p.Default.Detached.All; policy != Unset {
		return policy, at
	}
	return Deny, at
}

// Run is the mode in which a tool runs: its own, else the default, else RunAsk.
func (p *Policies) Run(tool string) RunMode {
	rule, _, _ := p.of(tool)
	return firstOf(rule.Run, p.Default.Run, RunAsk)
}

// Deliver is the mode in which the result of a tool is delivered: its own, else the
// default, else RunUnattended.
func (p *Policies) Deliver(tool string) RunMode {
	rule, _, _ := p.of(tool)
	return firstOf(rule.Deliver, p.Default.Deliver, RunUnattended)
}

// Target is who answers the questions of a tool: its own, else the default, else
// ToUser.
func (p *Policies) Target(tool string) Target {
	rule, _, _ := p.of(tool)
	return firstOf(rule.Target, p.Default.Target, ToUser)
}

// HumanOnly reports whether the configuration keeps a tool's questions for people.
func (p *Policies) HumanOnly(tool string) bool {
	rule, _, _ := p.of(tool)
	return rule.HumanOnly || p.Default.HumanOnly
}

// firstOf is the first that says something, else the last.
func firstOf[T ~uint8](values ...T) T {
	for _, value := range values {
		if value != 0 {
			return value
		}
	}
	return 0
}
