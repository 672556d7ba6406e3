package responses

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"warmpath/rewrite"
)

// tools writes the catalogue but for what directives bring later.
func (w *requestWriter) tools() {
	start := w.Size()
	w.Name("tools")
	w.Open('[')
	before := w.Size()
	w.offer(w.c.Tools, func(t *rewrite.Tool) bool { return !t.Deferred || w.waits(t) })
	if w.Size() == before {
		w.Cut(start)
		return
	}
	w.Close(']')
}

// waits says that a tool which is not offered yet stands in the catalogue all the
// same, because the provider itself looks for it.
func (w *requestWriter) waits(t *rewrite.Tool) bool {
	if raw := w.native(&t.Payload); raw != nil {
		found := gjson.GetManyBytes(raw, "defer_loading", "tools.#(defer_loading==true)")
		return found[0].Bool() || found[1].Exists()
	}
	return w.searches() && !w.added[t.Name]
}

// searches says that the provider looks for tools itself.
func (w *requestWriter) searches() bool {
	return slices.ContainsFunc(w.c.Tools, func(t rewrite.Tool) bool { return t.Capability == "tool_search" })
}

// offer writes those of the tools that are due. Members of a namespace that stand
// together are written as one.
func (w *requestWriter) offer(tools []rewrite.Tool, due func(*rewrite.Tool) bool) {
	for i := 0; i < len(tools); i++ {
		t := &tools[i]
		if t.Namespace == "" {
			if due(t) {
				w.tool(t, fmt.Sprintf("tools.%d", i))
			}
			continue
		}
		end := i + 1
		for end < len(tools) && tools[end].Namespace == t.Namespace && tools[end].Payload.Format == formats+"namespace_member" {
			end++
		}
		w.namespace(tools[i:end], due)
		i = end - 1
	}
}

// namespace writes a group of tools, as it came if it is the provider's.
func (w *requestWriter) namespace(members []rewrite.Tool, due func(*rewrite.Tool) bool) {
	group := &members[0]
	if group.Payload.Format == formats+"namespace" {
		if raw := w.native(&group.Payload); raw != nil {
			if due(group) {
				w.Raw(raw)
			}
			return
		}
	}
	start := w.Size()
	w.Literal(`{"type":"namespace"`)
	w.Text("name", group.Namespace)
	w.Name("tools")
	w.Open('[')
	before := w.Size()
	for i := range members {
		if due(&members[i]) {
			w.tool(&members[i], "tools")
		}
	}
	if w.Size() == before {
		w.Cut(start)
		return
	}
	w.Close(']')
	w.Close('}')
}

// tool writes one tool.
func (w *requestWriter) tool(t *rewrite.Tool, path string) {
	if raw := w.native(&t.Payload); raw != nil {
		w.Raw(raw)
		return
	}
	switch t.Kind {
	case rewrite.ToolHosted:
		w.hosted(t, path)
		return
	case rewrite.ToolCustom:
		w.Literal(`{"type":"custom"`)
		w.Text("name", t.Name)
		w.Text("description", t.Description)
		if g := &t.Grammar; g.Definition != "" {
			w.Name("format")
			w.Open('{')
			w.Text("type", "grammar")
			w.Text("syntax", g.Syntax)
			w.Text("definition", g.Definition)
			w.Close('}')
		}
	case rewrite.ToolFunction:
		w.Literal(`{"type":"function"`)
		w.Text("name", t.Name)
		w.Text("description", t.Description)
		if len(t.Schema) > 0 {
			w.Value("parameters", t.Schema)
		} else {
			w.Literal(`"parameters":{"type":"object","properties":{}}`)
		}
		// Left out, it is on, and then most schemas are refused.
		w.Name("strict")
		w.Bool(t.Strict == rewrite.On)
	}
	if t.Deferred && !w.added[t.Name] {
		w.Literal(`"defer_loading":true`)
	}
	w.Close('}')
}

// directive writes what is offered from here on. What it takes away is left to
// the choice of tools, since nothing in the history can say it.
func (w *requestWriter) directive(item *rewrite.Item) {
	if w.added == nil {
		w.added, w.removed = map[string]bool{}, map[string]bool{}
	}
	for _, name := range item.Directive.Remove {
		w.removed[name] = true
	}
	fresh := map[string]bool{}
	for _, name := range item.Directive.Add {
		delete(w.removed, name)
		if !w.added[name] {
			fresh[name], w.added[name] = true, true
		}
	}
	if raw := w.native(&item.Payload); raw != nil {
		w.Raw(raw)
		return
	}
	start := w.Size()
	w.Literal(`{"type":"additional_tools","role":"developer"`)
	w.Name("tools")
	w.Open('[')
	before := w.Size()
	w.offer(w.c.Tools, func(t *rewrite.Tool) bool { return fresh[t.Name] && t.Deferred })
	if w.Size() == before {
		w.Cut(start)
		return
	}
	w.Close(']')
	w.Close('}')
}

// choice writes which tools the model may or must call.
func (w *requestWriter) choice() {
	c := &w.c.Choice
	if raw := w.native(&c.Payload); raw != nil && len(w.removed) == 0 {
		w.Value("tool_choice", raw)
		return
	}
	if len(w.c.Tools) == 0 {
		return
	}
	if w.c.DemandsFunction() {
		// Hosted tools would do for a demand that does not name what it wants.
		demanded := *c
		if demanded.Allowed == nil {
			for _, t := range w.c.Functions() {
				demanded.Allowed = append(demanded.Allowed, t.Name)
			}
		}
		c = &demanded
	}
	if (c.Allowed != nil || len(w.removed) > 0) && (c.Mode == "" || c.Mode == "auto" || c.Mode == "any") {
		w.allowed(c)
		return
	}
	switch c.Mode {
	case "auto", "none":
		w.Text("tool_choice", c.Mode)
	case "any":
		w.Text("tool_choice", "required")
	case "tool":
		if slices.ContainsFunc(w.c.Tools, func(t rewrite.Tool) bool { return t.Name == c.Name && !w.known(&t) }) {
			w.losses.Miss("tool_choice", "a call of a tool that this provider does not have cannot be demanded: "+c.Name)
			return
		}
		w.Name("tool_choice")
		w.reference(c.Name)
	}
}

// known says that a tool can be offered at all.
func (w *requestWriter) known(t *rewrite.Tool) bool {
	return t.Kind != rewrite.ToolHosted || w.native(&t.Payload) != nil || hostedTools[t.Capability] != ""
}

// allowed narrows the choice to what the client allows and no directive has taken
// away.
func (w *requestWriter) allowed(c *rewrite.ToolChoice) {
	w.Literal(`"tool_choice":{"type":"allowed_tools"`)
	mode := "auto"
	if c.Mode == "any" {
		mode = "required"
	}
	w.Text("mode", mode)
	w.Name("tools")
	w.Open('[')
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		offered := !t.Deferred || w.added[t.Name] || w.waits(t)
		if offered && w.known(t) && !w.removed[t.Name] && (c.Allowed == nil || slices.Contains(c.Allowed, t.Name)) {
			w.reference(t.Name)
		}
	}
	w.Close(']')
	w.Close('}')
}

// reference names a tool.
func (w *requestWriter) reference(name string) {
	kind, named := "function", true
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		if t.Name != name {
			continue
		}
		switch t.Kind {
		case rewrite.ToolCustom:
			kind = "custom"
		case rewrite.ToolHosted:
			kind, named = typeOf(t), false
		case rewrite.ToolFunction:
		}
	}
	w.Open('{')
	w.Text("type", kind)
	if named {
		w.Text("name", name)
	} else if kind == "mcp" {
		w.Text("server_label", name)
	}
	w.Close('}')
}

// typeOf is the dialect's word for a tool of the provider's own.
func typeOf(t *rewrite.Tool) string {
	if kind := gjson.GetBytes(t.Payload.Value, "type").Str; kind != "" && len(t.Payload.Format) > len(formats) && t.Payload.Format[:len(formats)] == formats {
		return kind
	}
	if kind := gjson.Get(hostedTools[t.Capability], "type").Str; kind != "" {
		return kind
	}
	return t.Name
}
