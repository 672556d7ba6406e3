package anthropic

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// hosting reads what is asked of a tool that the provider runs.
func hosting(raw []byte) (h rewrite.Hosting) {
	splice.Fields(raw, func(name, value []byte) bool {
		if splice.Null(value) {
			return true
		}
		switch string(name) {
		case "type", "name", "cache_control", "defer_loading":
		case "max_uses":
			h.MaxUses = bytes.Clone(value)
		case "allowed_domains":
			h.Allowed = splice.Texts(value)
		case "blocked_domains":
			h.Blocked = splice.Texts(value)
		case "user_location":
			h.Place = place(value)
		default:
			h.Rest = append(h.Rest, string(name))
		}
		return true
	})
	return h
}

// place reads about where the user is.
func place(value []byte) (p rewrite.Place) {
	splice.Fields(value, func(name, value []byte) bool {
		p.Set(string(name), splice.Text(value))
		return true
	})
	return p
}

// hostedTool is one of the vendor's own tools, with the members that it has of
// what clients of other dialects ask for.
type hostedTool struct {
	kind, name string
	members    []string
}

// hostedTools are those that other providers have too, by what they do, in the
// versions that all models know.
var hostedTools = map[string]hostedTool{
	"web_search":     {"web_search_20250305", "web_search", []string{rewrite.HostingMaxUses, rewrite.HostingAllowed, rewrite.HostingBlocked, rewrite.HostingPlace}},
	"web_fetch":      {"web_fetch_20250910", "web_fetch", []string{rewrite.HostingMaxUses, rewrite.HostingAllowed, rewrite.HostingBlocked}},
	"code_execution": {"code_execution_20250825", "code_execution", nil},
	"tool_search":    {"tool_search_tool_bm25_20251119", "tool_search_tool_bm25", nil},
}

// hosted writes the vendor's own tool in place of one that another provider runs.
func (rw *requestWriter) hosted(path string, t *rewrite.Tool) {
	own, known := hostedTools[t.Capability]
	if !known {
		rw.c.Unhosted(t, rw.losses, path)
		return
	}
	h, w := &t.Hosting, &rw.w
	members := own.members
	if len(h.Allowed) > 0 && len(h.Blocked) > 0 {
		// Only one of the two may be given; the first keeps out more.
		members = except(members, rewrite.HostingBlocked)
	}
	t.Unsaid(rw.losses, path, members...)
	w.Open('{')
	w.Text("type", own.kind)
	w.Text("name", own.name)
	for _, member := range members {
		switch member {
		case rewrite.HostingMaxUses:
			w.Value(member, h.MaxUses)
		case rewrite.HostingAllowed:
			rw.domains(member, h.Allowed)
		case rewrite.HostingBlocked:
			rw.domains(member, h.Blocked)
		case rewrite.HostingPlace:
			rw.place(member, &h.Place)
		}
	}
	rw.mark(t.Mark)
	w.Close('}')
}

func except(members []string, member string) (rest []string) {
	for _, m := range members {
		if m != member {
			rest = append(rest, m)
		}
	}
	return rest
}

func (rw *requestWriter) domains(name string, domains []string) {
	if len(domains) == 0 {
		return
	}
	rw.w.Name(name)
	rw.w.Open('[')
	for _, domain := range domains {
		rw.w.String(domain)
	}
	rw.w.Close(']')
}

func (rw *requestWriter) place(name string, p *rewrite.Place) {
	if *p == (rewrite.Place{}) {
		return
	}
	rw.w.Name(name)
	rw.w.Open('{')
	rw.w.Text("type", "approximate")
	rw.w.Text("city", p.City)
	rw.w.Text("region", p.Region)
	rw.w.Text("country", p.Country)
	rw.w.Text("timezone", p.Timezone)
	rw.w.Close('}')
}

// demanded is the name by which the model is to call a tool; ok is false for one
// that is not offered.
func (rw *requestWriter) demanded(name string) (own string, ok bool) {
	t := rw.c.Named(name)
	switch {
	case rw.own || t == nil:
		return name, true
	case t.Kind != rewrite.ToolHosted:
		return toolName(t.Namespace, t.Name), true
	}
	tool, ok := hostedTools[t.Capability]
	return tool.name, ok
}
