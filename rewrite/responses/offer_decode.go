package responses

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// tools appends a list of tools, which what stands at a path offers, to what there
// is.
func (r reader) tools(at rewrite.Path, value []byte, tools []rewrite.Tool) ([]rewrite.Tool, *fault) {
	if splice.Null(value) {
		return tools, nil
	}
	var f *fault
	i := 0
	if !splice.Elements(value, func(element []byte) bool {
		if tools, f = r.tool(at.At("tools", i), element, tools); f != nil {
			f = f.in("[" + strconv.Itoa(i) + "]")
		}
		i++
		return f == nil
	}) {
		return nil, bad("", "is no list of tools; send one")
	}
	return tools, f
}

// tool appends a tool, or the members of a namespace. The first of those has the
// whole namespace as its payload.
func (r reader) tool(at rewrite.Path, value []byte, tools []rewrite.Tool) ([]rewrite.Tool, *fault) {
	t := rewrite.Tool{Path: at}
	var kind, label, execution string
	var format []byte
	var inner []byte
	if !splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = splice.Text(value)
		case "execution":
			execution = splice.Text(value)
		case "name":
			t.Name = splice.Text(value)
		case "server_label":
			label = splice.Text(value)
		case "description":
			t.Description = splice.Text(value)
		case "parameters":
			t.Schema = present(value)
		case "strict":
			t.Strict = switchOf(value)
		case "defer_loading":
			t.Deferred = string(value) == "true"
		case "tools":
			inner = value
		case "format":
			format = value
		}
		return true
	}) {
		return nil, bad("", "is no object; send a tool")
	}
	t.Payload = written(kind, value)
	if kind == toolSearch && execution == "client" {
		// The client itself looks for tools: to other providers it is a function.
		t.Name = toolSearch
		return append(tools, t), nil
	}
	switch kind {
	case "function", "custom":
		if t.Name == "" {
			return nil, bad("name", "is missing; name the tool")
		}
		if kind == "custom" {
			t.Kind, t.Grammar = rewrite.ToolCustom, grammar(format)
		}
	case "namespace":
		if t.Name == "" {
			return nil, bad("name", "is missing; name the group of tools")
		}
		return r.namespace(t, inner, tools)
	case "":
		return nil, bad("type", "is missing; say what kind of tool it is")
	default:
		t.Kind, t.Capability, t.Hosting = rewrite.ToolHosted, capability(kind), hosting(value)
		if t.Name == "" {
			t.Name = kind
			if label != "" {
				t.Name = label
			}
		}
	}
	return append(tools, t), nil
}

// grammar reads what the free text of a custom tool has to be.
func grammar(format []byte) (g rewrite.Grammar) {
	splice.Fields(format, func(key, value []byte) bool {
		switch string(key) {
		case "syntax":
			g.Syntax = splice.Text(value)
		case "definition":
			g.Definition = splice.Text(value)
		}
		return true
	})
	return g
}

// namespace appends the members of a group of tools.
func (r reader) namespace(group rewrite.Tool, inner []byte, tools []rewrite.Tool) ([]rewrite.Tool, *fault) {
	members, f := r.tools(group.Path, inner, nil)
	if f != nil {
		return nil, f.in("tools")
	}
	for i := range members {
		members[i].Namespace = group.Name
		members[i].Payload.Format = formats + "namespace_member"
		if i == 0 {
			members[i].Payload = group.Payload
		}
	}
	return append(tools, members...), nil
}

// capability is what a tool of the provider's own does.
func capability(kind string) string {
	for _, c := range [...]struct{ begin, name string }{
		{"web_search", "web_search"}, {"x_search", "web_search"}, {"file_search", "file_search"},
		{"code_interpreter", "code_execution"}, {"code_execution", "code_execution"}, {"image_generation", "image_generation"},
		{"mcp", "mcp"}, {"computer", "computer"}, {"shell", "shell"}, {"local_shell", "shell"}, {"tool_search", "tool_search"},
	} {
		if strings.HasPrefix(kind, c.begin) {
			return c.name
		}
	}
	return "other"
}

// choice reads which tools the model may or must call.
func (r reader) choice(value []byte) (c rewrite.ToolChoice, f *fault) {
	if splice.Null(value) {
		return c, nil
	}
	if word, ok := splice.String(value); ok {
		switch string(word) {
		case "auto", "none":
			c.Mode = string(word)
		case "required":
			c.Mode = "any"
		default:
			f = bad("", "is none of auto, none and required, and no object")
		}
		return c, f
	}
	var kind, name, mode string
	var allowed []byte
	if !splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = splice.Text(value)
		case "name":
			name = splice.Text(value)
		case "mode":
			mode = splice.Text(value)
		case "tools":
			allowed = value
		}
		return true
	}) {
		return c, bad("", "is neither text nor an object; send one of them")
	}
	c.Payload = written("tool_choice", value)
	if kind != "allowed_tools" {
		if c.Mode, c.Name = "tool", name; name == "" {
			c.Name = kind
		}
		return c, nil
	}
	if c.Mode = "auto"; mode == "required" {
		c.Mode = "any"
	}
	c.Allowed = []string{}
	splice.Elements(allowed, func(tool []byte) bool {
		c.Allowed = append(c.Allowed, nameOf(tool))
		return true
	})
	return c, nil
}

// nameOf is what a reference to a tool calls it.
func nameOf(tool []byte) (name string) {
	var kind, label string
	splice.Fields(tool, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = splice.Text(value)
		case "name":
			name = splice.Text(value)
		case "server_label":
			label = splice.Text(value)
		}
		return true
	})
	switch {
	case name != "":
		return name
	case label != "":
		return label
	}
	return kind
}
