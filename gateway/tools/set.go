package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"warmpath/rewrite"
)

// Limits bound the calls of a set.
type Limits struct {
	// Timeout bounds a call, unless its tool has a bound of its own.
	Timeout time.Duration
	// Bytes bounds what a call gives: its texts, and its data in base64.
	Bytes int
}

// Set is the tools of one route, in a fixed order. It is immutable, and safe for
// concurrent use. A nil Set has none.
type Set struct {
	tools  []Tool
	at     map[string]int
	limits Limits
	// owned are the beginnings of names of which the set has all.
	owned []string
}

// NewSet makes a set of tools. Of several of one name the first counts. Limits of
// zero do not bound.
func NewSet(limits Limits, all ...Tool) *Set {
	s := &Set{at: make(map[string]int, len(all)), limits: limits}
	for _, tool := range all {
		if _, twice := s.at[tool.Name]; twice {
			continue
		}
		tool.Definition.Name = tool.Name
		s.at[tool.Name] = len(s.tools)
		s.tools = append(s.tools, tool)
	}
	return s
}

// Owning says that all names which begin with one of some are the set's: who is called
// by another one of them is a mistake of the model's. It changes the set, before it is
// used.
func (s *Set) Owning(beginnings ...string) *Set {
	s.owned = beginnings
	return s
}

// Owns reports a name that can only be one of the set's, whether or not it has it.
func (s *Set) Owns(name string) bool {
	return s != nil && slices.ContainsFunc(s.owned, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// Definitions are what models are told of the tools, in the order of the set.
func (s *Set) Definitions() []rewrite.Tool {
	if s == nil {
		return nil
	}
	definitions := make([]rewrite.Tool, len(s.tools))
	for i := range s.tools {
		definitions[i] = s.tools[i].Definition
	}
	return definitions
}

// Find is the tool of a name, nil if the set has none.
func (s *Set) Find(name string) *Tool {
	if s == nil {
		return nil
	}
	at, ok := s.at[name]
	if !ok {
		return nil
	}
	return &s.tools[at]
}

// Has reports whether the set has a tool of a name.
func (s *Set) Has(name string) bool { return s.Find(name) != nil }

// errTimeout is the cause of a call's end at its bound.
var errTimeout = errors.New("the call has taken too long")

// Run runs a call within its bounds. A tool that is not there, or no longer, has
// failed.
func (s *Set) Run(ctx context.Context, call Call) (result Result) {
	tool := s.Find(call.Name)
	if tool == nil {
		return s.absent(call.Name)
	}
	timeout := tool.Timeout
	if timeout == 0 {
		timeout = s.limits.Timeout
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
		defer cancel()
	}
	defer func() {
		if fault := recover(); fault != nil {
			result = Failure(fmt.Sprintf("The tool %s has broken down.", call.Name))
		}
	}()
	result = tool.Run(ctx, call)
	if errors.Is(context.Cause(ctx), errTimeout) && (result.Failed || len(result.Parts) == 0) {
		return Failure("The tool " + call.Name + " has not answered within " + timeout.String() + ".")
	}
	return result.within(s.limits.Bytes)
}

// absent is the result of a call of a tool that is not there: gone, or never there.
func (s *Set) absent(name string) Result {
	if !s.Owns(name) {
		return Failure("The tool " + name + " is not available any more. Go on without it.")
	}
	const most = 32
	var beside []string
	for _, begin := range s.owned {
		for i := range s.tools {
			if strings.HasPrefix(name, begin) && strings.HasPrefix(s.tools[i].Name, begin) && len(beside) < most {
				beside = append(beside, s.tools[i].Name)
			}
		}
	}
	if len(beside) == 0 {
		return Failure("There is no tool " + name + ", and its server has none at the moment. Go on without it.")
	}
	return Failure("There is no tool " + name + ". Its server has: " + strings.Join(beside, ", ") + ". Call one of these, or go on without it.")
}

// within cuts a result that has more than some bytes, and says so. Media are left
// out whole.
func (r Result) within(most int) Result {
	size := 0
	for i := range r.Parts {
		size += weight(&r.Parts[i])
	}
	if most <= 0 || size <= most {
		return r
	}
	cut := r
	cut.Parts = nil
	left := most
	for _, part := range r.Parts {
		if weight(&part) > left && part.Kind == rewrite.PartText && len(part.Text) > left {
			part.Text = part.Text[:wholeUpTo(part.Text, left)]
		}
		if weight(&part) <= left && weight(&part) > 0 {
			left -= weight(&part)
			cut.Parts = append(cut.Parts, part)
		}
	}
	note := rewrite.Part{
		Text:        "(The result was cut: it had " + strconv.Itoa(size) + " bytes, of which at most " + strconv.Itoa(most) + " are given. Ask for less in one call.)",
		Annotations: rewrite.JSON(`{"audience":["assistant"]}`),
	}
	cut.Parts = append(cut.Parts, note)
	return cut
}

// weight is how many bytes a part adds to a result.
func weight(p *rewrite.Part) int {
	return len(p.Text) + len(p.Media.Data) + len(p.Media.URL) + len(p.Payload.Value)
}

// wholeUpTo is where a text is cut that may have so many bytes: between code points.
func wholeUpTo(text string, most int) int {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}
