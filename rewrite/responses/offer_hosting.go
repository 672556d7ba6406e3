package responses

import (
	"bytes"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// hosting reads what is asked of a tool that the provider runs.
func hosting(value []byte) (h rewrite.Hosting) {
	splice.Fields(value, func(key, value []byte) bool {
		if splice.Null(value) {
			return true
		}
		switch name := string(key); name {
		case "type", "name", "defer_loading":
		case "filters":
			splice.Fields(value, func(key, value []byte) bool {
				switch string(key) {
				case "allowed_domains":
					h.Allowed = splice.Texts(value)
				case "blocked_domains":
					h.Blocked = splice.Texts(value)
				default:
					h.Rest = append(h.Rest, name+"."+string(key))
				}
				return true
			})
		case "user_location":
			h.Place = placeOf(value)
		case "search_context_size":
			h.Context = splice.Text(value)
		case "external_web_access":
			if string(value) != "true" {
				h.Rest = append(h.Rest, name)
			}
		case "container":
			if string(value) != anyContainer {
				h.Rest = append(h.Rest, name)
			}
		default:
			h.Rest = append(h.Rest, name)
		}
		return true
	})
	return h
}

// anyContainer leaves it to the provider where code is run.
const anyContainer = `{"type":"auto"}`

// placeOf reads about where the user is.
func placeOf(value []byte) (p rewrite.Place) {
	splice.Fields(value, func(key, value []byte) bool {
		p.Set(string(key), splice.Text(value))
		return true
	})
	return p
}

// mostCalls is the bound on the calls of all hosted tools in a request; where there
// is one such tool, it is that tool's.
const mostCalls = "max_tool_calls"

// bounded gives the only hosted tool the bound on calls that the request has.
func (r *requestReader) bounded() {
	var only *rewrite.Tool
	for i := range r.c.Tools {
		if t := &r.c.Tools[i]; t.Kind == rewrite.ToolHosted {
			if only != nil {
				return
			}
			only = t
		}
	}
	for i := range r.c.Extra {
		if m := &r.c.Extra[i]; m.Name == mostCalls && only != nil {
			only.Hosting.MaxUses, m.Said = bytes.Clone(m.Value), true
		}
	}
}

// hostedTools are the vendor's own tools that other providers have too, by what
// they do.
var hostedTools = map[string]string{
	"web_search":       `{"type":"web_search"}`,
	"code_execution":   `{"type":"code_interpreter","container":` + anyContainer + `}`,
	"image_generation": `{"type":"image_generation"}`,
	"tool_search":      `{"type":"tool_search"}`,
}

// hosted writes the vendor's own tool in place of one that another provider runs.
func (w *requestWriter) hosted(t *rewrite.Tool, path string) {
	own, known := hostedTools[t.Capability]
	if !known {
		w.c.Unhosted(t, w.losses, path)
		return
	}
	var said []string
	if w.onlyHosted(t) {
		said = append(said, rewrite.HostingMaxUses)
	}
	if t.Capability != "web_search" {
		t.Unsaid(w.losses, path, said...)
		w.Literal(own)
		return
	}
	t.Unsaid(w.losses, path, append(said, rewrite.HostingAllowed, rewrite.HostingPlace, rewrite.HostingContext)...)
	h := &t.Hosting
	w.Literal(own[:len(own)-1])
	if len(h.Allowed) > 0 {
		w.Name("filters")
		w.Open('{')
		w.Name("allowed_domains")
		w.Open('[')
		for _, domain := range h.Allowed {
			w.String(domain)
		}
		w.Close(']')
		w.Close('}')
	}
	if h.Place != (rewrite.Place{}) {
		w.Name("user_location")
		w.Open('{')
		w.Text("type", "approximate")
		w.Text("city", h.Place.City)
		w.Text("region", h.Place.Region)
		w.Text("country", h.Place.Country)
		w.Text("timezone", h.Place.Timezone)
		w.Close('}')
	}
	w.Text("search_context_size", h.Context)
	w.Close('}')
}

// onlyHosted says that no other tool of the request is run by the provider.
func (w *requestWriter) onlyHosted(t *rewrite.Tool) bool {
	for i := range w.c.Tools {
		if other := &w.c.Tools[i]; other.Kind == rewrite.ToolHosted && other != t {
			return false
		}
	}
	return true
}

// calls bounds how often the provider runs its tool.
func (w *requestWriter) calls() {
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		if t.Kind == rewrite.ToolHosted && w.native(&t.Payload) == nil && hostedTools[t.Capability] != "" && w.onlyHosted(t) {
			w.Value(mostCalls, t.Hosting.MaxUses)
		}
	}
}
