package prompt

import (
	"encoding/json"
	"slices"

	"warmpath/gateway/question"
	"warmpath/rewrite"
)

// Kind is what a prompt is about.
type Kind uint8

// The kinds of prompts.
const (
	// Run asks whether a tool may run.
	Run Kind = iota
	// Deliver asks whether the result of a tool may go to the model.
	Deliver
	// Question is what a tool wants to know.
	Question
)

// Kinds lists every kind, for tables and metric labels.
var Kinds = []Kind{Run, Deliver, Question}

// String is the kind's name in prompts and metrics.
func (k Kind) String() string { return [...]string{"run", "deliver", "question"}[k] }

// Key is the kind's name in the configuration.
func (k Kind) Key() string { return [...]string{"run", "deliver", "tool"}[k] }

// Prompt is one of RunTool, DeliverToolResult and ToolQuestion. Nothing else can be
// one, and what follows from its variant cannot be set.
type Prompt interface {
	// Kind is the variant.
	Kind() Kind
	// Tool is the name of the tool that it is about.
	Tool() string
	// HumanOnly reports whether only a person may answer it, never a model.
	HumanOnly() bool
	// Questions are what its answer is made of; none for a prompt that is answered
	// with yes or no.
	Questions() []question.Question

	// source and show are what there is to see of it besides, and sealed keeps
	// strangers out.
	source() string
	show(v *View)
	sealed()
}

// RunTool asks whether a tool may run. Only a Book makes one: what a tool gives has
// no way to say it.
type RunTool struct {
	tool, from string
	arguments  rewrite.JSON
}

// DeliverToolResult asks whether the part of a result that is meant for the model
// may go to it. Only a Book makes one.
type DeliverToolResult struct {
	tool, from string
	result     string
}

// ToolQuestion is what a tool wants to know.
type ToolQuestion struct {
	tool, from string
	message    string
	humanOnly  bool
	questions  []question.Question
}

// NewToolQuestion is the prompt of a tool that wants to know something. It is for
// people only if humanOnly says so or if an answer is secret.
func NewToolQuestion(tool, source string, questions []question.Question, humanOnly bool) ToolQuestion {
	secret := slices.ContainsFunc(questions, func(q question.Question) bool { return q.Secret })
	return ToolQuestion{tool: tool, from: source, humanOnly: humanOnly || secret, questions: slices.Clone(questions)}
}

// About is the same with a text that stands above the questions.
func (p ToolQuestion) About(message string) ToolQuestion {
	p.message = message
	return p
}

// Kind implements Prompt.
func (RunTool) Kind() Kind { return Run }

// Kind implements Prompt.
func (DeliverToolResult) Kind() Kind { return Deliver }

// Kind implements Prompt.
func (ToolQuestion) Kind() Kind { return Question }

// Tool implements Prompt.
func (p RunTool) Tool() string { return p.tool }

// Tool implements Prompt.
func (p DeliverToolResult) Tool() string { return p.tool }

// Tool implements Prompt.
func (p ToolQuestion) Tool() string { return p.tool }

// HumanOnly implements Prompt: a model never gives itself leave.
func (RunTool) HumanOnly() bool { return true }

// HumanOnly implements Prompt: a model never gives itself leave.
func (DeliverToolResult) HumanOnly() bool { return true }

// HumanOnly implements Prompt.
func (p ToolQuestion) HumanOnly() bool { return p.humanOnly }

// Questions implements Prompt.
func (RunTool) Questions() []question.Question { return nil }

// Questions implements Prompt.
func (DeliverToolResult) Questions() []question.Question { return nil }

// Questions implements Prompt.
func (p ToolQuestion) Questions() []question.Question { return p.questions }

func (p RunTool) source() string           { return p.from }
func (p DeliverToolResult) source() string { return p.from }
func (p ToolQuestion) source() string      { return p.from }

func (p RunTool) show(v *View)           { v.Arguments = preview(p.arguments) }
func (p DeliverToolResult) show(v *View) { v.Result = plain(p.result) }
func (p ToolQuestion) show(v *View) {
	v.Message = plain(p.message)
	v.Questions = json.RawMessage(question.Encode(p.questions))
	v.Schema = json.RawMessage(question.Form(p.questions))
}

func (RunTool) sealed()           {}
func (DeliverToolResult) sealed() {}
func (ToolQuestion) sealed()      {}

// defaults are the answers that a prompt has in itself; ok is false where it asks
// for more.
func defaults(p Prompt) (content rewrite.JSON, ok bool) {
	questions := p.Questions()
	if len(questions) == 0 {
		return nil, false
	}
	clean, err := question.Check(questions, rewrite.JSON(`{}`))
	return clean, err == nil
}
