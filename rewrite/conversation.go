package rewrite

import (
	"slices"
	"strings"
)

// JSON is the text of one JSON value, byte for byte as it was read. It is never
// decoded and encoded again: member order, number forms and spelling survive.
type JSON []byte

// Conversation is a request in the form that all dialects share: the hub through
// which one dialect becomes another. What a dialect says that has no field here
// stays with it as JSON (Extra, Payload) or is listed as a Loss by whoever cannot
// say it.
type Conversation struct {
	// Dialect is the one that the client has spoken, which Extra belongs to.
	Dialect Dialect
	Model   string
	Stream  bool
	// System is the standing instruction, section by section. Instructions that
	// were given in mid-conversation are messages of RoleSystem among Items.
	System []Part
	// Tools is the whole catalogue in the client's order.
	Tools  []Tool
	Choice ToolChoice
	// Parallel is whether several calls may stand in one reply.
	Parallel Switch
	Items    []Item
	Sampling Sampling
	Thinking Thinking
	Format   Format
	// User is a stable name of the end user, Metadata what the provider is to
	// keep with the reply.
	User     string
	Metadata JSON
	// ServiceTier is the tier that was asked for, in the asker's word.
	ServiceTier string
	// Store asks the provider to keep the reply; Previous is the reply that this
	// request goes on from.
	Store    Switch
	Previous string
	// CacheKey is the same for all requests of the conversation, and of no other:
	// providers use it to find what they have cached. It is empty where none is known.
	CacheKey string
	// Extra are members of the request that have no field, in order.
	Extra []Member
	// Extensions are what of our own the client has asked to see in the reply, by
	// name.
	Extensions []string
}

// Member is a member of a JSON object that is carried as it came.
type Member struct {
	Name  string
	Value JSON
	// Said says that some field has it too, so that other dialects lose nothing.
	Said bool
}

// Switch is a setting that may be left to the provider.
type Switch uint8

// The states of a Switch.
const (
	Unset Switch = iota
	Off
	On
)

// SwitchOf is the state that a JSON boolean stands for.
func SwitchOf(on bool) Switch {
	if on {
		return On
	}
	return Off
}

// Sampling is how tokens are chosen. Numbers are kept in their JSON spelling;
// empty ones are left to the provider.
type Sampling struct {
	MaxTokens        JSON
	Temperature      JSON
	TopP             JSON
	TopK             JSON
	Seed             JSON
	PresencePenalty  JSON
	FrequencyPenalty JSON
	Stop             []string
	Candidates       JSON
	LogProbs         Switch
	TopLogProbs      JSON
}

// Thinking is what was asked of the model's reasoning.
type Thinking struct {
	// Mode is on or off where the client said so, and Budget its bound in tokens.
	Mode   Switch
	Budget JSON
	// Effort is one of none, minimal, low, medium, high, xhigh and max; empty is
	// the provider's own.
	Effort string
	// Summary is how much of the reasoning is to be shown: none, auto, concise or
	// detailed; empty is the provider's own.
	Summary string
	// Extra is the dialect's own object, for the dialect it came from.
	Extra Payload
}

// Format is the form that the answer must have.
type Format struct {
	// Kind is text, json or schema; empty is text.
	Kind string
	// Name, Schema and Strict belong to schema.
	Name, Description string
	Schema            JSON
	Strict            Switch
	// Verbosity is low, medium or high; empty is the provider's own.
	Verbosity string
}

// Payload is something in a provider's own words: it returns there byte for byte,
// and is carried by all others without being read.
type Payload struct {
	// Provider is the catalog's name of who made it; empty for what the client
	// wrote, which any provider of its dialect may be given.
	Provider string
	// Format is the dialect and kind of Value, and Version its wire contract.
	Format, Version string
	Value           JSON
}

// Empty reports that there is no payload.
func (p *Payload) Empty() bool { return len(p.Value) == 0 }

// For reports whether the payload is to be sent as it is to a provider that
// speaks a dialect: its own words, or the client's in that dialect.
func (p *Payload) For(provider string, d Dialect) bool {
	dialect, _, _ := strings.Cut(p.Format, "/")
	return !p.Empty() && (p.Provider == "" || p.Provider == provider) && dialect == d.String()
}

// Loss is something that a translation could not say.
type Loss struct {
	// Path is where it stood in the client's request or in the provider's reply.
	Path string
	// Why says in a few words what became of it.
	Why string
	// Missing says that the answer would be another one without it.
	Missing bool
}

// Losses collects what a translation could not say. A nil one forgets it.
type Losses struct{ All []Loss }

// Add notes a loss.
func (l *Losses) Add(path, why string) {
	if l != nil {
		l.All = append(l.All, Loss{Path: path, Why: why})
	}
}

// Miss notes a loss that makes the answer another one: the request is not to be
// sent unless its client has agreed to that.
func (l *Losses) Miss(path, why string) {
	if l != nil {
		l.All = append(l.All, Loss{path, why, true})
	}
}

// Group is the namespace of the tool that a directive names, empty for none.
func (c *Conversation) Group(name string) string {
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Name == name {
			return t.Namespace
		}
	}
	return ""
}

// HasExtra reports that the client of a dialect sent a member that has no field
// here.
func (c *Conversation) HasExtra(d Dialect, name string) bool {
	return c.Dialect == d && slices.ContainsFunc(c.Extra, func(m Member) bool { return m.Name == name })
}

// Settings is the conversation without its history, in memory of its own: what a
// reply needs to know of its request.
func (c *Conversation) Settings() *Conversation {
	s := *c
	s.Items = nil
	s.System = make([]Part, len(c.System))
	for i := range c.System {
		s.System[i] = c.System[i].keep()
	}
	s.Tools = slices.Clone(c.Tools)
	for i := range s.Tools {
		t := &s.Tools[i]
		t.Schema, t.Payload.Value = slices.Clone(t.Schema), slices.Clone(t.Payload.Value)
	}
	s.Choice.Payload.Value = slices.Clone(c.Choice.Payload.Value)
	for _, number := range []*JSON{
		&s.Sampling.MaxTokens, &s.Sampling.Temperature, &s.Sampling.TopP, &s.Sampling.TopK, &s.Sampling.Seed,
		&s.Sampling.PresencePenalty, &s.Sampling.FrequencyPenalty, &s.Sampling.Candidates, &s.Sampling.TopLogProbs,
		&s.Thinking.Budget, &s.Thinking.Extra.Value, &s.Format.Schema, &s.Metadata,
	} {
		*number = slices.Clone(*number)
	}
	s.Extra = slices.Clone(c.Extra)
	for i := range s.Extra {
		s.Extra[i].Value = slices.Clone(s.Extra[i].Value)
	}
	return &s
}
