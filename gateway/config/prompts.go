package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"warmpath/gateway/prompt"
)

// promptSchema is what is said of prompts besides the settings: for all tools, and
// for each by its name.
func promptSchema() map[string]*schema {
	rule := func() map[string]*schema {
		return map[string]*schema{
			"run": scalar, "deliver": scalar, "target": scalar, "human_only": scalar,
			"detached": {fields: map[string]*schema{"all": scalar, "run": scalar, "deliver": scalar, "tool": scalar}, loose: true},
		}
	}
	fields := rule()
	fields["tools"] = &schema{each: &schema{fields: rule()}}
	return fields
}

// prompts reads the rules for prompts.
func (l *loader) prompts() (p prompt.Policies) {
	p.Default, p.Tools = l.rule("prompts"), map[string]prompt.Rule{}
	p.Default.Run = cmp.Or(p.Default.Run, prompt.RunAsk)
	p.Default.Deliver = cmp.Or(p.Default.Deliver, prompt.RunUnattended)
	p.Default.Target = cmp.Or(p.Default.Target, prompt.ToUser)
	p.Default.Detached.All = cmp.Or(p.Default.Detached.All, prompt.Deny)
	if all := l.root.at("prompts", "tools"); all != nil {
		for name, e := range all.children {
			if strings.Contains(strings.TrimSuffix(name, "*"), "*") {
				l.problem(l.inFile(e), "prompts.tools."+shown(name), "is not a name; write that of a tool, or the beginning of one and a *")
				continue
			}
			p.Tools[name] = l.rule("prompts", "tools", name)
		}
	}
	return p
}

// rule reads what is said of the prompts of one tool or of all.
func (l *loader) rule(path ...string) (r prompt.Rule) {
	oneOf(l, &r.Run, prompt.ParseRunMode, "ask, edit, unattended or skip", append(path, "run"))
	oneOf(l, &r.Deliver, prompt.ParseRunMode, "ask, edit, unattended or skip", append(path, "deliver"))
	oneOf(l, &r.Target, prompt.ParseTarget, "user or assistant", append(path, "target"))
	oneOf(l, &r.HumanOnly, parseTruth, "true or false", append(path, "human_only"))
	at := append(slices.Clone(path), "detached")
	const policies = "auto, defaults or deny"
	if e := l.root.at(at...); e != nil && e.children == nil {
		oneOf(l, &r.Detached.All, prompt.ParsePolicy, policies, at)
	}
	oneOf(l, &r.Detached.All, prompt.ParsePolicy, policies, append(slices.Clone(at), "all"))
	for _, kind := range prompt.Kinds {
		oneOf(l, &r.Detached.Each[kind], prompt.ParsePolicy, policies, append(slices.Clone(at), kind.Key()))
	}
	return r
}

func parseTruth(text string) (bool, bool) { return text == "true", text == "true" || text == "false" }

// oneOf reads one of a few words, if there is one.
func oneOf[T any](l *loader, into *T, parse func(string) (T, bool), words string, path []string) {
	e := l.root.at(path...)
	if e == nil {
		return
	}
	value, ok := parse(e.text)
	if !ok {
		l.problem(l.inFile(e), strings.Join(path, "."), "is "+quote(e.text)+"; write "+words)
		return
	}
	*into = value
}

// explainPrompts writes the rules as they are written in the file.
func explainPrompts(p *prompt.Policies) yaml.MapSlice {
	rule := explainRule(&p.Default)
	tools := yaml.MapSlice{}
	for _, name := range slices.Sorted(maps.Keys(p.Tools)) {
		own := p.Tools[name]
		tools = append(tools, item(name, explainRule(&own)))
	}
	return append(rule, item("tools", tools))
}

func explainRule(r *prompt.Rule) yaml.MapSlice {
	rule := yaml.MapSlice{}
	for _, row := range []struct{ name, text string }{{"run", r.Run.String()}, {"deliver", r.Deliver.String()}, {"target", r.Target.String()}} {
		if row.text != "" {
			rule = append(rule, item(row.name, row.text))
		}
	}
	if r.HumanOnly {
		rule = append(rule, item("human_only", true))
	}
	var detached yaml.MapSlice
	for _, kind := range prompt.Kinds {
		if policy := r.Detached.Each[kind]; policy != prompt.Unset {
			detached = append(detached, item(kind.Key(), policy.String()))
		}
	}
	switch all := r.Detached.All.String(); {
	case len(detached) > 0 && all != "":
		rule = append(rule, item("detached", append(yaml.MapSlice{item("all", all)}, detached...)))
	case len(detached) > 0:
		rule = append(rule, item("detached", detached))
	case all != "":
		rule = append(rule, item("detached", all))
	}
	return rule
}
