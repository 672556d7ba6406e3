package converse

import (
	"strconv"

	"warmpath/rewrite"
)

// tools writes the catalogue, and which of it the model may call. A history with
// calls needs one, whatever is offered now.
func (rw *requestWriter) tools() {
	rw.object("toolConfig", func() {
		none := true
		rw.list("tools", func() {
			rw.sealable = false
			for i := range rw.c.Tools {
				if rw.tool("tools."+strconv.Itoa(i), &rw.c.Tools[i]) {
					none = false
				}
			}
			if none {
				none = !rw.formerTools()
			}
		})
		if !none {
			rw.choice()
		}
	})
}

// tool writes one tool, and reports whether it could.
func (rw *requestWriter) tool(path string, t *rewrite.Tool) bool {
	w := &rw.w
	if rw.native(&t.Payload) {
		w.Raw(t.Payload.Value)
		return true
	}
	schema := t.Schema
	switch t.Kind {
	case rewrite.ToolHosted:
		return rw.hosted(path, t)
	case rewrite.ToolCustom:
		schema = rewrite.JSON(rewrite.FreeTextSchema)
		if t.Grammar.Definition != "" {
			rw.lose(path+".format", "free text has no grammar here")
		}
	case rewrite.ToolFunction:
	}
	if t.Deferred {
		rw.lose(path+".deferred", "offered from the beginning")
	}
	rw.toolSpec(ToolName(t.Namespace, t.Name), t.Description, schema, t.Strict == rewrite.On)
	if !t.Deferred && rw.family == familyClaude {
		rw.mark(t.Mark)
	}
	return true
}

func (rw *requestWriter) toolSpec(name, description string, schema rewrite.JSON, strict bool) {
	w := &rw.w
	if len(schema) == 0 {
		schema = rewrite.JSON(`{"type":"object","properties":{}}`)
	}
	w.Open('{')
	w.Name("toolSpec")
	w.Open('{')
	w.Text("name", name)
	w.Text("description", description)
	w.Name("inputSchema")
	w.Open('{')
	w.Value("json", schema)
	w.Close('}')
	if strict {
		w.Name("strict")
		w.Bool(true)
	}
	w.Close('}')
	w.Close('}')
	rw.sealable, rw.declared[name] = true, true
}

// formerTools declares the tools that the history calls, and reports whether
// there are any.
func (rw *requestWriter) formerTools() bool {
	for i := range rw.c.Items {
		call := &rw.c.Items[i].Call
		name := ToolName(call.Namespace, call.Name)
		if rw.c.Items[i].Kind != rewrite.ItemCall || rw.declared[name] || name == "" {
			continue
		}
		if len(rw.declared) == 0 {
			rw.lose("tools", "none are offered: those that were called before have to be declared")
		}
		rw.toolSpec(name, "Not available any more.", nil, false)
	}
	return len(rw.declared) > 0
}

// choice writes which tools the model may call.
func (rw *requestWriter) choice() {
	choice, w := &rw.c.Choice, &rw.w
	if len(choice.Allowed) > 0 {
		rw.lose("tool_choice.allowed", "all tools are offered")
	}
	name := ToolName("", choice.Name)
	switch choice.Mode {
	case "", "auto": // goes without saying
	case "none":
		rw.lose("tool_choice", "calls cannot be forbidden here")
	case "any", "tool":
		switch {
		case !rw.demandable():
			rw.losses.Miss("tool_choice", "such a call cannot be demanded beside tools that the provider runs")
		case rw.thinks():
			rw.lose("tool_choice", "a model that thinks cannot be made to call")
		case choice.Mode == "any":
			w.Name("toolChoice")
			w.Literal(`{"any":{}}`)
		case !rw.declared[name]:
			rw.lose("tool_choice", "a tool that is not offered")
		default:
			w.Name("toolChoice")
			w.Open('{')
			w.Name("tool")
			w.Open('{')
			w.Text("name", name)
			w.Close('}')
			w.Close('}')
		}
	}
}
