package responses

import (
	"slices"
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// kindOf is the kind of a payload that the client gets as it is; empty for
// another's.
func (e *Encoder) kindOf(p *rewrite.Payload) string {
	kind, ok := strings.CutPrefix(p.Format, formats)
	if !ok || p.Provider != "" && p.Provider != e.o.Provider {
		return ""
	}
	return kind
}

// extended says that the client wants to see what the dialect does not have.
func (e *Encoder) extended() bool {
	return e.o.Events || e.o.Request != nil && len(e.o.Request.Extensions) > 0
}

// wants says that the client has asked for one of our own, by its name without our
// mark, or for all of them.
func (e *Encoder) wants(name string) bool {
	return e.o.Events || e.o.Request != nil && slices.Contains(e.o.Request.Extensions, ownMark+name)
}

// beginnings are how the names of items begin.
var beginnings = map[string]string{
	"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc", "image_generation_call": "ig", "tool_search_call": "tsc",
}

// name gives an item its place in the stream, and a name if it has none.
func (e *Encoder) name(item *outItem, kind string) {
	item.output = len(e.output)
	e.output = append(e.output, nil)
	if item.id == "" {
		begin := beginnings[kind]
		if begin == "" {
			begin = "item"
		}
		item.id = begin + madeHere + e.base() + "_" + strconv.Itoa(item.output)
	}
}

// base is what the names of the reply's items have in common.
func (e *Encoder) base() string {
	return strings.TrimPrefix(strings.TrimPrefix(e.id, "resp"+madeHere), "resp_")
}

// open opens an item. What is told only when it is complete is held back, but for
// the activities of a provider that speaks this dialect.
func (e *Encoder) open(dst []byte, head *rewrite.Item) []byte {
	dst = e.follow(dst)
	e.slots = append(e.slots, outItem{output: -1, head: *head})
	item := &e.slots[len(e.slots)-1]
	item.head.Parts, item.head.Payload.Value = nil, nil
	native := e.kindOf(&head.Payload)
	if native != "" {
		item.id = head.ID
	}
	kind := e.typeOf(head)
	switch head.Kind {
	case rewrite.ItemCall:
		if native != "" && native != kind {
			return dst
		}
		// Gemini's calls are whole when they begin: what is carried for them goes
		// ahead, as reasoning does.
		if item.carried = head.Payload.Format == "gemini/functionCall" && !head.Payload.Empty(); item.carried {
			dst = e.attach(dst, head.Call.ID, &head.Payload)
		}
		if e.callOf(item); item.search {
			return dst // it is told in one piece
		}
		kind = e.typeOf(&item.head)
	case rewrite.ItemHosted:
		if native == "" {
			return e.activity(dst, item, &item.head)
		}
	case rewrite.ItemReasoning:
		if native == "" {
			return dst // it may have nothing to show
		}
	case rewrite.ItemMessage:
	case rewrite.ItemResult, rewrite.ItemDirective, rewrite.ItemOpaque:
		return dst
	}
	e.name(item, kind)
	w := e.start(dst, "response.output_item.added")
	w.Name("output_index")
	w.Int(int64(item.output))
	w.Name("item")
	e.item(&w, item, "in_progress")
	dst = finish(&w)
	if head.Kind == rewrite.ItemHosted {
		if hasStates(kind) {
			dst = e.state(dst, item, kind, "in_progress")
		}
		dst = e.uniform(dst, item)
	}
	return dst
}

// typeOf is the dialect's word for an item.
func (e *Encoder) typeOf(item *rewrite.Item) string {
	switch item.Kind {
	case rewrite.ItemMessage:
		return "message"
	case rewrite.ItemReasoning:
		return "reasoning"
	case rewrite.ItemCall:
		if item.Call.Custom {
			return "custom_tool_call"
		}
		return "function_call"
	case rewrite.ItemHosted, rewrite.ItemOpaque, rewrite.ItemResult, rewrite.ItemDirective:
	}
	return e.kindOf(&item.Payload)
}

// hasStates says that a hosted tool has events of its own.
func hasStates(kind string) bool {
	switch kind {
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools":
		return true
	}
	return false
}

// state tells how far a hosted tool has come.
func (e *Encoder) state(dst []byte, item *outItem, kind, state string) []byte {
	w := e.start(dst, "response."+kind+"."+state)
	place(&w, item, nil)
	return finish(&w)
}

// callOf says how the client knows the tool that is called.
func (e *Encoder) callOf(item *outItem) {
	if e.o.Request == nil {
		return
	}
	call := &item.head.Call
	for i := range e.o.Request.Tools {
		t := &e.o.Request.Tools[i]
		// Dialects without groups have the group in the name.
		if t.Name != call.Name && (t.Namespace == "" || t.Namespace+"__"+t.Name != call.Name) {
			continue
		}
		if call.Namespace == "" {
			call.Name, call.Namespace = t.Name, t.Namespace
		}
		if t.Kind == rewrite.ToolCustom && !call.Custom {
			call.Custom, item.unwrap = true, true
		}
		item.search = t.Payload.Format == formats+toolSearch && t.Kind == rewrite.ToolFunction
		return
	}
}

// item writes an item in some state, with what was told of it.
func (e *Encoder) item(w *splice.Writer, item *outItem, status string) {
	kind := e.typeOf(&item.head)
	begun := status == "in_progress"
	w.Open('{')
	w.Text("type", kind)
	w.Text("id", item.id)
	switch item.head.Kind {
	case rewrite.ItemMessage:
		w.Text("status", status)
		w.Text("role", "assistant")
		w.Text("phase", item.head.Phase)
		w.Name("content")
		item.list(w, inContent, begun)
	case rewrite.ItemReasoning:
		w.Name("summary")
		item.list(w, inSummary, begun)
		if slices.ContainsFunc(item.parts, func(p outPart) bool { return p.list == inContent }) {
			w.Name("content")
			item.list(w, inContent, begun)
		}
		if !begun {
			w.Text("encrypted_content", item.head.Payload.Envelope())
		}
	case rewrite.ItemCall:
		w.Text("status", status)
		w.Text("call_id", item.head.Call.ID)
		w.Text("name", item.head.Call.Name)
		w.Text("namespace", item.head.Call.Namespace)
		if item.head.Call.Custom {
			w.Name("input")
		} else {
			w.Name("arguments")
		}
		w.Bytestring(item.arguments)
	case rewrite.ItemHosted, rewrite.ItemOpaque, rewrite.ItemResult, rewrite.ItemDirective:
		w.Text("status", status)
	}
	w.Close('}')
}

// list writes the parts of one of an item's lists; none of an item that has just
// begun.
func (i *outItem) list(w *splice.Writer, list byte, begun bool) {
	w.Open('[')
	for n := range i.parts {
		if p := &i.parts[n]; p.list == list && p.position >= 0 && !begun {
			p.write(w, i.head.Kind, p.text)
		}
	}
	w.Close(']')
}

// argue goes on with the arguments of a call.
func (e *Encoder) argue(dst []byte, item *outItem, text []byte) []byte {
	item.arguments = append(item.arguments, text...)
	if item.output < 0 || item.unwrap || item.head.Kind != rewrite.ItemCall || len(text) == 0 {
		return dst
	}
	name := "response.function_call_arguments.delta"
	if item.head.Call.Custom {
		name = "response.custom_tool_call_input.delta"
	}
	w := e.start(dst, name)
	place(&w, item, nil)
	w.Name("delta")
	w.Bytestring(text)
	return finish(&w)
}

// done closes an item with what is known only now.
func (e *Encoder) done(dst []byte, item *outItem, last *rewrite.Item) []byte {
	status := "completed"
	if last != nil {
		if last.Incomplete {
			status = "incomplete"
		}
		item.take(last)
	}
	for i := range item.parts {
		if p := &item.parts[i]; !p.done {
			dst = e.closePart(dst, item, p, nil)
		}
	}
	item.done = true
	if item.head.Kind == rewrite.ItemReasoning && item.output < 0 && e.kindOf(&item.head.Payload) == "" {
		e.waiting = append(e.waiting, item.head.Payload.Envelope())
		return dst
	}
	switch item.head.Kind {
	case rewrite.ItemCall:
		if e.kindOf(&item.head.Payload) == "" || item.output >= 0 {
			return e.closeCall(dst, item, status)
		}
	case rewrite.ItemHosted:
		if e.kindOf(&item.head.Payload) == "" {
			return e.activity(dst, item, &item.head)
		}
		if kind := e.typeOf(&item.head); item.output >= 0 && hasStates(kind) {
			state := "completed"
			if item.head.Hosted.State == rewrite.HostedFailed && kind != "web_search_call" && kind != "file_search_call" && kind != "code_interpreter_call" && kind != "image_generation_call" {
				state = "failed"
			}
			dst = e.state(dst, item, kind, state)
		}
	case rewrite.ItemOpaque:
		if e.kindOf(&item.head.Payload) == "" {
			return e.carry(dst, item.head.Payload.Envelope())
		}
	case rewrite.ItemResult, rewrite.ItemDirective:
		e.o.Losses.Add("output", "the dialect has no "+item.head.Kind.String()+" in a reply")
		return dst
	case rewrite.ItemMessage, rewrite.ItemReasoning:
	}
	dst = e.close(dst, item, status)
	if item.head.Kind == rewrite.ItemHosted {
		return e.uniform(dst, item)
	}
	if item.head.Kind == rewrite.ItemMessage {
		dst = e.attach(dst, "", &item.head.Payload)
		dst = e.media(dst, item)
	}
	return dst
}

// take notes what is known of an item only at its end.
func (i *outItem) take(last *rewrite.Item) {
	head := i.head
	i.head = *last
	i.head.Parts = nil
	i.head.Payload.Value = clone(last.Payload.Value)
	if i.output >= 0 {
		i.head.Kind, i.head.Call = head.Kind, head.Call
	}
	if i.head.Phase == "" {
		i.head.Phase = head.Phase
	}
	if len(i.arguments) == 0 {
		i.arguments = clone(last.Call.Arguments)
		if head.Kind == rewrite.ItemHosted {
			i.arguments = clone(last.Hosted.Input)
		}
	}
	i.head.Hosted.Input = i.arguments
}

// closeCall closes a call of a client's tool.
func (e *Encoder) closeCall(dst []byte, item *outItem, status string) []byte {
	if item.search {
		return e.search(dst, item, status)
	}
	if item.output < 0 {
		dst = e.announce(dst, item)
	}
	if item.unwrap {
		if text, ok := rewrite.UnwrapFreeText(item.arguments); ok {
			item.arguments = []byte(text)
		}
		whole := item.arguments
		if e.kindOf(&item.head.Payload) != "" {
			item.head.Payload = rewrite.Payload{}
		}
		item.unwrap, item.arguments = false, nil
		dst = e.argue(dst, item, whole)
	}
	name, member := "response.function_call_arguments.done", "arguments"
	if item.head.Call.Custom {
		name, member = "response.custom_tool_call_input.done", "input"
	} else if len(item.arguments) == 0 {
		// A call without arguments is one with none, which clients parse.
		dst = e.argue(dst, item, []byte("{}"))
	}
	w := e.start(dst, name)
	place(&w, item, nil)
	if member == "arguments" {
		w.Text("name", item.head.Call.Name)
	}
	w.Name(member)
	w.Bytestring(item.arguments)
	dst = e.close(finish(&w), item, status)
	if item.carried {
		return dst
	}
	return e.attach(dst, item.head.Call.ID, &item.head.Payload)
}

// search tells a call of the tool by which the client looks for others.
func (e *Encoder) search(dst []byte, item *outItem, status string) []byte {
	e.name(item, "tool_search_call")
	e.output = e.output[:item.output]
	var whole splice.Writer
	whole.Literal(`{"type":"tool_search_call"`)
	whole.Text("id", item.id)
	whole.Text("call_id", item.head.Call.ID)
	whole.Text("status", status)
	whole.Literal(`"execution":"client"`)
	whole.Value("arguments", objectOf(item.arguments))
	whole.Close('}')
	dst = e.own(dst, whole.Bytes())
	if item.carried {
		return dst
	}
	return e.attach(dst, item.head.Call.ID, &item.head.Payload)
}

// follow tells the reasoning that has waited for something to stand before.
func (e *Encoder) follow(dst []byte) []byte {
	for _, content := range e.waiting {
		dst = e.carry(dst, content)
	}
	e.waiting = nil
	return dst
}

// answered reports that the reply has an answer: reasoning behind that has nothing
// to show would be the last item, where programs look for the answer, and its
// provider can do without.
func (e *Encoder) answered() bool {
	return slices.ContainsFunc(e.slots, func(item outItem) bool { return item.head.Kind == rewrite.ItemMessage && item.output >= 0 })
}

// announce opens an item that was held back.
func (e *Encoder) announce(dst []byte, item *outItem) []byte {
	e.name(item, e.typeOf(&item.head))
	w := e.start(dst, "response.output_item.added")
	w.Name("output_index")
	w.Int(int64(item.output))
	w.Name("item")
	e.item(&w, item, "in_progress")
	return finish(&w)
}

// close writes an item for good: as its provider made it, if that was in this
// dialect.
func (e *Encoder) close(dst []byte, item *outItem, status string) []byte {
	if item.output < 0 {
		item.id = item.head.ID
		dst = e.announce(dst, item)
	}
	var whole splice.Writer
	if e.kindOf(&item.head.Payload) != "" && !item.head.Payload.Empty() {
		whole.Raw(item.head.Payload.Value)
	} else {
		e.item(&whole, item, status)
	}
	flatten(whole.Bytes())
	e.output[item.output] = whole.Bytes()
	w := e.start(dst, "response.output_item.done")
	w.Name("output_index")
	w.Int(int64(item.output))
	w.Value("item", whole.Bytes())
	return finish(&w)
}
