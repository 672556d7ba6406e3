package converse

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// message writes one message; none if nothing of it can be said, unless it is the
// user's.
func (rw *requestWriter) message(m *rewrite.Turn, last bool) {
	w := &rw.w
	size := w.Size()
	w.Open('{')
	w.Text("role", m.Role.String())
	w.Name("content")
	w.Open('[')
	empty := w.Size()
	rw.sealable, rw.said = false, saying{}
	for _, e := range m.Entries {
		rw.item(e, m)
	}
	if w.Size() == empty && m.Role == rewrite.RoleUser {
		rw.text(noWords)
	}
	if w.Size() == empty {
		w.Cut(size)
		return
	}
	rw.withText()
	if last && rw.marksEnd() {
		rw.mark(rewrite.Mark{Set: true, TTL: rw.endTTL()})
	}
	w.Close(']')
	w.Close('}')
}

// withText adds a text to a message with a document and without one: models
// answer to words.
func (rw *requestWriter) withText() {
	if rw.said.document && !rw.said.text {
		rw.text("(A document.)")
	}
}

// endTTL is the lifetime that is asked for the end of the prompt.
func (rw *requestWriter) endTTL() (ttl string) {
	for _, m := range rw.c.Extra {
		if rw.automatic(m.Name) {
			splice.Fields(m.Value, func(name, value []byte) bool {
				if string(name) == "ttl" {
					ttl = splice.Text(value)
				}
				return true
			})
		}
	}
	return ttl
}

// item writes the blocks of an item, and its mark behind them.
func (rw *requestWriter) item(e rewrite.Entry, m *rewrite.Turn) {
	item, w := e.Item, &rw.w
	switch {
	case m.Told && item.Side() == rewrite.RoleSystem:
		rw.told(e)
		return
	case e.Missing:
		rw.missing(e)
		return
	case e.Orphan:
		rw.lose(e.Path, "a result without its call: told as a text")
		rw.parts(e, rewrite.RoleUser)
		rw.mark(item.Mark)
		return
	case rw.native(&item.Payload):
		w.Raw(item.Payload.Value)
		rw.sealable = item.Kind != rewrite.ItemReasoning
		rw.mark(item.Mark)
		return
	}
	switch item.Kind {
	case rewrite.ItemMessage:
		rw.parts(e, m.Role)
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
		if len(item.Parts) == 0 {
			rw.lose(e.Path, "known to another provider only")
		}
		rw.parts(e, m.Role)
	}
	rw.mark(item.Mark)
}

// parts writes the parts of an item, each with its mark behind it.
func (rw *requestWriter) parts(e rewrite.Entry, role rewrite.Role) {
	for i := range e.Item.Parts {
		part := &e.Item.Parts[i]
		rw.part(e.Path+".parts."+strconv.Itoa(i), part, role)
		rw.mark(part.Mark)
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
	w.Name(kindCall)
	w.Open('{')
	w.Text("toolUseId", callID(call.ID))
	w.Text("name", ToolName(call.Namespace, call.Name))
	w.Value("input", arguments)
	w.Close('}')
	w.Close('}')
	rw.sealable = true
}

// noResult stands for a result that says nothing.
const noResult = "(The result is empty.)"

// result writes what a tool gave. Marks cannot stand in it, so they stand behind.
func (rw *requestWriter) result(e rewrite.Entry) {
	w, said := &rw.w, rw.said
	w.Open('{')
	w.Name(kindResult)
	w.Open('{')
	w.Text("toolUseId", callID(e.Item.Call.ID))
	w.Name("content")
	w.Open('[')
	empty := w.Size()
	var last rewrite.Mark
	for i := range e.Item.Parts {
		part := &e.Item.Parts[i]
		rw.part(e.Path+".parts."+strconv.Itoa(i), part, rewrite.RoleUser)
		if part.Mark.Set {
			if last.Set && rw.skip > 0 {
				rw.skip--
			}
			last = part.Mark
		}
	}
	if w.Size() == empty {
		// A result of nothing is refused.
		rw.text(noResult)
	}
	w.Close(']')
	if e.Item.Failed {
		w.Text("status", "error")
	}
	w.Close('}')
	w.Close('}')
	rw.sealable, rw.said = true, said
	rw.mark(last)
}

// missing answers a call that nobody has answered, which the API requires.
func (rw *requestWriter) missing(e rewrite.Entry) {
	rw.lose(e.Path, "a call without a result: answered as interrupted")
	w := &rw.w
	w.Open('{')
	w.Name(kindResult)
	w.Open('{')
	w.Text("toolUseId", callID(e.Item.Call.ID))
	w.Literal(`"content":[{"text":"The call was interrupted and has no result."}],"status":"error"`)
	w.Close('}')
	w.Close('}')
	rw.sealable = true
}

// told writes an instruction into a turn of the user, marked as what it is.
func (rw *requestWriter) told(e rewrite.Entry) {
	if e.Item.Kind != rewrite.ItemMessage {
		rw.lose(e.Path, "tools cannot change here")
		return
	}
	var texts []string
	for i := range e.Item.Parts {
		if text := e.Item.Parts[i].Text; text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return
	}
	rw.lose(e.Path, "an instruction between two turns of the model: told as the user's")
	rw.text(rewrite.Reminder(strings.Join(texts, "\n")))
}

// directive writes a change of the offered tools.
func (rw *requestWriter) directive(e rewrite.Entry) {
	d, w := &e.Item.Directive, &rw.w
	for _, change := range []struct {
		kind  string
		names []string
	}{{"toolRemoval", d.Remove}, {"toolAddition", d.Add}} {
		for _, name := range change.names {
			if name = ToolName(rw.c.Group(name), name); !rw.declared[name] {
				rw.lose(e.Path, "a change of a tool that is not declared")
				continue
			}
			w.Open('{')
			w.Name(change.kind)
			w.Open('{')
			w.Name("tool")
			w.Open('{')
			w.Text("name", name)
			w.Close('}')
			w.Close('}')
			w.Close('}')
			rw.sealable = true
		}
	}
}
