package gemini

import "warmpath/rewrite"

// hostedTools are the provider's own tools by what they do.
var hostedTools = map[string]string{
	"web_search": `{"googleSearch":{}}`, "web_fetch": `{"urlContext":{}}`, "code_execution": `{"codeExecution":{}}`, "maps": `{"googleMaps":{}}`,
}

// hosted offers the provider's own tool for one that another provider runs, and
// reports whether there is one.
func (rw *requestWriter) hosted(t *rewrite.Tool) bool {
	text := hostedTools[t.Capability]
	if text == "" || rw.own {
		return false
	}
	rw.w.Literal(text)
	return true
}

// mixed says that a client of another dialect offers functions beside tools of the
// provider's own, which takes a mode of its own.
func (rw *requestWriter) mixed() bool {
	functions, hosted := false, false
	for i := range rw.c.Tools {
		t := &rw.c.Tools[i]
		functions = functions || t.Kind != rewrite.ToolHosted
		hosted = hosted || t.Kind == rewrite.ToolHosted && hostedTools[t.Capability] != ""
	}
	return functions && hosted && !rw.own
}
