package transcript

import (
	"encoding/json"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// Of is the event that an item of a conversation is, without number and time, and
// with what the item points to. There is none of an item that says nothing.
// Structured says that the reply was to have a form.
func Of(i *rewrite.Item, source string, structured bool) (e Event, ok bool) {
	e = Event{Source: source, ID: i.ID, Phase: i.Phase, Incomplete: i.Incomplete, Payload: payload(&i.Payload)}
	if source == FromRequest {
		e.Path = i.Path.String()
	}
	switch i.Kind {
	case rewrite.ItemMessage:
		e.Content = blocks(i.Parts)
		switch i.Role {
		case rewrite.RoleUser:
			e.Type, e.Role = ChatRequest, i.Role.String()
			return e, len(e.Content) > 0
		case rewrite.RoleSystem:
			// What the operator says in mid-conversation is not for users to read.
			e.Type, e.Role = Directive, i.Role.String()
			return e, len(e.Content) > 0
		case rewrite.RoleAssistant:
		}
		e.Type, e.Kind = ChatResponse, Message
		if structured {
			e.Kind = Structured
		}
	case rewrite.ItemReasoning:
		e.Type, e.Kind, e.Content = ChatResponse, Reasoning, blocks(i.Parts)
	case rewrite.ItemCall:
		e.Type, e.CallID, e.Name, e.Namespace = ToolCallRequest, i.Call.ID, i.Call.Name, i.Call.Namespace
		e.Custom, e.Runner, e.Arguments = i.Call.Custom, "client", arguments(&i.Call)
	case rewrite.ItemResult:
		e.Type, e.CallID, e.Name, e.Failed = ToolCallResponse, i.Call.ID, i.Call.Name, i.Failed
		e.Runner, e.Content = "client", blocks(i.Parts)
	case rewrite.ItemHosted:
		e.Type, e.Name, e.State = HostedActivity, i.Hosted.Name, i.Hosted.State.String()
		e.Input, e.Summary, e.ErrorCode = json.RawMessage(i.Hosted.Input), i.Hosted.Summary, i.Hosted.Error
		if e.Sources = citations(i.Hosted.Sources); i.Hosted.ID != "" {
			e.ID = i.Hosted.ID
		}
	case rewrite.ItemDirective:
		e.Type, e.Added, e.Removed = Directive, i.Directive.Add, i.Directive.Remove
	case rewrite.ItemOpaque:
		e.Type = Opaque
	}
	said := e.Type != ChatResponse && e.Type != Opaque || len(e.Content) > 0 || e.Payload != nil
	return e, said
}

// arguments are a call's, a string where they are free text.
func arguments(c *rewrite.Call) json.RawMessage {
	if c.Custom {
		return splice.AppendString(nil, []byte(c.Arguments))
	}
	return json.RawMessage(c.Arguments)
}

// Blocks are parts as an event has them.
func Blocks(parts []rewrite.Part) []Block { return blocks(parts) }

func blocks(parts []rewrite.Part) []Block {
	if len(parts) == 0 {
		return nil
	}
	all := make([]Block, 0, len(parts))
	for i := range parts {
		p := &parts[i]
		b := Block{
			Type: p.Kind.String(), Text: p.Text, MIME: p.MIME, Data: p.Media.Data, URL: p.Media.URL, FileID: p.Media.ID, Name: p.Media.Name,
			Annotations: json.RawMessage(p.Annotations), Citations: citations(p.Attributions), Payload: payload(&p.Payload),
		}
		all = append(all, b)
	}
	return all
}

func citations(sources []rewrite.Attribution) []Citation {
	if len(sources) == 0 {
		return nil
	}
	all := make([]Citation, len(sources))
	for i := range sources {
		s := &sources[i]
		all[i] = Citation{URL: s.URL, Title: s.Title, Excerpt: s.Excerpt, Kind: s.Kind, Incomplete: s.Incomplete, Payload: payload(&s.Payload)}
		if s.End > s.Start {
			all[i].Start, all[i].End = s.Start, s.End
		}
	}
	return all
}

func payload(p *rewrite.Payload) *Payload {
	if p.Empty() {
		return nil
	}
	return &Payload{Provider: p.Provider, Format: p.Format, Version: p.Version, Value: json.RawMessage(p.Value)}
}

// Used is usage as an event has it.
func Used(u *rewrite.Usage) *Tokens {
	if !u.Known() {
		return nil
	}
	count := func(c rewrite.Count) *int64 {
		if !c.Known {
			return nil
		}
		n := c.N
		return &n
	}
	return &Tokens{
		Input: count(u.InputTotal), Fresh: count(u.InputFresh), CacheRead: count(u.CacheRead), CacheWrite: count(u.CacheWrite),
		Output: count(u.OutputTotal), Reasoning: count(u.Reasoning),
	}
}
