package rewrite

import (
	"slices"
	"strings"
)

// Hosting is what a client asks of a tool that its provider runs, as far as more
// than one provider knows it.
type Hosting struct {
	// MaxUses bounds how often the tool is used for a reply; empty for no bound.
	MaxUses JSON
	// Allowed are the only domains that are searched, Blocked those that are not.
	Allowed, Blocked []string
	// Place is about where the user is.
	Place Place
	// Context is how much of what is found the model reads: low, medium or high.
	Context string
	// Rest names what else the definition says, which only its own provider knows.
	Rest []string
}

// Place is about where a user is. What is empty is not known.
type Place struct{ City, Region, Country, Timezone string }

// Set sets what the dialects call by one of their members; others say nothing.
func (p *Place) Set(member, text string) {
	switch member {
	case "city":
		p.City = text
	case "region":
		p.Region = text
	case "country":
		p.Country = text
	case "timezone":
		p.Timezone = text
	}
}

// Members of Hosting, as a dialect says which of them it has words for.
const (
	HostingMaxUses = "max_uses"
	HostingAllowed = "allowed_domains"
	HostingBlocked = "blocked_domains"
	HostingPlace   = "user_location"
	HostingContext = "search_context_size"
)

// Unsaid notes what is asked of a hosted tool and is not among what a dialect has
// words for.
func (t *Tool) Unsaid(losses *Losses, path string, said ...string) {
	h := &t.Hosting
	unsaid := slices.Clone(h.Rest)
	for _, member := range []struct {
		name  string
		asked bool
	}{
		{HostingMaxUses, len(h.MaxUses) > 0}, {HostingAllowed, len(h.Allowed) > 0}, {HostingBlocked, len(h.Blocked) > 0},
		{HostingPlace, h.Place != Place{}}, {HostingContext, h.Context != ""},
	} {
		if member.asked && !slices.Contains(said, member.name) {
			unsaid = append(unsaid, member.name)
		}
	}
	if len(unsaid) > 0 {
		slices.Sort(unsaid)
		losses.Add(path, "offered without its "+strings.Join(unsaid, ", "))
	}
}

// Unhosted notes that the provider has nothing that does what a hosted tool does.
// An agent that has tools of its own beside it goes on without; where there is
// nothing else the answer would be another one. What looks for tools can be missing,
// since all that it would find are offered.
func (c *Conversation) Unhosted(t *Tool, losses *Losses, path string) {
	switch {
	case t.Capability == "tool_search":
		losses.Add(path, "no search for tools: all of them are offered")
	case len(c.Functions()) > 0:
		losses.Add(path, "this provider has no tool like "+t.Name+": the model goes on without")
	default:
		losses.Miss(path, "this provider has no tool like "+t.Name)
	}
}

// Functions are the tools that the client runs.
func (c *Conversation) Functions() (functions []*Tool) {
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Kind != ToolHosted {
			functions = append(functions, t)
		}
	}
	return functions
}

// Named is the tool of a name; nil for none.
func (c *Conversation) Named(name string) *Tool {
	for i := range c.Tools {
		if c.Tools[i].Name == name {
			return &c.Tools[i]
		}
	}
	return nil
}

// DemandsFunction says that the client demands a call of a function while the
// provider may run tools of its own. In Chat Completions and in Gemini a demand
// for any call means functions; in the others a hosted tool would do too, so that
// there the demand would be a weaker one.
func (c *Conversation) DemandsFunction() bool {
	return c.Choice.Mode == "any" && (c.Dialect == Completions || c.Dialect == Gemini) &&
		slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.Kind == ToolHosted })
}
