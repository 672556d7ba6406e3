package gemini

import (
	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// hosting reads what is asked of a tool that the provider runs.
func hosting(value []byte) (h rewrite.Hosting) {
	members(value, func(name string, value []byte) {
		if name != "excludeDomains" {
			h.Rest = append(h.Rest, name)
			return
		}
		splice.Elements(value, func(domain []byte) bool {
			h.Blocked = append(h.Blocked, splice.Text(domain))
			return true
		})
	})
	return h
}

// hostedTools are the vendor's own tools that other providers have too, by what
// they do. None of them has words for what clients of other dialects ask of it.
var hostedTools = map[string]string{
	"web_search":     `{"googleSearch":{}}`,
	"web_fetch":      `{"urlContext":{}}`,
	"code_execution": `{"codeExecution":{}}`,
	"maps":           `{"googleMaps":{}}`,
}

// hosted writes the vendor's own tool in place of one that another provider runs.
func (rw *requestWriter) hosted(path string, t *rewrite.Tool) {
	own, known := hostedTools[t.Capability]
	if !known {
		rw.c.Unhosted(t, rw.losses, path)
		return
	}
	t.Unsaid(rw.losses, path)
	rw.w.Literal(own)
}

// mixed says that functions are offered beside tools that the provider runs.
func (rw *requestWriter) mixed() bool {
	functions, hosted := false, false
	for i := range rw.c.Tools {
		t := &rw.c.Tools[i]
		functions = functions || t.Kind != rewrite.ToolHosted
		hosted = hosted || t.Kind == rewrite.ToolHosted && (rw.native(&t.Payload) || hostedTools[t.Capability] != "")
	}
	return functions && hosted
}

// callable are those of some names that are functions, as they are called here: no
// others can be named.
func (rw *requestWriter) callable(names []string) (functions []string) {
	for _, name := range names {
		t := rw.c.Named(name)
		switch {
		case t == nil:
			functions = append(functions, name)
		case t.Kind != rewrite.ToolHosted:
			functions = append(functions, functionName(t.Namespace, t.Name))
		}
	}
	return functions
}

// demandable says that the model can be made to do what the client demands: only
// calls of functions can be demanded here.
func (rw *requestWriter) demandable() bool {
	switch choice := &rw.c.Choice; choice.Mode {
	case "tool":
		t := rw.c.Named(choice.Name)
		return t == nil || t.Kind != rewrite.ToolHosted
	case "any":
		return len(rw.c.Tools) == 0 || len(rw.c.Functions()) > 0 && (choice.Allowed == nil || len(rw.callable(choice.Allowed)) > 0)
	}
	return true
}
