package responses

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"warmpath/rewrite"
)

// input writes the history, which the sections of the system prompt begin.
func (w *requestWriter) input() {
	w.Name("input")
	w.Open('[')
	w.system()
	alone := w.alone()
	for i, e := range w.c.Entries() {
		path, item := e.Path, e.Item
		switch {
		case alone[i] && item.Kind == rewrite.ItemCall:
			w.item(path, item)
			w.losses.Add(path, "a call without a result: answered as interrupted")
			w.result(&rewrite.Item{Call: item.Call, Parts: []rewrite.Part{{Text: "The call was interrupted and has no result."}}}, path)
		case alone[i]:
			w.losses.Add(path, "a result without its call: told as a text")
			w.message("user", "", item.Parts, path)
		default:
			w.item(path, item)
		}
	}
	w.Close(']')
}

// alone are the calls that nobody has answered and the results that nobody has
// asked for, which the dialect refuses. A client of this dialect has it right,
// has the other half stored, or wants to be told.
func (w *requestWriter) alone() []bool {
	alone, open := make([]bool, len(w.c.Items)), map[string]int{}
	if w.c.Dialect == rewrite.Responses || w.c.Previous != "" {
		return alone
	}
	for i := range w.c.Items {
		switch item := &w.c.Items[i]; item.Kind {
		case rewrite.ItemCall:
			open[item.Call.ID], alone[i] = i, true
		case rewrite.ItemResult:
			call, found := open[item.Call.ID]
			if alone[i] = !found; found {
				alone[call] = false
			}
		case rewrite.ItemMessage, rewrite.ItemReasoning, rewrite.ItemHosted, rewrite.ItemDirective, rewrite.ItemOpaque:
		}
	}
	return alone
}

// system writes the sections of the system prompt as one message.
func (w *requestWriter) system() {
	var sections []rewrite.Part
	for i := range w.c.System {
		if w.asInstructions(&w.c.System[i]) == nil {
			sections = append(sections, w.c.System[i])
		}
	}
	for from := 0; from < len(sections); {
		role, to := w.speaker(rewrite.RoleSystem, &sections[from].Voice), from+1
		for to < len(sections) && w.speaker(rewrite.RoleSystem, &sections[to].Voice) == role {
			to++
		}
		w.message(role, "", sections[from:to], "system")
		from = to
	}
}

// item writes one item of the history.
func (w *requestWriter) item(path string, item *rewrite.Item) {
	if item.Kind == rewrite.ItemDirective {
		w.directive(item)
		return
	}
	if item.Kind == rewrite.ItemCall && item.Call.Custom {
		if w.custom == nil {
			w.custom = map[string]bool{}
		}
		w.custom[item.Call.ID] = true
	}
	if raw := w.native(&item.Payload); raw != nil {
		if item.Payload.Format != formats+toldAlready {
			w.Raw(raw)
		}
		return
	}
	switch item.Kind {
	case rewrite.ItemMessage:
		w.message(w.speaker(item.Role, &item.Voice), item.Phase, item.Parts, path)
	case rewrite.ItemCall:
		w.call(&item.Call)
	case rewrite.ItemResult:
		w.result(item, path)
	case rewrite.ItemReasoning:
		if !item.Plain() {
			w.losses.Add(path, "reasoning that this provider cannot read")
		}
	case rewrite.ItemHosted:
		w.losses.Add(path, "an activity of another provider; its text and sources stay")
	case rewrite.ItemOpaque:
		w.losses.Add(path, "known to another dialect only: "+item.Payload.Format)
	case rewrite.ItemDirective:
	}
}

// roleOf is the dialect's word for who speaks.
func roleOf(role rewrite.Role) string {
	if role == rewrite.RoleSystem {
		return "developer"
	}
	return role.String()
}

// speaker is who speaks, as a client of this dialect has said it.
func (w *requestWriter) speaker(role rewrite.Role, voice *rewrite.Voice) string {
	if w.c.Dialect == rewrite.Responses && voice.Role != "" {
		return voice.Role
	}
	return roleOf(role)
}

// message writes what somebody said; nothing if none of it can be said.
func (w *requestWriter) message(role, phase string, parts []rewrite.Part, path string) {
	start := w.Size()
	w.Literal(`{"type":"message"`)
	w.Text("role", role)
	if role == "assistant" {
		w.Text("phase", phase)
	}
	w.Name("content")
	w.Open('[')
	before := w.Size()
	for i := range parts {
		at := path + ".parts." + strconv.Itoa(i)
		if role == "assistant" {
			w.said(&parts[i], at)
		} else {
			w.part(&parts[i], at)
		}
	}
	if w.Size() == before {
		w.Cut(start)
		return
	}
	w.Close(']')
	w.Close('}')
}

// longestCall is how many characters the name of a call may have.
const longestCall = 64

// callID is a call's name, shortened in the same way wherever it stands.
func callID(id string) string {
	if len(id) <= longestCall {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return fmt.Sprintf("%s_%016x", id[:longestCall-17], h.Sum64())
}

// call writes a call of a client's tool.
func (w *requestWriter) call(call *rewrite.Call) {
	kind, input := "function_call", "arguments"
	if call.Custom {
		kind, input = "custom_tool_call", "input"
	}
	w.Open('{')
	w.Text("type", kind)
	w.Text("call_id", callID(call.ID))
	w.Text("name", call.Name)
	w.Text("namespace", call.Namespace)
	w.Name(input)
	if len(call.Arguments) == 0 && !call.Custom {
		w.String("{}")
	} else {
		w.Bytestring(call.Arguments)
	}
	w.Close('}')
}

// result writes what a tool gave. A plain text is a string.
func (w *requestWriter) result(item *rewrite.Item, path string) {
	kind := "function_call_output"
	if item.Call.Custom || w.custom[item.Call.ID] {
		kind = "custom_tool_call_output"
	}
	w.Open('{')
	w.Text("type", kind)
	w.Text("call_id", callID(item.Call.ID))
	w.Name("output")
	switch {
	case len(item.Parts) == 0:
		w.String("")
	case len(item.Parts) == 1 && item.Parts[0].Kind == rewrite.PartText && !w.marked(&item.Parts[0]):
		w.String(item.Parts[0].Text)
	default:
		w.Open('[')
		for i := range item.Parts {
			w.part(&item.Parts[i], path+".parts."+strconv.Itoa(i))
		}
		w.Close(']')
	}
	w.Close('}')
	if item.Failed {
		w.losses.Add(path, "the dialect cannot say that a tool failed; its text stays")
	}
}
