package prompt_test

import (
	"testing"

	"warmpath/gateway/prompt"
	"warmpath/gateway/question"
	"warmpath/rewrite"
)

var (
	confirm  = question.Question{Key: "q1", Kind: question.Confirm, Text: "Drop the tables?"}
	defaulty = question.Question{Key: "q1", Kind: question.Confirm, Text: "Drop the tables?", Default: rewrite.JSON("false")}
	password = question.Question{Key: "q1", Kind: question.Text, Text: "The password?", Secret: true}
	dev      = question.Question{Key: "q1", Kind: question.Text, Text: "The password?", Default: rewrite.JSON(`"dev"`), Secret: true}
)

func asks(humanOnly bool, questions ...question.Question) prompt.ToolQuestion {
	return prompt.NewToolQuestion("mcp__db__migrate", "mcp", questions, humanOnly)
}

func TestDerivedProperties(t *testing.T) {
	run := prompt.NewRunTool("mcp__db__migrate", "mcp", rewrite.JSON(`{}`))
	deliver := prompt.NewDeliverToolResult("mcp__db__migrate", "mcp", "done")
	for _, tc := range []struct {
		name      string
		prompt    prompt.Prompt
		kind, key string
		humanOnly bool
		questions int
	}{
		{"PR-01 PR-02 run", run, "run", "run", true, 0},
		{"PR-01 PR-02 deliver", deliver, "deliver", "deliver", true, 0},
		{"PR-01 PR-02 question", asks(false, confirm), "question", "tool", false, 1},
		{"PR-01 PR-02 question for people", asks(true, confirm, defaulty), "question", "tool", true, 2},
		{"PR-01 PR-02 question for a secret", asks(false, password), "question", "tool", true, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := tc.prompt
			if p.Kind().String() != tc.kind || p.Kind().Key() != tc.key || p.HumanOnly() != tc.humanOnly || len(p.Questions()) != tc.questions || p.Tool() != "mcp__db__migrate" {
				t.Errorf("kind %s, key %s, human only %t, %d questions, tool %s", p.Kind(), p.Kind().Key(), p.HumanOnly(), len(p.Questions()), p.Tool())
			}
		})
	}
}

func TestDecide(t *testing.T) {
	run := prompt.NewRunTool("t", "mcp", nil)
	deliver := prompt.NewDeliverToolResult("t", "mcp", "")
	prompts := []struct {
		name   string
		prompt prompt.Prompt
	}{
		{"run", run}, {"deliver", deliver}, {"question with default", asks(false, defaulty)}, {"question", asks(false, confirm)},
		{"question of two, one without default", asks(false, defaulty, confirm2)},
		{"OC-07 question for people", asks(true, confirm)}, {"people's question with default", asks(true, defaulty)}, {"secret with default", asks(false, dev)},
	}
	const refuse, approve, defaults, model = prompt.Refuse, prompt.Approve, prompt.UseDefaults, prompt.AskModel
	for policy, want := range map[prompt.Policy][]prompt.Verdict{
		prompt.Auto:     {approve, approve, model, model, model, refuse, refuse, refuse},
		prompt.Defaults: {refuse, refuse, defaults, refuse, refuse, refuse, defaults, defaults},
		prompt.Deny:     {refuse, refuse, refuse, refuse, refuse, refuse, refuse, refuse},
		prompt.Unset:    {refuse, refuse, refuse, refuse, refuse, refuse, refuse, refuse},
	} {
		for i, of := range prompts {
			t.Run("PR-04 "+policy.String()+" "+of.name, func(t *testing.T) {
				if got := policy.Decide(of.prompt); got != want[i] {
					t.Errorf("verdict %d, want %d", got, want[i])
				}
			})
		}
	}
}

var confirm2 = question.Question{Key: "q2", Kind: question.Confirm, Text: "And the views?"}

func TestDetachedLookup(t *testing.T) {
	all := prompt.Policies{
		Default: prompt.Rule{Detached: prompt.Detached{All: prompt.Auto, Each: [3]prompt.Policy{prompt.Deliver: prompt.Defaults}}},
		Tools: map[string]prompt.Rule{
			"mcp__db__migrate": {Detached: prompt.Detached{All: prompt.Deny, Each: [3]prompt.Policy{prompt.Question: prompt.Defaults}}},
			"mcp__db__*":       {Detached: prompt.Detached{All: prompt.Defaults}},
			"mcp__*":           {Detached: prompt.Detached{All: prompt.Deny}},
			"other":            {Run: prompt.RunUnattended},
		},
	}
	none := prompt.Policies{}
	for _, tc := range []struct {
		name, tool string
		policies   *prompt.Policies
		kind       prompt.Kind
		want       prompt.Policy
		setting    string
	}{
		{"PR-05 the tool's own for the kind", "mcp__db__migrate", &all, prompt.Question, prompt.Defaults, "prompts.tools.mcp__db__migrate.detached.tool"},
		{"PR-05 the tool's own", "mcp__db__migrate", &all, prompt.Run, prompt.Deny, "prompts.tools.mcp__db__migrate.detached"},
		{"PR-05 the default for the kind", "other", &all, prompt.Deliver, prompt.Defaults, "prompts.detached.deliver"},
		{"PR-05 the default", "other", &all, prompt.Run, prompt.Auto, "prompts.detached"},
		{"PR-05 deny", "other", &none, prompt.Run, prompt.Deny, "prompts.detached"},
		{"the longest pattern", "mcp__db__read", &all, prompt.Run, prompt.Defaults, "prompts.tools.mcp__db__*.detached"},
		{"a shorter pattern", "mcp__web__read", &all, prompt.Run, prompt.Deny, "prompts.tools.mcp__*.detached"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, setting := tc.policies.Detached(tc.tool, tc.kind)
			if got != tc.want || setting != tc.setting {
				t.Errorf("%s by %s, want %s by %s", got, setting, tc.want, tc.setting)
			}
		})
	}
}

func TestModes(t *testing.T) {
	p := prompt.Policies{
		Default: prompt.Rule{Deliver: prompt.RunAsk, Target: prompt.ToAssistant},
		Tools:   map[string]prompt.Rule{"a": {Run: prompt.RunEdit, Deliver: prompt.RunSkip, Target: prompt.ToUser, HumanOnly: true}},
	}
	none := prompt.Policies{}
	if p.Run("a") != prompt.RunEdit || p.Deliver("a") != prompt.RunSkip || p.Target("a") != prompt.ToUser || !p.HumanOnly("a") {
		t.Error("a tool does not have its own modes")
	}
	if p.Run("b") != prompt.RunAsk || p.Deliver("b") != prompt.RunAsk || p.Target("b") != prompt.ToAssistant || p.HumanOnly("b") {
		t.Error("a tool does not have the default modes")
	}
	if none.Run("b") != prompt.RunAsk || none.Deliver("b") != prompt.RunUnattended || none.Target("b") != prompt.ToUser {
		t.Error("without configuration tools do not ask before they run and deliver without asking")
	}
}

func TestWords(t *testing.T) {
	for _, p := range []prompt.Policy{prompt.Auto, prompt.Defaults, prompt.Deny} {
		if got, ok := prompt.ParsePolicy(p.String()); !ok || got != p {
			t.Errorf("policy %s does not read back", p)
		}
	}
	for _, m := range []prompt.RunMode{prompt.RunAsk, prompt.RunEdit, prompt.RunUnattended, prompt.RunSkip} {
		if got, ok := prompt.ParseRunMode(m.String()); !ok || got != m {
			t.Errorf("mode %s does not read back", m)
		}
	}
	for _, target := range []prompt.Target{prompt.ToUser, prompt.ToAssistant} {
		if got, ok := prompt.ParseTarget(target.String()); !ok || got != target {
			t.Errorf("target %s does not read back", target)
		}
	}
	if _, ok := prompt.ParsePolicy("queue"); ok {
		t.Error("queue is a policy")
	}
}
