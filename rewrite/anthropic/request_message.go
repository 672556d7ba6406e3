package anthropic

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// message writes one message; none if nothing of it can be said.
func (rw *requestWriter) message(m *rewrite.Turn) {
	w := &rw.w
	if first := m.Entries[0].Item; wholeSystem(first) && rw.native(&first.Payload) {
		w.Raw(first.Payload.Value)
		return
	}
	size := w.Size()
	w.Open('{')
	w.Text("role", m.Role.String())
	w.Name("content")
	w.Open('[')
	empty := w.Size()
	for _, e := range m.Entries {
		rw.item(e, m)
	}
	if w.Size() == empty && !(rw.own && len(m.Entries[0].Item.Parts) == 0) {
		w.Cut(size)
		return
	}
	w.Close(']')
	w.Close('}')
}

// item writes the blocks of an item.
func (rw *requestWriter) item(e rewrite.Entry, m *rewrite.Turn) {
	item := e.Item
	switch {
	case m.Told && item.Side() == rewrite.RoleSystem:
		rw.told(e)
		return
	case e.Missing:
		rw.missing(e)
		return
	case e.Orphan:
		rw.orphan(e)
		return
	case rw.native(&item.Payload):
		rw.w.Raw(item.Payload.Value)
		return
	}
	switch item.Kind {
	case rewrite.ItemMessage:
		for i := range item.Parts {
			rw.part(e.Path+".parts."+strconv.Itoa(i), &item.Parts[i], m.Role)
		}
	case rewrite.ItemReasoning:
		// Reasoning that is nothing but text is for people.
		if !item.Plain() {
			rw.lose(e.Path, "reasoning that this provider cannot read")
		}
	case rewrite.ItemCall:
		rw.call(e)
	case rewrite.ItemResult:
		rw.result(e)
	case rewrite.ItemHosted:
		rw.lose(e.Path, item.Hosted.Name+" that another provider ran")
	case rewrite.ItemDirective:
		rw.directive(e)
	case rewrite.ItemOpaque:
		if len(item.Parts) > 0 {
			for i := range item.Parts {
				rw.part(e.Path+".parts."+strconv.Itoa(i), &item.Parts[i], m.Role)
			}
			return
		}
		rw.lose(e.Path, "known to another provider only")
	}
}

// call writes a call of a client's tool.
func (rw *requestWriter) call(e rewrite.Entry) {
	call, w := &e.Item.Call, &rw.w
	arguments := call.Arguments
	switch {
	case call.Custom:
		arguments = rewrite.WrapFreeText(arguments)
	case len(arguments) == 0:
		arguments = rewrite.JSON("{}")
	case arguments[0] != '{' || splice.Valid(arguments) != nil:
		// A reply that was cut within the arguments, or a client that has none.
		rw.lose(e.Path+".arguments", "not a JSON object: sent as a text")
		arguments = append(splice.AppendString(rewrite.JSON(`{"INVALID_JSON":`), []byte(arguments)), '}')
	}
	w.Open('{')
	w.Text("type", "tool_use")
	w.Text("id", rw.callID(call.ID))
	w.Text("name", toolName(call.Namespace, call.Name))
	w.Value("input", arguments)
	rw.mark(e.Item.Mark)
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
func (rw *requestWriter) result(e rewrite.Entry) {
	w := &rw.w
	w.Open('{')
	w.Text("type", "tool_result")
	w.Text("tool_use_id", rw.callID(e.Item.Call.ID))
	size := w.Size()
	w.Name("content")
	w.Open('[')
	empty := w.Size()
	for i := range e.Item.Parts {
		rw.part(e.Path+".parts."+strconv.Itoa(i), &e.Item.Parts[i], rewrite.RoleUser)
	}
	if w.Size() == empty {
		w.Cut(size)
	} else {
		w.Close(']')
	}
	if e.Item.Failed {
		w.Name("is_error")
		w.Bool(true)
	}
	rw.mark(e.Item.Mark)
	w.Close('}')
}

// missing answers a call that nobody has answered, which the API requires.
func (rw *requestWriter) missing(e rewrite.Entry) {
	rw.lose(e.Path, "a call without a result: answered as interrupted")
	w := &rw.w
	w.Open('{')
	w.Text("type", "tool_result")
	w.Text("tool_use_id", rw.callID(e.Item.Call.ID))
	w.Text("content", "The call was interrupted and has no result.")
	w.Name("is_error")
	w.Bool(true)
	w.Close('}')
}

// orphan tells a result whose call is nowhere.
func (rw *requestWriter) orphan(e rewrite.Entry) {
	rw.lose(e.Path, "a result without its call: told as a text")
	for i := range e.Item.Parts {
		rw.part(e.Path+".parts."+strconv.Itoa(i), &e.Item.Parts[i], rewrite.RoleUser)
	}
}

// told writes an instruction into a turn of the user, marked as what it is.
func (rw *requestWriter) told(e rewrite.Entry) {
	if e.Item.Kind != rewrite.ItemMessage {
		rw.lose(e.Path, "tools cannot change here")
		return
	}
	var text []string
	for i := range e.Item.Parts {
		if part := &e.Item.Parts[i]; part.Text != "" {
			text = append(text, part.Text)
		}
	}
	if len(text) == 0 {
		return
	}
	rw.lose(e.Path, "an instruction between two turns of the model: told as the user's")
	rw.text(&rewrite.Part{Text: rewrite.Reminder(strings.Join(text, "\n"))})
}

// directive writes a change of the offered tools.
func (rw *requestWriter) directive(e rewrite.Entry) {
	d, w := &e.Item.Directive, &rw.w
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
			w.Text("name", toolName(rw.c.Group(name), name))
			w.Close('}')
			if left == 0 {
				rw.mark(e.Item.Mark)
			}
			w.Close('}')
		}
	}
}
