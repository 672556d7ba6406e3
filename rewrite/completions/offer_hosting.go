package completions

import (
	"strconv"

	"warmpath/rewrite"
	"warmpath/rewrite/splice"
)

// searchOptions is the member by which models that search are told how.
const searchOptions = "web_search_options"

// searching reads what the options of a search ask for.
func searching(value []byte) (h rewrite.Hosting) {
	splice.Fields(value, func(key, value []byte) bool {
		switch name := string(key); {
		case splice.Null(value):
		case name == "search_context_size":
			h.Context = splice.Text(value)
		case name == "user_location":
			splice.Fields(value, func(key, value []byte) bool {
				if string(key) == "approximate" {
					h.Place = placeOf(value)
				}
				return true
			})
		default:
			h.Rest = append(h.Rest, name)
		}
		return true
	})
	return h
}

// placeOf reads about where the user is.
func placeOf(value []byte) (p rewrite.Place) {
	splice.Fields(value, func(key, value []byte) bool {
		p.Set(string(key), splice.Text(value))
		return true
	})
	return p
}

// hosting reads what the definition of a hosted tool says besides its kind: no two
// servers have the same of it.
func hosting(value []byte) (h rewrite.Hosting) {
	splice.Fields(value, func(key, value []byte) bool {
		if name := string(key); name != "type" && !splice.Empty(value) {
			h.Rest = append(h.Rest, name)
		}
		return true
	})
	return h
}

// hostedTool is the server's own tool that does what another provider's does; empty
// for none.
func (h *Habits) hostedTool(capability string) string {
	switch {
	case h.RouterTools && capability == "web_search":
		return `{"type":"openrouter:web_search"}`
	case h.GroqTools && capability == "web_search":
		return `{"type":"browser_search"}`
	case h.GroqTools && capability == "code_execution":
		return `{"type":"code_interpreter"}`
	}
	return ""
}

// hosted writes the server's own tool in place of one that another provider runs.
func (w *requestWriter) hosted(t *rewrite.Tool, path string) {
	if own := w.habits.hostedTool(t.Capability); own != "" {
		t.Unsaid(w.losses, path)
		w.Literal(own)
	} else if !w.habits.SearchOptions || t.Capability != "web_search" {
		w.c.Unhosted(t, w.losses, path)
	}
}

// options writes how models that search are to do it.
func (w *requestWriter) options() {
	for i := range w.c.Tools {
		t := &w.c.Tools[i]
		if member, raw := w.native(&t.Payload); raw != nil {
			if member == searchOptions {
				w.Value(member, raw)
			}
			continue
		}
		if t.Kind != rewrite.ToolHosted || t.Capability != "web_search" || !w.habits.SearchOptions || w.habits.hostedTool(t.Capability) != "" {
			continue
		}
		t.Unsaid(w.losses, "tools."+strconv.Itoa(i), rewrite.HostingPlace, rewrite.HostingContext)
		w.Name(searchOptions)
		w.Open('{')
		if p := &t.Hosting.Place; *p != (rewrite.Place{}) {
			w.Literal(`"user_location":{"type":"approximate"`)
			w.Name("approximate")
			w.Open('{')
			w.Text("city", p.City)
			w.Text("region", p.Region)
			w.Text("country", p.Country)
			w.Text("timezone", p.Timezone)
			w.Close('}')
			w.Close('}')
		}
		w.Text("search_context_size", t.Hosting.Context)
		w.Close('}')
		return
	}
}

// demandable says that the model can be made to do what the client demands: only
// calls of functions can be demanded here.
func (w *requestWriter) demandable() bool {
	switch choice := &w.c.Choice; choice.Mode {
	case "tool":
		t := w.c.Named(choice.Name)
		return t == nil || t.Kind != rewrite.ToolHosted
	case "any":
		return len(w.c.Tools) == 0 || len(w.c.Functions()) > 0
	}
	return true
}

// waits says that a tool is not offered: nothing has brought it, and no search for
// tools was meant to find it.
func (w *requestWriter) waits(t *rewrite.Tool) bool {
	return t.Deferred && !w.added[t.Name] && !hasSearch(w.c.Tools)
}

func hasSearch(tools []rewrite.Tool) bool {
	for i := range tools {
		if tools[i].Capability == "tool_search" {
			return true
		}
	}
	return false
}
