package converse

import "warmpath/rewrite"

// hostedTools are what Amazon runs for its own models, by what it does.
var hostedTools = map[string]string{"web_search": "nova_grounding", "code_execution": "nova_code_interpreter"}

// hosted writes Amazon's own tool in place of one that another provider runs, and
// reports whether there is one.
func (rw *requestWriter) hosted(path string, t *rewrite.Tool) bool {
	own := hostedTools[t.Capability]
	if own == "" || rw.family != familyNova {
		rw.c.Unhosted(t, rw.losses, path)
		return false
	}
	t.Unsaid(rw.losses, path)
	w := &rw.w
	w.Open('{')
	w.Name("systemTool")
	w.Open('{')
	w.Text("name", own)
	w.Close('}')
	w.Close('}')
	return true
}

// demandable says that the model can be made to do what the client demands: what
// Amazon runs cannot be named, and would do for a demand that names nothing.
func (rw *requestWriter) demandable() bool {
	switch choice := &rw.c.Choice; choice.Mode {
	case "tool":
		t := rw.c.Named(choice.Name)
		return t == nil || t.Kind != rewrite.ToolHosted
	case "any":
		return !rw.c.DemandsFunction()
	}
	return true
}
