package completions

import (
	"strconv"
	"strings"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// tools appends a list of tools, which what stands at a path offers.
func (r reader) tools(at rewrite.Path, value []byte, tools *[]rewrite.Tool) (f *fault) {
	if splice.Null(value) {
		return nil
	}
	i := 0
	if !splice.Elements(value, func(element []byte) bool {
		var t rewrite.Tool
		if t, f = tool(element); f != nil {
			f = f.in("[" + strconv.Itoa(i) + "]")
			return false
		}
		t.Path = at.At("tools", i)
		*tools = append(*tools, t)
		i++
		return true
	}) {
		return bad("", "is no list of tools; send one")
	}
	return f
}

// tool reads a tool, whose definition stands in an object under its kind.
func tool(value []byte) (t rewrite.Tool, f *fault) {
	var kind string
	var function, custom []byte
	if !splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = splice.Text(value)
		case "function":
			function = value
		case "custom":
			custom = value
		}
		return true
	}) {
		return t, bad("", "is no object; send a tool")
	}
	t.Payload = written("tool", value)
	switch kind {
	case "function":
		define(&t, function)
	case "custom":
		t.Kind = rewrite.ToolCustom
		define(&t, custom)
	case "":
		return t, bad("type", "is missing; say what kind of tool it is")
	default:
		t.Kind, t.Capability, t.Hosting = rewrite.ToolHosted, capability(kind), hosting(value)
		if define(&t, function); t.Name == "" {
			t.Name = kind
		} else if t.Capability == "other" {
			t.Capability = capability(t.Name)
		}
	}
	if t.Name == "" {
		return t, bad(kind+".name", "is missing; name the tool")
	}
	return t, nil
}

// define reads the definition of a tool.
func define(t *rewrite.Tool, value []byte) {
	splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "name":
			t.Name = splice.Text(value)
		case "description":
			t.Description = splice.Text(value)
		case "parameters":
			t.Schema = present(value)
		case "strict":
			t.Strict = switchOf(value)
		case "format":
			splice.Fields(value, func(key, value []byte) bool {
				if string(key) == "grammar" {
					t.Grammar = grammar(value)
				}
				return true
			})
		}
		return true
	})
}

// grammar reads what the free text of a custom tool has to be.
func grammar(value []byte) (g rewrite.Grammar) {
	splice.Fields(value, func(key, value []byte) bool {
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

// functions reads tools of the time when there were only functions.
func (r *requestReader) functions(value []byte) (f *fault) {
	if splice.Null(value) {
		return nil
	}
	if !splice.Elements(value, func(element []byte) bool {
		t := rewrite.Tool{Path: rewrite.Path{}.At("functions", len(r.c.Tools))}
		if define(&t, element); t.Name == "" {
			f = bad("", "has a function without a name; name it")
			return false
		}
		r.c.Tools = append(r.c.Tools, t)
		return true
	}) {
		return bad("", "is no list of functions; send one")
	}
	return f
}

// capability is what a tool of the provider's own does, from what it is called.
func capability(kind string) string {
	for _, c := range [...]struct{ word, name string }{
		{"tool_search", "tool_search"}, {"web_search", "web_search"}, {"browser_search", "web_search"}, {"web_fetch", "web_fetch"},
		{"code_interpreter", "code_execution"}, {"code_execution", "code_execution"}, {"image_generation", "image_generation"},
		{"file_search", "file_search"}, {"mcp", "mcp"},
	} {
		if strings.Contains(kind, c.word) {
			return c.name
		}
	}
	return "other"
}

// choice reads which tools the model may or must call.
func choice(value []byte) (c rewrite.ToolChoice, f *fault) {
	if splice.Null(value) {
		return c, nil
	}
	if word, ok := splice.String(value); ok {
		switch string(word) {
		case "auto", "none":
			c.Mode = string(word)
		case "required", "any":
			c.Mode = "any"
		default:
			f = bad("", "is none of auto, none and required, and no object")
		}
		return c, f
	}
	var kind, name string
	var allowed []byte
	if !splice.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = splice.Text(value)
		case "name":
			name = splice.Text(value)
		case "function", "custom":
			name = nameOf(value)
		case "allowed_tools":
			allowed = value
		}
		return true
	}) {
		return c, bad("", "is neither text nor an object; send one of them")
	}
	c.Payload = written("tool_choice", value)
	if kind != "allowed_tools" {
		c.Mode, c.Name = "tool", name
		if kind == "" {
			// The older form, which only names a function.
			c.Payload = rewrite.Payload{}
		}
		return c, nil
	}
	c.Mode, c.Allowed = "auto", []string{}
	splice.Fields(allowed, func(key, value []byte) bool {
		switch string(key) {
		case "mode":
			if string(value) == `"required"` {
				c.Mode = "any"
			}
		case "tools":
			splice.Elements(value, func(tool []byte) bool {
				splice.Fields(tool, func(key, value []byte) bool {
					if k := string(key); k == "function" || k == "custom" {
						c.Allowed = append(c.Allowed, nameOf(value))
					}
					return true
				})
				return true
			})
		}
		return true
	})
	return c, nil
}

// nameOf is the name that an object has.
func nameOf(value []byte) (name string) {
	splice.Fields(value, func(key, value []byte) bool {
		if string(key) == "name" {
			name = splice.Text(value)
		}
		return true
	})
	return name
}
