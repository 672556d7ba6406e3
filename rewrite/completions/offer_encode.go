package completions

import (
	"fmt"
	"slices"

	"warmpath/rewrite"
)

// tools writes the catalogue with all that is offered at the end, and apart from
// it what has a member of its own. What directives have taken away stays where it
// is if the choice of tools can say so.
func (w *requestWriter) tools() {
	start := w.Size()
	w.Name("tools")
	w.Open('[')
	before := w.Size()
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		if w.waits(t) || w.habits.PlainChoice && !w.allows(t) {
			continue
		}
		w.tool(t, fmt.Sprintf("tools.%d", i))
	}
	if w.Size() == before {
		w.Cut(start)
	} else {
		w.Close(']')
	}
	w.options()
}

// allows says that neither the client nor a directive forbids a tool.
func (w *requestWriter) allows(t *rewrite.Tool) bool {
	return !w.removed[t.Name] && (w.c.Choice.Allowed == nil || slices.Contains(w.c.Choice.Allowed, t.Name))
}

// tool writes one tool.
func (w *requestWriter) tool(t *rewrite.Tool, path string) {
	if member, raw := w.native(&t.Payload); raw != nil {
		if member == "tool" {
			w.Raw(raw)
		}
		return
	}
	kind := "function"
	switch t.Kind {
	case rewrite.ToolHosted:
		w.hosted(t, path)
		return
	case rewrite.ToolCustom:
		kind = "custom"
	case rewrite.ToolFunction:
	}
	w.Open('{')
	w.Text("type", kind)
	w.Name(kind)
	w.Open('{')
	w.Text("name", toolName(t.Namespace, t.Name))
	w.Text("description", t.Description)
	if kind == "function" {
		if len(t.Schema) > 0 {
			w.Value("parameters", t.Schema)
		} else {
			w.Literal(`"parameters":{"type":"object","properties":{}}`)
		}
		if t.Strict != rewrite.Unset && !w.habits.NoStrict {
			w.Name("strict")
			w.Bool(t.Strict == rewrite.On)
		}
	} else if g := &t.Grammar; g.Definition != "" {
		w.Name("format")
		w.Open('{')
		w.Text("type", "grammar")
		w.Name("grammar")
		w.Open('{')
		w.Text("syntax", g.Syntax)
		w.Text("definition", g.Definition)
		w.Close('}')
		w.Close('}')
	}
	w.Close('}')
	w.Close('}')
}

// toolName is the name of a tool in a dialect without groups.
func toolName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "__" + name
}

// directive notes what is offered from here on. Some servers say it in a message;
// all others are told by what the catalogue has in the end.
func (w *requestWriter) directive(item *rewrite.Item) {
	if w.added == nil {
		w.added, w.removed = map[string]bool{}, map[string]bool{}
	}
	for _, name := range item.Directive.Remove {
		w.removed[name] = true
	}
	_, raw := w.native(&item.Payload)
	for _, name := range item.Directive.Add {
		delete(w.removed, name)
		w.added[name] = raw == nil
	}
	if raw != nil {
		w.Raw(raw)
	}
}

// choice writes which tools the model may or must call.
func (w *requestWriter) choice() {
	c := &w.c.Choice
	_, raw := w.native(&c.Payload)
	if raw != nil && len(w.removed) == 0 && (c.Allowed == nil || !w.habits.PlainChoice) {
		w.Value("tool_choice", raw)
		return
	}
	if !w.demandable() {
		w.losses.Miss("tool_choice", "a call of a tool that the provider runs cannot be demanded here")
		return
	}
	if len(w.c.Functions()) == 0 {
		return
	}
	if (c.Allowed != nil || len(w.removed) > 0) && !w.habits.PlainChoice && (c.Mode == "" || c.Mode == "auto" || c.Mode == "any") {
		w.allowed(c)
		return
	}
	switch c.Mode {
	case "auto", "none":
		w.Text("tool_choice", c.Mode)
	case "any":
		w.Text("tool_choice", "required")
	case "tool":
		w.Name("tool_choice")
		w.reference(w.named(c.Name))
	}
}

// named is the tool that has a name; one that is in no catalogue is a function.
func (w *requestWriter) named(name string) *rewrite.Tool {
	for i := range w.c.Tools {
		if w.c.Tools[i].Name == name {
			return &w.c.Tools[i]
		}
	}
	return &rewrite.Tool{Name: name}
}

// allowed narrows the choice to what the client allows and no directive has taken
// away.
func (w *requestWriter) allowed(c *rewrite.ToolChoice) {
	mode := "auto"
	if c.Mode == "any" {
		mode = "required"
	}
	w.Literal(`"tool_choice":{"type":"allowed_tools","allowed_tools":{`)
	w.Text("mode", mode)
	w.Name("tools")
	w.Open('[')
	for i := range w.c.Tools {
		if t := &w.c.Tools[i]; t.Kind != rewrite.ToolHosted && w.allows(t) && !w.waits(t) {
			w.reference(t)
		}
	}
	w.Close(']')
	w.Close('}')
	w.Close('}')
}

// reference names a tool.
func (w *requestWriter) reference(t *rewrite.Tool) {
	kind := "function"
	if t.Kind == rewrite.ToolCustom {
		kind = "custom"
	}
	w.Open('{')
	w.Text("type", kind)
	w.Name(kind)
	w.Open('{')
	w.Text("name", toolName(t.Namespace, t.Name))
	w.Close('}')
	w.Close('}')
}
