package completions

import (
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// messageFields are the members of a message, of a reply's or of a delta.
type messageFields struct {
	role, content, refusal, calls, function, callID, name []byte
	annotations, audio, images, tools, executed           []byte
	// shown and details are what servers tell of the reasoning: the text, by the
	// name that they have for it, and what has to come back to them.
	shown, details []byte
	shownAs        string
}

func (m *messageFields) set(key, value []byte) bool {
	switch string(key) {
	case "role":
		m.role = value
	case "content":
		m.content = value
	case "refusal":
		m.refusal = value
	case "tool_calls":
		m.calls = value
	case "function_call":
		m.function = value
	case "tool_call_id":
		m.callID = value
	case "name":
		m.name = value
	case "annotations":
		m.annotations = value
	case "audio":
		m.audio = value
	case "images":
		m.images = value
	case "executed_tools":
		m.executed = value
	case "tools":
		m.tools = value
	case "reasoning_content":
		m.shown, m.shownAs = value, "reasoning_content"
	case "reasoning":
		if splice.Empty(m.shown) {
			m.shown, m.shownAs = value, "reasoning"
		}
	case "reasoning_details":
		m.details = value
	}
	return true
}

// message appends what a message says: several items if it is the assistant's.
func (r *requestReader) message(at int, w *splice.Walker) (f *fault) {
	var m messageFields
	r.at = rewrite.Path{}.At("messages", at)
	start := w.Offset()
	if !w.Fields(func(key []byte) { m.set(key, w.Value()) }) {
		return bad("", "is no object; send a message")
	}
	switch role := splice.Text(m.role); role {
	case "user":
		var parts []rewrite.Part
		parts, f = r.parts(r.at, "content", m.content)
		r.add(rewrite.Item{Voice: voiceOf(at, &m, "user"), Parts: parts})
	case "system", "developer":
		if len(m.content) == 0 && len(m.tools) > 0 {
			return r.lateTools(w.Since(start), m.tools)
		}
		var parts []rewrite.Part
		parts, f = r.parts(r.at, "content", m.content)
		r.add(rewrite.Item{Role: rewrite.RoleSystem, Voice: voiceOf(at, &m, "system"), Parts: parts})
	case "assistant":
		return r.assistant(at, &m)
	case "tool":
		var parts []rewrite.Part
		parts, f = r.parts(r.at, "content", m.content)
		r.add(rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: splice.Text(m.callID), Name: splice.Text(m.name)}, Parts: parts})
	case "function":
		var parts []rewrite.Part
		parts, f = r.parts(r.at, "content", m.content)
		r.add(rewrite.Item{Kind: rewrite.ItemResult, Call: rewrite.Call{ID: legacyID(at - 1), Name: splice.Text(m.name)}, Parts: parts})
	default:
		return bad("role", "is none of system, developer, user, assistant and tool")
	}
	return f.in("content")
}

// voiceOf is who speaks, unless it is nobody but a role.
func voiceOf(at int, m *messageFields, role string) (v rewrite.Voice) {
	if word := splice.Text(m.role); word != role {
		v.Role = word
	}
	if v.Name = splice.Text(m.name); v != (rewrite.Voice{}) {
		v.Message = at + 1
	}
	return v
}

// add appends an item; a message without content says nothing.
func (r *requestReader) add(item rewrite.Item) {
	if item.Kind != rewrite.ItemMessage || len(item.Parts) > 0 {
		if item.Path.IsZero() {
			item.Path = r.at
		}
		r.c.Items = append(r.c.Items, item)
	}
}

// legacyID names the call of a message of the time when calls had no names.
func legacyID(message int) string { return "call_" + strconv.Itoa(message) }

// assistant appends the reasoning, the text and the calls of one message.
func (r *requestReader) assistant(at int, m *messageFields) (f *fault) {
	held, f := r.reasoning(m)
	if f != nil {
		return f
	}
	said := rewrite.Item{Role: rewrite.RoleAssistant, Voice: voiceOf(at, m, "assistant")}
	if said.Parts, f = r.parts(r.at, "content", m.content); f != nil {
		return f.in("content")
	}
	if len(said.Parts) == 1 && said.Parts[0].Kind == rewrite.PartText && said.Parts[0].Text == "" {
		said.Parts = nil
	}
	if text, f := textOf(m.refusal); f != nil {
		return f.in("refusal")
	} else if text != "" {
		said.Parts = append(said.Parts, rewrite.Part{Kind: rewrite.PartRefusal, Path: r.at.In("refusal"), Text: text})
	}
	if len(said.Parts) > 0 {
		said.Parts[0].Attributions = r.attributions(m.annotations, said.Parts[0].Text)
	}
	if !splice.Null(m.audio) {
		said.Parts = append(said.Parts, rewrite.Part{Kind: rewrite.PartOpaque, Path: r.at.In("audio"), Payload: r.payload("audio", m.audio)})
	}
	if len(said.Parts) > 0 {
		r.add(said)
	}
	if f = r.calls(m.calls); f != nil {
		return f.in("tool_calls")
	}
	if !splice.Null(m.function) {
		w := splice.Walk(m.function)
		call := callOf(&w)
		if call.Name == "" {
			return bad("function_call", "names no function; send the call as it came")
		}
		call.ID, call.Arguments = legacyID(at), objectOf(call.Arguments)
		r.add(rewrite.Item{Kind: rewrite.ItemCall, Path: r.at.In("function_call"), Call: call})
	}
	for _, h := range held {
		r.attach(h.id, h.payload)
	}
	return nil
}

// calls appends the calls of a message.
func (r *requestReader) calls(value []byte) (f *fault) {
	if splice.Null(value) {
		return nil
	}
	i, w := 0, splice.Walk(value)
	if !w.Elements(func() {
		item := rewrite.Item{Kind: rewrite.ItemCall, Path: r.at.At("tool_calls", i)}
		if f == nil && !r.call(&w, &item) {
			f = bad("["+strconv.Itoa(i)+"]", "names no function; send the call as it came")
		}
		if f == nil {
			r.add(item)
		}
		i++
	}) {
		return bad("", "is no list of calls; send one")
	}
	return f
}

// call reads the call that a walker stands at, and reports whether it has a name.
func (r *requestReader) call(w *splice.Walker, item *rewrite.Item) (named bool) {
	var kind, id string
	var function, custom rewrite.Call
	start, more := w.Offset(), false
	w.Fields(func(key []byte) {
		switch string(key) {
		case "id":
			id = splice.Text(w.Value())
		case "type":
			kind = splice.Text(w.Value())
		case "function":
			function = callOf(w)
		case "custom":
			custom = callOf(w)
		case "index":
		default:
			// What servers hang on to a call, such as a signature.
			more = more || w.Next() != 'n'
		}
	})
	if more {
		item.Payload = r.payload("tool_call", w.Since(start))
	}
	if kind == "custom" {
		item.Call = custom
		item.Call.Custom = true
	} else {
		item.Call = function
		item.Call.Arguments = objectOf(item.Call.Arguments)
	}
	item.Call.ID = id
	return item.Call.Name != ""
}

// callOf reads the inner object of a call. Some servers write the arguments as
// what they are.
func callOf(w *splice.Walker) (call rewrite.Call) {
	w.Fields(func(key []byte) {
		switch string(key) {
		case "name":
			call.Name = splice.Text(w.Value())
		case "arguments", "input":
			value := w.Value()
			if text, ok := splice.String(value); ok {
				call.Arguments = text
			} else {
				call.Arguments = present(value)
			}
		}
	})
	return call
}

// objectOf makes an object of arguments that are none, which models write when
// they are cut off, and which other dialects cannot say.
func objectOf(arguments rewrite.JSON) rewrite.JSON {
	if len(arguments) == 0 {
		return rewrite.JSON(`{}`)
	}
	object := false
	for _, c := range arguments {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			object = c == '{'
			break
		}
	}
	if !object || splice.Valid(arguments) != nil {
		return rewrite.WrapFreeText(arguments)
	}
	return arguments
}

// lateTools adds tools to the catalogue that a message offers from here on.
func (r *requestReader) lateTools(message, value []byte) *fault {
	var tools []rewrite.Tool
	if f := r.tools(r.at, value, &tools); f != nil {
		return f.in("tools")
	}
	item := rewrite.Item{Kind: rewrite.ItemDirective, Payload: written("message", message)}
	for _, tool := range tools {
		tool.Deferred = true
		r.late = append(r.late, tool)
		item.Directive.Add = append(item.Directive.Add, tool.Name)
	}
	r.add(item)
	return nil
}
