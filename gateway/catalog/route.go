package catalog

import (
	"slices"
	"strings"
)

// Builtins are the tools that the gateway has in itself, by name.
var Builtins = []string{"tell_user", "ask_user"}

// RouteRow is a route as it is written in configuration.
type RouteRow struct {
	// Builtin and MCP are the tools and the tool servers by name.
	Builtin, MCP []string
	// Audience and Events are on or off; empty is on.
	Audience, Events string
}

// Route is what is done for the requests to some models, besides leading them
// to a provider. It is shared and must not be changed.
type Route struct {
	// Pattern is the model as clients write it; a * at its end is any rest.
	Pattern string
	// Builtin are the tools of the gateway's own that the model is offered, by name,
	// and MCP the servers whose tools it is offered, each in the order of the file.
	Builtin, MCP []string
	// Audience withholds from the provider what tools have addressed to people
	// only.
	Audience bool
	// Events lets the event log, if there is one, have these conversations.
	Events bool
}

// Tools reports whether the gateway runs tools for the route.
func (r *Route) Tools() bool { return len(r.Builtin)+len(r.MCP) > 0 }

// unrouted is the route of requests that no pattern is for.
var unrouted = &Route{Audience: true, Events: true}

// Route is the one for a model as the client has written it: the pattern that
// is equal to it, else the longest that it begins with. It is never nil.
func (s *Snapshot) Route(model string) *Route {
	best := unrouted
	for _, r := range s.routes {
		if r.Pattern == model {
			return r
		}
		begin, open := strings.CutSuffix(r.Pattern, "*")
		if open && strings.HasPrefix(model, begin) && len(r.Pattern) > len(best.Pattern) {
			best = r
		}
	}
	return best
}

// Routes lists all routes in the order of their patterns. The slice is shared
// and must not be changed.
func (s *Snapshot) Routes() []*Route { return s.routes }

// addRoutes checks the routes and compiles them.
func (s *Snapshot) addRoutes(rows map[string]RouteRow, report func(string, ...string)) {
	for pattern, row := range sorted(rows) {
		if begin := strings.TrimSuffix(pattern, "*"); pattern == "" || strings.Contains(begin, "*") {
			report("is not a pattern; write a model as clients do, or the beginning of one and a *", "routes", pattern)
			continue
		}
		r := &Route{Pattern: pattern, Builtin: row.Builtin, MCP: row.MCP, Audience: true, Events: true}
		for _, word := range []struct {
			name, text string
			on         *bool
		}{{"audience", row.Audience, &r.Audience}, {"events", row.Events, &r.Events}} {
			switch word.text {
			case "", "on", "true":
			case "off", "false":
				*word.on = false
			default:
				report("is "+quote(word.text)+"; write on or off", "routes", pattern, word.name)
			}
		}
		for _, name := range r.Builtin {
			if !slices.Contains(Builtins, name) {
				report("has "+quote(name)+", which is no tool of the gateway; write "+strings.Join(Builtins, " or "), "routes", pattern, "tools", "builtin")
			}
		}
		for _, name := range r.MCP {
			if !validName(name) {
				report("has "+quote(name)+", which is not a name for a server; use lower-case letters, digits, - and _", "routes", pattern, "tools", "mcp")
			}
		}
		s.routes = append(s.routes, r)
	}
}
