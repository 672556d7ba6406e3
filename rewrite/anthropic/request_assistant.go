package anthropic

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// assistant reads a message of the model's.
func (r *requestReader) assistant(at rewrite.Path, blocks []wireBlock) {
	first := len(r.c.Items)
	for i := range blocks {
		b := &blocks[i]
		switch b.kind {
		case "text":
			last := len(r.c.Items) - 1
			if last < first || r.c.Items[last].Kind != rewrite.ItemMessage || !r.next.Empty() {
				r.add(rewrite.Item{Kind: rewrite.ItemMessage, Path: at, Role: rewrite.RoleAssistant})
				last = len(r.c.Items) - 1
			}
			r.c.Items[last].Parts = append(r.c.Items[last].Parts, r.part(r.provider, b))
		case "thinking":
			r.thought(b)
		case "redacted_thinking":
			r.redacted(b, first)
		case "tool_use":
			r.call(b)
		default:
			r.other(b)
		}
	}
	r.next = rewrite.Payload{}
}

// thought reads what the model shows of its thinking.
func (r *requestReader) thought(b *wireBlock) {
	item := rewrite.Item{Kind: rewrite.ItemReasoning, Path: b.at, Role: rewrite.RoleAssistant}
	if text := b.text(fieldThinking); text != "" {
		item.Parts = []rewrite.Part{{Path: b.at, Text: text}}
	}
	opened, _, ok := carried(b.text(fieldSignature))
	switch {
	case !ok:
		item.Payload = payload(r.provider, b.kind, b.raw)
	case opened.Format != plainReasoning:
		item.Payload = opened
	}
	r.add(item)
}

// redacted reads a thought that is closed to all but its provider, or what the
// gateway has put into one.
func (r *requestReader) redacted(b *wireBlock, first int) {
	opened, to, ok := carried(b.text(fieldData))
	switch {
	case !ok:
		r.add(rewrite.Item{Kind: rewrite.ItemReasoning, Path: b.at, Role: rewrite.RoleAssistant, Payload: payload(r.provider, b.kind, b.raw)})
	case to == ofAfter:
		r.next = opened
	case to == ofBefore:
		if last := len(r.c.Items) - 1; last >= first {
			r.c.Items[last].Payload = opened
		}
	case to == ofPart:
		if last := len(r.c.Items) - 1; last >= first && len(r.c.Items[last].Parts) > 0 {
			r.c.Items[last].Parts[len(r.c.Items[last].Parts)-1].Payload = opened
		}
	case isReasoning(&opened):
		r.add(rewrite.Item{Kind: rewrite.ItemReasoning, Path: b.at, Role: rewrite.RoleAssistant, Payload: opened})
	default:
		r.add(rewrite.Item{Kind: rewrite.ItemOpaque, Path: b.at, Role: rewrite.RoleAssistant, Payload: opened})
	}
}

// call reads a call of a client's tool.
func (r *requestReader) call(b *wireBlock) {
	item := rewrite.Item{Kind: rewrite.ItemCall, Path: b.at, Role: rewrite.RoleAssistant, Mark: b.mark}
	item.Call = rewrite.Call{ID: b.text(fieldID), Name: b.text(fieldName), Arguments: b.values[fieldInput]}
	r.names[item.Call.ID] = item.Call.Name
	if b.beyond(callFields) {
		item.Payload = payload(r.provider, b.kind, b.raw)
	}
	r.add(item)
}

// other reads the steps of hosted tools and what is not known.
func (r *requestReader) other(b *wireBlock) {
	if isShown(b) {
		return
	}
	item := rewrite.Item{Kind: rewrite.ItemOpaque, Path: b.at, Role: rewrite.RoleAssistant, Mark: b.mark, Payload: payload(r.provider, b.kind, b.raw)}
	if hosted, ok := readHosted(b); ok {
		item.Kind, item.ID, item.Hosted = rewrite.ItemHosted, hosted.ID, hosted
	} else if text := b.text(fieldContent); b.kind == "compaction" && text != "" {
		// A summary stands for what was said before it, whoever reads it.
		item.Parts = []rewrite.Part{{Path: b.at, Text: text}}
	}
	r.add(item)
}

// operator reads a system message: texts, and changes of the offered tools.
func (r *requestReader) operator(at rewrite.Path, blocks []wireBlock) {
	var said, change *rewrite.Item
	for i := range blocks {
		b := &blocks[i]
		name, byName := changed(b)
		switch {
		case b.kind != "tool_addition" && b.kind != "tool_removal":
			if said == nil {
				said = r.add(rewrite.Item{Kind: rewrite.ItemMessage, Path: at, Role: rewrite.RoleSystem})
			}
			said.Parts = append(said.Parts, r.part("", b))
			change = nil
			continue
		case !byName:
			item := rewrite.Item{Kind: rewrite.ItemDirective, Path: b.at, Role: rewrite.RoleSystem, Mark: b.mark, Payload: payload("", b.kind, b.raw)}
			if name != "" {
				item.Directive.Add = []string{name}
			}
			r.add(item)
			change = nil
		default:
			// Removals come first in a directive, and its mark comes last.
			if change == nil || b.kind == "tool_removal" && len(change.Directive.Add) > 0 {
				change = r.add(rewrite.Item{Kind: rewrite.ItemDirective, Path: b.at, Role: rewrite.RoleSystem})
			}
			if b.kind == "tool_addition" {
				change.Directive.Add = append(change.Directive.Add, name)
			} else {
				change.Directive.Remove = append(change.Directive.Remove, name)
			}
			if b.mark.Set {
				change.Mark, change = b.mark, nil
			}
		}
		said = nil
	}
}

// changed is the tool that a change names; byName is false if the change says
// more than a name.
func changed(b *wireBlock) (name string, byName bool) {
	var kind string
	var definition []byte
	members := 0
	splice.Fields(b.values[fieldTool], func(key, value []byte) bool {
		members++
		switch string(key) {
		case "type":
			kind = splice.Text(value)
		case "name":
			name = splice.Text(value)
		case "definition":
			definition = value
		}
		return true
	})
	splice.Fields(definition, func(key, value []byte) bool {
		if string(key) == "name" {
			name = splice.Text(value)
		}
		return true
	})
	return name, kind == "tool_reference" && members == 2 && name != "" && !b.beyond(changeFields)
}

// turnScoped is the kind of the payload of a message that the user's next turn
// clears.
const turnScoped, systemMessage = "system_turn", "system"

// wholeMessage reads a system message that says more than its content. Its own
// dialect gets it as it is.
func (r *requestReader) wholeMessage(at rewrite.Path, raw []byte, blocks []wireBlock, once bool) {
	item := rewrite.Item{Kind: rewrite.ItemMessage, Path: at, Role: rewrite.RoleSystem}
	for i := range blocks {
		if blocks[i].kind == "text" {
			item.Parts = append(item.Parts, r.part("", &blocks[i]))
		}
	}
	if item.Payload = payload("", systemMessage, raw); once {
		item.Payload.Format = format(turnScoped)
	}
	r.add(item)
}

// cleared takes the text from the system messages that a turn of the user has
// cleared: they say nothing any more, but have to stay.
func (r *requestReader) cleared() {
	for i := len(r.c.Items) - 1; i >= 0; i-- {
		item := &r.c.Items[i]
		if item.Role == rewrite.RoleUser && item.Kind != rewrite.ItemOpaque {
			return
		}
		if item.Payload.Format == format(turnScoped) {
			item.Parts = nil
		}
	}
}
