package anthropic

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// message writes one message; none if nothing of it can be said.
func (rw *requestWriter) message(m *laid) {
	w := &rw.w
	if first := m.entries[0].item; wholeSystem(first) && rw.native(&first.Payload) {
		w.Raw(first.Payload.Value)
		return
	}
	size := w.Size()
	w.Open('{')
	w.Text("role", m.role.String())
	w.Name("content")
	w.Open('[')
	empty := w.Size()
	for _, e := range m.entries {
		rw.item(e, m)
	}
	if w.Size() == empty && !(rw.own && len(m.entries[0].item.Parts) == 0) {
		w.Cut(size)
		return
	}
	w.Close(']')
	w.Close('}')
}

// item writes the blocks of an item.
func (rw *requestWriter) item(e entry, m *laid) {
	item := e.item
	switch {
	case m.told && side(item) == rewrite.RoleSystem:
		rw.told(e)
		return
	case e.missing:
		rw.missing(e)
		return
	case e.orphan:
		rw.orphan(e)
		return
	case rw.native(&item.Payload):
		rw.w.Raw(item.Payload.Value)
		return
	}
	switch item.Kind {
	case rewrite.ItemMessage:
		for i := range item.Parts {
			rw.part(e.path+".parts."+strconv.Itoa(i), &item.Parts[i], m.role)
		}
	case rewrite.ItemReasoning:
		rw.lose(e.path, "reasoning that this provider cannot read")
	case rewrite.ItemCall:
		rw.call(e)
	case rewrite.ItemResult:
		rw.result(e)
	case rewrite.ItemHosted:
		rw.lose(e.path, item.Hosted.Name+" that another provider ran")
	case rewrite.ItemDirective:
		rw.directive(e)
	case rewrite.ItemOpaque:
		if len(item.Parts) > 0 {
			for i := range item.Parts {
				rw.part(e.path+".parts."+strconv.Itoa(i), &item.Parts[i], m.role)
			}
			return
		}
		rw.lose(e.path, "known to another provider only")
	}
}

// call writes a call of a client's tool.
func (rw *requestWriter) call(e entry) {
	call, w := &e.item.Call, &rw.w
	arguments := call.Arguments
	switch {
	case call.Custom:
		arguments = rewrite.WrapFreeText(arguments)
	case len(arguments) == 0:
		arguments = rewrite.JSON("{}")
	case arguments[0] != '{' || splice.Valid(arguments) != nil:
		// A reply that was cut within the arguments, or a client that has none.
		rw.lose(e.path+".arguments", "not a JSON object: sent as a text")
		arguments = append(splice.AppendString(rewrite.JSON(`{"INVALID_JSON":`), []byte(arguments)), '}')
	}
	w.Open('{')
	w.Text("type", "tool_use")
	w.Text("id", rw.callID(call.ID))
	w.Text("name", toolName(call.Namespace, call.Name))
	w.Value("input", arguments)
	rw.mark(e.item.Mark)
	w.Close('}')
}

// callID is an identifier as this dialect allows it.
func (rw *requestWriter) callID(id string) string {
	if rw.own {
		return id
	}
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// result writes what a tool gave.
func (rw *requestWriter) result(e entry) {
	w := &rw.w
	w.Open('{')
	w.Text("type", "tool_result")
	w.Text("tool_use_id", rw.callID(e.item.Call.ID))
	size := w.Size()
	w.Name("content")
	w.Open('[')
	empty := w.Size()
	for i := range e.item.Parts {
		rw.part(e.path+".parts."+strconv.Itoa(i), &e.item.Parts[i], rewrite.RoleUser)
	}
	if w.Size() == empty {
		w.Cut(size)
	} else {
		w.Close(']')
	}
	if e.item.Failed {
		w.Name("is_error")
		w.Bool(true)
	}
	rw.mark(e.item.Mark)
	w.Close('}')
}

// missing answers a call that nobody has answered, which the API requires.
func (rw *requestWriter) missing(e entry) {
	rw.lose(e.path, "a call without a result: answered as interrupted")
	w := &rw.w
	w.Open('{')
	w.Text("type", "tool_result")
	w.Text("tool_use_id", rw.callID(e.item.Call.ID))
	w.Text("content", "The call was interrupted and has no result.")
	w.Name("is_error")
	w.Bool(true)
	w.Close('}')
}

// orphan tells a result whose call is nowhere.
func (rw *requestWriter) orphan(e entry) {
	rw.lose(e.path, "a result without its call: told as a text")
	for i := range e.item.Parts {
		rw.part(e.path+".parts."+strconv.Itoa(i), &e.item.Parts[i], rewrite.RoleUser)
	}
}

// told writes an instruction into a turn of the user, marked as what it is.
func (rw *requestWriter) told(e entry) {
	if e.item.Kind != rewrite.ItemMessage {
		rw.lose(e.path, "tools cannot change here")
		return
	}
	var text []string
	for i := range e.item.Parts {
		if part := &e.item.Parts[i]; part.Text != "" {
			text = append(text, part.Text)
		}
	}
	if len(text) == 0 {
		return
	}
	rw.lose(e.path, "an instruction between two turns of the model: told as the user's")
	rw.text(&rewrite.Part{Text: "<system-reminder>\n" + strings.Join(text, "\n") + "\n</system-reminder>"})
}

// directive writes a change of the offered tools.
func (rw *requestWriter) directive(e entry) {
	d, w := &e.item.Directive, &rw.w
	left := len(d.Remove) + len(d.Add)
	for _, change := range []struct {
		kind  string
		names []string
	}{{"tool_removal", d.Remove}, {"tool_addition", d.Add}} {
		for _, name := range change.names {
			left--
			w.Open('{')
			w.Text("type", change.kind)
			w.Name("tool")
			w.Open('{')
			w.Text("type", "tool_reference")
			w.Text("name", name)
			w.Close('}')
			if left == 0 {
				rw.mark(e.item.Mark)
			}
			w.Close('}')
		}
	}
}
