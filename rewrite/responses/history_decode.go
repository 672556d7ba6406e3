package responses

import (
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// toolSearch is the dialect's word for a tool that looks for others, and
// toldAlready the format of an item that another says too.
const (
	toolSearch  = "tool_search"
	toldAlready = "told"
)

// item appends what an element of the history, which stands at a path, says.
func (r *requestReader) item(at rewrite.Path, w *splice.Walker) *fault {
	i, start := itemFields{at: at}, w.Offset()
	if !w.Fields(func(key []byte) { i.set(key, w.Value()) }) {
		return bad("", "is no object; send an item")
	}
	value := w.Since(start)
	switch kind := splice.Text(i.kind); kind {
	case "additional_tools", "tool_search_output":
		return r.lateTools(kind, value, &i)
	case ownMark + "directive":
		return r.directive(at, i.blocks)
	case ownMark + "user_message", ownMark + "prompt":
		// What was said to the user or asked of him is not for the model.
		return nil
	}
	item, f := r.itemOf(value, &i)
	if f != nil {
		return f
	}
	if item.Kind == rewrite.ItemHosted && item.Payload.Empty() {
		// It tells of an activity, and holds nothing that its provider could read.
		return nil
	}
	if item.Kind == rewrite.ItemReasoning && item.Payload.Provider == ownProvider {
		return r.carried(at, &item.Payload)
	}
	if item.Kind == rewrite.ItemCall {
		if !item.Call.Custom {
			item.Call.Arguments = objectOf(item.Call.Arguments)
		}
		r.owe(&item)
	}
	r.c.Items = append(r.c.Items, item)
	return nil
}

// objectOf makes an object of arguments that are none, which models write when
// they are cut off, and which other dialects cannot say.
func objectOf(arguments rewrite.JSON) rewrite.JSON {
	switch {
	case len(arguments) == 0:
		return rewrite.JSON(`{}`)
	case splice.Valid(arguments) != nil || !isObject(arguments):
		return rewrite.WrapFreeText(arguments)
	}
	return arguments
}

// lateTools adds tools to the catalogue that are offered from here on.
func (r *requestReader) lateTools(kind string, value []byte, i *itemFields) *fault {
	tools, f := r.tools(i.at, i.tools, nil)
	if f != nil {
		return f.in("tools")
	}
	item := rewrite.Item{Kind: rewrite.ItemDirective, Path: i.at, ID: idOf(i.id), Payload: written(kind, value)}
	if kind == "tool_search_output" {
		// It stays with the search, which is the provider's.
		item.Payload.Provider = r.provider
	}
	var names []string
	for _, tool := range tools {
		tool.Deferred = true
		r.late = append(r.late, tool)
		item.Directive.Add = append(item.Directive.Add, tool.Name)
		if tool.Namespace != "" {
			tool.Name = tool.Namespace + "__" + tool.Name
		}
		names = append(names, tool.Name)
	}
	if kind == toolSearch+"_output" && splice.Text(i.execution) == "client" {
		r.found(i, names)
	}
	r.c.Items = append(r.c.Items, item)
	return nil
}

// found is the result of a search that the client has done: to providers of other
// dialects that of a function, to those of this one all stands in the output.
func (r *requestReader) found(i *itemFields, names []string) {
	text := "No tools were found."
	if len(names) > 0 {
		text = "Found, and offered from now on: " + strings.Join(names, ", ")
	}
	r.c.Items = append(r.c.Items, rewrite.Item{
		Kind: rewrite.ItemResult, Role: rewrite.RoleUser, Path: i.at, Call: rewrite.Call{ID: splice.Text(i.callID), Name: toolSearch},
		Parts: []rewrite.Part{{Path: i.at, Text: text}}, Payload: written(toldAlready, []byte("null")),
	})
}

// directive reads what the operator says in mid-conversation: text, and changes
// of what is offered, in their order.
func (r *requestReader) directive(at rewrite.Path, blocks []byte) (f *fault) {
	change := func(add, remove []string) {
		if n := len(r.c.Items); n > 0 && r.c.Items[n-1].Kind == rewrite.ItemDirective && r.c.Items[n-1].Payload.Empty() {
			d := &r.c.Items[n-1].Directive
			d.Add, d.Remove = append(d.Add, add...), append(d.Remove, remove...)
			return
		}
		r.c.Items = append(r.c.Items, rewrite.Item{Kind: rewrite.ItemDirective, Path: at, Directive: rewrite.Directive{Add: add, Remove: remove}})
	}
	if !splice.Elements(blocks, func(block []byte) bool {
		var kind, text, name string
		splice.Fields(block, func(key, value []byte) bool {
			switch string(key) {
			case "type":
				kind = splice.Text(value)
			case "text":
				text = splice.Text(value)
			case "name":
				name = splice.Text(value)
			}
			return true
		})
		switch kind {
		case "text":
			r.c.Items = append(r.c.Items, rewrite.Item{Path: at, Role: rewrite.RoleSystem, Parts: []rewrite.Part{{Path: at, Text: text}}})
		case "tool_addition":
			change([]string{name}, nil)
		case "tool_removal":
			change(nil, []string{name})
		default:
			f = bad("blocks", "has a block that is none of text, tool_addition and tool_removal")
		}
		return f == nil
	}) {
		return bad("blocks", "is no list; send the blocks of the directive")
	}
	return f
}

// isObject says that valid JSON is an object.
func isObject(value []byte) bool {
	for _, c := range value {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		}
		return c == '{'
	}
	return false
}
